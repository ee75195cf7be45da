//! What a plugin may reach of the system: what `allow` grants, clocks, randomness, and nothing else.
//!
//! Grants come in from the manifest and are checked once, at the start; a WASI context for each instance
//! goes out. A use that is not granted is an ordinary error in the guest, and is told once. A folder with write access
//! has no quota: what a plugin writes there is as much as the disk takes.

use crate::events::Events;
use crate::output::Output;
use crate::refusal;
use crate::settings::Settings;
use anchorbolt_core::manifest::Dir;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime_wasi::sockets::SocketAddrUse;
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
    /// As written, and where they are.
    dirs: Vec<(Dir, PathBuf)>,
    addresses: Arc<[SocketAddr]>,
    /// The hosts of `net`, in lower case, each with an address that it had at the start.
    names: Vec<(String, IpAddr)>,
}

impl Grants {
    /// Nothing: what a plugin gets that is only asked what it is.
    pub(crate) fn none() -> Grants {
        Grants { env: vec![], dirs: vec![], addresses: Arc::new([]), names: vec![] }
    }

    /// Looks at each folder and resolves each name.
    pub(crate) fn resolve(settings: &Settings) -> Result<Grants, GrantError> {
        let allow = &settings.allow;
        let mut dirs = Vec::with_capacity(allow.dirs.len());
        for dir in &allow.dirs {
            let path = settings.base.join(&dir.host);
            let refuse = |reason: String| GrantError::Dir { path: path.display().to_string(), reason };
            let found = std::fs::metadata(&path).map_err(|e| refuse(e.to_string()))?;
            if !found.is_dir() {
                return Err(refuse("not a folder".into()));
            }
            dirs.push((dir.clone(), path));
        }
        let (mut addresses, mut names) = (vec![], vec![]);
        for address in &allow.net {
            let refuse = |e: io::Error| GrantError::Net { address: address.clone(), reason: e.to_string() };
            let found: Vec<_> = address.to_socket_addrs().map_err(refuse)?.map(canonical).collect();
            let name = address.rsplit_once(':').map_or("", |(name, _)| name).to_ascii_lowercase();
            names.extend(found.first().map(|found| (name, found.ip())));
            addresses.extend(found);
        }
        Ok(Grants { env: allow.env.clone(), dirs, addresses: addresses.into(), names })
    }

    /// A granted folder, by its place among those that the guest is told of.
    pub(crate) fn dir(&self, index: usize) -> Option<&Dir> {
        self.dirs.get(index).map(|(dir, _)| dir)
    }

    /// Whether anything of the network is granted.
    pub(crate) fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// The address of a granted host. It is that of the start, so a name that changes can't lead elsewhere.
    pub(crate) fn address_of(&self, name: &str) -> Option<IpAddr> {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        self.names.iter().find(|(granted, _)| *granted == name).map(|(_, address)| *address)
    }

    /// A context of an instance. Opens the granted folders.
    pub(crate) fn context(&self, output: &Output, events: &Arc<Events>) -> io::Result<WasiCtx> {
        let mut builder = WasiCtx::builder();
        builder.stdout(output.stdout()).stderr(output.stderr()).envs(&self.env);
        // Without a granted address a socket can be made, but not used: only then is it known what for.
        builder.allow_udp(false).allow_tcp(true);
        // Names are answered from the grants, see `shadow`; nothing is ever looked up for a guest.
        builder.allow_ip_name_lookup(!self.names.is_empty());
        // A file operation must not block the executor past the deadline: it goes to the blocking pool.
        builder.allow_blocking_current_thread(false);
        for (dir, path) in &self.dirs {
            let access = if dir.write { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
            let opened = builder.preopened_dir(path, &dir.guest, access);
            opened.map_err(|e| io::Error::other(format!("folder {}: {e}", path.display())))?;
        }
        let (addresses, events) = (self.addresses.clone(), events.clone());
        builder.socket_addr_check(move |address, used| {
            let granted = may_use(&addresses, address, used);
            if !granted {
                events.refused(&refusal::address(canonical(address), used));
            }
            Box::pin(async move { granted })
        });
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
pub(crate) fn descriptors_are_short() -> bool {
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
