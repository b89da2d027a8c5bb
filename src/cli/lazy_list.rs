//! A JSON list whose items are created while it is written. A session of a million calls would not fit in memory as one
//! value.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;

/// An iterator over the items of a list.
type Items<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

/// A JSON list. Each item is created when it is written.
pub(super) struct LazyList<'a, T>(Box<dyn Fn() -> Items<'a, T> + 'a>);

impl<'a, T: 'a> LazyList<'a, T> {
    /// Creates the list of the items of an iterator.
    pub(super) fn new(items: impl Iterator<Item = T> + Clone + 'a) -> Self {
        Self(Box::new(move || Box::new(items.clone())))
    }
}

impl<T: Serialize> Serialize for LazyList<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

/// The schema of a [`Vec`].
impl<T: JsonSchema> JsonSchema for LazyList<'_, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Vec::<T>::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn items_are_created_when_they_are_written() {
        let created = Cell::new(0);
        let item = |n: u64| {
            created.set(created.get() + 1);
            n
        };
        let list = LazyList::new((0..3).map(item));
        assert_eq!(created.get(), 0);
        assert_eq!(serde_json::to_string(&list).unwrap(), "[0,1,2]");
        assert_eq!(created.get(), 3);
        let empty = LazyList::new((0..0).map(item));
        assert_eq!(serde_json::to_string(&empty).unwrap(), "[]");
    }
}
