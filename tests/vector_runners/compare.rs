//! Exact comparison of JSON.

use plimsoll::json::{Number, Value};

/// Maximum characters of a text in a message.
const MAX_SHOWN_CHARS: usize = 160;

/// Returns the first difference: a changed, missing or unexpected field. Compares numbers by value.
pub(crate) fn difference(expected: &Value, actual: &Value) -> Option<String> {
    differs(expected, actual, "")
}

fn differs(expected: &Value, actual: &Value, at: &str) -> Option<String> {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            let other = expected.iter().find_map(|(key, value)| {
                let at = format!("{at}/{key}");
                match actual.get(key) {
                    Some(found) => differs(value, found, &at),
                    None => Some(format!("{at} is missing, expected {}", shown(value))),
                }
            });
            let extra = || actual.keys().find(|key| !expected.contains_key(*key));
            other.or_else(|| Some(format!("{at}/{} is unexpected", extra()?)))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            let pairs = expected.iter().zip(actual).enumerate();
            let other =
                pairs.into_iter().find_map(|(idx, (a, b))| differs(a, b, &format!("{at}/{idx}")));
            let lengths = (expected.len(), actual.len());
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
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let from = |text: &str| -> String {
        let start = same.saturating_sub(20);
        text.chars().skip(start).take(MAX_SHOWN_CHARS).collect()
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
    value.to_string().chars().take(MAX_SHOWN_CHARS).collect()
}
