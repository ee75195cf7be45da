//! Checkpoints: saved, loaded, refused.

use anchorbolt_host::durable::{Checkpoints, Files, Log, SystemFiles};
use std::fs;
use std::io;
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
    let zero = fs::read_to_string(&path).unwrap().replace("\"version\":2", "\"version\":0");
    fs::write(&path, zero).unwrap();
    let text = saved.load("lines").unwrap_err().to_string();
    assert!(text.contains("is damaged: its first line has no version"), "{text}");
}

#[test]
fn a_folder_that_is_gone_is_an_error_that_names_it() {
    let dir = tempdir().unwrap();
    let saved = checkpoints(&dir.path().join("no"));
    for error in [saved.save("lines", 0, b"x").unwrap_err(), saved.load("lines").unwrap_err()] {
        assert!(error.to_string().contains("/no"), "{error}");
    }
}

/// A disk that takes everything and keeps nothing, or refuses it all for one reason.
struct Answers(Option<io::ErrorKind>);

impl Answers {
    fn answer(&self) -> io::Result<()> {
        self.0.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl Files for Answers {
    fn read(&self, _path: &Path, _most: u64) -> io::Result<Vec<u8>> {
        self.answer().map(|()| Vec::new())
    }
    fn write(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        self.answer()
    }
    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        self.answer()
    }
    fn remove(&self, _path: &Path) -> io::Result<()> {
        self.answer()
    }
    fn names(&self, _folder: &Path) -> io::Result<Vec<String>> {
        self.answer().map(|()| Vec::new())
    }
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        self.answer()
    }
    fn open_log(&self, _path: &Path, _look: bool) -> io::Result<Box<dyn Log>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[test]
fn what_a_person_can_mend_comes_with_advice() {
    for (kind, advice) in [
        (io::ErrorKind::PermissionDenied, "; give this user the right to"),
        (io::ErrorKind::StorageFull, "; free some space"),
        (io::ErrorKind::QuotaExceeded, "; free some space"),
        (io::ErrorKind::NotFound, "; if its folder was removed or renamed, put it back"),
        (io::ErrorKind::ReadOnlyFilesystem, "; name another place with --data-dir"),
        (io::ErrorKind::Other, ""),
    ] {
        let saved = Checkpoints::new(Arc::new(Answers(Some(kind))), "/c".into());
        let text = saved.save("lines", 0, b"x").unwrap_err().to_string();
        let why = io::Error::from(kind);
        assert_eq!(text, format!("`/c/lines.0.checkpoint` can't be written: {why}{advice}"));
    }
}

#[test]
fn the_largest_checkpoint_is_taken_and_a_larger_one_is_not() {
    const MOST: usize = 256 << 20;
    let saved = Checkpoints::new(Arc::new(Answers(None)), "/c".into());
    let zeros = vec![0; MOST];
    let text = saved.save("lines", 0, &zeros).unwrap_err().to_string();
    let bytes = text.split(' ').find_map(|word| word.parse::<usize>().ok()).unwrap();
    let header = bytes - MOST;
    assert!((100..300).contains(&header) && text.contains("the most is 268435456"), "{text}");
    saved.save("lines", 0, &zeros[header..]).unwrap();
    saved.save("lines", 0, &zeros[header - 1..]).unwrap_err();
}
