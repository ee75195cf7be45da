//! Durations and sizes: `"250ms"`, `"64MiB"`, and why a text is neither.
//!
//! Both are a whole number above 0 and one unit, nothing else: there is one way to write each.

use std::time::Duration;

/// The longest duration: a year.
pub(super) const DURATION_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// Why a text is not what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Not of the form; perhaps something else is meant.
    Form(Option<String>),
    /// 0, or more than the greatest.
    Range,
}

const DURATION_UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
const SIZE_UNITS: &[(&str, u64)] =
    &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// Reads a duration.
pub(super) fn duration(text: &str) -> Result<Duration, Wrong> {
    let ms = measure(text, DURATION_UNITS, duration_meant)?;
    let duration = Duration::from_millis(ms);
    if duration > DURATION_MAX { Err(Wrong::Range) } else { Ok(duration) }
}

/// Reads a size in bytes.
pub(super) fn size(text: &str) -> Result<u64, Wrong> {
    measure(text, SIZE_UNITS, size_meant)
}

/// A duration as it would be written.
pub(super) fn show_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let unit = DURATION_UNITS.iter().rev().find(|(_, n)| ms.is_multiple_of(u128::from(*n)) && ms > 0);
    unit.map_or_else(|| format!("{ms}ms"), |(unit, n)| format!("{}{unit}", ms / u128::from(*n)))
}

/// A size as it would be written.
pub(super) fn show_size(bytes: u64) -> String {
    let unit = SIZE_UNITS.iter().rev().find(|(_, n)| bytes.is_multiple_of(*n) && bytes > 0);
    unit.map_or_else(|| format!("{bytes}B"), |(unit, n)| format!("{}{unit}", bytes / n))
}

fn measure(text: &str, units: &[(&str, u64)], meant: fn(f64, &str) -> Option<String>) -> Result<u64, Wrong> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, n)| *n);
    match factor {
        Some(factor) if !digits.is_empty() => {
            let number = digits.parse::<u64>().map_err(|_| Wrong::Range)?;
            number.checked_mul(factor).filter(|n| *n > 0).ok_or(Wrong::Range)
        }
        _ => Err(Wrong::Form(guess(text, meant))),
    }
}

/// What was probably meant by a number with a fraction, spaces or another unit.
fn guess(text: &str, meant: fn(f64, &str) -> Option<String>) -> Option<String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number = number.parse::<f64>().ok().filter(|n| *n > 0.0)?;
    meant(number, &unit.trim().to_lowercase())
}

/// The duration that a number and a unit in other words stand for; seconds without one.
pub(super) fn duration_meant(number: f64, unit: &str) -> Option<String> {
    let ms = match unit {
        "ms" | "msec" | "millis" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" | "" => 1e3,
        "m" | "min" | "mins" | "minute" | "minutes" => 6e4,
        "h" | "hr" | "hour" | "hours" => 3.6e6,
        "d" | "day" | "days" => 8.64e7,
        _ => return None,
    };
    let ms = (number * ms).round();
    (1.0..=DURATION_MAX.as_millis() as f64)
        .contains(&ms)
        .then(|| show_duration(Duration::from_millis(ms as u64)))
}

/// The size that a number and a unit in other words stand for; bytes without one.
pub(super) fn size_meant(number: f64, unit: &str) -> Option<String> {
    let factor = match unit {
        "" | "b" | "byte" | "bytes" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tb" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = (number * factor).round();
    (1.0..=1e15).contains(&bytes).then(|| show_size(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(s: &str) -> Wrong {
        Wrong::Form(Some(s.to_owned()))
    }

    #[test]
    fn durations() {
        for (text, ms) in
            [("1ms", 1), ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("8760h", 31_536_000_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["0s", "8761h", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(duration(text), Err(Wrong::Range), "{text}");
        }
        assert_eq!(duration("1.5s"), Err(meant("1500ms")));
        assert_eq!(duration("30"), Err(meant("30s")));
        assert_eq!(duration("5 min"), Err(meant("5m")));
        assert_eq!(duration("1d"), Err(meant("24h")));
        assert_eq!(duration("90S"), Err(meant("90s")));
        for text in ["", "s", "-1s", "1m30s", "soon", "١s", "1us"] {
            assert_eq!(duration(text), Err(Wrong::Form(None)), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("1B", 1), ("64KiB", 65_536), ("64MiB", 64 << 20), ("1GiB", 1 << 30), ("1TiB", 1 << 40)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        assert_eq!(size("0B"), Err(Wrong::Range));
        assert_eq!(size("99999999999TiB"), Err(Wrong::Range));
        assert_eq!(size("64MB"), Err(meant("64MiB")));
        assert_eq!(size("1.5GiB"), Err(meant("1536MiB")));
        assert_eq!(size("4096"), Err(meant("4KiB")));
        assert_eq!(size("lots"), Err(Wrong::Form(None)));
    }

    #[test]
    fn what_is_shown_reads_back() {
        for ms in [1, 999, 1_000, 61_000, 3_600_000, 86_400_000, 5_400_000] {
            let d = Duration::from_millis(ms);
            assert_eq!(duration(&show_duration(d)), Ok(d));
        }
        for bytes in [1, 1023, 1024, 1536, 5 << 20, 3 << 30, 1 << 45] {
            assert_eq!(size(&show_size(bytes)), Ok(bytes));
        }
    }
}
