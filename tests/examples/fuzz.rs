//! Runs the fuzzing: `cargo xtask fuzz [TARGET] [--for 1h] [--seed N] [--input FILE]`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person")]

use anchorbolt_tests::fuzz::{TARGETS, Target, memory, one, search, target};
use anchorbolt_tests::options::{fresh_seed, time};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

const HELP: &str = "\
cargo xtask fuzz                        each target in turn, for a minute in all
cargo xtask fuzz TARGET --for 2h        one of them, for so long (s, m, h)
cargo xtask fuzz TARGET --seed N        the inputs of this seed
cargo xtask fuzz TARGET --input FILE    this input only
";

#[derive(Default)]
struct Args {
    target: Option<&'static Target>,
    time: Option<Duration>,
    seed: Option<u64>,
    input: Option<String>,
}

fn main() -> ExitCode {
    let done = parse(std::env::args().skip(1)).and_then(|args| match &args.input {
        Some(path) => repeat(args.target, path),
        None => Ok(fuzz(&args)),
    });
    done.unwrap_or_else(|text| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprint!("{text}\n{HELP}targets: {}\n", names.join(", "));
        ExitCode::FAILURE
    })
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args::default();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            args.target = Some(target(&word).ok_or_else(|| format!("there is no target `{word}`"))?);
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word}: is there a value, or is it no option?"))?;
        match word.as_str() {
            "--for" => args.time = Some(time(&value)?),
            "--seed" => args.seed = Some(value.parse().map_err(|_| format!("--seed {value}: not a number"))?),
            "--input" => args.input = Some(value),
            _ => return Err(format!("{word} is no option")),
        }
    }
    Ok(args)
}

fn repeat(target: Option<&'static Target>, path: &str) -> Result<ExitCode, String> {
    let target = target.ok_or("which target is the input for?")?;
    let input = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(match one(target, &input) {
        Ok(shape) => {
            println!("nothing wrong; its shape is {shape:x}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("{}: {what}", target.name);
            ExitCode::FAILURE
        }
    })
}

fn fuzz(args: &Args) -> ExitCode {
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let targets = args.target.map_or(TARGETS.to_vec(), |target| vec![target]);
    let each = args.time.unwrap_or(Duration::from_secs(60)) / targets.len() as u32;
    let mut code = ExitCode::SUCCESS;
    for target in targets {
        let began = Instant::now();
        println!("{}, seed {seed}, for {each:.0?}", target.name);
        match search(target, seed, each) {
            Ok(found) => {
                let rate = found.inputs as f64 / began.elapsed().as_secs_f64();
                println!("  nothing wrong: {} inputs, {rate:.0}/s, {} shapes", found.inputs, found.shapes);
            }
            Err(failure) => {
                println!("  {failure}\n  after {:.1} s", began.elapsed().as_secs_f64());
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
