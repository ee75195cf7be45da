//! The errors of a run, counted by text. Bounded: beyond a number of texts they are counted together.

use anchorbolt_core::failure::Class;
use parking_lot::Mutex;
use std::collections::BTreeMap;

const TEXTS_MAX: usize = 100;
const TEXT_BYTES_MAX: usize = 2000;

/// One kind of error, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLine {
    /// Where.
    pub component: String,
    /// What kind.
    pub class: Class,
    /// The text.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// The errors of a run.
#[derive(Debug, Default)]
pub struct Errors(Mutex<BTreeMap<(String, Class, String), u64>>);

impl Errors {
    /// Counts an error. True when its text is new.
    pub fn add(&self, component: &str, class: Class, message: &str) -> bool {
        let mut end = message.len().min(TEXT_BYTES_MAX);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let mut map = self.0.lock();
        let key = (component.to_owned(), class, message[..end].to_owned());
        if let Some(count) = map.get_mut(&key) {
            *count += 1;
            return false;
        }
        // A flood of failures must not hide what the host itself has to say.
        let hosts = class == Class::Host;
        let full = map.keys().filter(|(_, of, _)| (*of == Class::Host) == hosts).count() >= TEXTS_MAX;
        let key = if full { (component.to_owned(), class, "(other errors)".to_owned()) } else { key };
        *map.entry(key).or_default() += 1;
        !full
    }

    /// All of them, the most frequent first.
    pub fn lines(&self) -> Vec<ErrorLine> {
        let map = self.0.lock();
        let mut lines: Vec<ErrorLine> = map
            .iter()
            .map(|((component, class, message), count)| ErrorLine {
                component: component.clone(),
                class: *class,
                message: message.clone(),
                count: *count,
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.count));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_texts_is_counted_together_and_hides_nothing_of_the_host() {
        let errors = Errors::default();
        (0..1_000).for_each(|i| _ = errors.add("bolt", Class::Failed, &format!("text {i}")));
        assert!(errors.add("spout", Class::Host, "no space left"));
        let lines = errors.lines();
        assert_eq!(lines.len(), TEXTS_MAX + 2);
        assert_eq!(lines.iter().map(|line| line.count).sum::<u64>(), 1_001);
        assert!(lines.iter().any(|line| line.message == "no space left"));
    }
}
