//! The files that an import reads.
//!
//! In: names, as a Flux file writes them. Out: texts. Invariant: only ordinary files are read, and no more of one than an
//! import takes: an include of a pipe or a device waits for nobody.

use anchorbolt_flux::{Files, TEXT_BYTES_MAX};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Files beside a Flux file.
pub(super) struct Disk {
    /// Where a file is looked for.
    folders: Vec<PathBuf>,
    /// Where a resource is.
    roots: Vec<PathBuf>,
}

impl Disk {
    /// For a Flux file. Its resources are below `resources`; without it beside the file and in the folders above, up to
    /// the current one or, for a file elsewhere, to the one above its own.
    pub(super) fn new(flux: &Path, resources: Option<&Path>) -> Disk {
        let beside = flux.parent().unwrap_or(Path::new(""));
        let folders = vec![PathBuf::new(), beside.to_owned()];
        let roots = match resources {
            Some(root) => vec![root.to_owned()],
            None if beside.is_relative() => beside.ancestors().map(Path::to_owned).collect(),
            None => beside.ancestors().take(2).map(Path::to_owned).collect(),
        };
        Disk { folders, roots }
    }
}

impl Files for Disk {
    fn read(&mut self, file: &str, resource: bool) -> Result<(String, String), String> {
        let (folders, name) =
            if resource { (&self.roots, file.trim_start_matches('/')) } else { (&self.folders, file) };
        let mut paths = folders.iter().map(|folder| folder.join(name));
        let path = paths.find(|path| path.exists()).ok_or("there is no such file")?;
        Ok((path.to_string_lossy().into_owned(), read(&path)?))
    }
}

/// Reads a text, or says why not.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let metadata = path.metadata().map_err(|error| why(&error))?;
    if metadata.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is no ordinary file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| why(&error))?;
    file.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(|error| why(&error))?;
    if bytes.len() > TEXT_BYTES_MAX {
        return Err(format!("it has more than {TEXT_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}
