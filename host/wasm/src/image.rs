//! A plugin's file: read once, and refused with a text that says what it is instead.
//!
//! A path comes in; the bytes of something that is at least the whole of a component go out. Later steps
//! never see an empty file, a core module or a cut one, so they need no words for them.

use crate::compile::CompileError;
use crate::footprint::INSTANCE_BYTES_MAX;
use crate::text::size;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest plugin that is read. Python's runtime with libraries is about 40 MiB.
pub const PLUGIN_BYTES_MAX: u64 = 128 << 20;

/// Why a file is not a bolt for this host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error("can't read the file: {0}")]
    Read(String),
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// More than [`PLUGIN_BYTES_MAX`].
    #[error("the file is larger than {}", size(PLUGIN_BYTES_MAX))]
    TooLarge,
    /// No WebAssembly at all.
    #[error("the file is not WebAssembly: it begins with {0}")]
    NotWasm(String),
    /// A module where a component is needed.
    #[error("the file is a core module, not a component: build it for the target wasm32-wasip2")]
    CoreModule,
    /// The end is missing.
    #[error("the file is truncated: it has {has} bytes, and a section reaches to byte {needs}")]
    Truncated {
        /// How long the file is.
        has: u64,
        /// How long it would have to be at least.
        needs: u64,
    },
    /// Not a valid component.
    #[error("the file is not a valid component: {0}")]
    Invalid(String),
    /// It could not be compiled, though it may be valid.
    #[error(transparent)]
    Compile(CompileError),
    /// A component, but no bolt.
    #[error("the component is not a bolt: {0}")]
    NotABolt(String),
    /// A custom grouping, where a bolt is needed.
    #[error("the component is a custom grouping, not a bolt")]
    IsGrouping,
    /// A bolt, where a custom grouping is needed.
    #[error("the component is a bolt, not a grouping")]
    IsBolt,
    /// A component, but no custom grouping.
    #[error("the component is not a grouping: {0}")]
    NotAGrouping(String),
    /// Built against another version of the contract.
    #[error(
        "the plugin is built for anchorbolt:bolt@{wanted} and this host offers {offered}: {missing}; build it with \
         version {offered} of the SDK"
    )]
    Version {
        /// The plugin's version.
        wanted: String,
        /// The host's version.
        offered: String,
        /// The function that one of the two lacks, in a sentence.
        missing: String,
    },
    /// It imports something that this host does not have.
    #[error("the plugin needs the interface {0}, which this host does not have")]
    MissingInterface(String),
    /// More memories or tables than any instance may have.
    #[error("the component declares {count} {what}, at most {max} are allowed")]
    TooMany {
        /// `memories` or `tables`.
        what: &'static str,
        /// How many it has.
        count: u64,
        /// How many it may have.
        max: usize,
    },
    /// An instance would take so many bytes beside its memories and tables.
    #[error(
        "the functions, globals and element segments of an instance take {}, at most {} are allowed",
        size(*.0), size(INSTANCE_BYTES_MAX)
    )]
    TooWide(u64),
}

/// The bytes of a file that may be a component.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let failed = |e: io::Error| LoadError::Read(e.to_string());
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    let found = std::fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(LoadError::Read("it is not a regular file".into()));
    }
    let mut bytes = vec![];
    let file = File::open(path).map_err(failed)?;
    file.take(PLUGIN_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    check(&bytes)?;
    Ok(bytes)
}

const MAGIC: &[u8; 4] = b"\0asm";
const MODULE: [u8; 4] = [1, 0, 0, 0];
const COMPONENT: [u8; 4] = [0x0d, 0, 1, 0];

/// Refuses what can't be a whole component.
pub(crate) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.is_empty() {
        return Err(LoadError::Empty);
    }
    if bytes.len() as u64 > PLUGIN_BYTES_MAX {
        return Err(LoadError::TooLarge);
    }
    let has = bytes.len() as u64;
    if MAGIC.starts_with(&bytes[..bytes.len().min(4)]) && bytes.len() < 8 {
        return Err(LoadError::Truncated { has, needs: 8 });
    }
    if !bytes.starts_with(MAGIC) {
        return Err(LoadError::NotWasm(beginning(bytes)));
    }
    match bytes.get(4..8) {
        Some(layer) if layer == COMPONENT => whole_sections(bytes),
        Some(layer) if layer == MODULE => Err(LoadError::CoreModule),
        _ => Err(LoadError::Invalid("an unknown version of the binary format".into())),
    }
}

/// Walks the outer sections: each must lie within the file.
fn whole_sections(bytes: &[u8]) -> Result<(), LoadError> {
    let has = bytes.len() as u64;
    let mut at = 8;
    while at < bytes.len() {
        let Some((length, header)) = leb128(&bytes[at + 1..]) else {
            return Err(LoadError::Truncated { has, needs: has + 1 });
        };
        let end = (at + 1 + header) as u64 + length;
        if end > has {
            return Err(LoadError::Truncated { has, needs: end });
        }
        at = usize::try_from(end).unwrap_or(usize::MAX);
    }
    Ok(())
}

/// An unsigned number and how many bytes it took.
fn leb128(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

fn beginning(bytes: &[u8]) -> String {
    if bytes.starts_with(b"\x7fELF") {
        return "an ELF header (a program, or compiled code of another tool)".into();
    }
    let start = &bytes[..bytes.len().min(16)];
    match std::str::from_utf8(start) {
        Ok(text) => format!("{:?}", crate::text::clean(text)),
        Err(_) => format!("bytes {start:02x?}"),
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_file_has_its_own_text() {
        assert_eq!(check(b""), Err(LoadError::Empty));
        assert_eq!(check(b"\0as"), Err(LoadError::Truncated { has: 3, needs: 8 }));
        assert_eq!(check(b"\0asm\x01\0\0\0"), Err(LoadError::CoreModule));
        assert!(matches!(check(b"(component)"), Err(LoadError::NotWasm(t)) if t.contains("(component)")));
        assert!(matches!(check(b"\x7fELF...."), Err(LoadError::NotWasm(t)) if t.contains("ELF")));
        assert!(matches!(check(b"\0asm\x09\0\0\0"), Err(LoadError::Invalid(_))));
        assert_eq!(check(b"\0asm\x0d\0\x01\0"), Ok(()));
        let cut = b"\0asm\x0d\0\x01\0\x01\x20rest";
        assert_eq!(check(cut), Err(LoadError::Truncated { has: 14, needs: 42 }));
        let cut = b"\0asm\x0d\0\x01\0\x01\xff";
        assert_eq!(check(cut), Err(LoadError::Truncated { has: 10, needs: 11 }));
    }
}
