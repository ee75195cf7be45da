//! Licences, sources and advisories of everything that is depended on, checked by `cargo deny`.
//!
//! In: `deny.toml` and the lock file. Out: an error for what is not allowed. A missing `cargo deny` is installed below
//! the target directory, once. The database of advisories is somewhere else than the crates, so it may be out of reach:
//! then the last one that was fetched is used, or a warning says that nothing was checked.

use crate::sh::{self, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is installed when there is none.
const VERSION: &str = "0.20.2";

/// Checks all of it.
pub(crate) fn deny() -> Result<()> {
    let tool = tool()?;
    // Two versions of a crate are mostly others' doing; `cargo deny check bans` lists them.
    sh::run(checking(&tool, &[]).args(["--allow", "duplicate", "licenses", "bans", "sources"]))?;
    let fetched = quiet(sh::command(&tool).args(["fetch", "db"]));
    if fetched {
        return sh::run(checking(&tool, &[]).arg("advisories"));
    }
    if has_database() {
        println!(
            "warning: the database of advisories can't be fetched; what is checked is the last one that was"
        );
        return sh::run(checking(&tool, &["--offline"]).arg("advisories"));
    }
    println!(
        "warning: advisories were not checked: their database can't be fetched\nhelp: look at the network, then: cargo xtask deny"
    );
    Ok(())
}

/// `cargo deny check` with options of the whole.
fn checking(tool: &Path, options: &[&str]) -> Command {
    let mut command = sh::command(tool);
    command.args(options).arg("check");
    command
}

/// Whether a database was fetched whole at some time. A fetch that fails leaves a lock or an empty repository behind.
fn has_database() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let Some(found) = home.and_then(|home| std::fs::read_dir(home.join("advisory-dbs")).ok()) else {
        return false;
    };
    found.flatten().any(|entry| is_database(&entry.path()))
}

fn is_database(folder: &Path) -> bool {
    folder.join(".git/FETCH_HEAD").is_file()
        && quiet(sh::command("git").arg("-C").arg(folder).args(["show", "-s", "HEAD"]))
}

/// The command: the one of this machine, the one that was installed here, or one that is installed now.
fn tool() -> Result<PathBuf> {
    let root = sh::target_dir()?.join("tools");
    let own = root.join("bin/cargo-deny");
    if let Some(found) = [PathBuf::from("cargo-deny"), own.clone()]
        .into_iter()
        .find(|tool| quiet(sh::command(tool).arg("--version")))
    {
        return Ok(found);
    }
    println!("Installing cargo-deny {VERSION} into {}", root.display());
    let mut install = sh::command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    install.args(["install", "cargo-deny", "--locked", "--version", VERSION, "--root"]).arg(&root);
    // Its build must not go where this workspace's goes, and needs none of its settings.
    install.env_remove("CARGO_TARGET_DIR").current_dir(std::env::temp_dir());
    sh::run(&mut install)
        .map_err(|error| format!("{error}\nhelp: install cargo-deny yourself, then try again"))?;
    Ok(own)
}

/// Whether a command ends well; nothing is shown.
fn quiet(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_fetch_leaves_is_no_database() {
        let dir = std::env::temp_dir().join(format!("anchorbolt-deny-{}", std::process::id()));
        let git = |arguments: &[&str]| {
            let mut command = sh::command("git");
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            assert!(quiet(command.arg("-C").arg(&dir).args(who).args(arguments)), "{arguments:?}");
        };
        std::fs::create_dir_all(&dir).unwrap();
        assert!(!is_database(&dir), "an empty folder");
        assert!(!is_database(&dir.join("db.lock")), "nothing");
        git(&["init", "-q"]);
        std::fs::write(dir.join(".git/FETCH_HEAD"), "").unwrap();
        assert!(!is_database(&dir), "a repository without a commit");
        git(&["commit", "-q", "--allow-empty", "-m", "one"]);
        assert!(is_database(&dir));
        std::fs::remove_file(dir.join(".git/FETCH_HEAD")).unwrap();
        assert!(!is_database(&dir), "never fetched");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
