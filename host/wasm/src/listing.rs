//! Listings of folders, which wasmtime gathers in the host's memory before the guest takes the first name.
//!
//! A folder comes in; whether it is small enough to be listed goes out. It is counted on the blocking pool, so that a
//! slow disk can't hold an executor past a deadline.

use rustix::fs::Dir;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The most entries that an instance may have in all listings it has open: some ten MiB in the host.
pub(crate) const ENTRIES_MAX: usize = 65_536;

/// The listings that an instance has open.
#[derive(Default)]
pub(crate) struct Listings(HashMap<u32, usize>);

impl Listings {
    /// How many entries a further one may have. What `is_open` denies is forgotten.
    pub(crate) fn room(&mut self, is_open: impl Fn(u32) -> bool) -> usize {
        self.0.retain(|&rep, _| is_open(rep));
        ENTRIES_MAX.saturating_sub(self.0.values().sum())
    }

    /// One of so many entries was opened.
    pub(crate) fn add(&mut self, rep: u32, entries: usize) {
        self.0.insert(rep, entries);
    }
}

/// How many entries the folder has; none if it has more than `most`.
///
/// # Errors
/// What the system says of reading it.
pub(crate) async fn count(folder: Arc<File>, most: usize) -> io::Result<Option<usize>> {
    let counted = tokio::task::spawn_blocking(move || count_to(&folder, most));
    counted.await.map_err(io::Error::other)?
}

fn count_to(folder: &File, most: usize) -> io::Result<Option<usize>> {
    let mut entries = 0;
    for entry in Dir::read_from(folder)? {
        // Itself and the one above it are entries to the system.
        if matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        entries += 1;
        if entries > most {
            return Ok(None);
        }
    }
    Ok(Some(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_counted_up_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        for n in 0..4 {
            assert_eq!(count_to(&folder, 2).unwrap(), (n <= 2).then_some(n), "{n} entries");
            std::fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        assert_eq!(count_to(&folder, 4).unwrap(), Some(4), "each time from the start");
    }

    #[test]
    fn listings_that_are_open_share_the_bound() {
        let mut listings = Listings::default();
        assert_eq!(listings.room(|_| true), ENTRIES_MAX);
        listings.add(7, ENTRIES_MAX - 10);
        listings.add(8, 10);
        assert_eq!(listings.room(|_| true), 0);
        assert_eq!(listings.room(|rep| rep == 7), 10, "what was closed counts no more");
        listings.add(7, 1);
        assert_eq!(
            listings.room(|_| true),
            ENTRIES_MAX - 1,
            "a number that is used again is another listing"
        );
    }
}
