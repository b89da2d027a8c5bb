//! Rejects a call that already ran with the same arguments (`prevent_overly_repeated_tool_call`).
//!
//! After a compaction earlier calls may run again, except those whose results filled the window.

use plimsoll::json::Value;
use plimsoll::systems::holmesgpt::{Status, ToolData, ToolResult};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The calls of a run that may not be repeated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RepeatGuard {
    calls: Vec<RecordedCall>,
    guarded: BTreeSet<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
struct RecordedCall {
    id: Arc<str>,
    tool: Arc<str>,
    params: Value,
}

impl RepeatGuard {
    /// Returns whether a call ran before.
    pub(crate) fn has_run(&self, tool: &str, params: &Value) -> bool {
        let is_same = |recorded: &RecordedCall| {
            &*recorded.tool == tool
                && !recorded.params.is_null()
                && is_equal(&recorded.params, params)
        };
        self.calls.iter().any(is_same)
    }

    /// Records a call, including rejected ones.
    pub(crate) fn record(&mut self, result: &ToolResult) {
        self.calls.push(RecordedCall {
            id: Arc::clone(&result.call_id),
            tool: Arc::clone(&result.tool_name),
            params: result.params.clone(),
        });
    }

    /// Removes all calls except those of overflowing results, of this compaction and earlier ones.
    pub(crate) fn forget(&mut self, overflowing: &[Arc<str>]) {
        self.guarded.extend(overflowing.iter().cloned());
        let guarded = &self.guarded;
        self.calls.retain(|call| guarded.contains(&call.id));
    }
}

/// Returns the message that replaces a result.
pub(crate) fn refusal_of_repeat(tool: &str, call_id: &str, params: &Value) -> ToolResult {
    ToolResult {
        tool_name: tool.into(),
        call_id: call_id.into(),
        status: Status::Error,
        error: Some(
            "Refusing to run this tool call because it has already been called during this session with the exact same parameters.\nMove on with your investigation to a different tool or change the parameter values."
                .to_owned(),
        ),
        data: ToolData::None,
        part: None,
        images: Vec::new(),
        params: params.clone(),
        url: None,
    }
}

/// Returns equality as in Python: 1, 1.0 and true are equal, the order of keys is ignored.
fn is_equal(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| is_equal(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (a, b) if a == b => true,
        (a, b) => number(a).is_some_and(|a| number(b) == Some(a)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::json::json;

    #[test]
    fn only_overflowing_calls_stay_guarded() {
        let mut guard = RepeatGuard::default();
        for (id, kind) in [("1", "a"), ("2", "b")] {
            guard.record(&refusal_of_repeat("get", id, &json!({"n": 1, "kind": kind})));
        }
        assert!(guard.has_run("get", &json!({"kind": "a", "n": 1.0})));
        assert!(!guard.has_run("list", &json!({"kind": "a", "n": 1})));
        guard.forget(&["2".into()]);
        assert!(!guard.has_run("get", &json!({"n": 1, "kind": "a"})));
        guard.forget(&[]);
        assert!(guard.has_run("get", &json!({"n": 1, "kind": "b"})));
    }
}
