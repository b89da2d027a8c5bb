//! A JSON value and its accessors.

use super::Number;
use indexmap::IndexMap;

/// Members of an object, in order.
pub type Map<K, V> = IndexMap<K, V>;

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// An object.
    Object(Map<String, Self>),
}

impl Value {
    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is a truth value.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether this is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether this is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether this is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns the truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(is_true) => Some(*is_true),
            _ => None,
        }
    }

    /// Returns the number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the number, see [`Number::as_u64`].
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the number, see [`Number::as_i64`].
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns the number, see [`Number::as_f64`].
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Returns the string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements, if this is a list.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the elements for changes, if this is a list.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the members, if this is an object.
    pub fn as_object(&self) -> Option<&Map<String, Self>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members for changes, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Map<String, Self>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value and leaves `null`.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Returns the value at a JSON pointer (RFC 6901), such as `/messages/0/content`.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        keys(pointer)?.try_fold(self, |value, key| match value {
            Self::Object(members) => members.get(&key),
            Self::Array(elements) => elements.get(position(&key)?),
            _ => None,
        })
    }

    /// Returns the value at a JSON pointer for changes, see [`Self::pointer`].
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        keys(pointer)?.try_fold(self, |value, key| match value {
            Self::Object(members) => members.get_mut(&key),
            Self::Array(elements) => elements.get_mut(position(&key)?),
            _ => None,
        })
    }
}

/// Returns the keys of a JSON pointer, or `None` if it is not one.
fn keys(pointer: &str) -> Option<impl Iterator<Item = String>> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    Some(pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")))
}

/// Parses the position of an element, which has no sign and no leading zero.
fn position(key: &str) -> Option<usize> {
    let is_odd = key.starts_with('+') || key.len() > 1 && key.starts_with('0');
    if is_odd { None } else { key.parse().ok() }
}
