//! Guests that break the contract: rows, columns, handles, names, text, and the rules of components themselves.
//!
//! In: their tuples. Out: dead letters of class `protocol` that say what is wrong. Invariant: the tree of another tuple is
//! never touched.

use super::beast;
use anchorbolt_core::failure::Class;

fn how(how: &str) -> String {
    println!("{how}");
    format!("config = {{ how = \"{how}\" }}")
}

/// What a bad row is, and where.
#[test]
fn one_emits_rows_that_are_none() {
    let rows = [
        ("arity", "has 2 fields where the stream declares 1"),
        ("empty", ""),
        ("not-msgpack", ""),
        ("not-array", ""),
        ("lying-length", ""),
        ("utf8", ""),
        ("trailing", ""),
        ("nested", ""),
        ("nested-10000", ""),
        ("stream", ""),
    ];
    for (row, text) in rows {
        beast("raw_bad_rows", how(row)).loses_the_bad(Class::Protocol, text);
    }
}

#[test]
fn one_emits_columns_that_disagree() {
    let columns = [
        ("offsets-beyond", "offsets end at"),
        ("offsets-descend", "offsets"),
        ("offsets-short", "need 2 offsets, there are 1"),
        ("offsets-none", "need 2 offsets, there are 0"),
        ("anchor-offsets-beyond", "anchor-offsets end at 2, but there are 1"),
        ("streams-more", "2 emissions need 3"),
        ("target-unknown", "1000000"),
    ];
    for (column, text) in columns {
        beast("raw_bad_rows", how(column)).loses_the_bad(Class::Protocol, text);
    }
}

#[test]
fn one_names_handles_that_it_was_not_given() {
    for deed in ["ack", "fail", "failures", "anchor", "reset", "describe", "progress"] {
        beast("raw_forged", how(deed)).loses_all(Class::Protocol, "");
    }
}

#[test]
fn one_settles_twice() {
    beast("raw_double_ack", how("twice")).completes();
    beast("raw_double_ack", how("emit")).loses_all(Class::Protocol, "settled before");
}

#[test]
fn one_declares_what_can_not_be() {
    let declarations = [
        ("streams-million", "AB312", "declares 1000000 streams"),
        ("stream-empty", "AB309", ""),
        ("stream-long", "AB309", ""),
        ("stream-twice", "AB311", ""),
        ("stream-reserved", "AB309", ""),
        ("field-empty", "AB310", ""),
        ("field-twice", "AB311", ""),
        ("fields-many", "AB312", ""),
    ];
    for (what, code, text) in declarations {
        let bolt = format!("{}\nlimits = {{ deadline = \"20s\" }}", how(what));
        beast("raw_declare_bad", bolt).does_not_load(code, text);
    }
}

/// Text of a guest crosses the boundary as what it returns, and as an argument.
#[test]
fn one_says_what_is_not_utf_8() {
    beast("bad_text.wat", "").loses_all(Class::Protocol, "not UTF-8");
    beast("bad_metric.wat", "").loses_all(Class::Protocol, "not UTF-8");
}

#[test]
fn one_lies_about_its_memory() {
    beast("lying_text.wat", "").loses_all(Class::Protocol, "string pointer/length out of bounds of memory");
    beast("unknown_case.wat", "").loses_all(Class::Protocol, "invalid expected discriminant");
    beast("lying_memory.wat", "").does_not_load("AB409", "realloc return: beyond end of memory");
}
