//! Values as fields of types that `serde_json` reads and writes, and types as values.

use super::{Number, Value, from_str};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Makes a value of what `serde_json` writes for a type.
///
/// # Errors
/// The error of `serde_json`.
pub fn to_value(value: &(impl Serialize + ?Sized)) -> Result<Value, serde_json::Error> {
    from_str(&serde_json::to_string(value)?)
}

impl Serialize for Number {
    /// Writes the notation. `serde_json` keeps it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(number) = self.as_u64() {
            return serializer.serialize_u64(number);
        }
        let raw = RawValue::from_string(self.as_str().to_owned());
        raw.map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(is_true) => serializer.serialize_bool(*is_true),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Reads the value of a JSON text. Other formats are read by `AnyFormat`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        from_str(raw.get()).map_err(D::Error::custom)
    }
}
