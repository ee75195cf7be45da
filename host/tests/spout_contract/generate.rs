//! `generate`: as many as asked for, as fast as asked for, the same each time.

use crate::support::{open_task, read_all};
use anchorbolt_core::manifest::kinds::{Generate, RandomField, SpoutKind};
use anchorbolt_core::port::{Next, Spout};
use anchorbolt_host::spouts::contract::{Expected, check_spout};
use anchorbolt_host::spouts::open;
use anchorbolt_row::{Row, Value};
use std::collections::HashSet;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn options(count: u64) -> Generate {
    Generate { count: Some(count), rate: None, seed: 7, fields: None, keys: None }
}

fn make(options: &Generate) -> Box<dyn Spout> {
    open(&SpoutKind::Generate(options.clone()), Path::new("."), 1 << 20)
}

fn typed() -> Vec<(String, RandomField)> {
    use RandomField::{Bool, Float, Int, String};
    [("i", Int), ("f", Float), ("s", String), ("b", Bool)]
        .map(|(name, kind)| (name.to_owned(), kind))
        .to_vec()
}

#[test]
fn the_contract_holds() {
    check_spout(|| make(&options(0)), &Expected::messages(0));
    check_spout(|| make(&options(3000)), &Expected::messages(3000));
    let keyed = Generate { keys: Some(50), ..options(3000) };
    check_spout(|| make(&keyed), &Expected::messages(3000));
    let fields = Generate { fields: Some(typed()), ..options(3000) };
    check_spout(|| make(&fields), &Expected::messages(3000));
    let slow = Generate { rate: Some(5_000.0), ..options(500) };
    check_spout(|| make(&slow), &Expected::messages(500));
}

#[test]
fn five_sentences_come_in_turn() {
    let got = read_all(make(&options(10_000))).unwrap();
    let seqs: Vec<u64> = got.rows.iter().map(|row| Row::new(row).u64(0).unwrap()).collect();
    assert_eq!(seqs, (0..10_000).collect::<Vec<_>>());
    let sentences: Vec<&str> = got.rows.iter().map(|row| Row::new(row).str(1).unwrap()).collect();
    assert_eq!(sentences[..5].iter().collect::<HashSet<_>>().len(), 5);
    assert!(sentences.iter().enumerate().all(|(i, s)| *s == sentences[i % 5] && s.split(' ').count() >= 5));
}

#[test]
fn keys_is_the_number_of_distinct_words() {
    for keys in [1, 2, 1000, 5000] {
        let got = read_all(make(&Generate { keys: Some(keys), ..options(10_000) })).unwrap();
        let words: HashSet<&str> =
            got.rows.iter().flat_map(|row| Row::new(row).str(1).unwrap().split(' ')).collect();
        assert_eq!(words.len() as u64, keys);
        let fields = Some(vec![("word".to_owned(), RandomField::String)]);
        let got = read_all(make(&Generate { keys: Some(keys), fields, ..options(keys * 8) })).unwrap();
        let words: HashSet<&str> = got.rows.iter().map(|row| Row::new(row).str(0).unwrap()).collect();
        assert_eq!(words.len() as u64, keys);
    }
}

#[test]
fn random_values_have_their_types_and_depend_on_the_seed() {
    let fields = Generate { fields: Some(typed()), ..options(1000) };
    let got = read_all(make(&fields)).unwrap();
    for row in &got.rows {
        let values: Vec<Value<'_>> = Row::new(row).fields().iter().collect();
        assert!(
            matches!(
                values[..],
                [Value::Int(0..1_000_000), Value::F64(f), Value::Str(_), Value::Bool(_)] if (0.0..1.0).contains(&f)
            ),
            "{values:?}"
        );
    }
    assert!(got.rows.iter().collect::<HashSet<_>>().len() > 990);
    let other = read_all(make(&Generate { seed: 8, ..fields })).unwrap();
    assert!(got.rows != other.rows);
}

#[test]
fn tasks_share_the_sequence() {
    let mut all: Vec<(u64, Vec<u8>)> = Vec::new();
    for task in 0..3 {
        let got = open_task(make(&options(1000)), task, 3).unwrap().finish().unwrap();
        assert!(got.ids.iter().all(|id| id.low() % 3 == u64::from(task)));
        all.extend(got.ids.iter().map(|id| id.low()).zip(got.rows));
    }
    all.sort();
    let alone = read_all(make(&options(1000))).unwrap();
    assert!(all.into_iter().map(|(_, row)| row).eq(alone.rows));
}

#[test]
fn the_rate_holds_over_a_pause_that_nobody_wanted_messages_in() {
    let fast = Generate { rate: Some(20_000.0), count: None, ..options(0) };
    let mut driven = open_task(make(&fast), 0, 1).unwrap();
    assert!(!driven.spout.finite());
    driven.spout.deactivate();
    sleep(Duration::from_millis(300));
    driven.spout.activate().unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        let before = driven.got.rows.len();
        if let Next::Idle(Some(time)) = driven.step(100_000).unwrap() {
            sleep(time);
        }
        assert!(driven.got.rows.len() - before <= 200, "a burst");
    }
    let most = start.elapsed().as_secs_f64() * 20_000.0 + 1.0;
    let (got, least) = (driven.got.rows.len() as f64, most * 0.5);
    assert!((least..=most).contains(&got), "{got} messages, at most {most}");
}
