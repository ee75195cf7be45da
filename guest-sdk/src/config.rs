//! The bolt's `config` from the manifest.
//!
//! In: a JSON object from the host. Out: typed values. Invariant: it is parsed when first asked for and only then,
//! so a bolt without settings carries no JSON parser.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;

/// The settings that the manifest gives a bolt.
///
/// ```
/// # use anchorbolt_sdk::{Config, Error};
/// # fn prepare(config: &Config) -> Result<(), Error> {
/// let size: usize = config.get_or("size", 100)?;
/// let path: String = config.require("path")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Config {
    text: String,
    parsed: OnceCell<Value>,
}

impl Config {
    pub(crate) fn new(text: String) -> Self {
        Self { text, parsed: OnceCell::new() }
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.text
    }

    /// One setting; none if it is absent or null.
    ///
    /// # Errors
    /// When it has another type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        match self.parsed()?.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match T::deserialize(value) {
                Ok(value) => Ok(Some(value)),
                Err(e) => Err(Error::fail(format!("config `{key}`: {e}"))),
            },
        }
    }

    /// One setting, or what to take if it is absent.
    ///
    /// # Errors
    /// When it has another type.
    pub fn get_or<T: DeserializeOwned>(&self, key: &str, default: T) -> Result<T, Error> {
        Ok(self.get(key)?.unwrap_or(default))
    }

    /// One setting that must be there.
    ///
    /// # Errors
    /// When it is absent or has another type.
    pub fn require<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        self.get(key)?.ok_or_else(|| Error::fail(format!("config lacks `{key}`")))
    }

    /// All settings as one value, most often a struct.
    ///
    /// # Errors
    /// When they don't fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.text).map_err(invalid)
    }

    fn parsed(&self) -> Result<&Value, Error> {
        if let Some(value) = self.parsed.get() {
            return Ok(value);
        }
        let value = serde_json::from_str(&self.text).map_err(invalid)?;
        Ok(self.parsed.get_or_init(|| value))
    }
}

fn invalid(e: serde_json::Error) -> Error {
    Error::fail(format!("config: {e}"))
}
