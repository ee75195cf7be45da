//! What must hold for any row, compared with a slow model.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use anchorbolt_row::{IntoRow, Row, RowWriter, ToValue, Value, check_row, key_hash, walk_row, write_row};
use common::{Encoder, Model, is_row, model, same};
use proptest::prelude::*;

fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..16)
}

fn fields() -> impl Strategy<Value = Vec<Model>> {
    prop::collection::vec(model(), 0..20)
}

fn write(row: &mut RowWriter<'_>, v: &Model) {
    match v {
        Model::Nil => row.nil(),
        Model::Bool(v) => row.bool(*v),
        Model::Int(v) => match u64::try_from(*v) {
            Ok(v) => row.uint(v),
            Err(_) => row.int(i64::try_from(*v).unwrap()),
        },
        Model::Float(v) => row.f64(*v),
        Model::Str(v) => row.str(v),
        Model::Bin(v) => row.bin(v),
        Model::Array(v) => row.array(|list| v.iter().for_each(|v| write(list, v))),
        Model::Map(v) => row.map(|map| {
            for (k, v) in v {
                map.entry(Written(k), Written(v));
            }
        }),
        Model::Timestamp(s, n) => row.timestamp(*s, *n),
        Model::Ext(kind, body) => row.ext(*kind, body),
    };
}

struct Written<'m>(&'m Model);

impl ToValue for Written<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        write(row, self.0);
    }
}

fn read(v: Value<'_>) -> Model {
    match v {
        Value::Nil => Model::Nil,
        Value::Bool(v) => Model::Bool(v),
        Value::Int(v) => Model::Int(v.into()),
        Value::UInt(v) => Model::Int(v.into()),
        Value::F64(v) => Model::Float(v),
        Value::Str(v) => Model::Str(v.into()),
        Value::Bin(v) => Model::Bin(v.into()),
        Value::Array(v) => Model::Array(v.iter().map(read).collect()),
        Value::Map(v) => Model::Map(v.iter().map(|(k, v)| (read(k), read(v))).collect()),
        Value::Timestamp { seconds, nanos } => Model::Timestamp(seconds, nanos),
        Value::Ext(kind, body) => Model::Ext(kind, body.into()),
        _ => unreachable!(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn written_rows_pass_and_read_back(fields in fields()) {
        let mut data = Vec::new();
        let written = write_row(&mut data, |row| fields.iter().for_each(|f| write(row, f)));
        prop_assert_eq!(written, fields.len());
        prop_assert_eq!(check_row(&data, fields.len()), Ok(()));
        let row = Row::new(&data);
        prop_assert_eq!(row.len(), fields.len());
        for (i, field) in fields.iter().enumerate() {
            prop_assert!(same(&read(row.field(i).unwrap()), field));
        }
        prop_assert!(row.field(fields.len()).is_none());
    }

    #[test]
    fn any_legal_encoding_passes_and_reads_back(fields in fields(), choices in choices()) {
        let data = Encoder::row(&choices, &fields);
        prop_assert_eq!(check_row(&data, fields.len()), Ok(()));
        let read: Vec<_> = Row::new(&data).fields().iter().map(read).collect();
        prop_assert!(same(&Model::Array(read), &Model::Array(fields)));
    }

    #[test]
    fn places_are_those_of_the_fields(fields in fields(), choices in choices()) {
        let data = Encoder::row(&choices, &fields);
        let mut places = Vec::new();
        walk_row(&data, fields.len(), |i, place| places.push((i, place))).unwrap();
        prop_assert_eq!(places.len(), fields.len());
        for (n, (i, place)) in places.into_iter().enumerate() {
            prop_assert_eq!(n, i);
            prop_assert_eq!(Row::new(&data).raw(i), data.get(place));
        }
    }

    #[test]
    fn a_value_written_again_is_the_same(fields in fields(), choices in choices()) {
        let data = Encoder::row(&choices, &fields);
        let mut again = Vec::new();
        let values: Vec<_> = Row::new(&data).fields().iter().collect();
        values.append_to(&mut again);
        prop_assert_eq!(key_hash(&data, fields.len(), &[0, 1]), key_hash(&again, fields.len(), &[0, 1]));
    }

    #[test]
    fn equal_values_meet(value in model(), a in choices(), b in choices()) {
        let hash = |choices| key_hash(&Encoder::row(choices, std::slice::from_ref(&value)), 1, &[0]).unwrap();
        prop_assert_eq!(hash(&a), hash(&b));
    }

    #[test]
    fn unequal_values_part(a in model(), b in model(), choices in choices()) {
        let hash = |v: &Model| key_hash(&Encoder::row(&choices, std::slice::from_ref(v)), 1, &[0]).unwrap();
        prop_assert_eq!(hash(&a) == hash(&b), same(&a, &b), "{:?} {:?}", a, b);
    }

    #[test]
    fn the_order_of_the_key_counts_and_that_of_the_row_does_not(a in model(), b in model()) {
        let row = |fields: &[Model]| Encoder::row(&[0], fields);
        let (ab, ba) = (row(&[a.clone(), b.clone()]), row(&[b.clone(), a.clone()]));
        prop_assert_eq!(key_hash(&ab, 2, &[0, 1]), key_hash(&ba, 2, &[1, 0]));
        prop_assert_eq!(key_hash(&ab, 2, &[0, 1]) == key_hash(&ab, 2, &[1, 0]), same(&a, &b));
    }

    #[test]
    fn random_bytes_pass_only_if_the_oracle_says_so(
        data in prop::collection::vec(prop_oneof![any::<u8>(), 0x90u8..0x98, 0xa0u8..0xa4, 0xc0u8..0xe0], 0..40),
        arity in 0usize..5,
    ) {
        prop_assert_eq!(check_row(&data, arity).is_ok(), is_row(&data, arity));
        reading_anything_is_safe(&data);
    }

    #[test]
    fn mutated_rows_pass_only_if_the_oracle_says_so(
        fields in fields(),
        choices in choices(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..4),
    ) {
        let mut data = Encoder::row(&choices, &fields);
        for (at, byte, kind) in edits {
            let at = at.index(data.len().max(1));
            match kind {
                0 if at < data.len() => data[at] = byte,
                1 => data.truncate(at),
                _ => data.insert(at.min(data.len()), byte),
            }
        }
        prop_assert_eq!(check_row(&data, fields.len()).is_ok(), is_row(&data, fields.len()));
        reading_anything_is_safe(&data);
    }
}

/// Reading must not panic, and must end, whatever the bytes.
fn reading_anything_is_safe(data: &[u8]) {
    let row = Row::new(data);
    let fields = row.fields().iter().take(1_000).count();
    for i in 0..fields + 1 {
        let _ = (row.field(i), row.raw(i), row.str(i), row.bytes(i));
        let _ = (row.i64(i), row.u64(i), row.f64(i), row.bool(i));
    }
    let _ = data.len() < 100 && format!("{row:?}").is_empty();
}
