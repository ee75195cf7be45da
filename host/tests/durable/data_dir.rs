//! The data folder: made, locked, refused.

use anchorbolt_host::durable::{DataDir, Layout};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::tempdir;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(root: &Path) -> String {
    DataDir::open(root, false).unwrap_err().to_string()
}

#[test]
fn a_new_folder_has_everything_and_is_for_its_owner_alone() {
    let dir = tempdir().unwrap();
    let root = Layout::beside(&dir.path().join("topology.toml"), "word-count");
    assert_eq!(root, dir.path().join(".anchorbolt/word-count"));
    let data = DataDir::open(&root, false).unwrap();
    assert_eq!(fs::read_to_string(root.join("VERSION")).unwrap(), "1\n");
    assert_eq!(fs::read_to_string(root.join("lock")).unwrap(), format!("{}\n", std::process::id()));
    for folder in [root.clone(), dir.path().join(".anchorbolt"), data.layout().checkpoints()] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    for file in ["VERSION", "lock"] {
        assert_eq!(mode(&root.join(file)), 0o600, "{file}");
    }
    drop(data);
    DataDir::open(&root, false).unwrap();
    assert_eq!(Layout::look(&root).unwrap().dead_letters(), root.join("dead-letters.jsonl"));
}

#[test]
fn a_second_host_is_told_who_has_it() {
    let dir = tempdir().unwrap();
    let first = DataDir::open(dir.path(), false).unwrap();
    let text = refused(dir.path());
    let pid = format!("is in use by process {};", std::process::id());
    assert!(text.contains(&pid) && text.contains("--data-dir"), "{text}");
    Layout::look(dir.path()).unwrap();
    File::create(dir.path().join("lock")).unwrap();
    assert!(
        refused(dir.path()).contains("is in use by another process;"),
        "it has not written its number yet"
    );
    drop(first);
    DataDir::open(dir.path(), false).unwrap();
}

#[test]
fn a_lock_file_that_a_dead_host_left_locks_nothing() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("lock"), "1\n").unwrap();
    fs::write(dir.path().join("VERSION.new"), "").unwrap();
    DataDir::open(dir.path(), false).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("VERSION")).unwrap(), "1\n");
}

#[test]
fn another_version_or_another_folder_is_refused_and_left_alone() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("VERSION"), "7\n").unwrap();
    let text = refused(dir.path());
    assert!(text.contains("newer anchorbolt (format 7, this one knows 1)"), "{text}");
    assert_eq!(Layout::look(dir.path()).unwrap_err().to_string(), text);
    for odd in ["", "one", "0", "-1", "1 1"] {
        fs::write(dir.path().join("VERSION"), odd).unwrap();
        assert!(refused(dir.path()).contains("does not hold the number of a format"), "{odd:?}");
    }
    fs::write(dir.path().join("VERSION"), "9".repeat(1000)).unwrap();
    assert!(refused(dir.path()).contains("more than 64 bytes"));
    fs::remove_file(dir.path().join("VERSION")).unwrap();
    fs::write(dir.path().join("thesis.tex"), "").unwrap();
    assert!(refused(dir.path()).contains("`thesis.tex` is in it already"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was made in it");
    assert!(Layout::look(dir.path()).unwrap_err().to_string().contains("is no data folder"));
    let file = dir.path().join("thesis.tex");
    assert!(refused(&file).contains("can't be made a data folder"), "{}", refused(&file));
}

#[test]
fn reset_removes_the_checkpoints_and_keeps_the_letters() {
    let dir = tempdir().unwrap();
    let data = DataDir::open(dir.path(), false).unwrap();
    let layout = data.layout().clone();
    fs::write(layout.checkpoints().join("lines.0.checkpoint"), "x").unwrap();
    fs::write(layout.checkpoints().join("lines.0.checkpoint.new"), "x").unwrap();
    fs::write(layout.dead_letters(), "{}\n").unwrap();
    assert!(DataDir::open(dir.path(), true).is_err(), "not while a host has it");
    assert_eq!(fs::read_dir(layout.checkpoints()).unwrap().count(), 2);
    drop(data);
    DataDir::open(dir.path(), false).unwrap();
    assert_eq!(fs::read_dir(layout.checkpoints()).unwrap().count(), 2);
    DataDir::open(dir.path(), true).unwrap();
    assert_eq!(fs::read_dir(layout.checkpoints()).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(layout.dead_letters()).unwrap(), "{}\n");
}

#[test]
fn each_thing_has_its_place() {
    let dir = tempdir().unwrap();
    let data = DataDir::open(dir.path(), false).unwrap();
    let layout = data.layout();
    let places = [
        (layout.root().to_owned(), ""),
        (layout.checkpoints(), "checkpoints"),
        (layout.dead_letters(), "dead-letters.jsonl"),
        (layout.socket(), "control.sock"),
        (layout.state(), "state"),
        (layout.topology(), "topology"),
        (layout.last_report(), "last-report.json"),
    ];
    for (place, name) in places {
        assert_eq!(place, dir.path().join(name));
    }
    assert!(layout.state().is_dir() && layout.checkpoints().is_dir());
}

#[test]
fn a_version_with_white_space_round_it_is_read_up_to_64_bytes() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("VERSION"), format!(" 1{}", "\n".repeat(62))).unwrap();
    Layout::look(dir.path()).unwrap();
    fs::write(dir.path().join("VERSION"), format!(" 1{}", "\n".repeat(63))).unwrap();
    assert!(refused(dir.path()).contains("more than 64 bytes"));
}

#[test]
fn a_folder_that_belongs_to_a_topology_is_no_other_ones() {
    let dir = tempdir().unwrap();
    let data = DataDir::open(dir.path(), false).unwrap();
    data.bind("word-count").unwrap();
    assert_eq!(fs::read_to_string(data.layout().topology()).unwrap(), "word-count\n");
    assert_eq!(mode(&data.layout().topology()), 0o600);
    data.bind("word-count").unwrap();
    let text = data.bind("orders").unwrap_err().to_string();
    assert!(text.contains("belongs to topology `word-count`, and this is `orders`"), "{text}");
    fs::write(data.layout().topology(), " orders").unwrap();
    data.bind("orders").unwrap();
    fs::remove_file(data.layout().topology()).unwrap();
    fs::create_dir(data.layout().topology()).unwrap();
    assert!(data.bind("orders").unwrap_err().to_string().contains("topology` can't be read: "));
    assert!(data.layout().topology().is_dir());
}

#[test]
fn a_tool_takes_a_folder_that_a_host_made_and_left() {
    let dir = tempdir().unwrap();
    let taken = || DataDir::take(dir.path()).map(drop);
    assert!(taken().unwrap_err().to_string().contains("is no data folder"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing was made in it");
    let host = DataDir::open(dir.path(), false).unwrap();
    let text = taken().unwrap_err().to_string();
    assert!(text.contains("is in use by process") && text.ends_with("stop that one first"), "{text}");
    drop(host);
    let tool = DataDir::take(dir.path()).unwrap();
    assert_eq!(tool.layout().root(), dir.path());
    assert!(refused(dir.path()).contains("is in use by process"));
    drop(tool);
    taken().unwrap();
}
