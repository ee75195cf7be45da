//! The host as a child process.
//!
//! In: the plan and the folder. Out: runs, some of them killed. Invariant: a child is dead when its guard is dropped.

use super::kills::Moment;
use super::told::Told;
use super::{Plan, Work};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const SIGKILL: i32 = 9;
/// How often a running host is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// How much of the end of its log is shown.
const LOG_SHOWN_LINES: usize = 15;
const LOG_SHOWN_BYTES: u64 = 16 << 10;

/// How to run the host, and what it has done so far.
pub(super) struct Host<'p> {
    plan: &'p Plan,
    args: Vec<OsString>,
    port: u16,
    told: Told,
    log: PathBuf,
}

/// A host that was killed.
pub(super) struct Killed {
    /// How many fates its run told.
    pub(super) fates: u64,
    /// How long it ran.
    pub(super) after: Duration,
}

/// A host that ended by itself.
pub(super) struct LastRun {
    pub(super) exit_code: i32,
    pub(super) fates: u64,
    pub(super) elapsed: Duration,
}

impl<'p> Host<'p> {
    pub(super) fn new(plan: &'p Plan, work: &Work, port: u16) -> Host<'p> {
        let (told, log) = (Told::new(work.path("fates.jsonl")), work.path("host.log"));
        Host { plan, args: arguments(plan, work), port, told, log }
    }

    /// Starts a host, and kills it at a moment of its run.
    pub(super) fn kill_at(&mut self, moment: Moment) -> Result<Killed, String> {
        let before = self.told.look()?;
        let mut running = self.start()?;
        let began = Instant::now();
        loop {
            let told = self.told.look()?.saturating_sub(before);
            let due = match moment {
                Moment::Early(after) => began.elapsed() >= after,
                Moment::Fates(fates) => told >= fates && told > 0,
            };
            if due {
                break;
            }
            if let Some(status) = running.ended()? {
                let end = self.ending(status);
                return Err(format!("the host ended before it could be killed ({moment:?})\n{end}"));
            }
            self.check_patience(began)?;
            std::thread::sleep(LOOK_EVERY);
        }
        let after = began.elapsed();
        let status = running.kill()?;
        if status.signal() != Some(SIGKILL) {
            return Err(format!("the kill hit no running host\n{}", self.ending(status)));
        }
        Ok(Killed { fates: self.told.look()?.saturating_sub(before), after })
    }

    /// Starts a host, and waits for its end.
    pub(super) fn run_to_the_end(&mut self) -> Result<LastRun, String> {
        let before = self.told.look()?;
        let mut running = self.start()?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = running.ended()? {
                break status;
            }
            self.check_patience(began)?;
            std::thread::sleep(LOOK_EVERY);
        };
        let elapsed = began.elapsed();
        let fates = self.told.look()?.saturating_sub(before);
        match status.code() {
            Some(exit_code @ 0..=1) => Ok(LastRun { exit_code, fates, elapsed }),
            _ => Err(self.ending(status)),
        }
    }

    fn start(&self) -> Result<Running, String> {
        let refuse = |path: &Path, error| format!("can't use {}: {error}", path.display());
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| refuse(&self.log, error))?;
        let mut command = Command::new(&self.plan.bin);
        command.args(&self.args).env("ORDERS_PORT", self.port.to_string());
        command.envs(self.plan.envs.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child =
            command.spawn().map_err(|error| format!("can't start {}: {error}", self.plan.bin.display()))?;
        Ok(Running(child))
    }

    fn check_patience(&self, began: Instant) -> Result<(), String> {
        let most = self.plan.patience;
        if began.elapsed() < most {
            return Ok(());
        }
        Err(format!("the host still runs after {most:?}; the end of its log:\n{}", self.log_end()))
    }

    fn ending(&self, status: ExitStatus) -> String {
        format!("the host ended with {status}; the end of its log:\n{}", self.log_end())
    }

    fn log_end(&self) -> String {
        // A log that can't be read has nothing to show.
        let text = log_end(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_SHOWN_LINES)..].join("\n")
    }
}

fn log_end(path: &Path) -> io::Result<String> {
    let mut log = File::open(path)?;
    let start = log.metadata()?.len().saturating_sub(LOG_SHOWN_BYTES);
    log.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    log.take(LOG_SHOWN_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The arguments of every run.
fn arguments(plan: &Plan, work: &Work) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["run".into(), plan.topology.clone().into()];
    args.extend(["--until-drained", "--log-level", "warn"].map(OsString::from));
    args.extend(["--data-dir".into(), work.data().into()]);
    let path = |name: &str| quoted(&work.path(name).to_string_lossy());
    let own = [
        format!("spouts.orders.path={}", path("orders.jsonl")),
        format!("bolts.fates.path={}", path("fates.jsonl")),
        format!("bolts.fraud.config.text-amounts={}", plan.text_amounts),
        format!("bolts.payment.config.idempotency-key={}", plan.key),
    ];
    for set in own.iter().chain(&plan.sets) {
        args.extend(["--set".into(), set.into()]);
    }
    args
}

/// As a string of the manifest, in which `$$` is a dollar.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '$' => out += "$$",
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A child that does not outlive this.
struct Running(Child);

impl Running {
    fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        self.0.try_wait().map_err(|error| format!("can't wait for the host: {error}"))
    }

    fn kill(&mut self) -> Result<ExitStatus, String> {
        let killed = self.0.kill().and_then(|()| self.0.wait());
        killed.map_err(|error| format!("can't kill the host: {error}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be dead already.
        self.kill().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted() {
        assert_eq!(quoted("/a b/${X}\"\\\n"), r#""/a b/$${X}\"\\\u000A""#);
    }

    #[test]
    fn a_child_does_not_outlive_its_guard() {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let id = child.id();
        drop(Running(child));
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }
}
