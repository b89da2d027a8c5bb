//! JSON that is generated while it is written. A session of a million calls would not fit in memory as one value.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

/// A value, or an object or list whose long parts are generated when they are written.
pub(super) enum Streamed<'a> {
    Value(Value),
    /// The members of a value, followed by more members.
    Object(Value, Vec<(&'static str, Self)>),
    /// A list whose items are generated when written.
    List(Box<dyn Fn() -> Box<dyn Iterator<Item = Self> + 'a> + 'a>),
}

impl From<Value> for Streamed<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'a> Streamed<'a> {
    /// Creates an object with few members. Cheaper than a value, for very long lists.
    pub(super) fn record<const N: usize>(members: [(&'static str, Value); N]) -> Self {
        let members = members.map(|(name, value)| (name, Self::Value(value)));
        Self::Object(Value::Null, members.into())
    }

    /// Creates a list; each item is generated when it is written.
    pub(super) fn list<T: Into<Self> + 'a>(items: impl Iterator<Item = T> + Clone + 'a) -> Self {
        Self::List(Box::new(move || Box::new(items.clone().map(Into::into))))
    }

    /// Appends a member to this object.
    pub(super) fn with(self, name: &'static str, member: impl Into<Self>) -> Self {
        let (head, mut more) = match self {
            Self::Object(head, more) => (head, more),
            Self::Value(head) => (head, Vec::new()),
            list @ Self::List(_) => return list,
        };
        more.push((name, member.into()));
        Self::Object(head, more)
    }
}

impl Serialize for Streamed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::List(items) => serializer.collect_seq(items()),
            Self::Object(head, more) => {
                let mut object = serializer.serialize_map(None)?;
                for (name, value) in head.as_object().into_iter().flatten() {
                    object.serialize_entry(name, value)?;
                }
                for (name, value) in more {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;

    #[test]
    fn items_are_made_one_at_a_time_and_read_as_one_value() {
        let made = Cell::new(0);
        let item = |n: u64| {
            made.set(made.get() + 1);
            json!({ "n": n })
        };
        let inner = Streamed::from(json!({"a": 1})).with("items", Streamed::list((0..3).map(item)));
        let whole = inner.with("z", json!(null));
        assert_eq!(made.get(), 0);
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(
            text,
            r#"{"a":1,"items":[{"n":0},{"n":1},{"n":2}],"z":null}"#
        );
        assert_eq!(made.get(), 3);
    }
}
