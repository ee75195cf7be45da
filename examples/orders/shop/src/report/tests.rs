//! Each row of the table, from files made by hand.

use super::*;

const ORDERS: &str = r#"{"order_id":"o-1","user_id":"u-1","amount":10,"risk_score":0.1}
{"order_id":"o-2","user_id":"u-1","amount":"2,50","risk_score":0.1}
{"order_id":"o-3","user_id":"u-1","amount":0,"risk_score":0.1}
{"order_id":"o-4","user_id":"u-1","amount":3,"risk_score":0.99}
"#;

fn tally(
    orders: &str,
    charges: &[(&str, f64)],
    fates: &[(&str, &str)],
    letters: &str,
) -> Result<Tally, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let charges =
        charges.iter().map(|(id, amount)| format!("{{\"order_id\":\"{id}\",\"amount\":{amount}}}\n"));
    let fates = fates.iter().map(|(id, fate)| format!("{{\"order_id\":\"{id}\",\"fate\":\"{fate}\"}}\n"));
    Tally::read(&Files {
        orders: file("orders", orders.to_owned()),
        charges: file("charges", charges.collect()),
        fates: file("fates", fates.collect()),
        dead_letters: Some(file("letters", letters.to_owned())),
    })
    .map_err(|error| error.replace(&folder.path().display().to_string(), "FOLDER"))
}

const FATES: [(&str, &str); 4] =
    [("o-1", "SUCCESS"), ("o-2", "SUCCESS"), ("o-3", "SKIPPED"), ("o-4", "REJECTED")];

#[test]
fn when_all_is_well_nothing_is_listed() {
    let tally = tally(ORDERS, &[("o-1", 10.0), ("o-2", 2.5)], &FATES, "").unwrap();
    assert!(tally.is_complete());
    let fates = BTreeMap::from([(Fate::Success, 2), (Fate::Skipped, 1), (Fate::Rejected, 1)]);
    let (owed, charged) = (Cents(1250), Cents(1250));
    assert_eq!(tally, Tally { orders: 4, fates, owed, charged, ..Tally::default() });
}

#[test]
fn orders_charged_twice_and_fates_that_came_again_are_counted() {
    let fates = [&FATES[..], &[("o-1", "SUCCESS"), ("o-1", "FAILED"), ("o-9", "FAILED")]].concat();
    let tally = tally(ORDERS, &[("o-1", 10.0), ("o-2", 2.5), ("o-1", 10.0)], &fates, "").unwrap();
    assert_eq!((tally.duplicates, tally.strangers, tally.charged), (2, 1, Cents(2250)));
    assert_eq!((tally.overcharged, tally.wrong), (vec!["o-1".to_owned()], vec!["o-1".to_owned()]));
}

#[test]
fn an_order_without_fate_is_missing_unless_it_has_a_letter() {
    let letter = |id: &str| format!("{{\"id\":\"orders@{id}\",\"fields\":{{\"order_id\":\"{id}\"}}}}\n");
    let over = |id: &str, how: &str| format!("{{\"id\":\"orders@{id}\",\"tombstone\":\"{how}\"}}\n");
    let dead = |letters: &str| {
        let tally = tally(ORDERS, &[("o-1", 10.0)], &FATES[2..], letters).unwrap();
        assert_eq!(tally.is_complete(), tally.missing.is_empty());
        assert_eq!(tally.mismatched, ["o-1"], "charged, but without a fate");
        (tally.dead.join(" "), tally.missing.join(" "))
    };
    assert_eq!(dead(""), (String::new(), "o-1 o-2".to_owned()));
    assert_eq!(dead(&letter("o-2")), ("o-2".to_owned(), "o-1".to_owned()));
    let both = letter("o-1") + &letter("o-2");
    assert_eq!(dead(&(both.clone() + &over("o-1", "replayed"))), ("o-2".to_owned(), "o-1".to_owned()));
    assert_eq!(dead(&(both + &over("o-1", "purged"))), ("o-1 o-2".to_owned(), String::new()));
}

#[test]
fn a_success_that_was_never_charged_is_told() {
    assert_eq!(tally(ORDERS, &[("o-2", 2.5)], &FATES, "").unwrap().mismatched, ["o-1"]);
}

#[test]
fn a_file_that_makes_no_sense_is_named() {
    let twice = ORDERS.lines().next().unwrap();
    let error = tally(&format!("{twice}\n{twice}\n"), &[], &[], "").unwrap_err();
    assert_eq!(error, "FOLDER/orders:2: order o-1 is there twice");
    let error = tally(ORDERS, &[], &[("o-1", "LOST")], "").unwrap_err();
    assert_eq!(error, "FOLDER/fates:1: `LOST` is no fate");
}

#[test]
fn the_table_has_a_row_for_everything() {
    let table = tally(ORDERS, &[("o-1", 10.0), ("o-1", 10.0)], &FATES[..1], "").unwrap().to_string();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows[6], "  neither                                3  o-2, o-3, o-4");
    assert_eq!(rows[9], "orders charged twice                     1  o-1");
    assert_eq!(
        rows[12..],
        ["owed                                 10.00", "charged                              20.00"]
    );
}
