//! Checkpoints: saved, loaded, refused.

use anchorbolt_host::durable::{Checkpoints, SystemFiles};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

fn checkpoints(folder: &Path) -> Checkpoints {
    Checkpoints::new(Arc::new(SystemFiles), folder.to_owned())
}

#[test]
fn each_task_has_its_own_and_the_last_counts() {
    let dir = tempdir().unwrap();
    let saved = checkpoints(dir.path());
    assert_eq!(saved.load("lines").unwrap(), []);
    saved.save("lines", 10, b"ten").unwrap();
    saved.save("lines", 2, b"old").unwrap();
    saved.save("lines", 2, b"\0\n\xff").unwrap();
    saved.save("lines-b", 0, b"").unwrap();
    fs::write(dir.path().join("lines.x.checkpoint"), "not ours").unwrap();
    fs::write(dir.path().join("lines.3.checkpoint.new"), "torn").unwrap();
    assert_eq!(saved.load("lines").unwrap(), [(2, b"\0\n\xff".to_vec()), (10, b"ten".to_vec())]);
    assert_eq!(saved.load("lines-b").unwrap(), [(0, vec![])]);
    let meta = fs::metadata(dir.path().join("lines.2.checkpoint")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    saved.retain("lines", 10).unwrap();
    assert_eq!(saved.load("lines").unwrap(), [(2, b"\0\n\xff".to_vec())]);
    assert_eq!(saved.load("lines-b").unwrap().len(), 1);
}

#[test]
fn no_damaged_byte_and_no_torn_end_passes() {
    let dir = tempdir().unwrap();
    let saved = checkpoints(dir.path());
    saved.save("lines", 0, b"payload").unwrap();
    let path = dir.path().join("lines.0.checkpoint");
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let text = saved.load("lines").unwrap_err().to_string();
        assert!(text.contains("is damaged") && text.contains("--reset"), "{length}: {text}");
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut other = whole.clone();
            other[at] ^= 1 << bit;
            fs::write(&path, &other).unwrap();
            let loaded = saved.load("lines");
            let text = loaded.map(|_| ()).unwrap_err().to_string();
            assert!(text.contains("--reset"), "byte {at}: {text}");
        }
    }
    fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
    assert!(saved.load("lines").unwrap_err().to_string().contains("not as long as it says"));
    fs::write(&path, &whole).unwrap();
    saved.load("lines").unwrap();
}

#[test]
fn anothers_and_a_newer_one_are_refused() {
    let dir = tempdir().unwrap();
    let saved = checkpoints(dir.path());
    saved.save("lines", 0, b"payload").unwrap();
    let path = dir.path().join("lines.0.checkpoint");
    for other in ["words.0.checkpoint", "lines.1.checkpoint"] {
        fs::copy(&path, dir.path().join(other)).unwrap();
    }
    let text = saved.load("words").unwrap_err().to_string();
    assert!(text.contains("belongs to spout \"lines\", task 0") && text.contains("--reset"), "{text}");
    assert!(saved.load("lines").unwrap_err().to_string().contains("lines.1.checkpoint` belongs to"));
    let newer = fs::read_to_string(&path).unwrap().replace("\"version\":1", "\"version\":2");
    fs::write(&path, newer).unwrap();
    let text = saved.load("lines").unwrap_err().to_string();
    assert!(text.contains("newer anchorbolt (format 2, this one knows 1)"), "{text}");
}

#[test]
fn a_folder_that_is_gone_is_an_error_that_names_it() {
    let dir = tempdir().unwrap();
    let saved = checkpoints(&dir.path().join("no"));
    for error in [saved.save("lines", 0, b"x").unwrap_err(), saved.load("lines").unwrap_err()] {
        assert!(error.to_string().contains("/no"), "{error}");
    }
}
