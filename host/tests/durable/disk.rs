//! A disk in memory that fails, or loses power, at the step it is told.
//!
//! After a loss of power: what was made durable is there. Of what was appended and not made durable any beginning may
//! be there, or zeros in its place. Names that were not made durable are as before, or as they were to be.

use anchorbolt_host::durable::{Files, Log};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Each file: its content, and how that is if power is lost.
    files: Vec<(Vec<u8>, Vec<u8>)>,
    steps: u64,
    /// Fails at this step: once, or this and all that follow.
    fail_at: Option<u64>,
    dead: bool,
    /// So many bytes can still be written.
    room: Option<usize>,
}

fn broken() -> io::Error {
    io::Error::other("the disk is broken")
}

impl State {
    /// True if this step goes wrong.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.fail_at.is_some_and(|at| self.steps == at || (self.dead && self.steps > at))
    }

    fn append(&mut self, file: usize, bytes: &[u8]) -> io::Result<()> {
        if self.step() {
            let part = bytes.len() / 2;
            self.files[file].0.extend_from_slice(&bytes[..part]);
            return Err(broken());
        }
        let room = self.room.unwrap_or(usize::MAX);
        let taken = bytes.len().min(room);
        self.files[file].0.extend_from_slice(&bytes[..taken]);
        self.room = self.room.map(|room| room - taken);
        if taken < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn make_durable(&mut self, file: usize) {
        self.files[file].1 = self.files[file].0.clone();
    }
}

impl Disk {
    /// Fails at this many steps from now; with `dead` also at all that follow.
    pub(crate) fn fail_in(&self, steps: u64, dead: bool) {
        let mut state = self.0.lock().unwrap();
        (state.fail_at, state.dead) = (Some(state.steps + steps), dead);
    }

    pub(crate) fn mend(&self) {
        self.0.lock().unwrap().fail_at = None;
    }

    pub(crate) fn room(&self, room: Option<usize>) {
        self.0.lock().unwrap().room = room;
    }

    pub(crate) fn steps(&self) -> u64 {
        self.0.lock().unwrap().steps
    }

    /// Power is lost and comes back.
    pub(crate) fn lose_power(&self, rng: &mut fastrand::Rng) {
        let mut state = self.0.lock().unwrap();
        if rng.bool() {
            state.names = state.durable_names.clone();
        }
        state.durable_names = state.names.clone();
        for (content, durable) in &mut state.files {
            if !content.starts_with(durable) {
                // It was cut or written anew: old or new.
                if rng.bool() {
                    *content = durable.clone();
                }
            } else {
                content.truncate(rng.usize(durable.len()..=content.len()));
                let zeros = rng.usize(durable.len()..=content.len());
                if rng.u32(0..4) == 0 {
                    content[zeros..].fill(0);
                }
            }
            *durable = content.clone();
        }
        (state.fail_at, state.room) = (None, None);
    }

    pub(crate) fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.0.lock().unwrap();
        state.names.get(path).map(|file| state.files[*file].0.clone())
    }

    /// What is in a file if power is lost now.
    #[allow(dead_code, reason = "the simulation in `tests` looks at this disk too")]
    pub(crate) fn durable(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.0.lock().unwrap();
        state.durable_names.get(path).map(|file| state.files[*file].1.clone())
    }

    pub(crate) fn put(&self, path: &Path, content: &[u8]) {
        let mut state = self.0.lock().unwrap();
        let file = state.files.len();
        state.files.push((content.to_vec(), content.to_vec()));
        state.names.insert(path.to_owned(), file);
        state.durable_names.insert(path.to_owned(), file);
    }
}

impl Files for Disk {
    fn read(&self, path: &Path, _most: u64) -> io::Result<Vec<u8>> {
        self.content(path).ok_or(io::ErrorKind::NotFound.into())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        let known = state.names.get(path).copied();
        let file = known.unwrap_or(state.files.len());
        if known.is_none() {
            state.files.push(Default::default());
            state.names.insert(path.to_owned(), file);
        }
        state.files[file].0.clear();
        state.append(file, bytes)?;
        if state.step() {
            return Err(broken());
        }
        state.make_durable(file);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.step() {
            return Err(broken());
        }
        let file = state.names.remove(from).ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        state.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.step() {
            return Err(broken());
        }
        state.names.remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.0.lock().unwrap();
        let inside = state.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect())
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.step() {
            return Err(broken());
        }
        state.durable_names = state.names.clone();
        Ok(())
    }

    fn open_log(&self, path: &Path, look: bool) -> io::Result<Box<dyn Log>> {
        let mut state = self.0.lock().unwrap();
        let known = state.names.get(path).copied();
        if known.is_none() && look {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = known.unwrap_or(state.files.len());
        if known.is_none() {
            state.files.push(Default::default());
            state.names.insert(path.to_owned(), file);
        }
        Ok(Box::new(DiskLog { disk: self.clone(), file, path: path.to_owned() }))
    }
}

struct DiskLog {
    disk: Disk,
    file: usize,
    path: PathBuf,
}

impl Log for DiskLog {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().unwrap().files[self.file].0.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.0.lock().unwrap().append(self.file, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.0.lock().unwrap();
        if state.step() {
            return Err(broken());
        }
        state.make_durable(self.file);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock().unwrap();
        if state.step() {
            return Err(broken());
        }
        state.files[self.file].0.truncate(length as usize);
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let state = self.disk.0.lock().unwrap();
        let rest = state.files[self.file].0.get(at as usize..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn is_gone(&self) -> bool {
        self.disk.0.lock().unwrap().names.get(&self.path) != Some(&self.file)
    }
}
