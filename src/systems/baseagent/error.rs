//! Exceptions of the original for unexpected input.

use serde_json::Value;
use std::borrow::Cow;

/// A Python exception: it ends a run of the original, so it must end one here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {text}")]
pub struct PythonError {
    /// Name of its class.
    pub kind: Cow<'static, str>,
    /// `str()` of it.
    pub text: String,
}

impl PythonError {
    /// Makes an exception of a class with a text.
    pub fn new(kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: text.into(),
        }
    }

    /// Makes the exception of `for … in value` for a value that is not iterable.
    pub(super) fn not_iterable(value: &Value) -> Self {
        let text = format!("'{}' object is not iterable", type_name(value));
        Self::new("TypeError", text)
    }

    /// Makes the exception of `len(value)` for a value without a length.
    pub(super) fn no_length(value: &Value) -> Self {
        let text = format!("object of type '{}' has no len()", type_name(value));
        Self::new("TypeError", text)
    }

    /// Makes the exception of `value.get(…)` for a value that is not a dict.
    pub(super) fn no_get(value: &Value) -> Self {
        let text = format!("'{}' object has no attribute 'get'", type_name(value));
        Self::new("AttributeError", text)
    }
}

/// Returns the class of a value that `json.loads` read.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.to_string().contains(['.', 'e', 'E']) => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
