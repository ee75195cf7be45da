//! The binary as a user meets it: what it prints where, and how it exits.

mod bad_input;
pub(crate) mod signals;
mod usage;

use anchorbolt_tests::artifacts;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

/// No command of a test takes this long.
const LONGEST: Duration = Duration::from_secs(60);

/// A folder with a manifest, and the command run in it.
pub(crate) struct Cli {
    dir: TempDir,
}

impl Cli {
    /// With this manifest, `"guest:NAME"` standing for plugins.
    pub(crate) fn new(manifest: &str) -> Cli {
        let cli = Cli { dir: tempfile::tempdir().unwrap() };
        let text = anchorbolt_tests::topology::with_guests(manifest);
        cli.file("topology.toml", text);
        cli
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(anchorbolt_tests::binary());
        command.args(args).current_dir(self.dir.path()).env("XDG_CACHE_HOME", artifacts::cache_dir());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(args).spawn().unwrap())
    }

    /// Runs to the end with the report as JSON on standard output.
    pub(crate) fn report(&self, code: i32) -> Value {
        self.report_of(&[], code)
    }

    /// As [`Cli::report`], with further arguments.
    pub(crate) fn report_of(&self, args: &[&str], code: i32) -> Value {
        let ran = self.run(&[&["run", "--until-drained", "--json"], args].concat());
        ran.check(code);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
    }
}

/// Waits for a child, but not for ever.
pub(crate) fn finish(child: Child) -> Ran {
    finish_within(child, LONGEST)
}

/// As [`finish`], for as long as one likes.
pub(crate) fn finish_within(child: Child, longest: Duration) -> Ran {
    let id = child.id();
    let (sender, output) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()).is_ok());
    match output.recv_timeout(longest) {
        Ok(output) => Ran::of(output.unwrap()),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            signals::send(id, nix::sys::signal::Signal::SIGKILL);
            panic!("the command hung: {:?}", output.recv_timeout(LONGEST).map(|o| o.map(Ran::of)));
        }
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It exited with this code, and neither panicked nor spoke in colours.
    pub(crate) fn check(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(!self.err.contains("panicked at host/") && !self.err.contains("thread 'main'"), "{self:?}");
        assert!(!self.err.contains('\u{1b}') && !self.out.contains('\u{1b}'), "colours in a pipe: {self:?}");
    }

    /// Standard error has all of these.
    pub(crate) fn says(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.err.contains(text), "`{text}` is not in: {self:?}");
        }
    }
}

/// The two sums of a report.
pub(crate) fn check_sums(report: &Value) {
    let sum = |table: &str, keys: &[&str]| keys.iter().map(|key| number(report, &[table, key])).sum::<u64>();
    let ends = ["completed", "untracked", "dead_lettered", "dropped", "handed_back", "pending"];
    assert_eq!(sum("messages", &["read"]), sum("messages", &ends), "{report:#}");
    assert_eq!(
        sum("trees", &["emitted"]),
        sum("trees", &["acked", "failed", "timed_out", "pending"]),
        "{report:#}"
    );
}

/// A number of a report.
pub(crate) fn number(report: &Value, path: &[&str]) -> u64 {
    let found = path.iter().fold(report, |value, key| &value[key]);
    found.as_u64().unwrap_or_else(|| panic!("no number at {path:?}: {report:#}"))
}

/// Lines of files to a file.
pub(crate) fn copy(spout: &str, sink: &str) -> String {
    format!(
        "[topology]\nname = \"copy\"\n[spouts.lines]\nkind = \"lines\"\npath = \"in.txt\"\n{spout}\n\
         [bolts.out]\nkind = \"jsonl\"\npath = \"out.jsonl\"\ninputs = [{{ from = \"lines\", grouping = \"global\" }}]\n{sink}\n"
    )
}

/// Endless sentences to a sink.
pub(crate) fn endless(sink: &str) -> String {
    format!(
        "[topology]\nname = \"endless\"\n[spouts.feed]\nkind = \"generate\"\n\
         [bolts.out]\n{sink}\ninputs = [{{ from = \"feed\", grouping = \"global\" }}]\n"
    )
}

/// Whether this process may read what it is not allowed to, as root may.
pub(crate) fn may_read_all(dir: &Path) -> bool {
    std::fs::read(dir).is_ok()
}
