//! Listings of folders, which wasmtime gathers in the host's memory before the guest takes the first name.
//!
//! A folder comes in; whether it is small enough to be listed goes out. It is counted on the blocking pool, so that a
//! slow disk can't hold an executor past a deadline.

use rustix::fs::Dir;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The most entries that a guest may list: some ten MiB in the host.
pub(crate) const ENTRIES_MAX: usize = 65_536;

/// Whether the folder has no more entries than may be listed.
///
/// # Errors
/// What the system says of reading it.
pub(crate) async fn is_bounded(folder: Arc<File>) -> io::Result<bool> {
    let counted = tokio::task::spawn_blocking(move || has_at_most(&folder, ENTRIES_MAX));
    counted.await.map_err(io::Error::other)?
}

fn has_at_most(folder: &File, most: usize) -> io::Result<bool> {
    // Itself and the one above it are entries to the system.
    let mut entries = 0;
    for entry in Dir::read_from(folder)? {
        entry?;
        entries += 1;
        if entries > most + 2 {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_counted_up_to_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        for n in 0..4 {
            assert_eq!(has_at_most(&folder, 2).unwrap(), n <= 2, "{n} entries");
            std::fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        assert!(has_at_most(&folder, 4).unwrap(), "each time from the start");
    }
}
