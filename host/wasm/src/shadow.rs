//! WASI as wasmtime has it, but for the few functions that a hostile guest could use against the host.
//!
//! A linker comes in; it goes out with all of WASI p2, these functions replaced. They open no FIFO or device, list no
//! huge folder, leave the host its descriptors, look no name up, and tell of what was refused. Everything else they hand
//! on.

use crate::opening::{self, Refused, Wanted};
use crate::state::State;
use crate::wasi::descriptors_are_short;
use crate::{listing, refusal};
use std::fs::FileTimes;
use std::time::{Duration, SystemTime};
use wasmtime::component::{Linker, Resource};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DirectoryEntryStream, ErrorCode, HostDescriptor, NewTimestamp, OpenFlags, PathFlags,
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
    types.func_wrap_async("[method]descriptor.set-times-at", |store, args| {
        Box::new(set_times_at(store, args))
    })?;
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

/// Opens as [`opening`] does.
async fn open_at(mut store: StoreContextMut<'_, State>, args: OpenArgs) -> Result<(Opened,)> {
    let (folder, follow, path, how, flags) = args;
    if descriptors_are_short() {
        return Ok((Err(ErrorCode::InsufficientMemory),));
    }
    let grant = store.data().folders.get(&folder.rep()).copied();
    let Descriptor::Dir(dir) = store.data_mut().filesystem().table.get(&folder)?.clone() else {
        return Ok((Err(ErrorCode::NotDirectory),));
    };
    let wanted = Wanted { path: path.clone(), follow, how, flags };
    let opened = match opening::file_or_folder(&dir, wanted).await {
        Ok(opened) => opened,
        Err(refused) => {
            let changes = how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
                || flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY);
            return Ok((Err(store.data().path_refused(grant, &path, changes, refused)),));
        }
    };
    let state = store.data_mut();
    let descriptor = state.filesystem().table.push(opened)?;
    if let Some(grant) = grant {
        state.folders.insert(descriptor.rep(), grant);
    }
    Ok((Ok(descriptor),))
}

type TimesArgs = (Resource<Descriptor>, PathFlags, String, NewTimestamp, NewTimestamp);

/// Sets times; where links are followed, as [`opening`] does.
async fn set_times_at(mut store: StoreContextMut<'_, State>, args: TimesArgs) -> Result<(Changed,)> {
    let (folder, follow, path, accessed, modified) = args;
    let grant = store.data().folders.get(&folder.rep()).copied();
    let mut files = store.data_mut().filesystem();
    let done = if !follow.contains(PathFlags::SYMLINK_FOLLOW) {
        let done = files.set_times_at(folder, follow, path.clone(), accessed, modified).await;
        match done {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::Code(error.downcast()?)),
        }
    } else {
        match (files.table.get(&folder)?.clone(), times(accessed, modified)) {
            (Descriptor::Dir(dir), Ok(times)) => opening::set_times(&dir, path.clone(), times).await,
            (Descriptor::Dir(_), Err(code)) => Err(Refused::Code(code)),
            (Descriptor::File(_), _) => Err(Refused::Code(ErrorCode::NotDirectory)),
        }
    };
    Ok((done.map_err(|refused| store.data().path_refused(grant, &path, true, refused)),))
}

fn times(accessed: NewTimestamp, modified: NewTimestamp) -> std::result::Result<FileTimes, ErrorCode> {
    let moment = |new| match new {
        NewTimestamp::NoChange => Ok(None),
        NewTimestamp::Now => Ok(Some(SystemTime::now())),
        NewTimestamp::Timestamp(at) if at.nanoseconds < 1_000_000_000 => {
            let since = Duration::new(at.seconds, at.nanoseconds);
            SystemTime::UNIX_EPOCH.checked_add(since).map(Some).ok_or(ErrorCode::Overflow)
        }
        NewTimestamp::Timestamp(_) => Err(ErrorCode::Invalid),
    };
    let mut times = FileTimes::new();
    if let Some(at) = moment(accessed)? {
        times = times.set_accessed(at);
    }
    if let Some(at) = moment(modified)? {
        times = times.set_modified(at);
    }
    Ok(times)
}

type Listed = std::result::Result<Resource<DirectoryEntryStream>, ErrorCode>;

/// Lists folders while all listings that are open have a bounded size: wasmtime holds all of the names until the guest has taken them.
async fn read_directory(
    mut store: StoreContextMut<'_, State>,
    (folder,): (Resource<Descriptor>,),
) -> Result<(Listed,)> {
    let Descriptor::Dir(dir) = store.data_mut().filesystem().table.get(&folder)?.clone() else {
        return Ok((Err(ErrorCode::NotDirectory),));
    };
    let room = store.data_mut().listings_room();
    let entries = match listing::count(dir.dir, room).await {
        Ok(Some(entries)) => entries,
        Ok(None) => {
            store.data().refused(&refusal::listing());
            return Ok((Err(ErrorCode::InsufficientMemory),));
        }
        Err(error) => return Ok((Err(error.into()),)),
    };
    let listed = store.data_mut().filesystem().read_directory(folder).await;
    match listed {
        Ok(listing) => {
            store.data_mut().listings.add(listing.rep(), entries);
            Ok((Ok(listing),))
        }
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
    let refused = Refused::Code(error.downcast()?);
    Ok((Err(store.data().path_refused(grant, &path, true, refused)),))
}

impl State {
    /// How many entries a further listing may have.
    fn listings_room(&mut self) -> usize {
        let mut listings = std::mem::take(&mut self.listings);
        let table = self.filesystem().table;
        let room = listings.room(|rep| table.get(&Resource::<DirectoryEntryStream>::new_borrow(rep)).is_ok());
        self.listings = listings;
        room
    }

    fn refused(&self, text: &str) {
        self.bolt.events.refused(text);
    }

    /// What the guest is told of a path that could not be used. For want of a grant, the report tells of it, too.
    fn path_refused(&self, grant: Option<usize>, path: &str, changes: bool, why: Refused) -> ErrorCode {
        let code = match why {
            Refused::Code(code) => code,
            Refused::Special => {
                self.refused(&refusal::special(path));
                return ErrorCode::NotPermitted;
            }
        };
        let dir = grant.and_then(|grant| self.bolt.grants.dir(grant));
        if let (Some(dir), ErrorCode::NotPermitted | ErrorCode::ReadOnly) = (dir, code) {
            let text =
                if changes && !dir.write { refusal::change(dir, path) } else { refusal::outside(dir, path) };
            self.refused(&text);
        }
        code
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
