//! Runs bolts as WebAssembly components: the only importer of wasmtime.
//!
//! What comes in: files of the worlds `bolt` and `grouping`, and the settings of a manifest. What goes out: the ports
//! [`anchorbolt_core::port::InstanceFactory`] and [`anchorbolt_core::port::GroupingFactory`]. The invariant:
//! whatever a guest does, its call ends by the deadline, within its limits, as one of success, a declared
//! failure, or a death with a class and a text; the host goes on.
//!
//! Which part may use which, in arrows: `factory -> plugin -> instance -> engine`, `grouping -> plugin, instance`, `engine -> cache,
//! compile, imports, shadow`, `imports, instance, shadow -> state`, `state -> limits, deadline, output, wasi`,
//! `shadow, wasi -> refusal`, `cache, compile, engine -> trusted` (the one `unsafe`), everyone -> `text`, `death`,
//! `settings`.

mod bindings;
mod budget;
mod cache;
mod compile;
mod contract;
mod deadline;
mod death;
mod engine;
mod events;
mod factory;
mod footprint;
mod grouping;
mod image;
mod imports;
mod inspect;
mod instance;
mod limits;
mod listing;
mod opening;
mod output;
mod plugin;
mod refusal;
mod settings;
mod shadow;
mod state;
mod text;
mod ticker;
mod trusted;
mod wasi;

pub use compile::{ChildProcess, CompileError, Compiler, InProcess, compile_child_main};
pub use engine::{Engine, EngineError, EngineOptions};
pub use events::{GuestEvents, Level, Metric, Printed, Silent};
pub use factory::Factory;
pub use grouping::{GroupingMaker, GroupingPlugin};
pub use image::{LoadError, PLUGIN_BYTES_MAX};
pub use inspect::{Inspection, Kind};
pub use plugin::Plugin;
pub use settings::Settings;
pub use wasi::{GrantError, raise_descriptor_limit};
