//! How many fates the pipeline has told.
//!
//! In: the file to which a host appends, and which it mends after a kill. Out: the number of its lines. Invariant: only
//! whole lines count, and each byte of them is read once, however often one looks.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

/// A file of lines that grows.
#[derive(Debug)]
pub(super) struct Told {
    path: PathBuf,
    lines: u64,
    /// Where the last whole line ends.
    end: u64,
}

impl Told {
    pub(super) fn new(path: PathBuf) -> Told {
        Told { path, lines: 0, end: 0 }
    }

    /// How many lines there are now; a file that is not there has none.
    pub(super) fn look(&mut self) -> Result<u64, String> {
        match self.read() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("can't read {}: {error}", self.path.display()))
            }
            _ => Ok(self.lines),
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.end))?;
        let mut file = BufReader::new(file);
        loop {
            let read = file.skip_until(b'\n')?;
            let whole = read > 0 && {
                file.seek_relative(-1)?;
                file.fill_buf()?.first() == Some(&b'\n')
            };
            if !whole {
                return Ok(());
            }
            file.consume(1);
            self.lines += 1;
            self.end += read as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn whole_lines_are_counted_once_and_a_torn_one_that_is_mended_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fates");
        let mut told = Told::new(path.clone());
        assert_eq!(told.look(), Ok(0));
        let append = |text: &str| {
            File::options()
                .create(true)
                .append(true)
                .open(&path)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        };
        append("a\n\nb\nc");
        assert_eq!((told.look(), told.look()), (Ok(3), Ok(3)));
        File::options().write(true).open(&path).unwrap().set_len(5).unwrap();
        append("d\n");
        assert_eq!(told.look(), Ok(4));
    }
}
