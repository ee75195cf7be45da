//! Letters to write.

use anchorbolt_core::failure::Class;
use anchorbolt_host::durable::{DeadLetters, Filter, Letter, LetterAttempt, LetterInput, SystemFiles};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use time::OffsetDateTime;

pub(crate) fn moment(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_767_225_600 + seconds).unwrap()
}

/// The letter of the message at this place.
pub(crate) fn letter(offset: u64) -> Letter {
    let attempt = LetterAttempt {
        n: 1,
        time: moment(offset as i64),
        component: "split".to_owned(),
        task: 3,
        class: Class::Trap,
        reason: "panicked at \"bad\"\nline".to_owned(),
        output: "last words\n".to_owned(),
        input: Some(LetterInput { stream: "lines/default".to_owned(), row: json!(["a \u{1}"]) }),
    };
    Letter {
        id: format!("lines@a.md:{offset}"),
        time: moment(offset as i64),
        topology: "word-count".to_owned(),
        spout: "lines".to_owned(),
        position: json!({ "path": "a.md", "offset": offset }),
        bytes: vec![0xff, 0, b'x'],
        fields: json!({ "line": "a \u{1}" }),
        attempts: vec![attempt],
    }
}

/// The ids of the letters that a filter takes.
pub(crate) fn ids(letters: &DeadLetters, filter: &Filter) -> Vec<String> {
    let mut ids = Vec::new();
    letters
        .letters()
        .visit(filter, |letter, _| {
            ids.push(letter.id.clone());
            Ok(())
        })
        .unwrap();
    ids
}

pub(crate) fn open(path: &Path) -> DeadLetters {
    DeadLetters::open(Arc::new(SystemFiles), path, 1 << 30).unwrap()
}
