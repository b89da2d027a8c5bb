//! Results as `MessageBuilder.buildForApi` sends them: the middle of long ones is removed.

use crate::json::Value;
use crate::languages::javascript::{first_units, last_units, length};

/// Maximum UTF-16 units of a result.
// As in Cline at 21cb8d25, `session/services/message-builder.ts`.
const RESULT_CHARS: usize = 8_000;

/// Returns a result as it is sent; `None` if it stays as it is. A result that Cline's own tools return is JSON, in which each
/// text is shortened by itself.
pub(super) fn shortened_result(text: &str) -> Option<String> {
    if length(text) <= RESULT_CHARS {
        return None;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) if value.is_array() || value.is_object() => {
            shorten_texts(&mut value).then(|| value.to_string())
        }
        _ => shortened(text),
    }
}

/// Shortens the texts of a value. Returns whether any was long.
fn shorten_texts(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match shortened(text) {
            Some(short) => {
                *text = short;
                true
            }
            None => false,
        },
        Value::Array(items) => {
            items.iter_mut().fold(false, |is_short, item| shorten_texts(item) | is_short)
        }
        Value::Object(fields) => {
            fields.values_mut().fold(false, |is_short, field| shorten_texts(field) | is_short)
        }
        _ => false,
    }
}

/// Returns the ends of a long text around a marker; `None` if it is short enough.
fn shortened(text: &str) -> Option<String> {
    let n = length(text);
    if n <= RESULT_CHARS {
        return None;
    }
    let marker = |removed: usize| format!("\n\n...[truncated {removed} chars]...\n\n");
    let mut removed = n - RESULT_CHARS;
    // The marker has the number of characters that it takes the place of.
    for _ in 0..4 {
        let kept = RESULT_CHARS - marker(removed).len();
        if n - kept == removed {
            break;
        }
        removed = n - kept;
    }
    let kept = RESULT_CHARS - marker(removed).len();
    let head = kept.div_ceil(2);
    let (start, end) = (first_units(text, head), last_units(text, kept - head));
    Some(format!("{start}{}{end}", marker(removed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_within_the_limit() {
        assert_eq!(shortened_result(&"x".repeat(8_000)), None);
        let cut = shortened_result(&"x".repeat(9_000)).expect("it is too long");
        assert_eq!(cut.len(), 8_000);
        assert!(cut.contains("\n\n...[truncated 1032 chars]...\n\n"), "{cut}");
    }

    #[test]
    fn a_result_in_json_keeps_its_form() {
        let result =
            |n| format!(r#"[{{"query":"ls","result":"{}","success":true}}]"#, "x".repeat(n));
        let cut = shortened_result(&result(9_000)).expect("it is too long");
        assert!(cut.starts_with(r#"[{"query":"ls","result":"xxx"#), "{cut}");
        assert!(cut.ends_with(r#"xxx","success":true}]"#), "{cut}");
        assert!(cut.contains(r"\n\n...[truncated 1032 chars]...\n\n"), "{cut}");
        // The text itself is short enough.
        assert_eq!(shortened_result(&result(7_990)), None);
    }
}
