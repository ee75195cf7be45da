//! Running commands, and where things are.
//!
//! In: a program and its arguments. Out: nothing, or its output, or a text that names the whole command.
//! Invariant: whatever cargo told this task of its own package is kept from the commands that it starts, so
//! that they find the same build as a person's own `cargo` does.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a task: its error is for the person who ran it.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Makes cargo resolve the features of dependencies as it does for `cargo test --workspace`, whatever else is
/// built, so that wasmtime is built once; see `xtask/examples/same-as-tests.rs`.
pub(crate) const AS_TESTS: [&str; 3] = ["--workspace", "--example", "same-as-tests"];

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR");
    let own = own.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// A command at the repository's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let own = name.to_str().is_some_and(|name| {
            ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|start| name.starts_with(start))
        });
        if own || name == "CARGO_CRATE_NAME" || name == "CARGO_PRIMARY_PACKAGE" {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that runs this task, with one of its commands. In CI the lock file is not to be changed.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.arg(subcommand);
    if subcommand != "fmt" && std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false") {
        command.arg("--locked");
    }
    command
}

/// Runs a command to its end; its output goes where this task's goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(format!("`{}` ended with {code}", shown(command))),
        None => Err(format!("`{}` was killed", shown(command))),
    }
}

/// Runs a command and returns its exit code.
pub(crate) fn code(command: &mut Command) -> Result<i32> {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    status.code().ok_or_else(|| format!("`{}` was killed", shown(command)))
}

/// Runs a command and returns its standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{}` failed", shown(command)))
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = read(cargo("metadata").args(["--format-version", "1", "--no-deps"]))?;
    target_directory(&metadata).ok_or_else(|| "cargo metadata names no target directory".to_owned())
}

/// The string behind `"target_directory":`, with its escapes undone.
fn target_directory(metadata: &str) -> Option<PathBuf> {
    let (_, rest) = metadata.split_once("\"target_directory\":")?;
    let mut chars = rest.trim_start().strip_prefix('"')?.chars();
    let mut path = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(path.into()),
            '\\' => path.push(chars.next()?),
            c => path.push(c),
        }
    }
}

/// Reads a text file.
pub(crate) fn read_file(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("can't read {}: {error}", path.display()))
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not be started: {error}", shown(command))
}

/// The command as it would be typed, with the program's name alone.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_directory_is_found() {
        let metadata = r#"{"packages":[],"target_directory":"/a \"b\"/t","version":1}"#;
        assert_eq!(target_directory(metadata), Some("/a \"b\"/t".into()));
        assert_eq!(target_directory("{}"), None);
        assert_eq!(target_directory(r#"{"target_directory":"/a"#), None);
    }

    #[test]
    fn a_command_that_fails_is_named() {
        assert_eq!(run(command("sh").args(["-c", "exit 3"])), Err("`sh -c exit 3` ended with 3".to_owned()));
        assert_eq!(run(command("sh").args(["-c", "kill $$"])), Err("`sh -c kill $$` was killed".to_owned()));
        let error = run(&mut command("/no/such/program")).unwrap_err();
        assert!(error.starts_with("`program` could not be started: "), "{error}");
    }
}
