//! The one `unsafe` of the host: making machine code of this crate's own compiler runnable.
//!
//! [`Code`] comes in, a component goes out. The invariant that makes it sound: a [`Code`] is made only of
//! what a [`crate::Compiler`] returned in this process, or of a cache entry that passed every check of
//! [`crate::cache`]. Wasmtime itself accepts most damaged code, so nothing else may reach it.

#![allow(unsafe_code, reason = "deserialising code is unsafe; this module is the only place")]

use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// Machine code that may be run.
pub(crate) struct Code(Vec<u8>);

impl Code {
    /// What the compiler returned just now.
    pub(crate) fn from_compiler(bytes: Vec<u8>) -> Code {
        Code(bytes)
    }

    /// What the cache found whole: in a private file of this user, under this key, with the right hash.
    pub(crate) fn from_checked_cache(bytes: Vec<u8>) -> Code {
        Code(bytes)
    }

    /// The bytes, to be stored.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The component. Fails when the code was made for other settings or another version.
    pub(crate) fn load(&self, engine: &Engine) -> Result<Component> {
        // SAFETY: `deserialize` asks for bytes that wasmtime's `serialize` or `precompile` made and that
        // nobody changed. Both constructors promise that; the bytes are owned by this process, so they
        // can't change or be cut off while they are read, as a mapped file could.
        unsafe { Component::deserialize(engine, &self.0) }
    }
}
