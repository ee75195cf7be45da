//! A moment, as an argument names it.
//!
//! In: RFC 3339, a date, or how long ago. Out: the moment. Invariant: what is none of these is refused, not guessed.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const UNITS: [(&str, i64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Reads a moment; `now` is where a duration counts back from.
pub(super) fn read(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, String> {
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return Ok(moment);
    }
    if let Ok(midnight) = OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339) {
        return Ok(midnight);
    }
    let back = ago(text).and_then(|back| now.checked_sub(back));
    back.ok_or_else(|| {
        "write a date and time such as 2026-01-31T08:00:00Z, a date, or how long ago: 90s, 30m, 2h, 7d"
            .to_owned()
    })
}

fn ago(text: &str) -> Option<time::Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let (_, ms) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(time::Duration::milliseconds(number.parse::<i64>().ok()?.checked_mul(*ms)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_three_ways() {
        let now = OffsetDateTime::from_unix_timestamp(1_767_225_600).unwrap();
        let seconds =
            |text: &str| read(text, now).map(|moment| moment.unix_timestamp() - now.unix_timestamp());
        for (text, expected) in [
            ("2026-01-01T00:00:05Z", 5),
            ("2026-01-01T01:00:00+01:00", 0),
            ("2026-01-02", 86_400),
            ("2h", -7200),
            ("90s", -90),
            ("0s", 0),
            ("5000ms", -5),
            ("7d", -604_800),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "2", "h", "-2h", "2 h", "1h30m", "yesterday", "2026-13-01", "9223372036854775807d"] {
            assert!(seconds(text).unwrap_err().contains("2026-01-31"), "{text}");
        }
    }
}
