//! `dlq export`: letters as they are, or the bytes of their sources.
//!
//! In: letters. Out: JSON lines that are the file's own, or with `--raw` one message a line, on standard output or in
//! a file. Invariant: a file is there whole or not at all; raw lines are refused where they could not be told apart.

use super::args::ExportArgs;
use super::out::Out;
use super::{count, failed, filter, look};
use crate::find::{self, Found};
use crate::{ENVIRONMENT, Exit, FINE, INPUT, safe, whole};
use anchorbolt_host::durable::{DurableError, Filter, Letter, Letters};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Exports letters.
pub(super) fn export(args: &ExportArgs) -> Result<Exit, Exit> {
    let found = find::find(&args.find, &[])?;
    if let Some(to) = &args.to {
        refuse_own(to, &found)?;
    }
    let letters = look(&found)?;
    let filter = match &letters {
        Some(letters) => filter(&args.filter, letters)?,
        None => Filter::default(),
    };
    if let (true, Some(letters)) = (args.raw, &letters) {
        lines_are_possible(letters, &filter)?;
    }
    match &args.to {
        Some(to) => to_file(to, letters.as_ref(), &filter, args.raw),
        None => Ok(to_stdout(letters.as_ref(), &filter, args.raw)),
    }
}

/// Each message has to be one line, and the source's own.
fn lines_are_possible(letters: &Letters, filter: &Filter) -> Result<(), Exit> {
    let mut problem = None;
    let checked = letters.visit(filter, |letter, _| {
        let what = match letter.bytes.contains(&b'\n') {
            _ if letter.rows().is_some() => "its spout has no bytes of its own",
            true => "there is a line end in it",
            false => return Ok(()),
        };
        problem = Some(format!("the bytes of `{}` can't be a line: {what}", safe::line(&letter.id)));
        Err(DurableError(String::new()))
    });
    match (problem, checked) {
        (Some(problem), _) => {
            tell!("error: {problem}");
            tell!("help: export the letters without --raw; their `bytes` are base64");
            Err(INPUT)
        }
        (None, Err(error)) => Err(failed(&error)),
        (None, Ok(())) => Ok(()),
    }
}

fn to_stdout(letters: Option<&Letters>, filter: &Filter, raw: bool) -> Exit {
    let (mut out, terminal, mut written) = (Out::new(), io::stdout().is_terminal(), 0_u64);
    let Some(letters) = letters else {
        tell!("no dead letters");
        return FINE;
    };
    let read = letters.visit(filter, |letter, line| {
        written += 1;
        let bytes = if raw { &letter.bytes } else { line };
        match (terminal, raw) {
            (false, _) => out.bytes(bytes),
            (true, false) => out.bytes(safe::json(&String::from_utf8_lossy(bytes)).as_bytes()),
            (true, true) => out.bytes(safe::line(&String::from_utf8_lossy(bytes)).as_bytes()),
        }
        out.bytes(b"\n");
        out.go_on()
    });
    if written == 0 && read.is_ok() {
        tell!("no dead letters{}", if letters.is_empty() { "" } else { " that fit" });
    }
    out.finish(read)
}

fn to_file(to: &Path, letters: Option<&Letters>, filter: &Filter, raw: bool) -> Result<Exit, Exit> {
    let cant = |error: &io::Error| {
        tell!("error: can't write {}: {error}", to.display());
        ENVIRONMENT
    };
    let place = whole::part(to).map_err(|error| cant(&error))?;
    let part = place.as_ref().map(|(_, part)| part.as_path());
    let file = match part {
        Some(part) => File::create(part),
        None => File::options().write(true).open(to),
    };
    let mut file = BufWriter::new(file.map_err(|error| cant(&error))?);
    let written = write(&mut file, letters, filter, raw).map_err(|error| {
        remove(part);
        failed(&error)
    })?;
    let done = file.flush().and_then(|()| match &place {
        Some((path, part)) => file.get_ref().sync_all().and_then(|()| std::fs::rename(part, path)),
        None => Ok(()),
    });
    if let Err(error) = done {
        remove(part);
        return Err(cant(&error));
    }
    tell!("{} written to {}", count(written), to.display());
    Ok(FINE)
}

/// What was begun is no use to anybody.
fn remove(part: Option<&Path>) {
    if let Some(part) = part {
        drop(std::fs::remove_file(part));
    }
}

fn write(
    file: &mut impl Write,
    letters: Option<&Letters>,
    filter: &Filter,
    raw: bool,
) -> Result<u64, DurableError> {
    let mut written = 0;
    let Some(letters) = letters else { return Ok(0) };
    letters.visit(filter, |letter: &Letter, line| {
        written += 1;
        let bytes = if raw { &letter.bytes } else { line };
        let done = file.write_all(bytes).and_then(|()| file.write_all(b"\n"));
        done.map_err(|error| DurableError(format!("the letters can't be written: {error}")))
    })?;
    Ok(written)
}

/// A file in the data folder is not to be written over.
fn refuse_own(to: &Path, found: &Found) -> Result<(), Exit> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside = |path: &Path| {
        let root = found.layout.root().canonicalize();
        path.canonicalize().is_ok_and(|path| root.is_ok_and(|root| path.starts_with(root)))
    };
    if inside(to) || inside(folder) {
        tell!("error: {} is in the data folder itself; name another place with --to", to.display());
        return Err(INPUT);
    }
    Ok(())
}
