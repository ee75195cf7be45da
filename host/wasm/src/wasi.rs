//! What a plugin may reach of the system: what `allow` grants, clocks, randomness, and nothing else.
//!
//! Grants come in from the manifest and are checked once, at the start; a WASI context for each instance
//! goes out. A use that is not granted is an ordinary error in the guest. A folder with write access has no
//! quota: what a plugin writes there is as much as the disk takes.

use crate::output::Output;
use crate::settings::Settings;
use crate::state::State;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::component::{Linker, Resource};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::bindings::sockets::network::{self, IpAddressFamily};
use wasmtime_wasi::p2::bindings::sockets::tcp_create_socket::Host as _;
use wasmtime_wasi::p2::{FsResult, TcpSocket};
use wasmtime_wasi::sockets::{SocketAddrUse, WasiSocketsView};
use wasmtime_wasi::{FsPerms, WasiCtx};

/// Files, sockets, streams and pollables that one instance may have open; one more is a death.
pub(crate) const HANDLES_MAX: usize = 64;
/// Descriptors of the process that no guest may take: queues, checkpoints and dead letters need them.
const DESCRIPTORS_KEPT: u64 = 128;

/// A grant that can't be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// A folder of `allow.dirs` can't be used.
    #[error("folder {path}: {reason}")]
    Dir {
        /// The folder on the host.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// An address of `allow.net` does not resolve.
    #[error("address {address}: {reason}")]
    Net {
        /// As written.
        address: String,
        /// What is wrong.
        reason: String,
    },
}

/// `allow`, checked and resolved.
pub(crate) struct Grants {
    env: Vec<(String, String)>,
    dirs: Vec<(PathBuf, String, FsPerms)>,
    addresses: Arc<[SocketAddr]>,
}

impl Grants {
    /// Nothing: what a plugin gets that is only asked what it is.
    pub(crate) fn none() -> Grants {
        Grants { env: vec![], dirs: vec![], addresses: Arc::new([]) }
    }

    /// Looks at each folder and resolves each name.
    pub(crate) fn resolve(settings: &Settings) -> std::result::Result<Grants, GrantError> {
        let allow = &settings.allow;
        let mut dirs = Vec::with_capacity(allow.dirs.len());
        for dir in &allow.dirs {
            let path = settings.base.join(&dir.host);
            let refuse = |reason: String| GrantError::Dir { path: path.display().to_string(), reason };
            let found = std::fs::metadata(&path).map_err(|e| refuse(e.to_string()))?;
            if !found.is_dir() {
                return Err(refuse("not a folder".into()));
            }
            let access = if dir.write { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
            dirs.push((path, dir.guest.clone(), access));
        }
        let mut addresses = vec![];
        for address in &allow.net {
            let refuse = |e: io::Error| GrantError::Net { address: address.clone(), reason: e.to_string() };
            addresses.extend(address.to_socket_addrs().map_err(refuse)?.map(canonical));
        }
        Ok(Grants { env: allow.env.clone(), dirs, addresses: addresses.into() })
    }

    /// A context of an instance. Opens the granted folders.
    pub(crate) fn context(&self, output: &Output) -> io::Result<WasiCtx> {
        let mut builder = WasiCtx::builder();
        builder.stdout(output.stdout()).stderr(output.stderr()).envs(&self.env);
        builder.allow_ip_name_lookup(false).allow_udp(false).allow_tcp(!self.addresses.is_empty());
        // A file operation must not block the executor past the deadline: it goes to the blocking pool.
        builder.allow_blocking_current_thread(false);
        for (host, guest, access) in &self.dirs {
            let opened = builder.preopened_dir(host, guest, *access);
            opened.map_err(|e| io::Error::other(format!("folder {}: {e}", host.display())))?;
        }
        if !self.addresses.is_empty() {
            let addresses = self.addresses.clone();
            builder.socket_addr_check(move |address, used| {
                let granted = may_use(&addresses, address, used);
                Box::pin(async move { granted })
            });
        }
        Ok(builder.build())
    }
}

/// Connecting to a granted address, and the wildcard bind that comes before it. Nothing else: no listening.
fn may_use(granted: &[SocketAddr], address: SocketAddr, used: SocketAddrUse) -> bool {
    match used {
        SocketAddrUse::TcpConnect => granted.contains(&canonical(address)),
        SocketAddrUse::TcpBind => address.ip().is_unspecified() && address.port() == 0,
        _ => false,
    }
}

/// One form of each address: IPv4 in IPv6 is IPv4, without flow label and scope.
fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}

/// All of WASI p2, with `open-at` replaced by one that refuses what could block for ever, and the imports
/// of the contract.
pub(crate) fn link(linker: &mut Linker<State>) -> Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    let mut types = linker.instance("wasi:filesystem/types@0.2.12")?;
    types.func_wrap_async("[method]descriptor.open-at", |store, args| Box::new(open_at(store, args)))?;
    let mut sockets = linker.instance("wasi:sockets/tcp-create-socket@0.2.12")?;
    sockets.func_wrap("create-tcp-socket", create_socket)?;
    linker.allow_shadowing(false);
    Ok(())
}

type OpenArgs = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);
type Opened = std::result::Result<Resource<Descriptor>, ErrorCode>;

/// Opens files and folders only: opening or reading a FIFO or a device would hold a thread of the blocking
/// pool for good.
async fn open_at(mut store: StoreContextMut<'_, State>, args: OpenArgs) -> Result<(Opened,)> {
    let (folder, follow, path, how, flags) = args;
    if descriptors_are_short() {
        return Ok((Err(ErrorCode::InsufficientMemory),));
    }
    let mut files = store.data_mut().filesystem();
    let same_folder = Resource::new_borrow(folder.rep());
    // An error here is the same, or a better one, when opening.
    if let Ok(found) = files.stat_at(same_folder, follow, path.clone()).await
        && !matches!(found.type_, DescriptorType::RegularFile | DescriptorType::Directory)
    {
        return Ok((Err(ErrorCode::NotPermitted),));
    }
    let opened: FsResult<_> = files.open_at(folder, follow, path, how, flags).await;
    match opened {
        Ok(descriptor) => Ok((Ok(descriptor),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

type Socket = std::result::Result<Resource<TcpSocket>, network::ErrorCode>;

/// As wasmtime's, unless the process is short of descriptors.
fn create_socket(mut store: StoreContextMut<'_, State>, (family,): (IpAddressFamily,)) -> Result<(Socket,)> {
    if descriptors_are_short() {
        return Ok((Err(network::ErrorCode::NewSocketLimit),));
    }
    match store.data_mut().sockets().create_tcp_socket(family) {
        Ok(socket) => Ok((Ok(socket),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

/// Raises this process's soft limit of descriptors to the hard one, and tells what it is now. For the start
/// of a host: each instance may take up to 64.
pub fn raise_descriptor_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).ok();
    getrlimit(Resource::Nofile).current
}

/// Whether the process has few descriptors left, over all guests: the system hands out the lowest free
/// number.
fn descriptors_are_short() -> bool {
    let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current else {
        return false;
    };
    match rustix::io::dup(io::stderr()) {
        Ok(lowest) => {
            use std::os::fd::AsRawFd;
            u64::try_from(lowest.as_raw_fd()).unwrap_or(0) + DESCRIPTORS_KEPT.min(limit / 4) >= limit
        }
        Err(error) => error == rustix::io::Errno::MFILE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("address")
    }

    #[test]
    fn only_granted_addresses_may_be_connected_to() {
        let granted = [at("10.0.0.1:5432")];
        assert!(may_use(&granted, at("10.0.0.1:5432"), SocketAddrUse::TcpConnect));
        assert!(may_use(&granted, at("[::ffff:10.0.0.1]:5432"), SocketAddrUse::TcpConnect));
        assert!(!may_use(&granted, at("10.0.0.1:5433"), SocketAddrUse::TcpConnect));
        assert!(!may_use(&granted, at("10.0.0.2:5432"), SocketAddrUse::TcpConnect));
        assert!(may_use(&granted, at("0.0.0.0:0"), SocketAddrUse::TcpBind));
        assert!(!may_use(&granted, at("0.0.0.0:80"), SocketAddrUse::TcpBind));
        assert!(!may_use(&granted, at("10.0.0.1:5432"), SocketAddrUse::TcpBind));
        for used in [SocketAddrUse::TcpListen, SocketAddrUse::TcpAccept, SocketAddrUse::UdpBind] {
            assert!(!may_use(&granted, at("0.0.0.0:0"), used));
        }
    }
}
