//! Compares what was ordered, what was charged, what came out, and what was given up.
//!
//! In: the files of orders, charges, fates and perhaps dead letters. Out: a [`Tally`], which prints as a table.
//! Invariant: every line of every file counts once, in one row of the table at least.

use crate::jsonl::{self, text};
use crate::money::Cents;
use crate::order::{Fate, Order};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

/// How many ids of a kind are shown.
const IDS_SHOWN: usize = 5;

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Files {
    /// The orders.
    pub orders: PathBuf,
    /// What the payment server charged.
    pub charges: PathBuf,
    /// What the pipeline told.
    pub fates: PathBuf,
    /// The host's dead letters; that file is there once there is a letter.
    pub dead_letters: Option<PathBuf>,
}

/// What became of one order.
#[derive(Debug)]
struct Case {
    id: String,
    amount: Cents,
    expected: Fate,
    fates: Vec<Fate>,
    charges: Vec<Cents>,
    dead: bool,
}

/// What became of all orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub orders: u64,
    /// How many have each fate. An order whose fate came more than once counts once.
    pub fates: BTreeMap<Fate, u64>,
    /// Those without a fate that have a dead letter.
    pub dead: Vec<String>,
    /// Those with neither.
    pub missing: Vec<String>,
    /// Those whose fate is not what it should be, or that have several different ones.
    pub wrong: Vec<String>,
    /// Fates that came again.
    pub duplicates: u64,
    /// Those charged more than once, or for another amount.
    pub overcharged: Vec<String>,
    /// Those charged whose fate does not say so, and those whose fate says so that were not charged.
    pub mismatched: Vec<String>,
    /// Lines of charges, fates and letters that belong to no order.
    pub strangers: u64,
    /// The sum of all charges.
    pub charged: Cents,
    /// The sum of the amounts of those whose fate is success.
    pub owed: Cents,
}

impl Tally {
    /// Reads the files.
    ///
    /// # Errors
    /// When one can't be read, or has a line that does not belong there.
    pub fn read(files: &Files) -> Result<Tally, String> {
        let mut cases = Cases::read(&files.orders)?;
        jsonl::values(&files.charges, |line| cases.charge(line))?;
        jsonl::values(&files.fates, |line| cases.fate(line))?;
        if let Some(letters) = files.dead_letters.as_deref().filter(|letters| letters.exists()) {
            cases.letters(letters)?;
        }
        Ok(cases.tally())
    }

    /// Whether every order has a fate or a dead letter.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

#[derive(Debug, Default)]
struct Cases {
    all: Vec<Case>,
    by_id: HashMap<String, usize>,
    strangers: u64,
}

impl Cases {
    fn read(orders: &Path) -> Result<Cases, String> {
        let mut cases = Cases::default();
        jsonl::lines(orders, |line| {
            let order = Order::parse(line)?;
            if cases.by_id.insert(order.id.clone(), cases.all.len()).is_some() {
                return Err(format!("order {} is there twice", order.id));
            }
            let (amount, expected) = (order.amount, order.fate());
            let case = Case { id: order.id, amount, expected, fates: vec![], charges: vec![], dead: false };
            cases.all.push(case);
            Ok(())
        })?;
        Ok(cases)
    }

    fn case(&mut self, id: &str) -> Option<&mut Case> {
        let found = self.by_id.get(id).and_then(|&index| self.all.get_mut(index));
        self.strangers += u64::from(found.is_none());
        found
    }

    fn charge(&mut self, line: &Value) -> Result<(), String> {
        let amount = Cents::read(&line["amount"]).ok_or("`amount` is no amount")?;
        if let Some(case) = self.case(text(line, "order_id")?) {
            case.charges.push(amount);
        }
        Ok(())
    }

    fn fate(&mut self, line: &Value) -> Result<(), String> {
        let name = text(line, "fate")?;
        let fate = Fate::parse(name).ok_or_else(|| format!("`{name}` is no fate"))?;
        if let Some(case) = self.case(text(line, "order_id")?) {
            case.fates.push(fate);
        }
        Ok(())
    }

    /// A letter that was replayed is over: its order must have a fate. One that was purged is as good as answered.
    fn letters(&mut self, path: &Path) -> Result<(), String> {
        let mut orders: HashMap<String, String> = HashMap::new();
        jsonl::values(path, |line| {
            let letter = text(line, "id")?;
            let order = line["fields"]["order_id"].as_str();
            if line["tombstone"] == "replayed" {
                if let Some(case) = orders.remove(letter).and_then(|order| self.case(&order)) {
                    case.dead = false;
                }
            } else if let Some(order) = order {
                orders.insert(letter.to_owned(), order.to_owned());
                if let Some(case) = self.case(order) {
                    case.dead = true;
                }
            } else if line["tombstone"].is_null() {
                self.strangers += 1;
            }
            Ok(())
        })
    }

    fn tally(self) -> Tally {
        let mut tally =
            Tally { orders: self.all.len() as u64, strangers: self.strangers, ..Tally::default() };
        self.all.into_iter().for_each(|case| case.add_to(&mut tally));
        tally
    }
}

impl Case {
    fn add_to(self, tally: &mut Tally) {
        let charged: Cents = self.charges.iter().copied().sum();
        tally.charged += charged;
        tally.duplicates += (self.fates.len() as u64).saturating_sub(1);
        if self.charges.len() > 1 || charged > self.amount {
            tally.overcharged.push(self.id.clone());
        }
        let Some(&fate) = self.fates.first() else {
            if !self.charges.is_empty() {
                tally.mismatched.push(self.id.clone());
            }
            if self.dead {
                tally.dead.push(self.id)
            } else {
                tally.missing.push(self.id)
            }
            return;
        };
        *tally.fates.entry(fate).or_default() += 1;
        if fate == Fate::Success {
            tally.owed += self.amount;
        }
        if self.fates.iter().any(|fate| *fate != self.expected) {
            tally.wrong.push(self.id.clone());
        }
        if (fate == Fate::Success) == self.charges.is_empty() {
            tally.mismatched.push(self.id);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, n: u64| writeln!(f, "{name:<28}{n:>14}");
        line(f, "orders", self.orders)?;
        for fate in Fate::ALL {
            line(f, &format!("  {fate}"), self.fates.get(&fate).copied().unwrap_or(0))?;
        }
        let ids = |f: &mut fmt::Formatter<'_>, name: &str, ids: &[String]| {
            let some = ids.iter().take(IDS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if ids.len() > IDS_SHOWN { ", .." } else { "" };
            writeln!(f, "{}", format!("{name:<28}{:>14}  {some}{more}", ids.len()).trim_end())
        };
        ids(f, "  dead letter, no fate", &self.dead)?;
        ids(f, "  neither", &self.missing)?;
        line(f, "fates that came again", self.duplicates)?;
        ids(f, "orders with a wrong fate", &self.wrong)?;
        ids(f, "orders charged twice", &self.overcharged)?;
        ids(f, "charge and fate differ", &self.mismatched)?;
        line(f, "lines of no order", self.strangers)?;
        writeln!(f, "{:<28}{:>14}", "owed", self.owed)?;
        write!(f, "{:<28}{:>14}", "charged", self.charged)
    }
}

#[cfg(test)]
mod tests;
