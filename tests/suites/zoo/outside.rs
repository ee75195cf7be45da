//! Guests that reach for what is outside: files, folders, addresses.
//!
//! In: their tuples. Out: errors in the guest, and a word in the report. Invariant: the host has its descriptors and its
//! threads afterwards as before.

use super::beast;
use anchorbolt_core::failure::Class;

const ON: &str = r#"config = { on = "bad" }"#;
const DATA: &str = r#"allow = { dirs = [{ host = "data", guest = "/data" }] }"#;

#[test]
fn one_opens_files_until_none_is_left() {
    beast("opens_files", format!("{ON}\n{DATA}")).loses_the_bad(Class::Protocol, "more than 64 files");
}

#[test]
fn one_opens_files_that_nobody_granted() {
    let mut beast = beast("opens_files", ON);
    beast.told = "`allow = { dirs = [{ host = \"data\", guest = \"/data\" }] }` would grant one";
    beast.loses_the_bad(Class::Failed, "");
}

#[test]
fn one_reads_fifos_and_dies() {
    let mut beast = beast("reads_fifos", format!("{ON}\n{DATA}"));
    beast.told = "opening \"fifo\" was refused; nothing grants FIFOs";
    beast.loses_the_bad(Class::Trap, "read the FIFO: Err(");
}

#[test]
fn one_lists_a_huge_folder() {
    let mut beast = beast(
        "lists_folder",
        format!("config = {{ on = \"bad\", entries = 20001 }}\nlimits = {{ deadline = \"10s\" }}\n{DATA}"),
    );
    (beast.files, beast.bad) = (20_000, 1);
    beast.completes();
}

#[test]
fn one_uses_the_network() {
    let uses = [
        ("listen", "0.0.0.0:0", "plugins only connect"),
        ("connect", "127.0.0.1:9", "`allow = { net = [\"127.0.0.1:9\"] }` would grant it"),
        ("connect", "db.example.org:5432", "`allow = { net = [\"db.example.org:PORT\"] }` would grant it"),
        ("udp", "0.0.0.0:0", "plugins only have TCP"),
    ];
    for (how, to, told) in uses {
        println!("{how} {to}");
        let bolt = format!("config = {{ on = \"bad\", how = \"{how}\", to = \"{to}\" }}");
        let mut beast = beast("uses_network", bolt);
        beast.told = told;
        beast.loses_the_bad(Class::Rejected, "no network: ");
    }
}
