//! JSON values that several commands print: numbers, objects with names as keys, settings.

use crate::engine::KnobValues;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A number, printed without a fraction if it is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JsonNumber(pub(super) f64);

impl JsonNumber {
    /// Returns the number as an integer if it is whole. Below 2^53 every whole f64 is exact.
    fn whole(self) -> Option<i64> {
        (self.0.fract() == 0.0 && self.0.abs() < 9e15).then_some(self.0 as i64)
    }
}

impl fmt::Display for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole() {
            Some(whole) => write!(f, "{whole}"),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl JsonSchema for JsonNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// A JSON object with names as keys, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object<V>(Vec<(String, V)>);

/// Values of settings by name.
pub(super) type Settings = Object<JsonNumber>;

impl<V> Object<V> {
    /// Creates an object from names and values.
    pub(super) fn new<K: Into<String>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let entries = entries.into_iter();
        Self(entries.map(|(name, value)| (name.into(), value)).collect())
    }
}

impl From<&KnobValues> for Settings {
    fn from(values: &KnobValues) -> Self {
        Self::new(values.iter().map(|(name, value)| (name, JsonNumber(value))))
    }
}

impl<V: Serialize> Serialize for Object<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<V: JsonSchema> JsonSchema for Object<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Object_of_{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<V>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction() {
        for (number, text) in [(10.0, "10"), (0.75, "0.75"), (-3.0, "-3"), (1e300, "1e+300")] {
            assert_eq!(serde_json::to_string(&JsonNumber(number)).unwrap(), text);
        }
        assert_eq!(JsonNumber(10.0).to_string(), "10");
    }

    #[test]
    fn an_object_keeps_the_order_of_its_names() {
        let object = Object::new([("b", 1), ("a", 2)]);
        assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"b":1,"a":2}"#);
    }
}
