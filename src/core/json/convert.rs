//! Conversions to values, and comparisons of values with texts and numbers.

use super::{Map, Number, Value};
use std::borrow::Cow;

impl From<bool> for Value {
    fn from(is_true: bool) -> Self {
        Self::Bool(is_true)
    }
}

impl From<f64> for Value {
    /// Converts a float, to `null` if it is infinite or not a number.
    fn from(value: f64) -> Self {
        Number::from_f64(value).map_or(Self::Null, Self::Number)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<Map<String, Self>> for Value {
    fn from(members: Map<String, Self>) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Clone + Into<Self>> From<&[T]> for Value {
    fn from(elements: &[T]) -> Self {
        elements.iter().cloned().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Self::Number(value.into())
            }
        }
    )*};
}

from_integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

/// Compares values with primitive types, by the accessor that returns `$wide`.
macro_rules! equal_to {
    ($($accessor:ident $wide:ty: $($primitive:ty)*;)*) => {$($(
        impl PartialEq<$primitive> for Value {
            fn eq(&self, other: &$primitive) -> bool {
                self.$accessor() == Some(*other as $wide)
            }
        }

        impl PartialEq<$primitive> for &Value {
            fn eq(&self, other: &$primitive) -> bool {
                **self == *other
            }
        }
    )*)*};
}

equal_to! {
    as_bool bool: bool;
    as_f64 f64: f64;
    as_i64 i64: i32 i64;
    as_u64 u64: u32 u64 usize;
}
