//! `lines`: which files, and what is wrong with them.

use crate::support::{LIMIT, input_error, kind, lines, open_task, read_all};
use anchorbolt_core::manifest::kinds::LineFormat;
use anchorbolt_host::spouts;
use anchorbolt_host::spouts::files::{Change, FileIdentity, expand};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use tempfile::tempdir;

fn shown(patterns: &[&str], base: &Path) -> Vec<String> {
    let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
    expand(&patterns, base).unwrap().into_iter().map(|file| file.shown).collect()
}

#[test]
fn names_are_sorted_and_each_file_is_taken_once() {
    let dir = tempdir().unwrap();
    for name in ["b.md", "a.md", "c.txt", ".hidden.md", "odd[1].txt"] {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    fs::create_dir(dir.path().join("folder.md")).unwrap();
    assert_eq!(shown(&["*.md"], dir.path()), ["a.md", "b.md"]);
    assert_eq!(shown(&["c.txt", "*.md", "./a.md", "a.md"], dir.path()), ["a.md", "b.md", "c.txt"]);
    assert_eq!(shown(&["odd[1].txt"], dir.path()), ["odd[1].txt"]);
    assert_eq!(shown(&["[ab].m?"], dir.path()), ["a.md", "b.md"]);
}

#[test]
fn a_base_that_looks_like_a_glob_is_a_folder() {
    let dir = tempdir().unwrap();
    let base = dir.path().join("run [3]*");
    fs::create_dir(&base).unwrap();
    fs::write(base.join("a.md"), "x\n").unwrap();
    assert_eq!(shown(&["*.md"], &base), ["a.md"]);
    assert_eq!(read_all(lines(&base, &["*.md"])).unwrap().rows.len(), 1);
}

#[test]
fn errors_say_what_where_and_how_to_mend() {
    let dir = tempdir().unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let error = |paths: &[&str]| input_error(read_all(lines(dir.path(), paths)));
    let missing = error(&["no/such.txt"]);
    assert!(missing.contains("`no/such.txt` does not exist") && missing.contains("`path`"), "{missing}");
    assert_eq!(error(&["folder"]), "input `folder` is a folder; to read the files in it write `folder/*`");
    let none = error(&["*.md"]);
    assert!(none.starts_with("glob `*.md` matches no file in `"), "{none}");
    assert!(error(&["f*"]).starts_with("glob `f*` matches only folders"), "{}", error(&["f*"]));
    assert!(error(&["a[.txt"]).starts_with("`a[.txt` is not a valid glob"), "{}", error(&["a[.txt"]));
    assert!(error(&["/dev/null"]).contains("not a regular file"));
    assert_eq!(error(&["x", "folder", "y"]).lines().count(), 3, "all at once");
}

#[test]
fn an_unreadable_file_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(&path).is_ok() {
        return; // A user who may read everything.
    }
    let text = input_error(read_all(lines(dir.path(), &["a.txt"])));
    assert!(text.contains("`a.txt` may not be read"), "{text}");
}

#[test]
fn a_file_that_grew_is_the_same_and_others_are_not() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "begin\n").unwrap();
    let identity = FileIdentity::of(&File::open(&path).unwrap()).unwrap();
    let change = |read_to| identity.change(&File::open(&path).unwrap(), read_to).unwrap();
    assert_eq!(change(6), None);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&[b'x'; 5000]).unwrap();
    assert_eq!(change(6), None);
    assert_eq!(change(6000), Some(Change::Truncated));
    fs::write(&path, "other, but longer\n").unwrap();
    assert_eq!(change(6), Some(Change::Rewritten));
    fs::write(dir.path().join("b.txt"), "begin\n").unwrap();
    fs::rename(dir.path().join("b.txt"), &path).unwrap();
    assert_eq!(change(6), Some(Change::Replaced));
    assert!(Change::Replaced.describe("a.txt").contains("--reset"));
}

/// Starts on a large file, changes it in the middle, and reads on.
fn changed_while_read(change: impl Fn(&Path)) -> String {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "a line of some length\n".repeat(500_000)).unwrap();
    let spout = spouts::open(&kind(&["a.txt"], LineFormat::Line, false), dir.path(), LIMIT);
    let mut driven = open_task(spout, 0, 1).unwrap();
    driven.until(1).unwrap();
    change(&path);
    input_error(driven.finish())
}

#[test]
fn a_file_replaced_while_it_is_read_is_an_error() {
    let text = changed_while_read(|path| {
        let other = path.with_extension("new");
        fs::write(&other, "a line of some length\n".repeat(500_000)).unwrap();
        fs::rename(other, path).unwrap();
    });
    assert!(text.contains("`a.txt` was replaced") && text.contains("--reset"), "{text}");
}

#[test]
fn a_file_removed_or_cut_while_it_is_read_is_an_error() {
    let text = changed_while_read(|path| fs::remove_file(path).unwrap());
    assert!(text.contains("--reset"), "{text}");
    let text = changed_while_read(|path| fs::write(path, "short\n").unwrap());
    assert!(text.contains("`a.txt` is shorter") && text.contains("--reset"), "{text}");
}

#[test]
fn a_file_replaced_before_its_turn_is_an_error() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "a line of some length\n".repeat(500_000)).unwrap();
    fs::write(dir.path().join("b.txt"), "old\n").unwrap();
    let mut driven = open_task(lines(dir.path(), &["*.txt"]), 0, 1).unwrap();
    driven.until(1).unwrap();
    fs::write(dir.path().join("b.txt"), "new\n").unwrap();
    let text = input_error(driven.finish());
    assert!(text.contains("`b.txt` was written anew"), "{text}");
}
