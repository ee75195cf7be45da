//! Makes the instances of one bolt, as the runtime asks for them.
//!
//! A plugin and a bolt's settings come in; the grants are checked and the plugin is asked what it is, once.
//! Instances go out. All of them share the caps on logs and metrics.

use crate::events::{Events, GuestEvents};
use crate::plugin::Plugin;
use crate::settings::Settings;
use crate::state::Bolt;
use crate::wasi::{GrantError, Grants};
use anchorbolt_core::port::{CallError, Declaration, Instance, InstanceFactory};
use std::sync::Arc;

/// The factory of one bolt.
///
/// Its instances are for threads of their own: a call that waits blocks its thread, so it must not be made on
/// a worker of an embedder's async runtime.
pub struct Factory {
    plugin: Plugin,
    bolt: Arc<Bolt>,
    declaration: Declaration,
}

impl Factory {
    /// A factory for a plugin that was asked with [`Plugin::declare`] what it is. Resolves the grants.
    pub fn new(
        plugin: Plugin,
        declaration: Declaration,
        settings: Settings,
        events: Arc<dyn GuestEvents>,
    ) -> Result<Factory, GrantError> {
        let grants = Grants::resolve(&settings)?;
        let events = Arc::new(Events::new(events, &settings.limits));
        Ok(Factory { plugin, bolt: Arc::new(Bolt { settings, grants, events }), declaration })
    }
}

impl InstanceFactory for Factory {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn create(&self) -> Result<Box<dyn Instance>, CallError> {
        Ok(Box::new(self.plugin.instantiate(self.bolt.clone())?))
    }

    fn describes(&self) -> bool {
        self.plugin.imports("collector", "describe")
    }

    fn sha256(&self) -> Option<&str> {
        Some(self.plugin.sha256())
    }
}
