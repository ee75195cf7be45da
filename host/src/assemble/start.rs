//! From a loaded topology to one that runs.
//!
//! In: the plan, the plugins, how to run. Out: threads that run ([`Loaded::start`]), or the code of all components for
//! whoever launches them otherwise. Invariant: the data folder is taken before anything is made.

use super::{Loaded, RunOptions, StartError, groupings, plugins};
use crate::chaos::{self, StruckFactory};
use crate::durable::DataDir;
use crate::runtime::{
    Clock, How, Keep, LaunchError, NativeFactory, Parts, Running, SpoutFactory, SystemClock, launch,
};
use crate::sinks;
use crate::spouts;
use anchorbolt_core::manifest::Code;
use anchorbolt_core::plan::{BoltPlan, Plan, Role, SpoutPlan};
use anchorbolt_core::port::{Declaration, InstanceFactory, Spout, Waker};
use anchorbolt_wasm::{Factory, GuestEvents, Plugin, Settings};
use std::sync::Arc;

impl Loaded {
    /// Starts it.
    ///
    /// # Errors
    /// When there are mistakes, the data folder can't be used, a grant can't be given, a bolt does not prepare or a
    /// spout does not open.
    pub fn start(self, options: RunOptions) -> Result<Running, StartError> {
        let plan = self.plan.as_ref().ok_or(StartError::Mistakes)?;
        let keep = match &options.data_dir {
            None => None,
            Some(path) => {
                let folder = DataDir::open(path, false)?;
                folder.bind(&plan.topology.name)?;
                if options.reset {
                    folder.reset()?;
                }
                Some(Keep::open(folder, &plan.topology, options.reset)?)
            }
        };
        self.launch(options.how, keep, options.inactive, options.chaos)
    }

    /// Starts it with what a keeper was made of.
    pub(super) fn launch(
        self,
        how: How,
        keep: Option<Keep>,
        inactive: bool,
        chaos: Option<chaos::Plan>,
    ) -> Result<Running, StartError> {
        let output_closed = self.output_closed.clone();
        let (plan, mut parts) = self.into_parts(how, SystemClock::start())?;
        (parts.keep, parts.inactive) = (keep, inactive);
        if let Some(faults) = chaos {
            let table = chaos::Table::new(&faults, plan.components.iter().map(|c| c.name.clone()));
            for (name, bolt) in &mut parts.bolts {
                if let Some(dice) = table.dice(name) {
                    *bolt = Arc::new(StruckFactory::new(bolt.clone(), dice));
                }
            }
            parts.filter = Some(Arc::new(table));
        }
        let running = launch(plan, parts)?;
        let stopper = running.stopper();
        output_closed.tell(Waker::new(move || stopper.output_closed()));
        Ok(running)
    }

    /// The plan and the code of its components, for whoever launches them otherwise. Nothing outlives the process.
    ///
    /// # Errors
    /// When there are mistakes, or a grant can't be given.
    pub fn into_parts(mut self, how: How, clock: Arc<dyn Clock>) -> Result<(Plan, Parts), StartError> {
        let plan = self.plan.take().ok_or(StartError::Mistakes)?;
        let mut bolts = std::mem::take(&mut self.native_bolts);
        let mut spouts = std::mem::take(&mut self.native_spouts);
        for component in &plan.components {
            let name = &component.name;
            match &component.role {
                Role::Bolt(bolt) if !bolts.contains_key(name) => {
                    bolts.insert(name.clone(), self.factory(name, bolt)?);
                }
                Role::Spout(spout) if !spouts.contains_key(name) => {
                    spouts.insert(name.clone(), self.spout_factory(spout));
                }
                _ => {}
            }
        }
        let format = &time::format_description::well_known::Rfc3339;
        let started = time::OffsetDateTime::now_utc().replace_nanosecond(0).ok();
        let started = started.and_then(|t| t.format(format).ok()).unwrap_or_default();
        let errors = self.errors.clone();
        let groupings = self.groupings.factories(&plan, &self.base, groupings::log(&errors));
        Ok((plan, Parts { bolts, spouts, groupings, started, errors, ..Parts::new(how, clock) }))
    }

    /// Another spout in the place of one of the topology's, with the same streams; made for each task's index.
    pub fn replace_spout(&mut self, name: &str, make: impl Fn(u32) -> Box<dyn Spout> + Send + 'static) {
        self.native_spouts.insert(name.to_owned(), Box::new(make));
    }

    /// Another bolt in the place of one of the topology's, with the same streams.
    pub fn replace_bolt(&mut self, name: &str, bolt: Arc<dyn InstanceFactory>) {
        self.native_bolts.insert(name.to_owned(), bolt);
    }

    pub(super) fn spout_factory(&self, spout: &SpoutPlan) -> SpoutFactory {
        let (kind, base, bytes) = (spout.kind.clone(), self.base.clone(), spout.tuple_bytes_max);
        Box::new(move |_| spouts::open(&kind, &base, bytes))
    }

    fn factory(&self, name: &str, bolt: &BoltPlan) -> Result<Arc<dyn InstanceFactory>, StartError> {
        let (kind, plugin) = match &bolt.code {
            Code::Native(kind) => (Some(kind.clone()), None),
            Code::Plugin { .. } => (None, self.plugins.get(name)),
        };
        if let Some(kind) = kind {
            let (base, closed) = (self.base.clone(), self.output_closed.clone());
            let make = move || sinks::open(&kind, &base, &closed);
            return Ok(Arc::new(NativeFactory::new(Declaration::default(), make)));
        }
        let (plugin, declaration) = plugin.cloned().ok_or_else(|| LaunchError::Missing(name.to_owned()))?;
        let events = Arc::new(plugins::GuestLog { component: name.to_owned(), errors: self.errors.clone() });
        Ok(Arc::new(self.guests(name, bolt, plugin, declaration, events)?))
    }

    /// What makes instances of a plugin, under the limits and grants of the manifest.
    pub(super) fn guests(
        &self,
        name: &str,
        bolt: &BoltPlan,
        plugin: Plugin,
        declaration: Declaration,
        events: Arc<dyn GuestEvents>,
    ) -> Result<Factory, StartError> {
        let settings = Settings {
            component: name.to_owned(),
            limits: bolt.limits.clone(),
            allow: bolt.allow.clone(),
            config_json: bolt.config.to_string(),
            base: self.base.clone(),
        };
        let component = name.to_owned();
        Factory::new(plugin, declaration, settings, events)
            .map_err(|e| StartError::Grant { component, reason: e.to_string() })
    }
}
