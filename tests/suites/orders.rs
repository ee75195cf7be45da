//! The orders example: its own manifest and plugins, against its payment server, with all that goes wrong there.

use anchorbolt_core::failure::Class;
use anchorbolt_host::runtime::{Ended, How};
use anchorbolt_tests::{Topology, artifacts, bolt, check_flawless, error, guest, wait};
use orders_shop::demo::{self, Plan};
use orders_shop::generate;
use orders_shop::order::{Fate, Order};
use orders_shop::report::{Files, Tally};
use orders_shop::server::{Server, Settings};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ORDERS: u64 = 400;
const SEED: u64 = 0x5eed_0de5;
const UNTIL_DRAINED: How = How { until_drained: true, limit: None };

/// The example with its world. The manifest is the real one, but for its port and where its plugins are.
struct Shop {
    topology: Topology,
    server: Server,
    folder: TempDir,
    orders: Vec<Order>,
}

impl Shop {
    fn open(poison: f64, settings: Settings, edits: &[(&str, &str)]) -> Shop {
        println!("seed {SEED:#x}");
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(settings, &folder.path().join("charges.jsonl")).unwrap();
        let mut text = manifest(|name| format!("guest:{name}"));
        text = text.replace("${ORDERS_PORT}", &server.port().to_string());
        for (from, to) in edits {
            assert!(text.contains(from), "`{from}` is not in the manifest");
            text = text.replace(from, to);
        }
        let topology = Topology::new(&text);
        generate::write(&topology.dir().join("out/orders.jsonl"), ORDERS, poison, SEED).unwrap();
        Shop { topology, server, folder, orders: generate::orders(ORDERS, poison, SEED).collect() }
    }

    fn run(&mut self) -> (Ended, Tally) {
        let ended = self.topology.run();
        (ended, self.tally())
    }

    fn tally(&self) -> Tally {
        let out = self.topology.dir().join("out");
        let (orders, fates) = (out.join("orders.jsonl"), out.join("fates.jsonl"));
        let charges = self.folder.path().join("charges.jsonl");
        Tally::read(&Files { orders, charges, fates, dead_letters: None }).unwrap()
    }

    fn count(&self, wanted: impl Fn(&Order) -> bool) -> u64 {
        self.orders.iter().filter(|order| wanted(order)).count() as u64
    }

    /// Each order has the fate that it should have, once, and was charged at most once.
    fn check_fates(&self, tally: &Tally) {
        for fate in Fate::ALL {
            assert_eq!(tally.fates.get(&fate).copied(), Some(self.count(|o| o.fate() == fate)), "{tally}");
        }
        assert!(tally.missing.is_empty() && tally.wrong.is_empty() && tally.mismatched.is_empty(), "{tally}");
        assert!(tally.overcharged.is_empty(), "{tally}");
        assert_eq!((tally.duplicates, tally.strangers, tally.charged), (0, 0, tally.owed), "{tally}");
    }
}

/// The example's manifest, with other plugins than those that lie beside it.
fn manifest(plugin: impl Fn(&str) -> String) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/orders/topology.toml");
    let mut text = std::fs::read_to_string(path).unwrap();
    for name in ["fraud", "payment", "notification"] {
        text = text.replace(&format!("plugins/{name}.wasm"), &plugin(name));
    }
    text
}

#[test]
fn every_order_has_its_fate_and_is_charged_once() {
    let mut shop = Shop::open(0.0, Settings::default(), &[]);
    let (ended, tally) = shop.run();
    check_flawless(&ended, ORDERS);
    shop.check_fates(&tally);
    let (rejected, skipped) = (Fate::Rejected, Fate::Skipped);
    let paid = shop.count(|order| ![rejected, skipped].contains(&order.fate()));
    let counts = shop.server.counts();
    assert_eq!((counts.requests, counts.notifications), (paid + ORDERS, ORDERS));
    assert!(counts.connections <= 6, "each of six instances keeps its own: {counts:?}");
}

#[test]
fn an_outage_of_a_second_costs_retries_and_no_order() {
    let slow = Settings { slow_rate: 1.0, slow: Duration::from_millis(5), ..Settings::default() };
    let mut shop = Shop::open(0.0, slow, &[]);
    let running = shop.topology.start(UNTIL_DRAINED);
    let began = Instant::now();
    while shop.server.counts().requests < ORDERS / 8 {
        assert!(began.elapsed() < Duration::from_secs(60), "no requests come");
        std::thread::sleep(Duration::from_millis(1));
    }
    shop.server.outage(Duration::from_secs(1));
    let ended = wait(running, UNTIL_DRAINED);
    let t = ended.report.totals();
    assert_eq!((t.completed, t.dropped, t.dead_lettered), (ORDERS, 0, 0));
    assert!(t.replayed > 0 && ended.report.errors.iter().all(|e| e.class == Class::Failed), "{t:?}");
    assert_eq!(ended.exit_code(), 0);
    shop.check_fates(&shop.tally());
}

#[test]
fn a_lost_answer_charges_twice_unless_requests_have_a_key() {
    let moods = Settings { fail_rate: 0.1, seed: SEED, ..Settings::default() };
    let mut shop = Shop::open(0.0, moods.clone(), &[]);
    let (ended, tally) = shop.run();
    assert_eq!(ended.exit_code(), 0);
    assert!(shop.server.counts().known_keys > 0);
    shop.check_fates(&tally);

    let no_key = ("idempotency-key = true", "idempotency-key = false");
    let (ended, tally) = Shop::open(0.0, moods, &[no_key]).run();
    assert_eq!((ended.exit_code(), tally.missing.len()), (0, 0));
    assert!(!tally.overcharged.is_empty() && tally.charged > tally.owed, "{tally}");
}

#[test]
fn an_answer_that_comes_too_late_is_asked_for_again() {
    let slow = Settings { slow_rate: 0.05, slow: Duration::from_secs(1), ..Settings::default() };
    let mut shop = Shop::open(0.0, slow, &[("timeout-ms = 1000", "timeout-ms = 100")]);
    let (ended, tally) = shop.run();
    assert_eq!((ended.report.totals().completed, ended.exit_code()), (ORDERS, 0));
    let late = ended.report.errors.iter().filter(|e| e.message.ends_with("server: no answer in time"));
    assert!(late.count() > 0, "{:#?}", ended.report.errors);
    assert_eq!(bolt(&ended.report, "payment").deaths, 0, "the bolt ends its wait before the host does");
    shop.check_fates(&tally);
}

#[test]
fn an_amount_as_text_is_a_trap_that_costs_its_order_alone() {
    let mut shop = Shop::open(0.05, Settings::default(), &[]);
    let (ended, tally) = shop.run();
    let poison: Vec<&Order> = shop.orders.iter().filter(|order| order.poison).collect();
    let t = ended.report.totals();
    assert_eq!(t.completed, ORDERS - poison.len() as u64);
    assert_eq!(t.dropped + t.dead_lettered, poison.len() as u64);
    let trap = error(&ended.report, Class::Trap);
    assert_eq!((trap.component.as_str(), trap.count), ("fraud", 3 * poison.len() as u64));
    let text = "the amount of an order is a number: Failure::Fail: field 2 (`amount`) is a string";
    assert!(trap.message.contains("panicked at ") && trap.message.contains(text), "{trap:?}");
    assert!(tally.missing.iter().eq(poison.iter().map(|order| &order.id)), "{tally}");
    assert_eq!(ended.exit_code(), 1);
}

#[test]
fn the_mended_fraud_check_takes_amounts_as_text() {
    let mended = ("text-amounts = false", "text-amounts = true");
    let mut shop = Shop::open(0.05, Settings::default(), &[mended]);
    let (ended, tally) = shop.run();
    check_flawless(&ended, ORDERS);
    shop.check_fates(&tally);
}

#[test]
fn a_host_that_is_killed_again_and_again_loses_no_order_and_charges_none_twice() {
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("topology.toml");
    std::fs::write(&topology, manifest(|name| guest(name).display().to_string())).unwrap();
    let plan = Plan {
        bin: anchorbolt_tests::binary(),
        topology,
        work: folder.path().join("work"),
        count: 2_000,
        poison: 0.0,
        text_amounts: false,
        kills: 4,
        key: true,
        server: Settings { fail_rate: 0.01, seed: SEED, ..Settings::default() },
        seed: SEED,
        sets: vec![],
        envs: vec![("XDG_CACHE_HOME".into(), artifacts::cache_dir().into())],
        patience: Duration::from_secs(90),
    };
    let outcome = demo::run(&plan, &|line| println!("{line}")).unwrap_or_else(|error| panic!("{error}"));
    let tally = &outcome.tally;
    assert_eq!(outcome.exit_code, 0);
    assert!(tally.missing.is_empty() && tally.wrong.is_empty() && tally.mismatched.is_empty(), "{tally}");
    assert!(tally.overcharged.is_empty() && tally.charged == tally.owed, "{tally}");
}
