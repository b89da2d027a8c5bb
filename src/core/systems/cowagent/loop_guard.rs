//! Guards against endless runs: refusal of repeated calls, the hint to stop, and the report after the last step.

use crate::json::Value;
use crate::languages::python::{Layout, python_dumps};

/// Maximum number of calls that are recorded.
// The limits of this file are those of `CowAgent` 2.0.8, `agent/protocol/agent_stream.py`.
const MAX_RECORDED: usize = 50;
/// Number of recent calls searched for repeats.
const N_RECENT: usize = 10;
/// Number of repeats that is too many.
pub const TOO_MANY_REPEATS: usize = 3;
/// The step from which repeats are checked.
pub const FIRST_CHECKED_STEP: usize = 3;
/// The hint appended to the conversation, where it remains and counts as a turn.
pub const HINT: &str =
    "工具已成功执行并返回结果。请基于这些信息向用户做出回复，不要重复调用相同的工具。";

/// Returns the prompt for a report after the last step; removed from the conversation afterwards.
pub fn ask_for_report(n_steps: usize) -> String {
    format!(
        "你已经执行了{n_steps}个决策步骤，达到了单次运行的最大步数限制。请总结一下你目前的执行过程和结果，\
         告诉用户当前的进展情况。不要再调用工具，直接用文字回复。"
    )
}

/// The calls of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallHistory(Vec<RecordedCall>);

/// A recorded call.
#[derive(Clone, Debug, PartialEq)]
struct RecordedCall {
    id: String,
    tool: String,
    arguments: String,
    succeeded: bool,
}

/// Refusal of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The reason, in the system's wording.
    pub reason: String,
    /// Whether the run ends.
    pub is_critical: bool,
}

impl CallHistory {
    /// Records a call.
    pub fn record(&mut self, id: &str, tool: &str, arguments: &Value, succeeded: bool) {
        self.0.push(RecordedCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            arguments: key(arguments),
            succeeded,
        });
        let too_many = self.0.len().saturating_sub(MAX_RECORDED);
        self.0.drain(..too_many);
    }

    /// Records that the calls with an id failed.
    pub fn fail(&mut self, id: &str) {
        for call in self.0.iter_mut().filter(|call| call.id == id) {
            call.succeeded = false;
        }
    }

    /// Returns how often a call is among the recent ones, and how often it succeeded there.
    pub fn repeats(&self, tool: &str, arguments: &Value) -> (usize, usize) {
        let arguments = key(arguments);
        let recent = self.0.iter().rev().take(N_RECENT);
        let same: Vec<&RecordedCall> = recent.filter(|m| m.is(tool, &arguments)).collect();
        let n_succeeded = same.iter().filter(|call| call.succeeded).count();
        (same.len(), n_succeeded)
    }

    /// Returns the refusal of a call because of earlier calls.
    pub fn refusal(&self, tool: &str, arguments: &Value) -> Option<Refusal> {
        let arguments = key(arguments);
        let newest = || self.0.iter().rev();
        let n_same = newest().take_while(|m| m.is(tool, &arguments)).count();
        let n_failed_same = newest().take_while(|m| m.is(tool, &arguments) && !m.succeeded).count();
        let n_failed = newest().take_while(|m| m.tool == tool && !m.succeeded).count();
        // 5 equal calls, 3 equal failures, 8 and 6 failures: as in CowAgent, in its order. 8 comes before 6, since it
        // ends the run.
        let reason = if n_same >= 5 {
            format!(
                "工具 '{tool}' 使用相同参数已被调用 {n_same} 次，停止执行以防止无限循环。\
                 如果需要查看配置，结果已在之前的调用中返回。"
            )
        } else if n_failed_same >= 3 {
            format!("工具 '{tool}' 使用相同参数连续失败 {n_failed_same} 次，停止执行以防止无限循环")
        } else if n_failed >= 8 {
            "抱歉，我没能完成这个任务。可能是我理解有误或者当前方法不太合适。\n\n建议你：\n\
             • 换个方式描述需求试试\n• 把任务拆分成更小的步骤\n• 或者换个思路来解决"
                .to_owned()
        } else if n_failed >= 6 {
            format!("工具 '{tool}' 连续失败 {n_failed} 次（使用不同参数），停止执行以防止无限循环")
        } else {
            return None;
        };
        Some(Refusal { reason, is_critical: n_same < 5 && n_failed_same < 3 && n_failed >= 8 })
    }
}

impl RecordedCall {
    fn is(&self, tool: &str, arguments: &str) -> bool {
        self.tool == tool && self.arguments == arguments
    }
}

/// Returns arguments as one text, independent of the order of their keys.
fn key(arguments: &Value) -> String {
    if is_sorted(arguments) {
        return python_dumps(arguments, Layout::UNICODE);
    }
    python_dumps(&sorted(arguments), Layout::UNICODE)
}

fn is_sorted(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.keys().is_sorted() && fields.values().all(is_sorted),
        Value::Array(items) => items.iter().all(is_sorted),
        _ => true,
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn refused_after(calls: &[(Value, bool)], next: &Value) -> Option<Refusal> {
        let mut history = CallHistory::default();
        for (arguments, succeeded) in calls {
            history.record("", "run", arguments, *succeeded);
        }
        history.refusal("run", next)
    }

    #[test]
    fn five_equal_calls_are_enough_however_they_ended() {
        let same = json!({"b": 1, "a": 2});
        let turned = json!({"a": 2, "b": 1});
        assert_eq!(refused_after(&vec![(same.clone(), true); 4], &turned), None);
        let refusal = refused_after(&vec![(same, true); 5], &turned).unwrap();
        assert!(refusal.reason.contains("已被调用 5 次"));
        assert!(!refusal.is_critical);
    }

    #[test]
    fn failures_are_refused_after_three_six_and_eight() {
        let failures =
            |n: usize| -> Vec<(Value, bool)> { (0..n).map(|i| (json!({"i": i}), false)).collect() };
        let same = json!({});
        assert_eq!(refused_after(&vec![(same.clone(), false); 2], &same), None);
        assert!(refused_after(&vec![(same.clone(), false); 3], &same).is_some());
        assert_eq!(refused_after(&failures(5), &same), None);
        assert!(!refused_after(&failures(6), &same).unwrap().is_critical);
        assert!(refused_after(&failures(8), &same).unwrap().is_critical);
    }
}
