//! Native components that an embedder brings along.
//!
//! In: makers of spouts and bolts, by name. Out: to [`super::Host::load_with`].

use crate::runtime::{NativeFactory, SpoutFactory};
use anchorbolt_core::port::{Declaration, InstanceFactory, Spout};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Native components of an embedder, by the names that the manifest gives them. What the manifest says of
/// their `kind` is not used.
#[derive(Default)]
pub struct Natives {
    pub(super) bolts: BTreeMap<String, Arc<dyn InstanceFactory>>,
    pub(super) spouts: BTreeMap<String, SpoutFactory>,
    pub(super) declarations: BTreeMap<String, Declaration>,
}

impl Natives {
    /// A bolt, made once for each task and after each death.
    #[must_use]
    pub fn bolt(
        mut self,
        name: &str,
        declaration: Declaration,
        make: impl Fn() -> Box<dyn anchorbolt_core::port::Bolt> + Send + Sync + 'static,
    ) -> Natives {
        self.declarations.insert(name.to_owned(), declaration.clone());
        self.bolts.insert(name.to_owned(), Arc::new(NativeFactory::new(declaration, make)));
        self
    }

    /// A spout, made once for each task with the task's index.
    #[must_use]
    pub fn spout(
        mut self,
        name: &str,
        declaration: Declaration,
        make: impl Fn(u32) -> Box<dyn Spout> + Send + 'static,
    ) -> Natives {
        self.declarations.insert(name.to_owned(), declaration);
        self.spouts.insert(name.to_owned(), Box::new(make));
        self
    }
}
