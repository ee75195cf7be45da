//! Which topology a command is about that looks at a running or finished one.
//!
//! In: `--manifest`, `--data-dir`, or neither. Out: its data folder, and its manifest where that can be told. With
//! neither it is the only topology that has a data folder below the current folder.
//!
//! Invariant: of several none is taken; they are listed, with what to type.

use crate::{ENVIRONMENT, Exit, INPUT, render, tell_as_is};
use anchorbolt_host::assemble::Source;
use anchorbolt_host::core::manifest::names;
use anchorbolt_host::durable::Layout;
use clap::Args;
use std::path::{Path, PathBuf};

/// How deep below the current folder is looked.
const DEPTH_MAX: usize = 8;
/// No more folders are looked into.
const FOLDERS_MAX: usize = 20_000;
/// Folders with nothing of ours in them.
const PASSED_OVER: [&str; 2] = ["target", "node_modules"];
/// Where data folders are, beside a manifest.
const OURS: &str = ".anchorbolt";
/// So many of several are listed.
const LISTED: usize = 20;

/// Which topology.
#[derive(Debug, Default, Args)]
pub(crate) struct FindArgs {
    /// The topology's manifest. Without it and --data-dir: the only topology below this folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// The topology's data folder, if it is not `.anchorbolt/NAME/` beside the manifest.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// A topology that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its data folder, which is there.
    pub(crate) layout: Layout,
    /// Its manifest, as it was named.
    pub(crate) manifest: Option<PathBuf>,
}

/// Finds the topology, or says why not. `sets` are the `--set` arguments, which may change its name.
pub(crate) fn find(args: &FindArgs, sets: &[String]) -> Result<Found, Exit> {
    let root = match (&args.data_dir, &args.manifest) {
        (Some(dir), _) => dir.clone(),
        (None, Some(manifest)) => Layout::beside(manifest, &name_of(manifest, sets)?),
        (None, None) => only_one(Path::new("."))?,
    };
    if !root.join("VERSION").exists() {
        return Err(not_there(args, &root));
    }
    match Layout::look(&root) {
        Ok(layout) => Ok(Found { layout, manifest: args.manifest.clone() }),
        Err(error) => {
            tell!("error: {error}");
            Err(ENVIRONMENT)
        }
    }
}

impl Found {
    /// Its manifest: as it was named, else the one beside the folder of data folders that has its name.
    pub(crate) fn manifest(&self) -> Result<PathBuf, Exit> {
        if let Some(manifest) = &self.manifest {
            return Ok(manifest.clone());
        }
        let found = beside(self.layout.root());
        if let [one] = &found[..] {
            return Ok(one.clone());
        }
        tell!(
            "error: can't tell which manifest the data folder `{}` belongs to",
            self.layout.root().display()
        );
        for manifest in &found {
            tell!("  --manifest {}", manifest.display());
        }
        tell!("help: name it with --manifest FILE");
        Err(INPUT)
    }
}

/// The manifests whose data folder this is.
fn beside(root: &Path) -> Vec<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let (Some(name), Some(folder)) = (root.file_name(), root.parent().filter(|p| p.ends_with(OURS))) else {
        return vec![];
    };
    let Some(entries) = folder.parent().and_then(|above| above.read_dir().ok()) else { return vec![] };
    let manifests = entries.flatten().map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|e| e == "toml")
            && Source::new(path).read().is_ok_and(|parsed| name == parsed.manifest.topology.name.as_str())
    });
    let mut found: Vec<PathBuf> = manifests.collect();
    found.sort();
    found
}

/// The name that a manifest gives its topology; its other mistakes don't matter here.
fn name_of(manifest: &Path, sets: &[String]) -> Result<String, Exit> {
    let source = Source { path: manifest.to_owned(), sets: sets.to_vec() };
    let parsed = source.read().map_err(|error| {
        tell!("error: {error}");
        INPUT
    })?;
    let name = parsed.manifest.topology.name;
    if names::check(&name).is_ok() {
        return Ok(name);
    }
    tell_as_is(&render::render(&parsed.sources, &parsed.diagnostics, render::colours()));
    tell!("error: the manifest {} does not name its topology", manifest.display());
    tell!("help: mend it, or name the data folder with --data-dir DIR");
    Err(INPUT)
}

fn not_there(args: &FindArgs, root: &Path) -> Exit {
    match (&args.data_dir, &args.manifest) {
        (None, Some(manifest)) => {
            tell!("error: the topology of {} has no data folder `{}`", manifest.display(), root.display());
            tell!("help: it has not run yet, or it ran with --data-dir DIR: then name that folder");
        }
        _ => {
            tell!("error: `{}` is no data folder of anchorbolt: it has no file VERSION", root.display());
            tell!(
                "help: a data folder is `{OURS}/NAME` beside a manifest, unless it ran with --data-dir DIR"
            );
        }
    }
    INPUT
}

fn only_one(below: &Path) -> Result<PathBuf, Exit> {
    let search = search(below);
    if search.found.len() == 1 && !search.cut {
        return Ok(search.found.into_iter().next().unwrap_or_default());
    }
    match search.found.len() {
        0 => tell!("error: no topology has run below this folder: there is no data folder `{OURS}/NAME`"),
        1 => tell!(
            "error: there are too many folders below this one to know that this topology is the only one"
        ),
        n => tell!("error: {n} topologies have run below this folder; which one?"),
    }
    for dir in search.found.iter().take(LISTED) {
        tell!("  --data-dir {}", dir.display());
    }
    if search.found.len() > LISTED {
        tell!("  and {} more", search.found.len() - LISTED);
    }
    tell!("help: name one with --manifest FILE or --data-dir DIR");
    Err(INPUT)
}

/// What is below a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Search {
    /// Data folders, in order.
    found: Vec<PathBuf>,
    /// There were too many folders to look into all.
    cut: bool,
}

fn search(below: &Path) -> Search {
    let mut search = Search::default();
    let mut looked = 0;
    let mut folders = vec![(below.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            search.cut = true;
            break;
        }
        for (name, path) in inside(&folder) {
            if name == OURS {
                let data = inside(&path).into_iter().map(|(_, path)| path);
                search.found.extend(data.filter(|path| path.join("VERSION").is_file()));
            } else if depth < DEPTH_MAX && !name.starts_with('.') && !PASSED_OVER.contains(&&*name) {
                folders.push((path, depth + 1));
            }
        }
    }
    search.found.sort();
    search
}

/// The folders in a folder; links are not followed, and what can't be read has none.
fn inside(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = folder.read_dir() else { return vec![] };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            // `./a` is shown as `a`.
            let path = if folder == Path::new(".") { PathBuf::from(entry.file_name()) } else { entry.path() };
            (name, path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("anchorbolt-find-{test}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn data(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("VERSION"), "1\n").unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn data_folders_are_found_below_and_nowhere_else() {
        let folder = Folder::new("below");
        assert_eq!(search(&folder.0), Search::default());
        let here = folder.data(".anchorbolt/here");
        let deep = folder.data("a/b/c/.anchorbolt/deep");
        let edge = folder.data("1/2/3/4/5/6/7/8/.anchorbolt/edge");
        folder.data("1/2/3/4/5/6/7/8/9/.anchorbolt/too-deep");
        for hidden in ["target", "node_modules", ".git", "x/target", "y/.hidden", ".anchorbolt/here/state"] {
            folder.data(&format!("{hidden}/.anchorbolt/no"));
        }
        fs::create_dir_all(folder.0.join("b/.anchorbolt/no-version")).unwrap();
        fs::write(folder.0.join("b/.anchorbolt/file"), "").unwrap();
        std::os::unix::fs::symlink(&folder.0, folder.0.join("b/loop")).unwrap();
        assert_eq!(search(&folder.0), Search { found: vec![here, edge, deep], cut: false });
    }

    #[test]
    fn a_manifest_is_found_beside_its_data_folder_by_its_name() {
        let folder = Folder::new("beside");
        let data = folder.data(".anchorbolt/one");
        assert!(beside(&data).is_empty());
        fs::write(folder.0.join("b.toml"), "[topology]\nname = \"other\"\n").unwrap();
        fs::write(folder.0.join("c.toml"), "[topology]\nname = \"one\"\nwrong = 1\n").unwrap();
        fs::write(folder.0.join("d.txt"), "[topology]\nname = \"one\"\n").unwrap();
        let root = folder.0.canonicalize().unwrap();
        assert_eq!(beside(&data), [root.join("c.toml")]);
        fs::write(folder.0.join("a.toml"), "[topology]\nname = \"one\"\n").unwrap();
        assert_eq!(beside(&data), [root.join("a.toml"), root.join("c.toml")]);
        assert!(beside(&folder.data("elsewhere")).is_empty());
    }
}
