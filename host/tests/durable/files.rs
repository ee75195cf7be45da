//! The machine's own disk, as far as a test can see it.

use anchorbolt_host::durable::{Files, SystemFiles};
use std::fs;
use std::io;
use std::path::Path;
use tempfile::tempdir;

#[test]
fn a_log_grows_is_cut_and_is_read_at_any_place() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = SystemFiles.open_log(&path, false).unwrap();
    log.append(b"one two ").unwrap();
    log.append(b"three").unwrap();
    log.sync().unwrap();
    assert_eq!(log.len().unwrap(), 13);
    let mut buffer = [0; 100];
    let read = log.read_at(&mut buffer, 4).unwrap();
    assert_eq!(&buffer[..read], b"two three");
    assert_eq!(log.read_at(&mut buffer, 13).unwrap(), 0, "the end");
    log.cut(3).unwrap();
    log.append(b"!").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one!");
    let mut look = SystemFiles.open_log(&path, true).unwrap();
    assert_eq!(look.len().unwrap(), 4);
    assert!(look.append(b"x").is_err(), "it is only read");
    assert!(!log.is_gone());
    fs::write(dir.path().join("other"), "one!").unwrap();
    SystemFiles.rename(&dir.path().join("other"), &path).unwrap();
    assert!(log.is_gone(), "another file has its name");
    SystemFiles.remove(&path).unwrap();
    assert!(log.is_gone() && SystemFiles.names(dir.path()).unwrap().is_empty());
}

#[test]
fn a_file_is_read_up_to_the_most_and_not_beyond() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    SystemFiles.write(&path, b"0123456789").unwrap();
    assert_eq!(SystemFiles.read(&path, 10).unwrap(), b"0123456789");
    let error = SystemFiles.read(&path, 9).unwrap_err();
    assert_eq!(
        (error.kind(), &*error.to_string()),
        (io::ErrorKind::FileTooLarge, "it has more than 9 bytes")
    );
}

#[test]
fn what_cannot_be_made_durable_is_an_error() {
    let dir = tempdir().unwrap();
    let gone = dir.path().join("gone");
    assert_eq!(SystemFiles.sync_folder(&gone).unwrap_err().kind(), io::ErrorKind::NotFound);
    let mut nowhere = SystemFiles.open_log(Path::new("/dev/null"), false).unwrap();
    nowhere.append(b"x").unwrap();
    assert!(nowhere.sync().is_err(), "what has no disk behind it");
}
