//! One engine for a process: wasmtime's settings, the epoch ticker, the timers' runtime, the linker and
//! where compiled code comes from.
//!
//! A compiler and a cache folder come in; plugins are loaded with what goes out. Each setting has its reason
//! beside it, and none is left to a default that another crate's features could flip.

use crate::bindings::Bolt;
use crate::cache::{Cache, Key};
use crate::compile::Compiler;
use crate::state::State;
use crate::ticker::Ticker;
use crate::trusted::Code;
use crate::{CompileError, LoadError, shadow};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::{Handle, Runtime};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, OptLevel, WasmBacktraceDetails};

/// Native stack of guest code. One for the engine; deep recursion traps.
const WASM_STACK: usize = 512 << 10;
/// The stack that guest code and the host calls above it share.
const CALL_STACK: usize = 2 << 20;
/// How many frames of a trap are looked at for a name.
const BACKTRACE: Option<NonZeroUsize> = NonZeroUsize::new(20);
/// Threads for file operations of all guests together.
const BLOCKING_THREADS: usize = 64;

/// What an engine is made from.
#[derive(Clone)]
pub struct EngineOptions {
    /// Who compiles plugins.
    pub compiler: Arc<dyn Compiler>,
    /// Where compiled code is kept; none: nowhere.
    pub cache_dir: Option<PathBuf>,
}

/// The engine could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Wasmtime refused the settings, or the machine.
    #[error("wasmtime: {0}")]
    Wasmtime(String),
    /// No thread or timer could be had.
    #[error("starting threads: {0}")]
    Threads(#[from] std::io::Error),
}

/// Loads plugins and runs their instances. Cheap to clone; one for each process is enough.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    linker: Linker<State>,
    ticker: Ticker,
    /// Always there but while it is dropped.
    runtime: Option<Runtime>,
    timers: Handle,
    compiler: Arc<dyn Compiler>,
    cache: Option<Cache>,
}

impl Engine {
    /// Makes an engine. A cache folder that can't be used is said in the log and done without.
    pub fn new(options: EngineOptions) -> Result<Engine, EngineError> {
        let failed = |e: wasmtime::Error| EngineError::Wasmtime(format!("{e:#}"));
        let wasmtime = wasmtime::Engine::new(&config()).map_err(failed)?;
        let linker = linker(&wasmtime).map_err(failed)?;
        let epochs = wasmtime.clone();
        let ticker = Ticker::start(move || epochs.increment_epoch())?;
        // One worker drives timers and sockets for all executors; it sleeps when there is nothing to do.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(1).max_blocking_threads(BLOCKING_THREADS).thread_name("timers").enable_all();
        let runtime = runtime.build()?;
        let timers = runtime.handle().clone();
        let cache = options.cache_dir.and_then(|dir| match Cache::open(&dir) {
            Ok(cache) => Some(cache),
            Err(error) => {
                tracing::warn!(dir = %dir.display(), %error, "the code cache is not used");
                None
            }
        });
        let (runtime, compiler) = (Some(runtime), options.compiler);
        Ok(Engine(Arc::new(Inner { wasmtime, linker, ticker, runtime, timers, compiler, cache })))
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    pub(crate) fn linker(&self) -> &Linker<State> {
        &self.0.linker
    }

    pub(crate) fn ticker(&self) -> &Ticker {
        &self.0.ticker
    }

    pub(crate) fn timers(&self) -> &Handle {
        &self.0.timers
    }

    /// The component of these bytes: from the cache, or compiled and stored.
    pub(crate) fn component(&self, wasm: &[u8], sha256: &[u8; 32]) -> Result<Component, LoadError> {
        let key = Key::new(sha256, self.wasmtime());
        if let Some(component) = self.cached(key) {
            return Ok(component);
        }
        let code = self.0.compiler.compile(wasm).map_err(|error| match error {
            CompileError::Refused(text) => LoadError::Invalid(text),
            error => LoadError::Compile(error),
        })?;
        let code = Code::from_compiler(code);
        let component = code.load(self.wasmtime());
        let component = component.map_err(|e| {
            LoadError::Compile(CompileError::Broken(format!("its code does not load: {e:#}")))
        })?;
        if let Some(cache) = &self.0.cache
            && let Err(error) = cache.put(key, &code)
        {
            tracing::warn!(%error, "compiled code is not stored");
        }
        Ok(component)
    }

    fn cached(&self, key: Key) -> Option<Component> {
        let cache = self.0.cache.as_ref()?;
        match cache.get(key)?.load(self.wasmtime()) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(%error, "compiled code is stale and is built again");
                cache.remove(key);
                None
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for a stuck file operation would hang the host's exit.
            runtime.shutdown_background();
        }
    }
}

fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    shadow::link(&mut linker)?;
    Bolt::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?;
    Ok(linker)
}

/// Wasmtime's settings, the same for running and for compiling.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config
        // Plugins are components.
        .wasm_component_model(true)
        // No `async` of the component model: calls are three times cheaper without its bookkeeping.
        .concurrency_support(false)
        // Endless loops are cut by epochs: cheaper than fuel, and 10 ms are exact enough.
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(CALL_STACK)
        // Calls are long next to a backtrace, and it names the function that trapped.
        .wasm_backtrace_max_frames(BACKTRACE)
        // Not by an environment variable of whoever runs the host.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        // Only native debuggers and profilers need it, and loading is faster without.
        .native_unwind_info(false)
        .cranelift_opt_level(OptLevel::Speed);
    features(&mut config);
    config
}

/// What of WebAssembly a plugin may use: what compilers for wasm32-wasip2 emit by default, and nothing that
/// shares memory, waits, or is not deterministic.
fn features(config: &mut Config) {
    use wasmtime::WasmFeatures as F;
    config
        .wasm_multi_value(true)
        .wasm_bulk_memory(true)
        // The encoding of tables and calls through them; there is no garbage collection behind it.
        .wasm_features(F::REFERENCE_TYPES, true)
        .wasm_simd(true)
        // Dynamic linking, as Python's toolchain does it, computes offsets in initialisers.
        .wasm_extended_const(true)
        // `memory.atomic.wait32` would block beyond any deadline.
        .shared_memory(false)
        .wasm_features(F::THREADS, false)
        .wasm_features(F::SHARED_EVERYTHING_THREADS, false)
        .wasm_features(F::RELAXED_SIMD, false)
        .wasm_features(F::MULTI_MEMORY, false)
        .wasm_features(F::MEMORY64, false)
        .wasm_features(F::TAIL_CALL, false)
        .wasm_features(F::CUSTOM_PAGE_SIZES, false)
        .wasm_features(F::WIDE_ARITHMETIC, false)
        .wasm_features(F::STACK_SWITCHING, false)
        .wasm_features(F::FUNCTION_REFERENCES, false)
        .wasm_features(F::GC, false)
        .wasm_features(F::EXCEPTIONS, false)
        .wasm_features(F::LEGACY_EXCEPTIONS, false)
        .wasm_features(F::CM_ASYNC, false)
        .wasm_features(F::CM_ASYNC_STACKFUL, false)
        .wasm_features(F::CM_MORE_ASYNC_BUILTINS, false)
        .wasm_features(F::CM_THREADING, false)
        .wasm_features(F::CM_ERROR_CONTEXT, false)
        .wasm_features(F::CM_GC, false)
        .wasm_features(F::CM64, false)
        .wasm_features(F::CM_MAP, false)
        .wasm_features(F::CM_FIXED_LENGTH_LISTS, false)
        .wasm_features(F::CM_IMPLEMENTS, false);
}
