//! What a component runs.
//!
//! In: a plugin's path, a kind with its options, or native code of the embedder. Out: keys of the component, and for native
//! code an entry among the [`Natives`].

use super::calls::{Calls, quoted};
use crate::assemble::Natives;
use anchorbolt_core::port::{Bolt, Collector, Declaration, Spout, Tuples};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A native kind of the host, with its options: `Kind::new("lines").set("path", "in/*.txt")`.
#[derive(Clone, Debug)]
pub struct Kind {
    name: String,
    options: Vec<(String, Value)>,
}

impl Kind {
    /// A kind by its word: `lines`, `generate`, `stdin`, `jsonl`, `stdout`, `null`.
    pub fn new(name: &str) -> Kind {
        Kind { name: name.to_owned(), options: vec![] }
    }

    /// One of the kind's own keys.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Kind {
        self.options.push((key.to_owned(), value.into()));
        self
    }

    fn shown(&self) -> String {
        let options = self.options.iter().map(|(key, value)| format!(".set({}, {value})", quoted(key)));
        format!("Kind::new({}){}", quoted(&self.name), options.collect::<String>())
    }
}

type MakeSpout = Box<dyn Fn(u32) -> Box<dyn Spout> + Send>;
type MakeBolt = Box<dyn Fn() -> Box<dyn Bolt> + Send + Sync>;

/// A spout of the embedder's own.
pub struct NativeSpout {
    declaration: Declaration,
    make: MakeSpout,
}

impl NativeSpout {
    /// A spout that declares this, made once for each task with the task's index.
    pub fn new<S: Spout + 'static>(
        declaration: Declaration,
        make: impl Fn(u32) -> S + Send + 'static,
    ) -> NativeSpout {
        NativeSpout { declaration, make: Box::new(move |task| Box::new(make(task))) }
    }
}

/// A bolt of the embedder's own.
pub struct NativeBolt {
    declaration: Declaration,
    make: MakeBolt,
}

impl NativeBolt {
    /// A bolt that declares this, made once for each task and after each death.
    pub fn new<B: Bolt + 'static>(
        declaration: Declaration,
        make: impl Fn() -> B + Send + Sync + 'static,
    ) -> NativeBolt {
        NativeBolt { declaration, make: Box::new(move || Box::new(make())) }
    }

    /// A bolt that is a function of a batch, which all tasks share: it settles each tuple, as [`Bolt::execute`] does.
    pub fn of_fn(
        declaration: Declaration,
        execute: impl Fn(&Tuples, &mut Collector<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> NativeBolt {
        let execute = Arc::new(execute);
        NativeBolt::new(declaration, move || FnBolt(Arc::clone(&execute)))
    }
}

struct FnBolt<F>(Arc<F>);

impl<F: Fn(&Tuples, &mut Collector<'_>) -> Result<(), String> + Send + Sync> Bolt for FnBolt<F> {
    fn execute(&mut self, tuples: &Tuples, out: &mut Collector<'_>) -> Result<(), String> {
        (self.0)(tuples, out)
    }
}

/// What a spout runs.
pub enum SpoutCode {
    /// A kind of the host.
    Kind(Kind),
    /// Of the embedder.
    Native(NativeSpout),
}

/// What a bolt runs.
pub enum BoltCode {
    /// A WebAssembly component, by its path.
    Plugin(PathBuf),
    /// A kind of the host.
    Kind(Kind),
    /// Of the embedder.
    Native(NativeBolt),
}

impl SpoutCode {
    pub(super) fn shown(&self) -> String {
        match self {
            SpoutCode::Kind(kind) => kind.shown(),
            SpoutCode::Native(_) => "NativeSpout".to_owned(),
        }
    }

    /// The keys of the spout; `ats`: its id, its code, its executors.
    pub(super) fn set(
        self,
        id: &str,
        ats: [Range<usize>; 3],
        parallelism: u32,
        calls: &mut Calls,
        natives: &mut Natives,
    ) {
        // What the kind of a native spout is counts for nothing.
        let (kind, native) = match self {
            SpoutCode::Kind(kind) => (kind, None),
            SpoutCode::Native(native) => (Kind::new("generate"), Some(native)),
        };
        component("spouts", id, &ats, parallelism, calls);
        options("spouts", id, &kind, &ats[1], calls);
        if let Some(NativeSpout { declaration, make }) = native {
            *natives = std::mem::take(natives).spout(id, declaration, make);
        }
    }
}

impl BoltCode {
    pub(super) fn shown(&self) -> String {
        match self {
            BoltCode::Plugin(path) => quoted(&path.to_string_lossy()),
            BoltCode::Kind(kind) => kind.shown(),
            BoltCode::Native(_) => "NativeBolt".to_owned(),
        }
    }

    /// The keys of the bolt; `ats`: its id, its code, its executors.
    pub(super) fn set(
        self,
        id: &str,
        ats: [Range<usize>; 3],
        parallelism: u32,
        calls: &mut Calls,
        natives: &mut Natives,
    ) {
        component("bolts", id, &ats, parallelism, calls);
        let kind = match self {
            BoltCode::Plugin(path) => {
                calls.set(&["bolts", id, "plugin"], json!(path.to_string_lossy()), ats[1].clone());
                return;
            }
            BoltCode::Kind(kind) => kind,
            // What its kind is counts for nothing.
            BoltCode::Native(NativeBolt { declaration, make }) => {
                *natives = std::mem::take(natives).bolt(id, declaration, make);
                Kind::new("null")
            }
        };
        options("bolts", id, &kind, &ats[1], calls);
    }
}

fn component(section: &str, id: &str, ats: &[Range<usize>; 3], parallelism: u32, calls: &mut Calls) {
    calls.set(&[section, id], json!({}), ats[0].clone());
    calls.set(&[section, id, "executors"], json!(parallelism), ats[2].clone());
}

fn options(section: &str, id: &str, kind: &Kind, at: &Range<usize>, calls: &mut Calls) {
    calls.set(&[section, id, "kind"], json!(kind.name), at.clone());
    for (key, value) in &kind.options {
        calls.set(&[section, id, key], value.clone(), at.clone());
    }
}

impl From<Kind> for SpoutCode {
    fn from(kind: Kind) -> SpoutCode {
        SpoutCode::Kind(kind)
    }
}

impl From<NativeSpout> for SpoutCode {
    fn from(native: NativeSpout) -> SpoutCode {
        SpoutCode::Native(native)
    }
}

impl From<Kind> for BoltCode {
    fn from(kind: Kind) -> BoltCode {
        BoltCode::Kind(kind)
    }
}

impl From<NativeBolt> for BoltCode {
    fn from(native: NativeBolt) -> BoltCode {
        BoltCode::Native(native)
    }
}

impl From<&str> for BoltCode {
    fn from(path: &str) -> BoltCode {
        BoltCode::Plugin(path.into())
    }
}

impl From<&Path> for BoltCode {
    fn from(path: &Path) -> BoltCode {
        BoltCode::Plugin(path.to_owned())
    }
}

impl From<PathBuf> for BoltCode {
    fn from(path: PathBuf) -> BoltCode {
        BoltCode::Plugin(path)
    }
}
