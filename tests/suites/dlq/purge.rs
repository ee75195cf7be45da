//! `dlq purge`.

use super::{cli, ids, various};
use anchorbolt_host::durable::DataDir;

#[test]
fn what_fits_is_purged_and_the_rest_stays() {
    let cli = cli(&various());
    let ran = cli.run(&["dlq", "purge", "--class", "trap", "--dry-run"]);
    ran.check(0);
    assert_eq!(ran.out, "2 letters would be purged, 4 left\n");
    assert_eq!(ids(&cli.run(&["dlq", "list", "--json"])).len(), 6);
    let ran = cli.run(&["dlq", "purge", "--class", "trap"]);
    ran.check(0);
    assert_eq!(ran.out, "2 letters purged, 4 left\n");
    let left = ["lines@in.txt:10", "lines@in.txt:20", "lines@in.txt:40", "lines@in.txt:50"];
    assert_eq!(ids(&cli.run(&["dlq", "list", "--json"])), left);
    assert_eq!(
        cli.run(&["dlq", "purge", "--class", "trap"]).out,
        "none of 4 letters fits: nothing to purge\n"
    );
    let ran = cli.run(&["dlq", "purge", left[0], "--id", left[3], "--json"]);
    ran.check(0);
    assert_eq!(ran.out, "{\"purged\":2,\"left\":2,\"dry_run\":false}\n");
    let ran = cli.run(&["dlq", "purge", left[0]]);
    ran.check(2);
    ran.says(&["no dead letter has the id"]);
    let ran = cli.run(&["dlq", "purge", "--all"]);
    assert_eq!(ran.out, "2 letters purged, 0 left\n");
    assert_eq!(cli.run(&["dlq", "list"]).out, "no dead letters\n");
    let ran = cli.run(&["dlq", "purge", "--all"]);
    ran.check(0);
    assert_eq!(ran.out, "no dead letters\n");
    let file = cli.path(".anchorbolt/letters/dead-letters.jsonl");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 0, "the room is given back");
}

#[test]
fn nothing_is_purged_without_being_named_or_while_a_host_runs() {
    let cli = cli(&various());
    let file = ".anchorbolt/letters/dead-letters.jsonl";
    let before = cli.read(file);
    let ran = cli.run(&["dlq", "purge"]);
    ran.check(2);
    ran.says(&["--all for all"]);
    let ran = cli.run(&["dlq", "purge", "--all", "--class", "trap"]);
    ran.check(2);
    ran.says(&["give one of the two"]);
    let running = DataDir::open(&cli.path(".anchorbolt/letters"), false).unwrap();
    let ran = cli.run(&["dlq", "purge", "--all"]);
    ran.check(3);
    ran.says(&["is in use by process", &std::process::id().to_string(), "stop that one first"]);
    assert!(!ran.err.contains("--data-dir"), "{ran:?}");
    assert_eq!(cli.run(&["dlq", "purge", "--all", "--dry-run"]).out, "6 letters would be purged, 0 left\n");
    assert_eq!(cli.read(file), before);
    drop(running);
}
