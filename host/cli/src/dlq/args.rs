//! The arguments of `dlq`, as `--help` shows them.

use super::moment;
use crate::find::FindArgs;
use anchorbolt_host::core::failure::Class;
use anchorbolt_host::durable::Filter;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::SystemTime;
use time::OffsetDateTime;

/// `dlq`
#[derive(Debug, Args)]
pub(crate) struct DlqArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub(crate) command: DlqCommand,
}

/// The commands on dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List dead letters, the oldest first.
    List(ListArgs),
    /// Show everything that is known of a dead letter.
    Show(ShowArgs),
    /// Write dead letters as JSON lines, or the bytes of their sources.
    Export(ExportArgs),
    /// Do away with dead letters for good.
    Purge(PurgeArgs),
    /// Put messages through the topology again; or, with --only and --bolt, one through one bolt alone, to see how it
    /// fails.
    Replay(ReplayArgs),
}

/// `dlq list`
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only this many, the newest.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Print one JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dlq show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,
    /// The letter's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Show long values whole.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the letter as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dlq export`
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Write to this file, whole or not at all, instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// The bytes of the source, one message a line, instead of letters.
    #[arg(long)]
    pub(crate) raw: bool,
}

/// `dlq purge`
#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// All of them.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only say how many it would be.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the numbers as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dlq replay`
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only the message with this id, in the bolt that --bolt names. Nothing is changed.
    #[arg(long, value_name = "ID", requires = "bolt")]
    pub(crate) only: Option<String>,
    /// The bolt to run: a fresh instance of it is given the row that it had.
    #[arg(long, value_name = "BOLT", requires = "only")]
    pub(crate) bolt: Option<String>,
    /// With --only: take the row of this attempt, instead of the last that has one.
    #[arg(long, value_name = "N", requires = "only", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// Change a value of the manifest: `bolts.count.config.top=20`. May be given several times.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// With --only: show long lists and values whole.
    #[arg(long, requires = "only")]
    pub(crate) all: bool,
    /// The least important lines of the log to show.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: tracing::level_filters::LevelFilter,
    /// Print what happened as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which letters. All of what is given has to fit.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Letters with these ids.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// A letter with this id. May be given several times.
    #[arg(long = "id", value_name = "ID")]
    pub(crate) more_ids: Vec<String>,
    /// Whose last attempt failed in this component.
    #[arg(long, value_name = "NAME")]
    pub(crate) component: Option<String>,
    /// Whose last attempt failed so: trap, failed, timeout .. May be given several times.
    #[arg(long = "class", value_name = "CLASS", value_parser = class)]
    pub(crate) classes: Vec<Class>,
    /// Read by this spout.
    #[arg(long, value_name = "NAME")]
    pub(crate) spout: Option<String>,
    /// Given up then or later: a date and time (RFC 3339), a date, or how long ago (`90s`, `2h`, `7d`).
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<OffsetDateTime>,
    /// Given up before that, written in the same way.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<OffsetDateTime>,
}

impl FilterArgs {
    /// Whether all letters are meant.
    pub(crate) fn is_empty(&self) -> bool {
        let FilterArgs { ids, more_ids, component, classes, spout, since, until } = self;
        ids.is_empty()
            && more_ids.is_empty()
            && classes.is_empty()
            && [component, spout].iter().all(|name| name.is_none())
            && [since, until].iter().all(|moment| moment.is_none())
    }

    /// As the library has it; `ids` were looked up.
    pub(crate) fn filter(&self, ids: Vec<String>) -> Filter {
        Filter {
            ids,
            spout: self.spout.clone(),
            component: self.component.clone(),
            classes: self.classes.clone(),
            since: self.since,
            until: self.until,
        }
    }
}

fn class(word: &str) -> Result<Class, String> {
    let known = Class::ALL.into_iter().find(|class| class.as_str() == word);
    known.ok_or_else(|| {
        let words: Vec<&str> = Class::ALL.iter().map(|class| class.as_str()).collect();
        format!("the classes are {}", words.join(", "))
    })
}

fn moment(text: &str) -> Result<OffsetDateTime, String> {
    moment::read(text, SystemTime::now().into())
}
