//! Positions of cuts: at turns, as built, or between groups of calls and results, as proposed.

use super::message::calls_tools;
use crate::chat::ChatMessage;

/// Returns the indices of user messages, at which turns start.
pub fn turn_starts(history: &[ChatMessage]) -> Vec<usize> {
    let users = history.iter().enumerate().filter(|(_, m)| m.is("user"));
    users.map(|(idx, _)| idx).collect()
}

/// Returns whether a cut before this message keeps every turn whole. Both ends and all positions beyond them are safe.
pub fn is_safe_boundary(history: &[ChatMessage], at: isize) -> bool {
    let inside = usize::try_from(at).ok().filter(|at| *at > 0);
    inside.and_then(|at| history.get(at)).is_none_or(|m| m.is("user"))
}

/// Returns the safe position nearest to a target: the last turn that starts there or earlier, else the first that
/// starts later; 0 if there is only one turn, and the target itself without any turn.
pub fn find_safe_boundary(history: &[ChatMessage], target: isize) -> usize {
    let Ok(target) = usize::try_from(target) else {
        return 0;
    };
    if target == 0 || target >= history.len() {
        return target.min(history.len());
    }
    let starts = turn_starts(history);
    if starts.is_empty() {
        return target;
    }
    let back = starts.iter().rev().find(|start| (1..=target).contains(*start));
    let forward = || starts.iter().find(|start| **start > target);
    back.or_else(forward).copied().unwrap_or(0)
}

/// Returns the cut, moved before the group of an assistant message with calls and its results if it is inside one.
pub fn before_group(history: &[ChatMessage], cut: usize) -> usize {
    let inside = |cut: usize| history.get(cut).is_some_and(|m| m.is("tool"));
    if !inside(cut) {
        return cut;
    }
    let start = history[..cut].iter().rposition(|m| !m.is("tool"));
    // Results without their call are not a group and may be separated.
    start.filter(|start| calls_tools(&history[*start])).unwrap_or(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    fn history(roles: &str) -> Vec<ChatMessage> {
        let message = |role| match role {
            'u' => json!({"role": "user", "content": "q"}),
            'c' => json!({"role": "assistant", "tool_calls": [{"id": "a"}]}),
            't' => json!({"role": "tool", "tool_call_id": "a"}),
            _ => json!({"role": "assistant", "content": "x"}),
        };
        roles.chars().map(|role| message_from_json(&message(role))).collect()
    }

    #[test]
    fn a_cut_inside_a_group_moves_before_it() {
        let history = history("ucttca");
        assert_eq!(before_group(&history, 3), 1);
        assert_eq!(before_group(&history, 2), 1);
        assert_eq!(before_group(&history, 4), 4);
        assert_eq!(before_group(&history, 6), 6);
    }

    #[test]
    fn results_without_a_call_are_not_a_group() {
        assert_eq!(before_group(&history("tta"), 1), 1);
        assert_eq!(before_group(&history("uatt"), 3), 3);
    }

    #[test]
    fn the_only_turn_is_never_cut() {
        assert_eq!(find_safe_boundary(&history("ucta"), 2), 0);
        assert_eq!(find_safe_boundary(&history("acua"), 1), 2);
    }
}
