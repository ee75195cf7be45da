//! A loaded plugin: a component that was checked, compiled and linked once, and can be asked what it is.
//!
//! A file comes in; declarations and fresh instances go out. What a plugin declares is taken as it is:
//! whether it fits a topology is for the plan to say.

use crate::bindings::{self, BoltPre};
use crate::contract::Surface;
use crate::engine::Engine;
use crate::events::{Events, Silent};
use crate::footprint;
use crate::image::{self, LoadError};
use crate::inspect::{Inspection, Kind};
use crate::instance::BoltGuest;
use crate::limits::{MEMORIES_MAX, TABLES_MAX};
use crate::settings::Settings;
use crate::state::{Bolt, State};
use crate::wasi::Grants;
use anchorbolt_core::port::{CallError, Declaration};
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::{Component, InstancePre};

/// A plugin that may be run. Cheap to clone.
#[derive(Clone)]
pub struct Plugin(Arc<Inner>);

struct Inner {
    engine: Engine,
    pre: BoltPre<State>,
    surface: Surface,
    sha256: String,
    bytes: u64,
}

impl Plugin {
    /// Reads, checks and compiles a plugin, or takes its code from the cache.
    pub fn load(engine: &Engine, path: &Path) -> Result<Plugin, LoadError> {
        Plugin::from_bytes(engine, &image::read(path)?)
    }

    /// As [`Plugin::load`], with the file's bytes.
    pub fn from_bytes(engine: &Engine, wasm: &[u8]) -> Result<Plugin, LoadError> {
        let Checked { linked, surface, sha256, bytes } = Checked::new(engine, wasm, Surface::check)?;
        let pre = BoltPre::new(linked).map_err(|e| LoadError::NotABolt(format!("{:#}", e)))?;
        Ok(Plugin(Arc::new(Inner { engine: engine.clone(), pre, surface, sha256, bytes })))
    }

    /// Whether it may call this function of the contract.
    pub(crate) fn imports(&self, interface: &str, function: &str) -> bool {
        self.0.surface.imports(interface, function)
    }

    /// sha256 of the file, in hex.
    pub fn sha256(&self) -> &str {
        &self.0.sha256
    }

    /// Asks the plugin what it is, on an instance that is dropped again. The limits hold, the grants do
    /// not: what a plugin is can't depend on the system.
    pub fn declare(&self, settings: &Settings) -> Result<Declaration, CallError> {
        let events = Arc::new(Events::new(Arc::new(Silent), &settings.limits));
        let bolt = Bolt { settings: settings.clone(), grants: Grants::none(), events };
        let mut guest = self.instantiate(Arc::new(bolt))?;
        let config = settings.config_json.as_str();
        let declared =
            guest.call("declare", 0, None, async |guest, store| guest.call_declare(store, config).await)?;
        Ok(bindings::declaration(declared))
    }

    /// What the file is and what the plugin says of itself.
    pub fn inspect(&self, settings: &Settings) -> Inspection {
        let what = Kind::Bolt(self.declare(settings));
        Inspection::new(&self.0.surface, self.0.bytes, &self.0.sha256, what)
    }

    pub(crate) fn instantiate(&self, bolt: Arc<Bolt>) -> Result<BoltGuest, CallError> {
        BoltGuest::new(&self.0.engine, &self.0.pre, bolt)
    }
}

/// A component that was checked, compiled and linked, of whatever world.
pub(crate) struct Checked {
    pub(crate) linked: InstancePre<State>,
    pub(crate) surface: Surface,
    /// In hex.
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
}

impl Checked {
    /// Checks these bytes; `is` says whether they are of the world that is wanted.
    pub(crate) fn new(
        engine: &Engine,
        wasm: &[u8],
        is: impl FnOnce(&Surface) -> Result<(), LoadError>,
    ) -> Result<Checked, LoadError> {
        image::check(wasm)?;
        let sha256 = image::sha256(wasm);
        let component = engine.component(wasm, &sha256)?;
        let surface = Surface::of(&component, engine.wasmtime());
        is(&surface)?;
        check_resources(&component, wasm)?;
        let linked = engine.linker().instantiate_pre(&component).map_err(|e| not_linked(&e))?;
        Ok(Checked { linked, surface, sha256: image::hex(&sha256), bytes: wasm.len() as u64 })
    }
}

/// Refuses what no instance could be made of, before one is tried.
fn check_resources(component: &Component, wasm: &[u8]) -> Result<(), LoadError> {
    let beside = footprint::of(wasm).map_err(|e| LoadError::Invalid(e.to_string()))?;
    if beside > footprint::INSTANCE_BYTES_MAX {
        return Err(LoadError::TooWide(beside));
    }
    let Some(needed) = component.resources_required() else { return Ok(()) };
    let checks = [("memories", needed.num_memories, MEMORIES_MAX), ("tables", needed.num_tables, TABLES_MAX)];
    for (what, count, max) in checks {
        if count as usize > max {
            return Err(LoadError::TooMany { what, count: count.into(), max });
        }
    }
    Ok(())
}

/// The interface that the linker missed, out of its error.
fn not_linked(error: &wasmtime::Error) -> LoadError {
    let text = error.to_string();
    match text.split('`').nth(1) {
        Some(name) => LoadError::MissingInterface(name.to_owned()),
        None => LoadError::Invalid(format!("{error:#}")),
    }
}
