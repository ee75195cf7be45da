//! The runs: one in peace, one under faults and kills.
//!
//! In: a setup. Out: what each run came to. Invariant: a kill counts only if it hit a process that ran.

use super::args::ChaosArgs;
use super::setup::Setup;
use crate::{ENVIRONMENT, Exit, FINE, FOUND};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A run that can't be judged.
pub(super) struct Failed {
    pub(super) exit: Exit,
    pub(super) text: String,
}

/// What a run came to.
pub(super) struct Run {
    pub(super) folder: PathBuf,
    pub(super) took: Duration,
    /// Processes, the last included.
    pub(super) processes: u32,
    pub(super) kills: u32,
    /// It did not end in time.
    pub(super) hung: bool,
    /// The messages that were dead letters, and are replayed no more.
    pub(super) dead: Vec<String>,
    /// Dead letters that only this run had, put through again in peace.
    pub(super) replayed: usize,
}

/// Who runs them.
pub(super) struct Runs<'a> {
    pub(super) args: &'a ChaosArgs,
    pub(super) setup: &'a Setup,
}

/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(5);

impl Runs<'_> {
    /// Without faults.
    pub(super) fn calm(&self, folder: &Path) -> Result<Run, Failed> {
        let began = Instant::now();
        let mut child = self.start(folder, 0, false)?;
        let Some(status) = wait(&mut child, self.args.patience())? else {
            kill(&mut child)?;
            return Err(self.broken(folder, 0, "the calm run does not end; see --patience"));
        };
        if !ended_well(status) {
            return Err(self.broken(folder, 0, &format!("the calm run failed ({status})")));
        }
        let dead = dead_letters(folder)?;
        let took = began.elapsed();
        Ok(Run { folder: folder.to_owned(), took, processes: 1, kills: 0, hung: false, dead, replayed: 0 })
    }

    /// Under faults: killed at random moments and started again, until it ends.
    pub(super) fn wild(&self, folder: &Path, calm: &Run) -> Result<Run, Failed> {
        let mut rng = fastrand::Rng::with_seed(self.setup.faults.seed);
        let (began, patience) = (Instant::now(), self.args.patience());
        let longest = calm.took.max(Duration::from_millis(200)).min(Duration::from_secs(5));
        let (mut processes, mut kills, mut hung) = (0, 0, false);
        loop {
            let mut child = self.start(folder, processes, true)?;
            processes += 1;
            let left = patience.saturating_sub(began.elapsed());
            let moment = longest.mul_f64(rng.f64()).max(Duration::from_millis(20));
            let pause = if kills < self.setup.kills { moment.min(left) } else { left };
            match wait(&mut child, pause)? {
                Some(status) if ended_well(status) => break,
                Some(status) => {
                    let text = format!("a run under faults failed ({status})");
                    return Err(self.broken(folder, processes - 1, &text));
                }
                None => {
                    kill(&mut child)?;
                    hung = began.elapsed() >= patience;
                    kills += u32::from(!hung);
                }
            }
            if hung {
                break;
            }
        }
        let (dead, replayed) = if hung { (vec![], 0) } else { self.replay_new(folder, calm)? };
        let took = began.elapsed();
        Ok(Run { folder: folder.to_owned(), took, processes, kills, hung, dead, replayed })
    }

    /// Messages that failed for good only because of the faults are put through again without any.
    fn replay_new(&self, folder: &Path, calm: &Run) -> Result<(Vec<String>, usize), Failed> {
        let dead = dead_letters(folder)?;
        let new: Vec<String> = dead.iter().filter(|id| !calm.dead.contains(id)).cloned().collect();
        for ids in new.chunks(200) {
            let mut command = self_command()?;
            command.args(["dlq", "replay", "--manifest"]).arg(&self.setup.manifest);
            command.arg("--data-dir").arg(folder.join("data"));
            command.args(ids.iter().flat_map(|id| ["--id", id.as_str()]));
            let sets = self.setup.sets(folder, false).map_err(|text| Failed { exit: ENVIRONMENT, text })?;
            command.args(sets.iter().flat_map(|set| ["--set", set.as_str()]));
            let mut child = spawn(command, folder, "replay")?;
            let status = wait(&mut child, self.args.patience())?;
            if status.is_none() {
                kill(&mut child)?;
            }
            if !status.is_some_and(ended_well) {
                let text =
                    "dead letters of the run under faults can't be replayed; see replay.err with --keep";
                return Err(Failed { exit: ENVIRONMENT, text: text.to_owned() });
            }
        }
        Ok((dead, new.len()))
    }

    fn start(&self, folder: &Path, number: u32, under_faults: bool) -> Result<Child, Failed> {
        std::fs::create_dir_all(folder).map_err(|e| failed("can't make a folder", &e))?;
        let mut command = self_command()?;
        command.arg("run").arg(&self.setup.manifest).args(["--until-drained", "--log-level", "info"]);
        command.arg("--data-dir").arg(folder.join("data")).arg("--report").arg(folder.join("report.json"));
        let sets =
            self.setup.sets(folder, under_faults).map_err(|text| Failed { exit: ENVIRONMENT, text })?;
        command.args(sets.iter().flat_map(|set| ["--set", set.as_str()]));
        if under_faults {
            let mut faults = self.setup.faults.clone();
            // Another process, other moments; but for a seed the same ones each time.
            faults.seed = faults.seed.wrapping_add(u64::from(number).wrapping_mul(0x9e37_79b9));
            command.arg("--chaos").arg(faults.text());
        }
        spawn(command, folder, &number.to_string())
    }

    /// With the last that the process said.
    fn broken(&self, folder: &Path, number: u32, what: &str) -> Failed {
        let said = std::fs::read_to_string(folder.join(format!("{number}.err"))).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        let last = &lines[lines.len().saturating_sub(15)..];
        Failed { exit: ENVIRONMENT, text: format!("{what}; it said last:\n{}", last.join("\n")) }
    }
}

/// This program.
fn self_command() -> Result<Command, Failed> {
    std::env::current_exe().map(Command::new).map_err(|e| failed("can't find this program's own file", &e))
}

fn failed(what: &str, error: &std::io::Error) -> Failed {
    Failed { exit: ENVIRONMENT, text: format!("{what}: {error}") }
}

/// Starts a command whose output goes to files.
fn spawn(mut command: Command, folder: &Path, name: &str) -> Result<Child, Failed> {
    let file = |end: &str| File::create(folder.join(format!("{name}.{end}")));
    let files = file("out").and_then(|out| Ok((out, file("err")?)));
    let (out, err) = files.map_err(|e| failed("can't make a file for what a run says", &e))?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    command.spawn().map_err(|e| failed("can't start a host", &e))
}

/// The user wants it to end: no child and no folder is left behind.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C ends the runs.
pub(super) fn take_interrupts() {
    if let Err(error) = ctrlc::set_handler(|| INTERRUPTED.store(true, Relaxed)) {
        tell!("warning: signals are not handled: {error}");
    }
}

/// Waits so long; none when it still runs.
fn wait(child: &mut Child, pause: Duration) -> Result<Option<ExitStatus>, Failed> {
    let until = Instant::now() + pause;
    loop {
        if INTERRUPTED.load(Relaxed) {
            kill(child)?;
            return Err(Failed { exit: crate::INTERRUPTED, text: "interrupted".to_owned() });
        }
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if Instant::now() >= until => return Ok(None),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(failed("can't wait for a host", &error)),
        }
    }
}

fn kill(child: &mut Child) -> Result<(), Failed> {
    child.kill().and_then(|()| child.wait()).map_err(|e| failed("can't kill a host", &e))?;
    Ok(())
}

/// Fine, or with dead letters or state lost: both can be compared.
fn ended_well(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| code == i32::from(FINE) || code == i32::from(FOUND))
}

/// The ids of the dead letters in a run's data folder.
fn dead_letters(folder: &Path) -> Result<Vec<String>, Failed> {
    use anchorbolt_host::durable::{Filter, Layout, Letters, SystemFiles};
    let mut ids = vec![];
    let read = Layout::look(&folder.join("data"))
        .and_then(|layout| Letters::look(&SystemFiles, &layout.dead_letters()))
        .and_then(|letters| match letters {
            None => Ok(()),
            Some(letters) => letters.visit(&Filter::default(), |letter, _| {
                ids.push(letter.id.clone());
                Ok(())
            }),
        });
    read.map(|()| ids).map_err(|error| Failed { exit: ENVIRONMENT, text: error.to_string() })
}

impl Run {
    /// A number of the report of its last process.
    pub(super) fn reported(&self, table: &str, key: &str) -> u64 {
        let text = std::fs::read(self.folder.join("report.json")).unwrap_or_default();
        let report: Value = serde_json::from_slice(&text).unwrap_or_default();
        report[table][key].as_u64().unwrap_or(0)
    }

    /// How often its processes said this.
    pub(super) fn said(&self, what: &str) -> usize {
        let files = (0..self.processes).map(|n| self.folder.join(format!("{n}.err")));
        files.map(|file| std::fs::read_to_string(file).unwrap_or_default().matches(what).count()).sum()
    }
}
