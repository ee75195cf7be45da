//! Charges cards, once for each key.
//!
//! In: an order, its amount, perhaps a key. Out: a [`Charged`], and a line in the file. Invariant: the file has a whole
//! line for each charge that was made, and none for one that was not.

use crate::jsonl;
use crate::money::Cents;
use crate::order::CARD_LIMIT;
use serde_json::json;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// The most keys that are remembered; with more, requests that have a new one fail.
const KEYS_MAX: usize = 4_000_000;

/// The file of charges and the table of keys.
#[derive(Debug)]
pub(super) struct Till {
    file: File,
    bytes: u64,
    keys: HashMap<String, Cents>,
}

/// What became of a request to charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charged {
    /// The card was charged.
    Now,
    /// The card had been charged for this key.
    Before,
    /// The card does not pay that much.
    Declined,
    /// The key belongs to a charge of another amount.
    OtherAmount,
}

impl Till {
    /// Opens the file, or makes it. A last line that a crash tore is cut off.
    pub(super) fn open(path: &Path) -> Result<Till, String> {
        let refuse = |error: io::Error| format!("can't use {}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(refuse)?;
        }
        let file = File::options().create(true).append(true).read(true).open(path).map_err(refuse)?;
        let (mut keys, mut bytes) = (HashMap::new(), 0);
        jsonl::lines(path, |line| {
            let charge: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let amount = Cents::read(&charge["amount"]).ok_or("`amount` is no amount")?;
            if let Some(key) = charge["key"].as_str() {
                keys.insert(key.to_owned(), amount);
            }
            bytes += line.len() as u64 + 1;
            Ok(())
        })?;
        file.set_len(bytes).map_err(refuse)?;
        Ok(Till { file, bytes, keys })
    }

    /// Charges a card.
    pub(super) fn charge(&mut self, order: &str, amount: Cents, key: Option<&str>) -> io::Result<Charged> {
        match key.and_then(|key| self.keys.get(key)) {
            Some(&charged) if charged == amount => return Ok(Charged::Before),
            Some(_) => return Ok(Charged::OtherAmount),
            None if amount > CARD_LIMIT => return Ok(Charged::Declined),
            None => {}
        }
        if key.is_some() && self.keys.len() >= KEYS_MAX {
            return Err(io::Error::other("the table of keys is full"));
        }
        self.append(order, amount, key)?;
        if let Some(key) = key {
            self.keys.insert(key.to_owned(), amount);
        }
        Ok(Charged::Now)
    }

    fn append(&mut self, order: &str, amount: Cents, key: Option<&str>) -> io::Result<()> {
        let at_ms = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis() as u64);
        let charge = json!({ "order_id": order, "key": key, "amount": amount.number(), "at_ms": at_ms });
        let line = format!("{charge}\n");
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A part of a line would spoil the next one.
            self.file.set_len(self.bytes)?;
            return Err(error);
        }
        self.bytes += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_charged_once_also_by_a_till_that_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/charges.jsonl");
        let mut till = Till::open(&path).unwrap();
        assert_eq!(till.charge("o-1", Cents(5), Some("k")).unwrap(), Charged::Now);
        assert_eq!(till.charge("o-1", Cents(5), Some("k")).unwrap(), Charged::Before);
        assert_eq!(till.charge("o-1", Cents(6), Some("k")).unwrap(), Charged::OtherAmount);
        assert_eq!(till.charge("o-1", Cents(5), None).unwrap(), Charged::Now);
        assert_eq!(till.charge("o-2", Cents(90_001), None).unwrap(), Charged::Declined);
        drop(till);

        File::options().append(true).open(&path).unwrap().write_all(b"{\"order_id\":").unwrap();
        let mut till = Till::open(&path).unwrap();
        assert_eq!(till.charge("o-1", Cents(5), Some("k")).unwrap(), Charged::Before);
        assert_eq!(till.charge("o-3", Cents(7), Some("l")).unwrap(), Charged::Now);
        let text = std::fs::read_to_string(&path).unwrap();
        let ids: Vec<&str> = text.lines().map(|line| &line[..19]).collect();
        assert_eq!(ids, [r#"{"order_id":"o-1",""#, r#"{"order_id":"o-1",""#, r#"{"order_id":"o-3",""#]);
    }
}
