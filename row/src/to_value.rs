//! What can be written into a row: values ([`ToValue`]) and whole rows ([`IntoRow`]).
//!
//! In: Rust's own types. Out: MessagePack, by way of [`RowWriter`]. Bytes (`[u8]`, `Vec<u8>`) become binary, any
//! other slice an array. Invariant: one call of [`ToValue::write`] writes exactly one value.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::write::write_fields;
use crate::{Array, Map, Row, RowWriter, Value, write_row};

/// A type whose values can be written into a row.
pub trait ToValue {
    /// Writes exactly one value.
    fn write(&self, row: &mut RowWriter<'_>);

    /// Writes several as one value: an array, but binary of bytes.
    #[doc(hidden)]
    fn write_slice(slice: &[Self], row: &mut RowWriter<'_>)
    where
        Self: Sized,
    {
        row.array(|list| slice.iter().for_each(|v| v.write(list)));
    }
}

/// A value that is encoded already; it is copied as it is, so it must be exactly one value.
///
/// [`Row::raw`] gives the bytes of a field in this form.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(pub &'a [u8]);

/// What can be one row: tuples of up to 12 values, arrays, slices and vectors, a [`Row`], and a closure that
/// writes with a [`RowWriter`].
///
/// ```
/// use anchorbolt_row::{IntoRow, RowWriter};
///
/// let mut data = Vec::new();
/// ("cat", 3).append_to(&mut data);
/// [1, 2].append_to(&mut data);
/// (|row: &mut RowWriter<'_>| { row.nil(); }).append_to(&mut data);
/// assert_eq!(data, b"\x92\xa3cat\x03\x92\x01\x02\x91\xc0");
/// ```
pub trait IntoRow {
    /// Writes the row at the end of `buffer`.
    fn append_to(self, buffer: &mut Vec<u8>);
}

macro_rules! scalars {
    ($($type:ty, $method:ident, $as:ty;)*) => {$(
        impl ToValue for $type {
            #[inline]
            fn write(&self, row: &mut RowWriter<'_>) {
                row.$method(<$as>::from(*self));
            }
        }
    )*};
}

scalars! {
    bool, bool, bool;
    u16, uint, u64; u32, uint, u64; u64, uint, u64;
    i8, int, i64; i16, int, i64; i32, int, i64; i64, int, i64;
    f32, f32, f32; f64, f64, f64;
}

impl ToValue for u8 {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.uint((*self).into());
    }

    fn write_slice(slice: &[Self], row: &mut RowWriter<'_>) {
        row.bin(slice);
    }
}

impl ToValue for usize {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.uint(*self as u64);
    }
}

impl ToValue for isize {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.int(*self as i64);
    }
}

impl ToValue for str {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.str(self);
    }
}

impl ToValue for String {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        row.str(self);
    }
}

impl ToValue for () {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.nil();
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn write(&self, row: &mut RowWriter<'_>) {
        match self {
            Some(v) => v.write(row),
            None => ().write(row),
        }
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    #[inline]
    fn write(&self, row: &mut RowWriter<'_>) {
        (**self).write(row);
    }
}

impl<T: ToValue + ?Sized> ToValue for Box<T> {
    fn write(&self, row: &mut RowWriter<'_>) {
        (**self).write(row);
    }
}

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    fn write(&self, row: &mut RowWriter<'_>) {
        (**self).write(row);
    }
}

impl<T: ToValue> ToValue for [T] {
    fn write(&self, row: &mut RowWriter<'_>) {
        T::write_slice(self, row);
    }
}

impl<T: ToValue, const N: usize> ToValue for [T; N] {
    fn write(&self, row: &mut RowWriter<'_>) {
        T::write_slice(self, row);
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn write(&self, row: &mut RowWriter<'_>) {
        T::write_slice(self, row);
    }
}

impl<K: ToValue, V: ToValue> ToValue for BTreeMap<K, V> {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.map(|map| self.iter().for_each(|(k, v)| _ = map.entry(k, v)));
    }
}

impl<K: ToValue, V: ToValue, S> ToValue for HashMap<K, V, S> {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.map(|map| self.iter().for_each(|(k, v)| _ = map.entry(k, v)));
    }
}

impl ToValue for Raw<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.raw(self.0);
    }
}

impl ToValue for Value<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        match *self {
            Self::Nil => row.nil(),
            Self::Bool(v) => row.bool(v),
            Self::Int(v) => row.int(v),
            Self::UInt(v) => row.uint(v),
            Self::F64(v) => row.f64(v),
            Self::Str(v) => row.str(v),
            Self::Bin(v) => row.bin(v),
            Self::Array(v) => row.value(v),
            Self::Map(v) => row.value(v),
            Self::Timestamp { seconds, nanos } => row.timestamp(seconds, nanos),
            Self::Ext(kind, body) => row.ext(kind, body),
        };
    }
}

impl ToValue for Array<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.array(|list| self.iter().for_each(|v| v.write(list)));
    }
}

impl ToValue for Map<'_> {
    fn write(&self, row: &mut RowWriter<'_>) {
        row.map(|map| self.iter().for_each(|(k, v)| _ = map.entry(k, v)));
    }
}

impl<F: FnOnce(&mut RowWriter<'_>)> IntoRow for F {
    #[inline]
    fn append_to(self, buffer: &mut Vec<u8>) {
        write_row(buffer, self);
    }
}

impl IntoRow for Row<'_> {
    /// Copies the row as it is encoded.
    #[inline]
    fn append_to(self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(self.as_bytes());
    }
}

impl<T: ToValue> IntoRow for &[T] {
    #[inline]
    fn append_to(self, buffer: &mut Vec<u8>) {
        write_row(buffer, |row| self.iter().for_each(|v| v.write(row)));
    }
}

impl<T: ToValue, const N: usize> IntoRow for [T; N] {
    #[inline]
    fn append_to(self, buffer: &mut Vec<u8>) {
        self.as_slice().append_to(buffer);
    }
}

impl<T: ToValue> IntoRow for &Vec<T> {
    fn append_to(self, buffer: &mut Vec<u8>) {
        self.as_slice().append_to(buffer);
    }
}

impl<T: ToValue> IntoRow for Vec<T> {
    fn append_to(self, buffer: &mut Vec<u8>) {
        self.as_slice().append_to(buffer);
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: ToValue),*> IntoRow for ($($name,)*) {
            #[inline]
            #[allow(non_snake_case, reason = "the type's name serves for the value, too")]
            fn append_to(self, buffer: &mut Vec<u8>) {
                const ARITY: usize = [$(stringify!($name)),*].len();
                let ($($name,)*) = self;
                write_fields::<ARITY>(buffer, |row| { $($name.write(row);)* });
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
