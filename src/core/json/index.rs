//! Access to members and elements: `value["key"]`, `value[0]`, `value.get("key")`.

use super::{Map, Value};
use std::ops;

/// A key of an object or a position in a list.
pub trait Index {
    /// Returns the value at the index.
    fn value_in<'v>(&self, value: &'v Value) -> Option<&'v Value>;

    /// Returns the value at the index for changes.
    fn value_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;

    /// Returns the value at the index for changes. Adds a missing key with `null`.
    ///
    /// # Panics
    /// Without an element at the position, or if the value is of another kind.
    fn value_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

impl Value {
    /// Returns the value at an index.
    pub fn get(&self, index: impl Index) -> Option<&Self> {
        index.value_in(self)
    }

    /// Returns the value at an index for changes.
    pub fn get_mut(&mut self, index: impl Index) -> Option<&mut Self> {
        index.value_in_mut(self)
    }
}

impl<I: Index> ops::Index<I> for Value {
    type Output = Self;

    /// Returns the value at an index, `null` without one.
    fn index(&self, index: I) -> &Self {
        static NULL: Value = Value::Null;
        index.value_in(self).unwrap_or(&NULL)
    }
}

impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Self {
        index.value_or_insert_in(self)
    }
}

impl Index for usize {
    fn value_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn value_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    fn value_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        match value {
            Value::Array(elements) => &mut elements[*self],
            _ => panic!("not a list, so it has no element {self}"),
        }
    }
}

impl Index for str {
    fn value_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn value_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn value_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(members) => members.entry(self.to_owned()).or_default(),
            _ => panic!("not an object, so it has no member {self:?}"),
        }
    }
}

impl Index for String {
    fn value_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.as_str().value_in(value)
    }

    fn value_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        self.as_str().value_in_mut(value)
    }

    fn value_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        self.as_str().value_or_insert_in(value)
    }
}

impl<I: Index + ?Sized> Index for &I {
    fn value_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        (**self).value_in(value)
    }

    fn value_in_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        (**self).value_in_mut(value)
    }

    fn value_or_insert_in<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        (**self).value_or_insert_in(value)
    }
}
