//! Rules about the inputs of the fuzzing: they are few and small, and each that was found has a name.
//!
//! In: the files of the corpus with their sizes. Out: breaches. Invariant: no other rule looks at these files, for any
//! bytes may be in them.

use super::Finding;

/// Where they are.
const FOLDER: &str = "tests/fuzz-corpus/";
/// All of them together.
const BYTES_MOST: u64 = 200_000;

/// Whether a file is one of them.
pub(super) fn is_in(path: &str) -> bool {
    path.starts_with(FOLDER)
}

/// Checks all of them.
pub(super) fn check(files: &[(&str, u64)], findings: &mut Vec<Finding>) {
    let mut breach = |path: &str, what: &str| {
        findings.push(Finding { path: path.to_owned(), line: 1, what: what.to_owned() });
    };
    let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    if bytes > BYTES_MOST {
        breach(
            FOLDER,
            &format!("{bytes} bytes of inputs; at most {BYTES_MOST}: leave out what shows the same"),
        );
    }
    for (path, _) in files.iter().filter(|(path, _)| path.contains("/found-")) {
        breach(path, "an input that was found; mend what it shows and name it after that");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, u64)]) -> Vec<String> {
        let mut findings = Vec::new();
        check(files, &mut findings);
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn the_corpus_is_small_and_named() {
        assert_eq!(found(&[("tests/fuzz-corpus/json/deep", 100)]), [""; 0]);
        assert_eq!(found(&[("tests/fuzz-corpus/json/found-0123", 100)]).len(), 1);
        assert!(found(&[("tests/fuzz-corpus/json/deep", 200_001)])[0].starts_with("200001 bytes"));
        assert!(is_in("tests/fuzz-corpus/json/deep") && !is_in("tests/src/fuzz/json.rs"));
    }
}
