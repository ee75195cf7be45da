//! Reading files of one JSON object a line.
//!
//! In: a path. Out: each line, or an error with file and line. Invariant: a line has a bound, and a last line that a
//! crash tore is passed over: it has no end and is no whole object.

use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The most bytes of a line.
const LINE_MAX: u64 = 16 << 20;

/// Gives each line to `take`, without its end.
///
/// # Errors
/// When the file can't be read, or at the first line that `take` refuses.
pub(crate) fn lines(path: &Path, mut take: impl FnMut(&str) -> Result<(), String>) -> Result<(), String> {
    let refuse = |why: &dyn std::fmt::Display| format!("can't read {}: {why}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(|error| refuse(&error))?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read =
            file.by_ref().take(LINE_MAX).read_until(b'\n', &mut line).map_err(|error| refuse(&error))?;
        if read == 0 {
            break;
        }
        let whole = line.pop_if(|last| *last == b'\n').is_some();
        let taken = std::str::from_utf8(&line).map_err(|error| error.to_string()).and_then(&mut take);
        match taken {
            Err(why) if whole || read as u64 == LINE_MAX => {
                return Err(format!("{}:{number}: {why}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives each line to `take` as a JSON value.
///
/// # Errors
/// As [`lines`].
pub(crate) fn values(path: &Path, mut take: impl FnMut(&Value) -> Result<(), String>) -> Result<(), String> {
    lines(path, |line| take(&serde_json::from_str(line).map_err(|error| error.to_string())?))
}

/// The text of a key.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value[key].as_str().ok_or_else(|| format!("`{key}` is no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<i64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, bytes).unwrap();
        let mut all = vec![];
        let done = values(&path, |value| {
            all.push(value["a"].as_i64().ok_or("no `a`")?);
            Ok(())
        });
        done.map(|()| all).map_err(|error| error.replace(&path.display().to_string(), "FILE"))
    }

    #[test]
    fn whole_lines_are_read_and_a_torn_last_one_is_passed_over() {
        assert_eq!(read(b"{\"a\":1}\n{\"a\":2}\n{\"a\""), Ok(vec![1, 2]));
        assert_eq!(read(b"{\"a\":1}\n{\"a\":2}"), Ok(vec![1, 2]));
        assert_eq!(read(b""), Ok(vec![]));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        assert_eq!(read(b"{\"a\":1}\n{}\n"), Err("FILE:2: no `a`".into()));
        assert!(read(b"{\"a\n").unwrap_err().starts_with("FILE:1: "));
        assert!(read(b"\xff\n").unwrap_err().starts_with("FILE:1: invalid utf-8"));
        assert!(
            values(Path::new("none.jsonl"), |_| Ok(())).unwrap_err().starts_with("can't read none.jsonl: ")
        );
    }
}
