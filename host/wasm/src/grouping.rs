//! Custom groupings: plugins of world `grouping`, behind the port of the core.
//!
//! A file and settings come in, instances go out, under the same engine, limits and deadline as bolts. They get no
//! grants: where a row goes can't depend on the system. What they answer is bounded here and judged by the core.

use crate::bindings::grouping::{Grouping, GroupingPre};
use crate::budget::choose_fuel;
use crate::contract::Surface;
use crate::engine::Engine;
use crate::events::{Events, GuestEvents};
use crate::image::{self, LoadError};
use crate::inspect::{Inspection, Kind};
use crate::instance::Guest;
use crate::plugin::Checked;
use crate::settings::Settings;
use crate::state::{Bolt, State};
use crate::wasi::Grants;
use anchorbolt_core::ids::TaskId;
use anchorbolt_core::port::{CallError, CustomGrouping, GroupingFactory};
use std::path::Path;
use std::sync::Arc;

/// A plugin that groups. Cheap to clone.
#[derive(Clone)]
pub struct GroupingPlugin(Arc<Inner>);

struct Inner {
    engine: Engine,
    pre: GroupingPre<State>,
    surface: Surface,
    sha256: String,
    bytes: u64,
}

impl GroupingPlugin {
    /// Reads, checks and compiles a plugin, or takes its code from the cache.
    pub fn load(engine: &Engine, path: &Path) -> Result<GroupingPlugin, LoadError> {
        GroupingPlugin::from_bytes(engine, &image::read(path)?)
    }

    /// As [`GroupingPlugin::load`], with the file's bytes.
    pub fn from_bytes(engine: &Engine, wasm: &[u8]) -> Result<GroupingPlugin, LoadError> {
        let Checked { linked, surface, sha256, bytes } = Checked::new(engine, wasm, Surface::check_grouping)?;
        let pre = GroupingPre::new(linked).map_err(|e| LoadError::NotAGrouping(format!("{e:#}")))?;
        Ok(GroupingPlugin(Arc::new(Inner { engine: engine.clone(), pre, surface, sha256, bytes })))
    }

    /// What the file is.
    pub fn inspect(&self) -> Inspection {
        Inspection::new(&self.0.surface, self.0.bytes, &self.0.sha256, Kind::Grouping)
    }
}

/// Makes the instances of the grouping of one edge. All share the caps on logs.
pub struct GroupingMaker {
    plugin: GroupingPlugin,
    bolt: Arc<Bolt>,
}

impl GroupingMaker {
    /// A maker under these settings, of which grants do not count.
    pub fn new(plugin: GroupingPlugin, settings: Settings, events: Arc<dyn GuestEvents>) -> GroupingMaker {
        let events = Arc::new(Events::new(events, &settings.limits));
        GroupingMaker { plugin, bolt: Arc::new(Bolt { settings, grants: Grants::none(), events }) }
    }
}

impl GroupingFactory for GroupingMaker {
    fn create(&self) -> Result<Box<dyn CustomGrouping>, CallError> {
        let Inner { engine, pre, .. } = &*self.plugin.0;
        let guest = Guest::new(engine, self.bolt.clone(), async |store| pre.instantiate_async(store).await)?;
        Ok(Box::new(GroupingGuest { guest, targets: 0 }))
    }
}

/// An instance of a grouping.
struct GroupingGuest {
    guest: Guest<Grouping>,
    /// How many tasks there are to choose from: a row can't go to more.
    targets: usize,
}

impl CustomGrouping for GroupingGuest {
    fn prepare(&mut self, fields: &[String], targets: &[TaskId], config: &str) -> Result<(), CallError> {
        self.targets = targets.len();
        self.guest.call("prepare", 0, None, async |grouping, store| {
            grouping.anchorbolt_bolt_grouping_guest().call_prepare(store, fields, targets, config).await
        })
    }

    fn choose(&mut self, offsets: &[u32], data: &[u8]) -> Result<Vec<Vec<TaskId>>, CallError> {
        let rows = offsets.len().saturating_sub(1);
        // The lists may all lie in one place of the guest's memory, so that does not bound them.
        self.guest.set_fuel(choose_fuel(rows, self.targets));
        self.guest.call("choose", rows, None, async |grouping, store| {
            grouping.anchorbolt_bolt_grouping_guest().call_choose(store, offsets, data).await
        })
    }
}
