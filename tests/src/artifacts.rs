//! The files under test: guests, example bolts, and the binary.
//!
//! In: names. Out: paths of files that are up to date. Each is built once a process, by cargo, which knows what is
//! stale. Invariant: everything lies in the target folder of the test executable.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const WASM: &str = "wasm32-wasip2";

/// The target folder that this test was built into.
pub fn target_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
        named.unwrap_or_else(|| {
            // TARGET/debug/deps/THIS
            let exe = std::env::current_exe().expect("this executable has a path");
            exe.ancestors().nth(3).expect("it lies in a target folder").to_owned()
        })
    })
}

/// The folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace")
}

/// The plugin of a guest: a bolt of an example, or an example of `tests/guests`.
pub fn guest(name: &str) -> PathBuf {
    let target = target_dir().join(WASM);
    let example = match name {
        "split" | "count" => Some("word_count"),
        "fraud" | "payment" | "notification" => Some("orders"),
        _ => None,
    };
    let file = if let Some(example) = example {
        built_examples();
        target.join(format!("guest/{example}_{name}.wasm"))
    } else {
        built_guests();
        target.join(format!("guest-test/examples/{name}.wasm"))
    };
    assert!(file.is_file(), "there is no guest `{name}`: {}", file.display());
    file
}

/// The command `anchorbolt`. Built with the features of the tests, so that wasmtime is not compiled for it again.
pub fn binary() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| cargo(&["--workspace", "--bin", "anchorbolt", "--example", "same-as-tests"]));
    target_dir().join("debug/anchorbolt")
}

/// Where the tests keep compiled plugins, so that each is compiled once.
pub fn cache_dir() -> PathBuf {
    target_dir().join("tests-cache")
}

fn built_guests() {
    static BUILT: OnceLock<()> = OnceLock::new();
    let args = ["--profile", "guest-test", "-p", "anchorbolt-test-guests", "--examples", "--target", WASM];
    BUILT.get_or_init(|| cargo(&args));
}

fn built_examples() {
    static BUILT: OnceLock<()> = OnceLock::new();
    let bolts =
        ["word-count-split", "word-count-count", "orders-fraud", "orders-payment", "orders-notification"];
    let mut args = vec!["--profile", "guest", "--target", WASM];
    args.extend(bolts.iter().flat_map(|bolt| ["-p", bolt]));
    BUILT.get_or_init(|| cargo(&args));
}

fn cargo(args: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("build").args(args).arg("--target-dir").arg(target_dir());
    let output = command.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
}
