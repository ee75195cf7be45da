//! WASI as wasmtime has it, but for the few functions that a hostile guest could use against the host.
//!
//! A linker comes in; it goes out with all of WASI p2, these functions replaced. They open no FIFO or device, list no
//! huge folder, leave the host its descriptors, look no name up, and tell of what was refused. Everything else they hand
//! on.

use crate::state::State;
use crate::wasi::descriptors_are_short;
use crate::{listing, refusal};
use wasmtime::component::{Linker, Resource};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, DirectoryEntryStream, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{Host as _, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{self, IpAddressFamily, Network};
use wasmtime_wasi::p2::bindings::sockets::tcp_create_socket::Host as _;
use wasmtime_wasi::p2::{FsResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::WasiSocketsView;

/// Adds WASI to a linker.
pub(crate) fn link(linker: &mut Linker<State>) -> Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    let mut preopens = linker.instance("wasi:filesystem/preopens@0.2.12")?;
    preopens.func_wrap("get-directories", directories)?;
    let mut types = linker.instance("wasi:filesystem/types@0.2.12")?;
    types.func_wrap_async("[method]descriptor.open-at", |store, args| Box::new(open_at(store, args)))?;
    types.func_wrap_async("[method]descriptor.read-directory", |store, args| {
        Box::new(read_directory(store, args))
    })?;
    for (name, change) in [
        ("[method]descriptor.create-directory-at", Change::CreateFolder),
        ("[method]descriptor.remove-directory-at", Change::RemoveFolder),
        ("[method]descriptor.unlink-file-at", Change::RemoveFile),
    ] {
        types.func_wrap_async(name, move |store, args| Box::new(change_at(store, args, change)))?;
    }
    linker.instance("wasi:sockets/tcp-create-socket@0.2.12")?.func_wrap("create-tcp-socket", tcp_socket)?;
    linker.instance("wasi:sockets/udp-create-socket@0.2.12")?.func_wrap("create-udp-socket", udp_socket)?;
    linker.instance("wasi:sockets/ip-name-lookup@0.2.12")?.func_wrap("resolve-addresses", resolve)?;
    linker.allow_shadowing(false);
    Ok(())
}

type Directories = Vec<(Resource<Descriptor>, String)>;

/// The granted folders, with a note of which is which.
fn directories(mut store: StoreContextMut<'_, State>, (): ()) -> Result<(Directories,)> {
    let state = store.data_mut();
    let directories = state.filesystem().get_directories()?;
    state.folderless = directories.is_empty();
    for (index, (folder, _)) in directories.iter().enumerate() {
        state.folders.insert(folder.rep(), index);
    }
    Ok((directories,))
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
    let grant = store.data().folders.get(&folder.rep()).copied();
    let mut files = store.data_mut().filesystem();
    let same_folder = Resource::new_borrow(folder.rep());
    // An error here is the same, or a better one, when opening.
    if let Ok(found) = files.stat_at(same_folder, follow, path.clone()).await
        && !matches!(found.type_, DescriptorType::RegularFile | DescriptorType::Directory)
    {
        store.data().refused(&refusal::special(&path));
        return Ok((Err(ErrorCode::NotPermitted),));
    }
    let opened: FsResult<_> = files.open_at(folder, follow, path.clone(), how, flags).await;
    match opened {
        Ok(descriptor) => {
            if let Some(grant) = grant {
                store.data_mut().folders.insert(descriptor.rep(), grant);
            }
            Ok((Ok(descriptor),))
        }
        Err(error) => {
            let changes = how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
                || flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY);
            let code = error.downcast()?;
            store.data().path_refused(grant, &path, changes, code);
            Ok((Err(code),))
        }
    }
}

type Listed = std::result::Result<Resource<DirectoryEntryStream>, ErrorCode>;

/// Lists folders of a bounded size: wasmtime holds all of the names until the guest has taken them.
async fn read_directory(
    mut store: StoreContextMut<'_, State>,
    (folder,): (Resource<Descriptor>,),
) -> Result<(Listed,)> {
    let mut files = store.data_mut().filesystem();
    // What is no folder gets its error below.
    if let Descriptor::Dir(dir) = files.table.get(&folder)? {
        let entries = dir.dir.clone();
        if matches!(listing::is_bounded(entries).await, Ok(false)) {
            store.data().refused(&refusal::listing());
            return Ok((Err(ErrorCode::InsufficientMemory),));
        }
        files = store.data_mut().filesystem();
    }
    match files.read_directory(folder).await {
        Ok(entries) => Ok((Ok(entries),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

/// What is done to an entry of a folder.
#[derive(Clone, Copy)]
enum Change {
    CreateFolder,
    RemoveFolder,
    RemoveFile,
}

type Changed = std::result::Result<(), ErrorCode>;

async fn change_at(
    mut store: StoreContextMut<'_, State>,
    (folder, path): (Resource<Descriptor>, String),
    change: Change,
) -> Result<(Changed,)> {
    let grant = store.data().folders.get(&folder.rep()).copied();
    let mut files = store.data_mut().filesystem();
    let done: FsResult<()> = match change {
        Change::CreateFolder => files.create_directory_at(folder, path.clone()).await,
        Change::RemoveFolder => files.remove_directory_at(folder, path.clone()).await,
        Change::RemoveFile => files.unlink_file_at(folder, path.clone()).await,
    };
    let Err(error) = done else { return Ok((Ok(()),)) };
    let code = error.downcast()?;
    store.data().path_refused(grant, &path, true, code);
    Ok((Err(code),))
}

impl State {
    fn refused(&self, text: &str) {
        self.bolt.events.refused(text);
    }

    /// Tells of a path that could not be used, if it was for want of a grant.
    fn path_refused(&self, grant: Option<usize>, path: &str, changes: bool, code: ErrorCode) {
        let Some(dir) = grant.and_then(|grant| self.bolt.grants.dir(grant)) else { return };
        if code != ErrorCode::NotPermitted && code != ErrorCode::ReadOnly {
            return;
        }
        if changes && !dir.write {
            self.refused(&refusal::change(dir, path));
        } else {
            self.refused(&refusal::outside(dir, path));
        }
    }
}

type Socket = std::result::Result<Resource<TcpSocket>, network::ErrorCode>;

/// As wasmtime's, unless the process is short of descriptors.
fn tcp_socket(mut store: StoreContextMut<'_, State>, (family,): (IpAddressFamily,)) -> Result<(Socket,)> {
    if descriptors_are_short() {
        return Ok((Err(network::ErrorCode::NewSocketLimit),));
    }
    store.data_mut().networked = true;
    match store.data_mut().sockets().create_tcp_socket(family) {
        Ok(socket) => Ok((Ok(socket),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

type Datagrams = std::result::Result<Resource<UdpSocket>, network::ErrorCode>;

fn udp_socket(mut store: StoreContextMut<'_, State>, (_,): (IpAddressFamily,)) -> Result<(Datagrams,)> {
    store.data_mut().networked = true;
    store.data().refused(&refusal::udp());
    Ok((Err(network::ErrorCode::AccessDenied),))
}

type Resolved = std::result::Result<Resource<ResolveAddressStream>, network::ErrorCode>;

/// Answers a granted name with the address that it had at the start. What is an address already is its own answer.
fn resolve(
    mut store: StoreContextMut<'_, State>,
    (network, name): (Resource<Network>, String),
) -> Result<(Resolved,)> {
    let state = store.data_mut();
    state.networked = true;
    let address = state.bolt.grants.address_of(&name).or_else(|| name.parse().ok());
    let Some(address) = address else {
        state.refused(&refusal::name(&name));
        return Ok((Err(network::ErrorCode::PermanentResolverFailure),));
    };
    match state.sockets().resolve_addresses(network, address.to_string()) {
        Ok(stream) => Ok((Ok(stream),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}
