//! What a plugin that can't be loaded is called: one golden a mistake, as `check` shows it.
//!
//! `UPDATE_GOLDENS=1` writes them anew.

use anchorbolt_tests::{artifacts, guest};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shows what `check` says of a bolt with this plugin and these further keys.
fn check(dir: &Path, keys: &str) -> String {
    let manifest = dir.join("topology.toml");
    let text = format!(
        "[topology]\nname = \"load\"\n\n[spouts.feed]\nkind = \"generate\"\n\n[bolts.bolt]\nplugin = \"plugin.wasm\"\n\
         inputs = [{{ from = \"feed\", grouping = \"shuffle\" }}]\n{keys}"
    );
    std::fs::write(&manifest, text).unwrap();
    let output = Command::new(anchorbolt_tests::binary())
        .args(["check", "topology.toml"])
        .current_dir(dir)
        .env("XDG_CACHE_HOME", artifacts::cache_dir())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The golden of a case, compared or written.
fn compare(case: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/goldens").join(format!("{case}.err"));
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, golden, "{case}: not as in {}", file.display());
}

fn golden(case: &str, code: &str, plugin: Option<Vec<u8>>, keys: &str) {
    let dir = tempfile::tempdir().unwrap();
    if let Some(bytes) = plugin {
        std::fs::write(dir.path().join("plugin.wasm"), bytes).unwrap();
    }
    let text = check(dir.path(), keys);
    assert!(text.contains(&format!("error[{code}]")), "{case}: {text}");
    compare(case, &text);
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(guest(name)).unwrap()
}

/// Exchanges bytes for others of the same number wherever they are.
fn exchange(mut wasm: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut at = 0;
    while let Some(found) = wasm[at..].windows(from.len()).position(|w| w == from.as_bytes()) {
        at += found;
        wasm[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    wasm
}

#[test]
fn a_missing_file() {
    golden("missing", "AB401", None, "");
}

#[test]
fn a_folder() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("plugin.wasm")).unwrap();
    let text = check(dir.path(), "");
    assert!(text.contains("error[AB401]"), "{text}");
    compare("folder", &text);
}

#[test]
fn an_empty_file() {
    golden("empty", "AB402", Some(vec![]), "");
}

#[test]
fn a_core_module() {
    golden("core-module", "AB403", Some(b"\0asm\x01\0\0\0".to_vec()), "");
}

#[test]
fn a_text() {
    golden("text", "AB404", Some(b"fn main() {}\n".to_vec()), "");
}

#[test]
fn webassembly_as_text() {
    golden("wat", "AB404", Some(b"(component)".to_vec()), "");
}

#[test]
fn a_truncated_file() {
    let wasm = bytes("identity");
    for part in [1, 2, 3] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("plugin.wasm"), &wasm[..wasm.len() * part / 4]).unwrap();
        let text = check(dir.path(), "");
        assert!(text.contains("error[AB404]"), "{text}");
    }
    golden("truncated", "AB404", Some(wasm[..4].to_vec()), "");
}

/// A bit that is not what it was may be harmless, or one of the mistakes above, but never a crash.
#[test]
fn flipped_bits_never_crash() {
    let seed = 0x5eed_0b17;
    println!("seed {seed:#x}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let wasm = bytes("identity");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plugin.wasm");
    for _ in 0..12 {
        let mut flipped = wasm.clone();
        (0..3).for_each(|_| flipped[rng.usize(8..wasm.len())] ^= 1 << rng.u8(..8));
        std::fs::write(&file, flipped).unwrap();
        let output = Command::new(anchorbolt_tests::binary())
            .args(["inspect", "plugin.wasm"])
            .current_dir(dir.path())
            .env("XDG_CACHE_HOME", dir.path())
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
    }
}

#[test]
fn another_version() {
    let wasm = exchange(bytes("identity"), "anchorbolt:bolt/guest@0.1.0", "anchorbolt:bolt/guest@0.2.0");
    golden("version", "AB405", Some(wasm), "");
}

#[test]
fn a_host_interface_of_another_version() {
    let wasm =
        exchange(bytes("identity"), "anchorbolt:bolt/collector@0.1.0", "anchorbolt:bolt/collector@0.9.0");
    golden("version-of-import", "AB405", Some(wasm), "");
}

#[test]
fn an_interface_that_the_host_lacks() {
    let wasm = exchange(bytes("identity"), "wasi:cli/stderr@", "wasi:tty/stderr@");
    golden("interface", "AB406", Some(wasm), "");
}

#[test]
fn a_component_that_is_no_bolt() {
    golden("not-a-bolt", "AB407", Some(b"\0asm\x0d\0\x01\0".to_vec()), "");
}

#[test]
fn another_sha256() {
    let keys = format!("sha256 = \"{}\"\n", "0123456789abcdef".repeat(4));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plugin.wasm"), bytes("identity")).unwrap();
    let text = check(dir.path(), &keys);
    let start = text.find("its sha256 is ").expect("both sums are shown") + "its sha256 is ".len();
    let sum = text[start..start + 64].to_owned();
    compare("sha256", &text.replace(&sum, "SUM"));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plugin.wasm"), bytes("identity")).unwrap();
    let right = format!("sha256 = \"{}\"\nbatch = 0\n", sum.to_uppercase());
    let text = check(dir.path(), &right);
    assert!(!text.contains("AB408"), "the right sum is accepted in either case: {text}");
}

#[test]
fn a_plugin_that_refuses_its_configuration() {
    golden("declare-error", "AB409", Some(bytes("flaky_prepare")), "config = { declare = \"error\" }\n");
}

#[test]
fn a_plugin_that_dies_while_it_declares_itself() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plugin.wasm"), bytes("flaky_prepare")).unwrap();
    let text = check(dir.path(), "config = { declare = \"panic\" }\n");
    assert!(text.contains("error[AB409]") && text.contains("declare was told to panic"), "{text}");
}

#[test]
fn a_plugin_of_too_many_memories() {
    golden("memories", "AB410", Some(with_memories(bytes("identity"), 20)), "");
}

/// Adds a core module with a memory to a component, and so many instances of it.
fn with_memories(mut component: Vec<u8>, instances: u8) -> Vec<u8> {
    let module = b"\0asm\x01\0\0\0\x05\x03\x01\0\x01";
    let index = count_modules(&component);
    component.extend([1, module.len() as u8]);
    component.extend(module);
    let mut body = vec![instances];
    (0..instances).for_each(|_| body.extend([0, index, 0]));
    component.extend([2, body.len() as u8]);
    component.extend(body);
    component
}

/// The top-level sections with a core module: each is a byte 1, its length, the module.
fn count_modules(component: &[u8]) -> u8 {
    let (mut at, mut modules) = (8, 0);
    while at < component.len() {
        modules += u8::from(component[at] == 1);
        let (mut length, mut shift) = (0usize, 0);
        loop {
            at += 1;
            length |= usize::from(component[at] & 0x7f) << shift;
            shift += 7;
            if component[at] < 0x80 {
                break;
            }
        }
        at += 1 + length;
    }
    modules
}

#[test]
fn a_grouping_where_a_bolt_is_needed() {
    golden("grouping-as-bolt", "AB407", Some(bytes("groups_by_number")), "");
}

/// As [`golden`], of a grouping between a good bolt and a sink.
fn golden_of_grouping(case: &str, code: &str, plugin: Option<Vec<u8>>, keys: &str) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plugin.wasm"), bytes("identity")).unwrap();
    if let Some(bytes) = plugin {
        std::fs::write(dir.path().join("by.wasm"), bytes).unwrap();
    }
    let taker = format!(
        "\n[bolts.take]\nkind = \"null\"\ninputs = [{{ from = \"bolt\", grouping = {{ plugin = \"by.wasm\"{keys} }} }}]\n"
    );
    let text = check(dir.path(), &taker);
    assert!(text.contains(&format!("error[{code}]")), "{case}: {text}");
    compare(case, &text);
}

#[test]
fn a_bolt_where_a_grouping_is_needed() {
    golden_of_grouping("bolt-as-grouping", "AB407", Some(bytes("identity")), "");
}

#[test]
fn a_grouping_that_is_missing() {
    golden_of_grouping("grouping-missing", "AB401", None, "");
}

#[test]
fn a_component_that_is_no_grouping() {
    golden_of_grouping("not-a-grouping", "AB407", Some(b"\0asm\x0d\0\x01\0".to_vec()), "");
}

#[test]
fn a_grouping_of_another_version() {
    let wasm = exchange(bytes("groups_by_number"), "grouping-guest@0.1.0", "grouping-guest@0.2.0");
    golden_of_grouping("grouping-version", "AB405", Some(wasm), "");
}

#[test]
fn a_grouping_that_refuses_its_configuration() {
    let keys = ", config = { refuse = \"there are more regions than tasks\" }";
    golden_of_grouping("grouping-refuses", "AB409", Some(bytes("groups_by_number")), keys);
}

#[test]
fn a_grouping_that_never_gets_ready() {
    let keys = ", config = { how = \"prepare-loops\" }";
    golden_of_grouping("grouping-loops", "AB410", Some(bytes("groups_badly")), keys);
}

/// A plugin that does not load hides nothing else.
#[test]
fn a_plugin_that_does_not_load_hides_no_other_mistake() {
    golden(
        "with-others",
        "AB401",
        None,
        "colour = \"red\"\n\n[bolts.other]\nkind = \"null\"\ninputs = [{ from = \"fede\", grouping = \"shuffle\" }]\n",
    );
}

#[test]
fn every_code_of_loading_has_a_golden() {
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/goldens");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let all: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for entry in anchorbolt_core::manifest::codes::ALL.iter().filter(|entry| entry.loading) {
        assert!(all.contains(&format!("[{}]", entry.code)), "no golden shows {}", entry.code);
    }
}
