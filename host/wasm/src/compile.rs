//! Turns WebAssembly into machine code, in this process or in a bounded child.
//!
//! A component's bytes come in, code for [`crate::Engine`]'s settings goes out. A crafted megabyte can make
//! the compiler take gigabytes and abort, so the host compiles in a child of its own binary that limits
//! itself first: the bomb dies alone.

use crate::engine;
use crate::text;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Address space of the compiling child: components of Python and JavaScript need under 600 MiB.
const CHILD_MEMORY: u64 = 2 << 30;
/// Its CPU time in seconds; a 40 MiB component takes under 20.
const CHILD_CPU_SECONDS: u64 = 60;
/// The longest code, and the largest file it could write.
const CODE_MAX: u64 = 256 << 20;
/// The wall clock stands above the CPU limit: a machine may be busy.
const CHILD_WALL: Duration = Duration::from_secs(180);

/// Why a component does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The compiler refused it.
    #[error("{0}")]
    Refused(String),
    /// The bounded compiler ran out of something.
    #[error("compiling it needs too much: {0}")]
    TooMuch(String),
    /// The compiler could not be run.
    #[error("the compiler could not be run: {0}")]
    Broken(String),
}

/// Compiles components. The code must come from the same version of this crate on the same machine.
pub trait Compiler: Send + Sync {
    /// The machine code of a component.
    fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, CompileError>;
}

/// Compiles in this process: for tests, and for embedders that trust their plugins.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

impl Compiler for InProcess {
    fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, CompileError> {
        let engine =
            wasmtime::Engine::new(&engine::config()).map_err(|e| CompileError::Broken(format!("{e:#}")))?;
        engine.precompile_component(wasm).map_err(|e| CompileError::Refused(refusal(&e)))
    }
}

/// Where wasm is invalid, wasmtime's own text says best what and where.
fn refusal(error: &wasmtime::Error) -> String {
    text::clean(&error.root_cause().to_string())
}

/// Compiles in a child process that calls [`compile_child_main`].
#[derive(Clone, Debug)]
pub struct ChildProcess {
    /// The program; the host's own binary.
    pub exe: PathBuf,
    /// The arguments that make it call [`compile_child_main`].
    pub args: Vec<OsString>,
}

impl Compiler for ChildProcess {
    fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, CompileError> {
        let broken = |e: io::Error| CompileError::Broken(e.to_string());
        let mut command = Command::new(&self.exe);
        command.args(&self.args).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(broken)?;
        let done = exchange(&mut child, wasm, CHILD_WALL);
        if done.is_none() {
            drop(child.kill());
        }
        let status = child.wait().map_err(broken)?;
        let Some((code, words)) = done else {
            return Err(CompileError::TooMuch(format!("more than {}", text::duration(CHILD_WALL))));
        };
        verdict(status, code, &words)
    }
}

/// Feeds the child and takes what it answers, until both its outputs end. None: out of time.
fn exchange(child: &mut Child, wasm: &[u8], wall: Duration) -> Option<(Vec<u8>, String)> {
    let (stdin, stdout, stderr) = (child.stdin.take()?, child.stdout.take()?, child.stderr.take()?);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut stdin = stdin;
            // A child that died early says why itself.
            drop(stdin.write_all(wasm));
        });
        let code = scope.spawn(move || read_up_to(stdout, CODE_MAX + 1));
        let words = scope.spawn(move || {
            let words = read_up_to(stderr, 64 << 10);
            // Nobody listens any more when the time is up.
            sender.send(()).ok();
            words
        });
        let in_time = receiver.recv_timeout(wall).is_ok();
        if !in_time {
            drop(child.kill()); // which ends the three threads
        }
        let (code, words) = (code.join().ok()?, words.join().ok()?);
        in_time.then(|| (code, text::clean(String::from_utf8_lossy(&words).trim())))
    })
}

fn read_up_to(from: impl Read, max: u64) -> Vec<u8> {
    let mut bytes = vec![];
    // What was read before an error counts; the exit status tells the rest.
    drop(from.take(max).read_to_end(&mut bytes));
    bytes
}

fn verdict(status: ExitStatus, code: Vec<u8>, words: &str) -> Result<Vec<u8>, CompileError> {
    use std::os::unix::process::ExitStatusExt;
    if code.len() as u64 > CODE_MAX {
        return Err(CompileError::TooMuch(format!("its code is larger than {}", text::size(CODE_MAX))));
    }
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(code),
        (Some(EXIT_REFUSED), _) => Err(CompileError::Refused(words.to_owned())),
        // SIGXCPU is how the CPU limit ends a process, SIGABRT and SIGSEGV how the memory does.
        (_, Some(24)) => Err(CompileError::TooMuch(format!("more than {CHILD_CPU_SECONDS} s of CPU time"))),
        (_, Some(9)) => Err(CompileError::Broken(
            "it was killed (SIGKILL): by the system, which was short of memory, or by somebody".to_owned(),
        )),
        (_, Some(6 | 11)) => {
            Err(CompileError::TooMuch(format!("more than {} of memory", text::size(CHILD_MEMORY))))
        }
        _ => Err(CompileError::Broken(format!("{status}: {words}"))),
    }
}

const EXIT_REFUSED: i32 = 3;
const EXIT_BROKEN: i32 = 4;

/// The compiling child: limits itself, reads a component on standard input, writes code to standard
/// output, and answers with the exit code. Nothing else may run in that process.
pub fn compile_child_main() -> i32 {
    match compile_in_child() {
        Ok(()) => 0,
        Err(CompileError::Refused(text)) => tell(EXIT_REFUSED, &text),
        Err(error) => tell(EXIT_BROKEN, &error.to_string()),
    }
}

fn tell(code: i32, text: &str) -> i32 {
    // If nobody listens the code says enough.
    drop(io::stderr().write_all(text.as_bytes()));
    code
}

fn compile_in_child() -> Result<(), CompileError> {
    let broken = |e: io::Error| CompileError::Broken(e.to_string());
    limit_self().map_err(broken)?;
    let mut wasm = vec![];
    io::stdin().take(crate::PLUGIN_BYTES_MAX + 1).read_to_end(&mut wasm).map_err(broken)?;
    let code = InProcess.compile(&wasm)?;
    let mut stdout = io::stdout();
    stdout.write_all(&code).and_then(|()| stdout.flush()).map_err(broken)
}

fn limit_self() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::As, CHILD_MEMORY),
        (Resource::Cpu, CHILD_CPU_SECONDS),
        (Resource::Fsize, CODE_MAX),
        (Resource::Core, 0),
    ];
    for (resource, limit) in limits {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    Ok(())
}
