//! What is said of a use that is not granted: what it was, and which line of `allow` would grant it.
//!
//! An address, a name or a path comes in; one text for a person goes out. What a guest wrote is cleaned and cut. A use
//! that nothing grants says so, so that nobody looks for a line that does not exist.

use crate::text::clean_to;
use anchorbolt_core::manifest::Dir;
use std::net::SocketAddr;
use wasmtime_wasi::sockets::SocketAddrUse;

/// The longest name or path of a guest that is shown.
const SHOWN_MAX: usize = 200;

/// A use of a socket address.
pub(crate) fn address(address: SocketAddr, used: SocketAddrUse) -> String {
    match used {
        SocketAddrUse::TcpConnect => {
            format!(
                "a connect to {address} was refused; `allow = {{ net = [\"{address}\"] }}` would grant it"
            )
        }
        SocketAddrUse::TcpBind | SocketAddrUse::TcpListen | SocketAddrUse::TcpAccept => {
            format!("listening at {address} was refused; nothing grants it, plugins only connect")
        }
        _ => udp(),
    }
}

/// A socket for datagrams.
pub(crate) fn udp() -> String {
    "a UDP socket was refused; nothing grants it, plugins only have TCP".to_owned()
}

/// A look-up of a name.
pub(crate) fn name(name: &str) -> String {
    let name = clean_to(name, SHOWN_MAX);
    format!(
        "the name {name:?} was not looked up; `allow = {{ net = [\"{name}:PORT\"] }}` would grant it with its port"
    )
}

/// A change below a folder that is granted for reading.
pub(crate) fn change(dir: &Dir, path: &str) -> String {
    let Dir { host, guest, .. } = dir;
    let path = clean_to(path, SHOWN_MAX);
    format!(
        "a change of {path:?} in {guest} was refused; `allow = {{ dirs = [{{ host = {host:?}, guest = {guest:?}, \
         access = \"read-write\" }}] }}` would grant it"
    )
}

/// A path that leads out of its folder.
pub(crate) fn outside(dir: &Dir, path: &str) -> String {
    let path = clean_to(path, SHOWN_MAX);
    format!(
        "{path:?} leads out of {}, which was refused; nothing but a grant of its own folder grants it",
        dir.guest
    )
}

/// A file that is neither a file nor a folder.
pub(crate) fn special(path: &str) -> String {
    let path = clean_to(path, SHOWN_MAX);
    format!("opening {path:?} was refused; nothing grants FIFOs, sockets and devices")
}

/// A folder that is too large, or one too many of large ones.
pub(crate) fn listing() -> String {
    let most = crate::listing::ENTRIES_MAX;
    format!(
        "a folder was not listed: with it the plugin would have more than {most} entries in listings that it has not closed, \
         and nothing grants that; use subfolders, and list one after the other"
    )
}

/// A look for files where no folder is granted.
pub(crate) fn no_folder() -> String {
    "the plugin looked for a file or folder and has none; \
     `allow = { dirs = [{ host = \"data\", guest = \"/data\" }] }` would grant one"
        .to_owned()
}
