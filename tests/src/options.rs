//! What the commands that search by seeds have in common: how long, and from which seed.
//!
//! In: the text of an option, the clock. Out: a time, a number. Invariant: a text that is no time is an error.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The value of `--for`: a number with `s`, `m` or `h`, or seconds.
///
/// # Errors
/// It is none.
pub fn time(text: &str) -> Result<Duration, String> {
    let (digits, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(format!("--for {text}: use s, m or h")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("--for {text}: not a time"))?;
    Ok(Duration::from_secs(number * seconds))
}

/// A seed that is another one each time.
pub fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}
