//! Reading the fields of a tuple, by position or by name.
//!
//! In: a row, and the names its stream declares. Out: borrowed values, or an [`Error`] that says which field, what
//! it is and what was wanted. Invariant: nothing is copied, and only a failed read allocates.

use serde::Deserialize;

use crate::{Array, Error, Input, Map, Row, Value};

/// The fields of one tuple. A [`Tuple`](crate::Tuple) can be read as these; what is read may outlive the tuple,
/// though not the call.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    row: Row<'a>,
    input: Option<&'a Input>,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(row: Row<'a>, input: Option<&'a Input>) -> Self {
        Self { row, input }
    }

    pub(crate) fn input(&self) -> Option<&'a Input> {
        self.input
    }

    /// The component that the tuple came from.
    pub fn component(&self) -> &'a str {
        self.input.map_or("", |input| &input.component)
    }

    /// The stream that the tuple came from.
    pub fn stream(&self) -> &'a str {
        self.input.map_or("", |input| &input.stream)
    }

    /// The declared names of the fields.
    pub fn names(&self) -> &'a [String] {
        self.input.map_or(&[], |input| &input.fields)
    }

    /// The whole row; emitting it copies it as it is encoded.
    pub fn row(&self) -> Row<'a> {
        self.row
    }

    /// A string.
    ///
    /// # Errors
    /// When there is no such field or it has another type; so for all reads.
    #[inline]
    pub fn str(&self, field: impl Field) -> Result<&'a str, Error> {
        let index = self.index(field)?;
        self.row.str(index).ok_or_else(|| self.wrong(index, <&str>::WANTED))
    }

    /// An integer.
    ///
    /// # Errors
    /// When there is no such field or it is no integer that an `i64` can hold.
    #[inline]
    pub fn i64(&self, field: impl Field) -> Result<i64, Error> {
        let index = self.index(field)?;
        self.row.i64(index).ok_or_else(|| self.wrong(index, i64::WANTED))
    }

    /// An integer that is not negative.
    ///
    /// # Errors
    /// When there is no such field or it is no integer that a `u64` can hold.
    #[inline]
    pub fn u64(&self, field: impl Field) -> Result<u64, Error> {
        let index = self.index(field)?;
        self.row.u64(index).ok_or_else(|| self.wrong(index, u64::WANTED))
    }

    /// A number, as a float.
    ///
    /// # Errors
    /// When there is no such field or it has another type.
    #[inline]
    pub fn f64(&self, field: impl Field) -> Result<f64, Error> {
        let index = self.index(field)?;
        self.row.f64(index).ok_or_else(|| self.wrong(index, f64::WANTED))
    }

    /// A boolean.
    ///
    /// # Errors
    /// When there is no such field or it has another type.
    #[inline]
    pub fn bool(&self, field: impl Field) -> Result<bool, Error> {
        let index = self.index(field)?;
        self.row.bool(index).ok_or_else(|| self.wrong(index, bool::WANTED))
    }

    /// Binary.
    ///
    /// # Errors
    /// When there is no such field or it has another type.
    #[inline]
    pub fn bytes(&self, field: impl Field) -> Result<&'a [u8], Error> {
        let index = self.index(field)?;
        self.row.bytes(index).ok_or_else(|| self.wrong(index, <&[u8]>::WANTED))
    }

    /// A value of any type.
    ///
    /// # Errors
    /// When there is no such field.
    pub fn value(&self, field: impl Field) -> Result<Value<'a>, Error> {
        self.get(field)
    }

    /// A value of the type that is asked for; an `Option` takes null for none.
    ///
    /// ```
    /// # use anchorbolt_sdk::{Error, Fields};
    /// # fn read(tuple: &Fields<'_>) -> Result<(), Error> {
    /// let amount: u32 = tuple.get("amount")?;
    /// let note = tuple.get::<Option<&str>>("note")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such field or it has another type.
    pub fn get<T: FromValue<'a>>(&self, field: impl Field) -> Result<T, Error> {
        let index = self.index(field)?;
        self.row.field(index).and_then(T::from_value).ok_or_else(|| self.wrong(index, T::WANTED))
    }

    /// The whole row as a value of serde's: a struct takes its fields in the row's order.
    ///
    /// ```
    /// use anchorbolt_sdk::serde::Deserialize;
    /// # use anchorbolt_sdk::{Error, Fields};
    ///
    /// #[derive(Deserialize)]
    /// #[serde(crate = "anchorbolt_sdk::serde")]
    /// struct Order<'a> {
    ///     user: &'a str,
    ///     amount: u32,
    /// }
    /// # fn read(tuple: &Fields<'_>) -> Result<(), Error> {
    /// let order: Order<'_> = tuple.deserialize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the row does not fit.
    pub fn deserialize<T: Deserialize<'a>>(&self) -> Result<T, Error> {
        rmp_serde::from_slice(self.row.as_bytes())
            .map_err(|e| Error::fail(format!("the row from `{}` does not fit: {e}", self.component())))
    }

    #[inline]
    fn index(&self, field: impl Field) -> Result<usize, Error> {
        field.position(self.names()).map_err(|name| self.unknown(&name))
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        let (component, has) = (self.component(), list(self.names()));
        Error::fail(format!("no field `{name}`: a tuple from `{component}` has {has}"))
    }

    #[cold]
    fn wrong(&self, index: usize, wanted: &str) -> Error {
        let Some(value) = self.row.field(index) else {
            let (component, len) = (self.component(), self.row.len());
            return Error::fail(format!("no field {index}: a tuple from `{component}` has {len}"));
        };
        let name = self.names().get(index).map(|n| format!(" (`{n}`)")).unwrap_or_default();
        let found = value.type_name();
        Error::fail(format!("field {index}{name} is {found} where {wanted} is wanted"))
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}

/// How to say which field: its position from 0, or its name.
pub trait Field {
    /// The position, or the name that is unknown.
    #[doc(hidden)]
    fn position(self, names: &[String]) -> Result<usize, String>;
}

impl Field for usize {
    #[inline]
    fn position(self, _: &[String]) -> Result<usize, String> {
        Ok(self)
    }
}

impl Field for &str {
    #[inline]
    fn position(self, names: &[String]) -> Result<usize, String> {
        names.iter().position(|name| name == self).ok_or_else(|| self.into())
    }
}

impl Field for &String {
    #[inline]
    fn position(self, names: &[String]) -> Result<usize, String> {
        self.as_str().position(names)
    }
}

/// A type that a field can be read as.
pub trait FromValue<'a>: Sized {
    /// What is wanted, with an article, for the text of an error.
    const WANTED: &'static str;

    /// Takes the value if it is of this type.
    fn from_value(value: Value<'a>) -> Option<Self>;
}

macro_rules! from_value {
    ($($type:ty, $wanted:literal, $pattern:pat => $value:expr;)*) => {$(
        impl<'a> FromValue<'a> for $type {
            const WANTED: &'static str = $wanted;

            fn from_value(value: Value<'a>) -> Option<Self> {
                match value {
                    $pattern => $value,
                    _ => None,
                }
            }
        }
    )*};
}

from_value! {
    bool, "a boolean", Value::Bool(v) => Some(v);
    &'a str, "a string", Value::Str(v) => Some(v);
    String, "a string", Value::Str(v) => Some(v.into());
    &'a [u8], "binary", Value::Bin(v) => Some(v);
    Array<'a>, "an array", Value::Array(v) => Some(v);
    Map<'a>, "a map", Value::Map(v) => Some(v);
}

macro_rules! integers {
    ($($type:ty, $wanted:literal;)*) => {$(
        impl<'a> FromValue<'a> for $type {
            const WANTED: &'static str = $wanted;

            fn from_value(value: Value<'a>) -> Option<Self> {
                match value {
                    Value::Int(v) => v.try_into().ok(),
                    Value::UInt(v) => v.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

integers! {
    u8, "an integer from 0 to 2^8-1"; u16, "an integer from 0 to 2^16-1"; u32, "an integer from 0 to 2^32-1";
    u64, "an integer from 0 to 2^64-1"; usize, "an integer from 0";
    i8, "an integer of 8 bits"; i16, "an integer of 16 bits"; i32, "an integer of 32 bits";
    i64, "an integer of 64 bits"; isize, "an integer";
}

impl<'a> FromValue<'a> for Value<'a> {
    const WANTED: &'static str = "any value";

    fn from_value(value: Value<'a>) -> Option<Self> {
        Some(value)
    }
}

impl<'a> FromValue<'a> for f32 {
    const WANTED: &'static str = f64::WANTED;

    fn from_value(value: Value<'a>) -> Option<Self> {
        f64::from_value(value).map(|v| v as f32)
    }
}

impl<'a> FromValue<'a> for f64 {
    const WANTED: &'static str = "a number";

    fn from_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::F64(v) => Some(v),
            Value::Int(v) => Some(v as f64),
            Value::UInt(v) => Some(v as f64),
            _ => None,
        }
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    const WANTED: &'static str = T::WANTED;

    fn from_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::Nil => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Vec<T> {
    const WANTED: &'static str = "an array of one type";

    fn from_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::Array(list) => list.iter().map(T::from_value).collect(),
            _ => None,
        }
    }
}
