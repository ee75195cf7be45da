//! `anchorbolt import`: a manifest from what another system runs.
//!
//! In: a Flux file of Apache Storm. Out: the manifest on standard output or in a file, and on standard error what needs a
//! hand. Translating is `anchorbolt-flux`'s; here are the files. Invariant: a file that is there stays as it is, unless
//! `--force` is given, and nothing is written when anything is wrong.

mod files;

use crate::{ENVIRONMENT, Exit, FINE, INPUT, render, safe, say, tell_as_is, whole};
use anchorbolt_flux::{Flux, Imported, codes, import as translate};
use clap::{Args, Subcommand};
use files::Disk;
use std::path::{Path, PathBuf};

/// `import`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

/// What is imported.
#[derive(Debug, Subcommand)]
enum From {
    /// A topology of Apache Storm, as Flux describes it (YAML).
    Storm(StormArgs),
}

/// `import storm`
#[derive(Debug, Args)]
struct StormArgs {
    /// The Flux file.
    #[arg(value_name = "FLUX")]
    flux: PathBuf,
    /// Write the manifest to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Write over a file that is there.
    #[arg(long, requires = "to")]
    force: bool,
    /// Java properties, for `${name}` in the Flux file.
    #[arg(long, value_name = "FILE")]
    filter: Option<PathBuf>,
    /// Replace `${ENV-NAME}` by the environment variable NAME.
    #[arg(long)]
    env_filter: bool,
    /// Where includes with `resource: true` are; beside the Flux file and above it if not given.
    #[arg(long, value_name = "DIR")]
    resources: Option<PathBuf>,
    /// Print manifest and diagnostics as JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// Imports.
pub(crate) fn import(args: &ImportArgs) -> Exit {
    let From::Storm(args) = &args.from;
    storm(args).unwrap_or_else(|exit| exit)
}

fn storm(args: &StormArgs) -> Result<Exit, Exit> {
    if let Some(to) = args.to.as_deref().filter(|to| !args.force && to.symlink_metadata().is_ok()) {
        tell!("error: {} is there already", to.display());
        tell!("help: name another file, or write over it with --force");
        return Err(INPUT);
    }
    let text = read(&args.flux, "the Flux file")?;
    let filter = match &args.filter {
        Some(path) => Some((path.to_string_lossy(), read(path, "the properties")?)),
        None => None,
    };
    let environment = |name: &str| std::env::var(name).ok();
    let name = args.flux.to_string_lossy();
    let flux = Flux {
        name: &name,
        text: &text,
        properties: filter.as_ref().map(|(name, text)| (&**name, &**text)),
        environment: args.env_filter.then_some(&environment),
    };
    let imported = translate(&flux, &mut Disk::new(&args.flux, args.resources.as_deref()));
    if let (Some(to), Some(manifest)) = (&args.to, &imported.manifest) {
        whole::write(to, manifest).map_err(|error| {
            tell!("error: can't write {}: {error}", to.display());
            ENVIRONMENT
        })?;
    }
    let said = if args.json { say(&json(&imported)) } else { show(args, &imported) };
    Ok(if imported.manifest.is_none() { INPUT } else { said })
}

fn read(path: &Path, what: &str) -> Result<String, Exit> {
    files::read(path).map_err(|why| {
        tell!("error: can't read {what} {}: {why}", path.display());
        INPUT
    })
}

fn json(imported: &Imported) -> String {
    let diagnostics: Vec<_> = imported.diagnostics.iter().map(|d| imported.sources.json(d)).collect();
    let json = serde_json::json!({ "manifest": imported.manifest, "diagnostics": diagnostics });
    safe::json(&format!("{json:#}\n"))
}

/// Mistakes as those of a manifest are shown; else the manifest, and what needs a hand as a list.
fn show(args: &StormArgs, imported: &Imported) -> Exit {
    let Some(manifest) = &imported.manifest else {
        tell_as_is(&render::render(&imported.sources, &imported.diagnostics, render::colours()));
        return INPUT;
    };
    let said = if args.to.is_none() { say(manifest) } else { FINE };
    let mut list = notes(imported, codes::DIFFERS, "Done otherwise than in Storm:");
    list += &notes(imported, codes::NEEDS_HAND, "Needs a hand:");
    if let Some(to) = &args.to {
        let hands = match imported.need_hand() {
            0 => "nothing in it needs a hand".to_owned(),
            1 => "1 place in it needs a hand".to_owned(),
            n => format!("{n} places in it need a hand"),
        };
        let wrote = format!("Wrote {}: {hands}. Next: anchorbolt check {0}", to.display());
        list += &format!("{}\n", safe::line(&wrote));
    }
    tell_as_is(&list);
    said
}

/// The notes of a code under a heading, with their places; nothing when there are none.
fn notes(imported: &Imported, code: &str, heading: &str) -> String {
    let mut out = String::new();
    for note in imported.diagnostics.iter().filter(|note| note.code == code) {
        if out.is_empty() {
            out = format!("{heading}\n");
        }
        let place = note.span.and_then(|span| imported.sources.locate(span));
        let place = place.map_or_else(String::new, |at| format!("{}:{}:{}: ", at.file, at.line, at.column));
        out += &format!("  {}{}\n", safe::line(&place), safe::line(&note.message));
        for help in note.help.iter() {
            out += &format!("      {}\n", safe::line(help));
        }
    }
    out
}
