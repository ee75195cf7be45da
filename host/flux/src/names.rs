//! Storm's ids as names that a manifest allows.
//!
//! In: the ids of components, or of the streams of one. Out: a name for each, the id itself where that is allowed.
//! Invariant: two ids never share a name, and what other ids there are changes no name that is allowed as it is.

use anchorbolt_core::manifest::names::{NAME_BYTES_MAX, check, mend};
use std::collections::{HashMap, HashSet};

/// Names for ids.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// Names for these ids; each with a word for when nothing of it can be kept.
    pub(crate) fn new<'a>(ids: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Names {
        let allowed = ids.clone().map(|(id, _)| id).filter(|id| check(id).is_ok());
        let mut taken: HashSet<String> = allowed.map(str::to_owned).collect();
        let mut next = HashMap::new();
        let mut names: HashMap<String, String> = taken.iter().map(|id| (id.clone(), id.clone())).collect();
        for (id, word) in ids {
            if names.contains_key(id) {
                continue;
            }
            let wanted = mend(id).unwrap_or_else(|| word.to_owned());
            let name = free(&wanted, &taken, &mut next);
            taken.insert(name.clone());
            names.insert(id.to_owned(), name);
        }
        Names(names)
    }

    /// The name for an id; for one that was not given it is the id.
    pub(crate) fn get<'n>(&'n self, id: &'n str) -> &'n str {
        self.0.get(id).map_or(id, String::as_str)
    }
}

/// The name, or with a number that makes it unlike all that are taken.
fn free(wanted: &str, taken: &HashSet<String>, next: &mut HashMap<String, usize>) -> String {
    let mut name = wanted.to_owned();
    let number = next.entry(wanted.to_owned()).or_insert(1);
    while taken.contains(&name) {
        *number += 1;
        let end = format!("-{number}");
        let keep = wanted.len().min(NAME_BYTES_MAX - end.len());
        name = wanted.get(..keep).unwrap_or_default().to_owned() + &end;
    }
    name
}

/// A name for a topology.
pub(crate) fn topology(name: &str) -> String {
    if check(name).is_ok() { name.to_owned() } else { mend(name).unwrap_or_else(|| "topology".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_allowed_and_never_shared() {
        let ids = ["Count", "count", "COUNT", "count-2", "1", "2", "word.Spout", "__x", "bolt"];
        let names = Names::new(ids.iter().map(|id| (*id, "bolt")));
        let expected =
            ["count-3", "count", "count-4", "count-2", "bolt-2", "bolt-3", "word-spout", "x", "bolt"];
        assert_eq!(ids.map(|id| names.get(id).to_owned()), expected);
    }

    #[test]
    fn random_ids_keep_apart() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let ids: Vec<String> = (0..20)
                .map(|_| {
                    let length = *random.choice(&[1, 2, 63, 64, 65, 70]).unwrap();
                    (0..length).map(|_| *random.choice(&['a', 'A', '1', '-', '.', 'é']).unwrap()).collect()
                })
                .collect();
            let names = Names::new(ids.iter().map(|id| (&**id, "bolt")));
            let distinct: HashSet<&String> = ids.iter().collect();
            let used: HashSet<&str> = distinct.iter().map(|id| names.get(id)).collect();
            assert_eq!(used.len(), distinct.len(), "seed {seed}: {ids:?}");
            for id in &ids {
                assert!(check(names.get(id)).is_ok(), "seed {seed}: {id} {}", names.get(id));
                assert!(check(id).is_err() || names.get(id) == id, "seed {seed}: {id}");
            }
        }
    }
}
