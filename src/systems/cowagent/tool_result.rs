//! A tool's result as text in the current run.

use super::block::cut;
use crate::chat::{Layout, python_dumps, python_str};
use serde_json::{Value, json};

/// `MAX_CURRENT_TURN_RESULT_CHARS`.
pub const CURRENT_RESULT_CHARS: usize = 50_000;

/// Returns the text of a result: an error with its prefix, objects and lists as JSON (a list wrapped with status and
/// time).
pub fn result_content(status: &str, result: &Value, seconds: f64) -> String {
    match result {
        _ if status == "error" => format!("Error: {}", python_str(result)),
        Value::Object(_) => python_dumps(result, Layout::UNICODE),
        Value::String(text) => text.clone(),
        other => {
            let whole = json!({"status": status, "result": other, "execution_time": seconds});
            python_dumps(&whole, Layout::UNICODE)
        }
    }
}

/// Returns the head of a text longer than this many characters, with a notice; `None` if it is not longer.
pub fn cut_result(text: &str, most: usize) -> Option<String> {
    cut(text, most, |n| {
        format!("\n\n[Output truncated: {n} chars total, showing first {most} chars]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_by_what_they_are() {
        assert_eq!(result_content("error", &json!("bad"), 0.0), "Error: bad");
        assert_eq!(
            result_content("error", &json!({"a": null}), 0.0),
            "Error: {'a': None}"
        );
        assert_eq!(
            result_content("success", &json!({"a": "é"}), 0.0),
            r#"{"a": "é"}"#
        );
        assert_eq!(
            result_content("success", &json!([1]), 0.5),
            r#"{"status": "success", "result": [1], "execution_time": 0.5}"#
        );
    }

    #[test]
    fn a_result_at_the_limit_stays_whole() {
        let limit = "é".repeat(CURRENT_RESULT_CHARS);
        assert_eq!(cut_result(&limit, CURRENT_RESULT_CHARS), None);
        let cut = cut_result(&(limit.clone() + "x"), CURRENT_RESULT_CHARS);
        let notice = "\n\n[Output truncated: 50001 chars total, showing first 50000 chars]";
        assert_eq!(cut, Some(limit + notice));
    }
}
