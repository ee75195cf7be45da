//! `did you mean`: the nearest of the names that would have been right.

/// The candidate that a mistyped word was probably meant to be. Case and `_` for `-` cost nothing; else
/// one slip in three letters is forgiven.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody mistypes a name longer than this; comparing takes time in the square of it.
    if word.len() > 128 {
        return None;
    }
    let plain = |s: &str| s.to_lowercase().replace('_', "-");
    let word = plain(word);
    let allowed = word.chars().count().div_ceil(3).min(4);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The help for a word that is not among the right ones: the nearest, else all of them.
pub fn help<'a>(word: &str, what: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, candidates.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let all = list(candidates);
            if all.is_empty() { format!("there are no {what}") } else { format!("{what}: {all}") }
        }
    }
}

/// Names for a sentence: `a`, `b`, `c`; the first twenty.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.get(..SHOWN) {
        Some(first) if names.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), names.len() - SHOWN)
        }
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven_and_other_words_are_not() {
        let keys = ["executors", "tasks", "message-timeout", "max-spout-pending", "lines"];
        for (word, meant) in [
            ("executor", Some("executors")),
            ("excutors", Some("executors")),
            ("Tasks", Some("tasks")),
            ("taks", Some("tasks")),
            ("message_timeout", Some("message-timeout")),
            ("mesage-timeuot", Some("message-timeout")),
            ("line", Some("lines")),
            ("parallelism", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
    }

    #[test]
    fn the_nearest_of_several_wins_and_long_lists_end() {
        assert_eq!(nearest("split2", ["split1", "split", "split22"]), Some("split1"));
        assert_eq!(help("zzz", "streams", ["default", "late"]), "streams: `default`, `late`");
        assert_eq!(help("zzz", "streams", []), "there are no streams");
        let many: Vec<String> = (0..25).map(|i| i.to_string()).collect();
        assert!(list(many.iter().map(String::as_str)).ends_with("`19` and 5 more"));
    }
}
