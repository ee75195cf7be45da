//! Builds the WebAssembly components: the example bolts, and the guests of the tests.
//!
//! In: a Rust toolchain. Out: `examples/*/plugins/*.wasm`, and under cargo's target folder
//! `wasm32-wasip2/guest-test/examples/*.wasm`. Invariant: when the wasm target is missing it is added, or a text
//! says what is missing and how to get it.

use crate::sh::{self, Result};
use std::path::Path;
use std::process::Stdio;

/// The target of a component.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// An example with its bolts: package, plugin, and the file that cargo makes.
struct Example {
    folder: &'static str,
    bolts: &'static [(&'static str, &'static str, &'static str)],
}

const WORD_COUNT: Example = Example {
    folder: "examples/word-count",
    bolts: &[
        ("word-count-split", "split.wasm", "word_count_split.wasm"),
        ("word-count-count", "count.wasm", "word_count_count.wasm"),
    ],
};

const ORDERS: Example = Example {
    folder: "examples/orders",
    bolts: &[
        ("orders-fraud", "fraud.wasm", "orders_fraud.wasm"),
        ("orders-payment", "payment.wasm", "orders_payment.wasm"),
        ("orders-notification", "notification.wasm", "orders_notification.wasm"),
    ],
};

/// Everything.
pub(crate) fn all() -> Result<()> {
    target()?;
    build(&[WORD_COUNT, ORDERS])?;
    test_guests()
}

/// The bolts of the word count.
pub(crate) fn word_count() -> Result<()> {
    target()?;
    build(&[WORD_COUNT])
}

/// Builds the bolts of some examples at once, and copies each to its example.
fn build(examples: &[Example]) -> Result<()> {
    let mut build = sh::cargo("build");
    build.args(["--profile", "guest", "--target", TARGET]);
    for (package, ..) in examples.iter().flat_map(|example| example.bolts) {
        build.args(["-p", package]);
    }
    sh::run(&mut build)?;
    let built = sh::target_dir()?.join(TARGET).join("guest");
    for example in examples {
        let plugins = sh::root().join(example.folder).join("plugins");
        for (_, plugin, file) in example.bolts {
            copy(&built.join(file), &plugins.join(plugin))?;
        }
    }
    Ok(())
}

/// The guests of the tests: one a behaviour.
fn test_guests() -> Result<()> {
    let mut build = sh::cargo("build");
    build.args(["--profile", "guest-test", "--target", TARGET, "-p", "anchorbolt-test-guests", "--examples"]);
    sh::run(&mut build)
}

/// Makes sure that the wasm target is there.
pub(crate) fn target() -> Result<()> {
    if installed()? {
        return Ok(());
    }
    println!("The Rust target {TARGET} is missing; adding it with rustup.");
    let added = sh::command("rustup").args(["target", "add", TARGET]).stdin(Stdio::null()).status();
    match added {
        Ok(status) if status.success() && installed()? => Ok(()),
        Ok(_) => Err(format!(
            "the Rust target {TARGET} is missing, and `rustup target add {TARGET}` did not bring it\n\
             help: its own words are above; mostly the network is down. Try it again by hand, then this."
        )),
        Err(_) => Err(format!(
            "the Rust target {TARGET} is missing, and there is no rustup to add it\n\
             help: install rustup from https://rustup.rs, or your system's package of Rust's standard \
             library for {TARGET}; then try again"
        )),
    }
}

/// Whether the compiler has a standard library for the target, however it came there.
fn installed() -> Result<bool> {
    let sysroot = sh::read(sh::command("rustc").args(["--print", "sysroot"]))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib");
    Ok(libraries.is_dir())
}

/// Copies a plugin, in one step: whoever reads it sees the old one or the new one.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let part = to.with_extension("part");
    let done = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::copy(from, &part))
        .and_then(|_| std::fs::rename(&part, to));
    done.map_err(|error| format!("can't copy {} to {}: {error}", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_makes_its_folder_and_leaves_no_part() {
        let folder = std::env::temp_dir().join(format!("xtask-copy-{}", std::process::id()));
        let to = folder.join("plugins/a.wasm");
        copy(&sh::root().join("Cargo.toml"), &to).unwrap();
        copy(&sh::root().join("Cargo.toml"), &to).unwrap();
        assert_eq!(std::fs::read_dir(folder.join("plugins")).unwrap().count(), 1);
        let error = copy(&folder.join("none"), &to).unwrap_err();
        assert!(error.contains("none to "), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
