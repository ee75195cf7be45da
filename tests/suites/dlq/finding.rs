//! Which topology is meant.

use super::{cli, letter, write};
use crate::cli::Cli;

#[test]
fn the_only_topology_below_is_found_and_of_several_none_is_taken() {
    let cli = cli(&[letter(1, "a")]);
    let ran = cli.run(&["dlq", "list"]);
    ran.check(0);
    assert!(ran.out.contains("lines@in.txt:1"), "{ran:?}");
    write(&cli, "deep/er/.anchorbolt/second", &[letter(2, "b")]);
    let ran = cli.run(&["dlq", "list"]);
    ran.check(2);
    ran.says(&[
        "2 topologies",
        "--data-dir .anchorbolt/letters",
        "--data-dir deep/er/.anchorbolt/second",
        "help: name one with --manifest FILE or --data-dir DIR",
    ]);
    let ran = cli.run(&["dlq", "list", "--data-dir", "deep/er/.anchorbolt/second"]);
    ran.check(0);
    assert!(ran.out.contains("lines@in.txt:2"), "{ran:?}");
}

#[test]
fn nothing_below_is_an_error_that_says_what_to_do() {
    let cli = Cli::new("");
    let ran = cli.run(&["dlq", "list"]);
    ran.check(2);
    ran.says(&["no topology has run below this folder", "--manifest FILE", "--data-dir DIR"]);
}

#[test]
fn a_manifest_names_its_topology_whatever_else_is_wrong_with_it() {
    let cli = cli(&[letter(1, "a")]);
    write(&cli, ".anchorbolt/second", &[letter(2, "b")]);
    for text in [
        "[topology]\nname = \"second\"\ncolour = 1\n",
        "[topology]\nname = \"second\"\n[bolts.x]\nplugin = 3\n",
    ] {
        cli.file("second.toml", text);
        let ran = cli.run(&["dlq", "list", "--manifest", "second.toml"]);
        ran.check(0);
        assert!(ran.out.contains("lines@in.txt:2"), "{ran:?}");
    }
    for name in ["", "name = 7", "name = \"../letters\""] {
        cli.file("second.toml", format!("[topology]\n{name}\n"));
        let ran = cli.run(&["dlq", "list", "--manifest", "second.toml"]);
        ran.check(2);
        ran.says(&["error[AB", "does not name its topology", "--data-dir DIR"]);
    }
    let ran = cli.run(&["dlq", "list", "--manifest", "nowhere.toml"]);
    ran.check(2);
    ran.says(&["nowhere.toml"]);
    cli.file("third.toml", "[topology]\nname = \"third\"\n");
    let ran = cli.run(&["dlq", "list", "--manifest", "third.toml"]);
    ran.check(2);
    ran.says(&["has no data folder `.anchorbolt/third`", "has not run yet"]);
}

#[test]
fn a_folder_that_is_none_and_one_of_a_newer_version_are_refused() {
    let cli = cli(&[]);
    let ran = cli.run(&["dlq", "list", "--data-dir", "."]);
    ran.check(2);
    ran.says(&["`.` is no data folder"]);
    cli.file(".anchorbolt/letters/VERSION", "99\n");
    let ran = cli.run(&["dlq", "list"]);
    ran.check(3);
    ran.says(&["newer anchorbolt"]);
}
