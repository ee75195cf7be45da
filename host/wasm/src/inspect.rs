//! What `inspect` shows of a plugin.
//!
//! Comes from a loaded plugin; goes to the command line as plain data.

use crate::contract::{Item, Surface};
use anchorbolt_core::port::{CallError, Declaration};

/// A plugin as a person wants to see it.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Bytes of the file.
    pub bytes: u64,
    /// sha256 of the file, in hex.
    pub sha256: String,
    /// Interfaces it needs, with the functions of each that it uses.
    pub imports: Vec<(String, Vec<String>)>,
    /// Interfaces it has, with their functions.
    pub exports: Vec<(String, Vec<String>)>,
    /// Which of the contract's worlds it is of.
    pub kind: Kind,
}

/// What a plugin is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A bolt, and what it says of itself; an error when it could not be asked with this configuration.
    Bolt(Result<Declaration, CallError>),
    /// A custom grouping. What it makes of its configuration depends on the edge.
    Grouping,
}

impl Inspection {
    pub(crate) fn new(surface: &Surface, bytes: u64, sha256: &str, kind: Kind) -> Inspection {
        let list = |items: &[Item]| items.iter().map(|i| (i.name.clone(), i.functions.clone())).collect();
        let (imports, exports) = (list(&surface.imports), list(&surface.exports));
        Inspection { bytes, sha256: sha256.to_owned(), imports, exports, kind }
    }
}
