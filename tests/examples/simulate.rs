//! Runs the simulation: `cargo xtask simulate [--seed N] [--for 2h] [--trace]`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person")]

use anchorbolt_tests::options::{fresh_seed, time};
use anchorbolt_tests::simulation::{Options, run, search};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask simulate              fresh seeds for a minute
cargo xtask simulate --for 2h     for so long (s, m, h)
cargo xtask simulate --from N     seeds from N on
cargo xtask simulate --seed N     this one; --trace shows every step, --messages and --lives make it smaller
";

#[derive(Default)]
struct Args {
    seed: Option<u64>,
    from: Option<u64>,
    time: Option<Duration>,
    options: Options,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Ok(args) => simulate(args),
        Err(text) => {
            eprint!("{text}\n{HELP}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args::default();
    while let Some(word) = words.next() {
        if word == "--trace" {
            args.options.trace = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word}: is there a value, or is it no option?"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word} {value}: not a number"));
        match word.as_str() {
            "--seed" => args.seed = Some(number()?),
            "--from" => args.from = Some(number()?),
            "--messages" => args.options.messages = number()? as usize,
            "--lives" => args.options.lives = number()? as usize,
            "--for" => args.time = Some(time(&value)?),
            _ => return Err(format!("{word} is no option")),
        }
    }
    Ok(args)
}

fn simulate(args: Args) -> ExitCode {
    if let Some(seed) = args.seed {
        return match run(seed, args.options) {
            Ok(done) => {
                println!("seed {seed}: {done:?}");
                ExitCode::SUCCESS
            }
            Err(violation) => {
                println!("{violation}");
                ExitCode::FAILURE
            }
        };
    }
    let first = args.from.unwrap_or_else(fresh_seed);
    let (time, began) = (args.time.unwrap_or(Duration::from_secs(60)), Instant::now());
    println!("seeds from {first}, for {time:?}");
    let mut next = 30;
    let found = search(first, time, |found| {
        if began.elapsed().as_secs() >= next {
            next += 30;
            println!("{} seeds, {} steps in {} s", found.seeds, found.sum.steps, began.elapsed().as_secs());
        }
    });
    match found {
        Ok(found) => {
            let s = began.elapsed().as_secs_f64();
            let (seeds, steps) = (found.seeds as f64 / s, found.sum.steps as f64 / s);
            println!("{found:?}\nnothing wrong; {seeds:.0} seeds/s, {steps:.0} steps/s");
            ExitCode::SUCCESS
        }
        Err(violation) => {
            println!(
                "{violation}\nafter {} seeds, {:.1} s",
                violation.seed.wrapping_sub(first) + 1,
                began.elapsed().as_secs_f64()
            );
            ExitCode::FAILURE
        }
    }
}
