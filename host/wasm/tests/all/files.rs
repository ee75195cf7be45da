//! Bad files say what they are, and the code cache never runs what is damaged.

use crate::raw::bolt;
use crate::support::*;
use anchorbolt_core::failure::Class;
use anchorbolt_wasm::{
    ChildProcess, CompileError, Compiler, Engine, EngineOptions, InProcess, Kind, LoadError, Plugin,
};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn refused(wasm: &[u8]) -> LoadError {
    Plugin::from_bytes(engine(), wasm).err().expect("refused")
}

#[test]
fn wrong_files_have_clear_texts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("p.wasm");
    assert!(matches!(Plugin::load(engine(), &file).err(), Some(LoadError::Read(_))));
    assert!(matches!(Plugin::load(engine(), dir.path()).err(), Some(LoadError::Read(_))));
    std::fs::write(&file, "").unwrap();
    assert_eq!(Plugin::load(engine(), &file).err(), Some(LoadError::Empty));
    assert_eq!(refused(&wat::parse_str("(module)").unwrap()), LoadError::CoreModule);
    let cut = &probe_bytes()[..probe_bytes().len() / 2];
    assert!(matches!(refused(cut), LoadError::Truncated { has, .. } if has == cut.len() as u64));
    let text = refused(&wat::parse_str("(component)").unwrap()).to_string();
    assert!(text.contains("has to export anchorbolt:bolt/guest@0.1.0, and exports nothing"), "{text}");
}

#[test]
fn a_flipped_bit_is_refused_or_harmless_but_never_a_crash() {
    let whole = bolt("(func $s (local i32) (local.set 0 (i32.load (i32.const 8)))) (start $s)", "");
    let mut refusals = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        match Plugin::from_bytes(engine(), &bytes) {
            Ok(plugin) => drop(plugin.declare(&settings())),
            Err(error) => refusals += usize::from(!error.to_string().is_empty()),
        }
    }
    assert!(refusals > whole.len() / 4, "{refusals} of {}", whole.len());
}

#[test]
fn another_version_names_both_and_the_function() {
    let newer = r#"(component
        (import "anchorbolt:bolt/collector@0.2.0" (instance (export "emit-later" (func)))))"#;
    let text = refused(&wat::parse_str(newer).unwrap()).to_string();
    for part in ["@0.2.0", "offers 0.1.0", "no `collector.emit-later` of 0.2.0"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // The probe itself, as if it had been built for a later contract.
    let mut bytes = probe_bytes().to_vec();
    let (old, new) = (b"anchorbolt:bolt/guest@0.1.0", b"anchorbolt:bolt/guest@0.3.0");
    for at in 0..bytes.len() - old.len() {
        if &bytes[at..at + old.len()] == old {
            bytes[at..at + old.len()].copy_from_slice(new);
        }
    }
    let text = refused(&bytes).to_string();
    assert!(text.contains("built for anchorbolt:bolt@0.3.0 and this host offers 0.1.0"), "{text}");
}

#[test]
fn an_unknown_interface_is_named() {
    let mut bytes = probe_bytes().to_vec();
    let (old, new) = (b"wasi:cli/exit@0.2.", b"wasi:cli/exot@0.2.");
    let mut found = false;
    for at in 0..bytes.len() - old.len() {
        if &bytes[at..at + old.len()] == old {
            bytes[at..at + old.len()].copy_from_slice(new);
            found = true;
        }
    }
    assert!(found);
    match refused(&bytes) {
        LoadError::MissingInterface(name) => assert!(name.starts_with("wasi:cli/exot@0.2."), "{name}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn waiting_on_memory_and_other_proposals_are_refused() {
    let modules = [
        r#"(module (memory 1) (func (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))))"#,
        r#"(module (memory 1 1 shared))"#,
        r#"(module (memory 1) (memory 1))"#,
        r#"(module (memory i64 1))"#,
        r#"(module (func $f return_call $f))"#,
    ];
    for module in modules {
        let component = format!("(component (core module {}", &module["(module".len()..].trim_start());
        let component = wat::parse_str(format!("{component})")).unwrap();
        assert!(matches!(refused(&component), LoadError::Invalid(_)), "{module}");
    }
}

#[test]
fn too_many_memories_are_refused_before_any_is_made() {
    let memory = |i| format!("(core module $m{i} (memory 1)) (core instance (instantiate $m{i}))");
    let many: String = (0..9).map(memory).collect();
    let error = refused(&wat::parse_str(format!("(component {many})")).unwrap());
    assert!(matches!(error, LoadError::NotABolt(_) | LoadError::TooMany { .. }), "{error:?}");
}

#[test]
fn inspect_shows_the_plugin() {
    let shown = plugin().inspect(&settings());
    assert_eq!((shown.bytes, shown.sha256.len()), (probe_bytes().len() as u64, 64));
    assert!(shown.exports.iter().any(|(name, f)| name == "anchorbolt:bolt/guest@0.1.0" && f.len() == 6));
    assert!(shown.imports.iter().any(|(name, _)| name == "anchorbolt:bolt/collector@0.1.0"));
    let Kind::Bolt(Ok(declaration)) = shown.kind else { panic!("{:?}", shown.kind) };
    assert_eq!(declaration.outputs.len(), 1);
}

/// Counts how often code is really compiled.
struct Counting(AtomicUsize);

impl Compiler for Counting {
    fn compile(&self, wasm: &[u8]) -> Result<Vec<u8>, CompileError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        InProcess.compile(wasm)
    }
}

/// Loads a small plugin with a cache and tells whether it had to be compiled.
fn compiles(cache: &Path) -> bool {
    let compiler = Arc::new(Counting(AtomicUsize::new(0)));
    let options = EngineOptions { compiler: compiler.clone(), cache_dir: Some(cache.to_owned()) };
    let plugin = Plugin::from_bytes(&Engine::new(options).unwrap(), &bolt("", "")).unwrap();
    assert_death(&died(plugin.declare(&settings())), Class::Trap, "stopped itself");
    compiler.0.load(Ordering::SeqCst) > 0
}

fn entry(cache: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(cache).unwrap();
    let path = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none(), "one entry");
    path
}

#[test]
fn the_cache_is_private_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("deep/cache");
    assert!(compiles(&cache));
    assert!(!compiles(&cache));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&cache), mode(&entry(&cache))), (0o700, 0o600));
}

#[test]
fn what_is_not_whole_is_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path();
    std::fs::set_permissions(cache, PermissionsExt::from_mode(0o700)).unwrap();
    assert!(compiles(cache));
    let path = entry(cache);
    let whole = std::fs::read(&path).unwrap();
    let header = (0..80).step_by(3);
    for at in header.chain((80..whole.len()).step_by(whole.len() / 40)).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        assert!(compiles(cache), "byte {at}");
        assert_eq!(std::fs::read(&path).unwrap().len(), whole.len(), "mended");
    }
    for length in [0, 10, 71, 72, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(compiles(cache), "cut to {length}");
    }
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(compiles(cache), "others may read it");
    std::fs::remove_file(&path).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    std::fs::write(&elsewhere, &whole).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert!(compiles(cache), "a link");
}

#[test]
fn a_cache_that_others_may_write_to_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(compiles(dir.path()));
    assert!(compiles(dir.path()));
}

#[test]
fn a_compiling_child_that_ends_badly_is_told_apart() {
    let compiler = ChildProcess { exe: "/bin/sh".into(), args: vec!["-c".into(), "kill -ABRT $$".into()] };
    assert!(matches!(compiler.compile(b"x"), Err(CompileError::TooMuch(t)) if t.contains("2 GiB")));
    let compiler = ChildProcess { exe: "/no/such/program".into(), args: vec![] };
    assert!(matches!(compiler.compile(b"x"), Err(CompileError::Broken(_))));
    let compiler =
        ChildProcess { exe: "/bin/sh".into(), args: vec!["-c".into(), "echo no >&2; exit 3".into()] };
    assert_eq!(compiler.compile(b"x"), Err(CompileError::Refused("no".into())));
}
