//! Changes values in fixtures.
#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::fixtures::Fixture;
use plimsoll::json::Value;
use std::collections::BTreeSet;

/// Parses the values of a fixture: one, or one per line. Returns `None` if it is not JSON.
pub(crate) fn values(fixture: &Fixture) -> Option<Vec<Value>> {
    if fixture.is_lines() {
        let text = std::str::from_utf8(&fixture.bytes).ok()?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        return lines.map(|line| serde_json::from_str(line).ok()).collect();
    }
    Some(vec![serde_json::from_slice(&fixture.bytes).ok()?])
}

/// Writes values, one per line.
pub(crate) fn text(values: &[Value]) -> String {
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// Returns the keys of all objects, without duplicates.
pub(crate) fn keys(values: &[Value]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut values = values.to_vec();
    objects(&mut values, &mut |object| {
        found.extend(object.keys().cloned());
    });
    found.into_iter().collect()
}

/// Calls a function for every object in the values, inner ones first.
pub(crate) fn objects(
    values: &mut [Value],
    each: &mut dyn FnMut(&mut plimsoll::json::Map<String, Value>),
) {
    for value in values {
        match value {
            Value::Array(items) => objects(items, each),
            Value::Object(object) => {
                for (_, member) in object.iter_mut() {
                    objects(std::slice::from_mut(member), each);
                }
                each(object);
            }
            _ => {}
        }
    }
}

/// Returns the values with every member of the key replaced.
pub(crate) fn replaced(values: &[Value], key: &str, with: &Value) -> Vec<Value> {
    let mut values = values.to_vec();
    objects(&mut values, &mut |object| {
        if let Some(member) = object.get_mut(key) {
            *member = with.clone();
        }
    });
    values
}
