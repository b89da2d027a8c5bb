//! Exact comparison of JSON, with a difference that a person can read.

use serde_json::{Number, Value};

/// Characters of a text that are shown.
const SHOWN: usize = 160;

/// The first difference: fields that were expected and are other, missing or too many. Numbers are compared by value.
pub(crate) fn difference(expected: &Value, actual: &Value) -> Option<String> {
    differs(expected, actual, "")
}

fn differs(expected: &Value, actual: &Value, at: &str) -> Option<String> {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(got)) => {
            let other = wanted.iter().find_map(|(key, value)| {
                let at = format!("{at}/{key}");
                match got.get(key) {
                    Some(found) => differs(value, found, &at),
                    None => Some(format!("{at} is missing, expected {}", shown(value))),
                }
            });
            let extra = || got.keys().find(|key| !wanted.contains_key(*key));
            other.or_else(|| Some(format!("{at}/{} is too much", extra()?)))
        }
        (Value::Array(wanted), Value::Array(got)) => {
            let pairs = wanted.iter().zip(got).enumerate();
            let other = pairs
                .into_iter()
                .find_map(|(idx, (a, b))| differs(a, b, &format!("{at}/{idx}")));
            let lengths = (wanted.len(), got.len());
            other.or_else(|| {
                (lengths.0 != lengths.1)
                    .then(|| format!("{at} has {} items, expected {}", lengths.1, lengths.0))
            })
        }
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => None,
        (Value::String(a), Value::String(b)) if a != b => Some(texts_differ(a, b, at)),
        (a, b) if a == b => None,
        (a, b) => Some(format!("{at} is {}, expected {}", shown(b), shown(a))),
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    a == b || a.as_f64().is_some_and(|a| b.as_f64() == Some(a))
}

fn texts_differ(expected: &str, actual: &str, at: &str) -> String {
    let same = expected
        .chars()
        .zip(actual.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = |text: &str| -> String {
        let start = same.saturating_sub(20);
        text.chars().skip(start).take(SHOWN).collect()
    };
    format!(
        "{at} differs at character {same}: {:?}, expected {:?} ({} and {} characters)",
        from(actual),
        from(expected),
        actual.chars().count(),
        expected.chars().count()
    )
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}
