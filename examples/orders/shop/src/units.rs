//! Durations and shares as arguments.
//!
//! In: texts such as `300ms`, `5s` and `0.05`. Out: values, or what is wrong with the text. Invariant: a duration is
//! at most a day, a share is from 0 to 1.

use std::time::Duration;

/// `300ms`, `5s` or `2m`.
///
/// # Errors
/// When the text is not of this form, or longer than a day.
pub fn duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
    let parse = |&(unit, ms): &(&str, u64)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(ms);
    match units.iter().find_map(parse) {
        Some(ms) if ms <= 86_400_000 => Ok(Duration::from_millis(ms)),
        Some(_) => Err("more than a day".into()),
        None => Err("write a whole number and a unit: 300ms, 5s or 2m".into()),
    }
}

/// A share of all, from 0 to 1.
///
/// # Errors
/// When it is not.
pub fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or("write a number from 0 to 1".into())
}

/// A percentage, from 0 to 100, as a share.
///
/// # Errors
/// When it is not.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    let valid = number.filter(|percent| (0.0..=100.0).contains(percent));
    valid.map(|percent| percent / 100.0).ok_or("write a number from 0 to 100".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_valid_is_read_and_the_rest_refused() {
        assert_eq!(duration("300ms"), Ok(Duration::from_millis(300)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(
            ["", "s", "1", "-1s", "1.5s", "100000m", "99999999999999999999m"]
                .iter()
                .all(|t| duration(t).is_err())
        );
        assert_eq!((share("0.25"), percent("5"), percent("1%")), (Ok(0.25), Ok(0.05), Ok(0.01)));
        for text in ["", "101", "-1", "NaN", "x"] {
            assert!(share(text).is_err() && percent(text).is_err(), "{text}");
        }
    }
}
