//! Access to members of JSON objects.

use crate::json::Value;

/// Returns a member of an object unless it is missing or `null`.
pub(super) fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|member| !member.is_null())
}

/// Returns a text member of an object.
pub(super) fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Returns the items of a list member of an object; empty if there is no such list.
pub(super) fn list_at<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], |list| list)
}
