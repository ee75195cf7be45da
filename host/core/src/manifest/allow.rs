//! A bolt's `allow`: the variables, folders and addresses that its plugin may use.

use super::codes;
use super::diagnostic::{Diagnostic, Span};
use super::model::{Allow, Dir};
use super::names::quote;
use super::reader::{Field, Parsed, Reader, keep};
use super::values::{path, string, text, word};
use std::collections::BTreeMap;

const ENV_EXAMPLE: &str = "write `env = { LOG = \"info\", TOKEN = \"${TOKEN}\" }`";
const DIRS_EXAMPLE: &str = "write `dirs = [{ host = \"data\", guest = \"/data\", access = \"read\" }]`";
const NET_EXAMPLE: &str = "write `net = [\"db.example.org:5432\"]`";

/// Reads the table.
pub(super) fn allow(field: Option<Field<'_>>, out: &mut Vec<Diagnostic>) -> Allow {
    let mut allow = Allow::default();
    let help = "write `allow = { net = [\"db.example.org:5432\"] }`";
    let Some(mut t) = field.and_then(|field| Reader::open(field, help, out)) else {
        return allow;
    };
    if let Some(field) = t.field("env") {
        allow.env = env(&field, t.out);
    }
    if let Some(field) = t.field("dirs") {
        allow.dirs = dirs(&field, t.out);
    }
    if let Some(field) = t.field("net") {
        allow.net = net(&field, t.out);
    }
    t.finish();
    allow
}

fn env(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for (entry, field) in keep(field.entries(ENV_EXAMPLE), out).unwrap_or_default() {
        if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
            let message = format!("{} can't be the name of an environment variable", quote(&entry.key));
            let mistake = Diagnostic::error(codes::BAD_NAME, entry.key_span, message);
            out.push(mistake.help("a name is not empty and has no `=` and no NUL in it"));
        } else if let Some(value) = keep(string(&field), out) {
            variables.push((entry.key.clone(), value));
        }
    }
    variables
}

fn dirs(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Vec<Dir> {
    let mut dirs = Vec::new();
    let mut seen = BTreeMap::new();
    for item in keep(field.items(DIRS_EXAMPLE), out).unwrap_or_default() {
        let Some(mut t) = Reader::open(item, DIRS_EXAMPLE, out) else {
            continue;
        };
        let host = t.require("host", "host = \"data\"", path);
        let guest = t.require("guest", "guest = \"/data\"", path);
        let write = t.read("access", word(&[("read", false), ("read-write", true)])).unwrap_or(false);
        if let (Some(guest), Some(field)) = (&guest, t.peek("guest")) {
            repeated(&mut seen, guest, &field, t.out);
        }
        t.finish();
        if let (Some(host), Some(guest)) = (host, guest) {
            dirs.push(Dir { host, guest, write });
        }
    }
    dirs
}

fn net(field: &Field<'_>, out: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut addresses = Vec::new();
    let mut seen = BTreeMap::new();
    for item in keep(field.items(NET_EXAMPLE), out).unwrap_or_default() {
        if let Some(address) = keep(address(&item), out) {
            repeated(&mut seen, &address, &item, out);
            addresses.push(address);
        }
    }
    addresses
}

fn address(field: &Field<'_>) -> Parsed<String> {
    let address = text(field)?;
    let bracketed = |host: &str| {
        host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).is_some_and(|h| h.contains(':'))
    };
    let plain = |host: &str| {
        !host.is_empty()
            && !host.contains([':', '/', '[', ']', '@', '*'])
            && !host.contains(char::is_whitespace)
    };
    let port =
        |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|n| n > 0);
    match address.rsplit_once(':') {
        Some((host, number)) if (plain(host) || bracketed(host)) && port(number) => Ok(address),
        _ => {
            let message = format!("{} is not an address of the form host:port", quote(&address));
            let help = "write a host and a port of 1 to 65535, without scheme or path: \"db.example.org:5432\", \"[::1]:6379\"";
            Err(Some(Box::new(field.error(codes::BAD_ADDRESS, message).help(help))))
        }
    }
}

fn repeated(seen: &mut BTreeMap<String, Span>, value: &str, field: &Field<'_>, out: &mut Vec<Diagnostic>) {
    if let Some(first) = seen.insert(value.to_owned(), field.node.span) {
        let mistake = field.error(codes::REPEATED, format!("{} is allowed twice", quote(value)));
        out.push(mistake.help("remove one of the two").related(first, "the first"));
    }
}
