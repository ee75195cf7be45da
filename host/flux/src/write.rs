//! Tables to TOML, as a person would write them.
//!
//! In: [`Table`]s in order, with their comments. Out: the text. Invariant: it can be parsed and says what the tables say,
//! whatever the texts in them are; a `${` in a value stays one, and is never looked up.

use serde_json::{Map, Value};

/// Beyond this many characters a list goes over several lines.
const LINE: usize = 110;

/// A part of a manifest.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// `bolts.count`; empty: comments alone.
    pub(crate) header: String,
    /// Comments above it, a line each.
    pub(crate) comments: Vec<String>,
    /// Keys and values in order.
    pub(crate) entries: Vec<(String, Value)>,
    /// Lines of TOML that count for nothing yet, after the entries.
    pub(crate) later: Vec<String>,
}

impl Table {
    /// A table of this name.
    pub(crate) fn new(header: impl Into<String>) -> Table {
        Table { header: header.into(), ..Table::default() }
    }

    /// One more key.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.entries.push((key.to_owned(), value.into()));
    }
}

/// All tables.
pub(crate) fn document(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        if !out.is_empty() {
            out.push('\n');
        }
        for comment in &table.comments {
            line(&mut out, &format!("# {}", plain(comment)));
        }
        if !table.header.is_empty() {
            line(&mut out, &format!("[{}]", table.header));
        }
        let (below, here): (Vec<_>, Vec<_>) =
            table.entries.iter().partition(|(name, value)| is_long(name, value));
        for (name, value) in here {
            line(&mut out, &entry(name, value));
        }
        for later in &table.later {
            line(&mut out, &format!("# {}", plain(later)));
        }
        for (name, value) in below {
            line(&mut out, &format!("\n[{}.{}]", table.header, key(name)));
            for (name, value) in value.as_object().into_iter().flatten() {
                line(&mut out, &entry(name, value));
            }
        }
    }
    out
}

/// A map that gets a table of its own.
fn is_long(name: &str, value: &Value) -> bool {
    value.is_object() && one_line(name, value).chars().count() > LINE
}

/// `key = value`, on one line.
pub(crate) fn one_line(name: &str, value: &Value) -> String {
    format!("{} = {}", key(name), inline(value))
}

/// `key = value`; a long list over several lines.
fn entry(name: &str, value: &Value) -> String {
    let short = one_line(name, value);
    match value {
        Value::Array(items) if short.chars().count() > LINE && !items.is_empty() => {
            let items: String =
                items.iter().fold(String::new(), |out, item| out + "  " + &inline(item) + ",\n");
            format!("{} = [\n{items}]", key(name))
        }
        _ => short,
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// Without what ends a comment, or what an editor would act on.
fn plain(text: &str) -> String {
    text.chars().map(|c| if unseen(c) { ' ' } else { c }).collect()
}

/// Control characters, and those that change the order of others.
fn unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A key, in quotes where it needs them.
pub(crate) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// On one line. What TOML lacks, null, is written as an empty text.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => quoted(""),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            if text.contains(['.', 'e', 'E']) { text } else { text + ".0" }
        }
        Value::Number(number) if number.is_i64() => number.to_string(),
        Value::Number(number) => quoted(&number.to_string()),
        Value::String(text) => quoted(&dollars(text)),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => object(entries),
    }
}

fn object(entries: &Map<String, Value>) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let pairs: Vec<String> =
        entries.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// A manifest looks `${NAME}` up and reads `$$` as a dollar.
fn dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '$' && matches!(chars.peek(), Some('{' | '$')) {
            out.push('$');
        }
    }
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if unseen(c) => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorbolt_core::manifest::{Text, parse};
    use serde_json::json;

    /// What a bolt's configuration is once the manifest is read.
    fn read_back(config: &Value) -> Value {
        let mut bolt = Table::new("bolts.b");
        bolt.comments = vec!["a\nb = 1\r\u{2028}".to_owned()];
        bolt.set("plugin", "b.wasm");
        bolt.set("config", config.clone());
        bolt.later = vec!["kind = \"x\"\nkind = 1".to_owned()];
        let mut topology = Table::new("topology");
        topology.set("name", "t");
        let text = document(&[topology, bolt]);
        let lookup = |_: &str| Some("looked up".to_owned());
        let parsed = parse(&Text { name: "t", text: &text, sets: &[], lookup: &lookup });
        assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
        assert!(!text.contains(|c| unseen(c) && c != '\n'), "{text:?}");
        parsed.manifest.bolts[0].config.clone()
    }

    #[test]
    fn values_come_back_as_they_were() {
        let config = json!({
            "plain": "x", "with space": 1, "": true, "a.b": [1.0, -2.5e300, i64::MIN, [], {}],
            "quotes\"'\\": "\"\\\n\r\t\u{1}\u{7f}\u{85}\u{feff}é🦀", "deep": {"a": {"b": [{"c": "d"}]}},
            "dollars": ["${HOME}", "$${HOME}", "$", "$$", "$$$", "a$b", "$$${x"],
            "long": vec!["0123456789"; 40],
        });
        assert_eq!(read_back(&config), config);
    }

    #[test]
    fn random_texts_come_back() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let letters: Vec<char> = "ab$${}\"'\\\n\r\t#=[],.é\u{0}\u{7f}\u{2028} ".chars().collect();
        for _ in 0..300 {
            let mut text =
                || (0..random.usize(..12)).map(|_| *random.choice(&letters).unwrap()).collect::<String>();
            let config = json!({ text(): text(), text(): [text(), text()], text(): { text(): text() } });
            assert_eq!(read_back(&config), config, "seed {seed}");
        }
    }
}
