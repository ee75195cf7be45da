//! A folder with a topology in it, and the command run there.

use anchorbolt_tests::{binary, guest};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// `lines` from `in.txt` through one bolt to `out.jsonl`.
pub(crate) fn pipeline(guest_name: &str, spout: &str, bolt: &str) -> String {
    format!(
        r#"
[topology]
name = "under-test"
message-timeout = "20s"
[spouts.lines]
kind = "lines"
path = "in.txt"
{spout}
[bolts.work]
plugin = "{}"
inputs = [{{ from = "lines", grouping = "shuffle" }}]
{bolt}
[bolts.out]
kind = "jsonl"
path = "out.jsonl"
inputs = [{{ from = "work", grouping = "global" }}]
"#,
        guest(guest_name).display()
    )
}

/// A folder in which the command runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with this manifest.
    pub(crate) fn new(manifest: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("topology.toml", manifest);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command with these arguments, its outputs piped.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("XDG_CACHE_HOME", cache()).env("NO_COLOR", "1");
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// `run --until-drained --json` and more.
    pub(crate) fn drain(&self, more: &[&str]) -> Ran {
        self.run(&[&["run", "--until-drained", "--json"], more].concat())
    }
}

/// One cache for all tests: each plugin is compiled once.
fn cache() -> &'static Path {
    static CACHE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    CACHE.get_or_init(|| anchorbolt_tests::artifacts::target_dir().join("tests-command-cache"))
}

/// What a command came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The JSON on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}:\n{}\n{}", self.out, self.err))
    }

    /// Fails unless it ended with this code.
    pub(crate) fn code(&self, wanted: i32) -> &Ran {
        assert_eq!(self.code, wanted, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Fails unless standard error has all of these words.
    pub(crate) fn says(&self, words: &[&str]) -> &Ran {
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in:\n{}", self.err);
        }
        self
    }
}
