//! Statistics of the command `/context`.

use super::block::content_json;
use crate::chat::ChatMessage;
use crate::languages::python::python_str;

/// The counts that the command shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Number of all messages.
    pub messages: usize,
    /// Number of user messages, including tool results.
    pub user: usize,
    /// Number of assistant messages.
    pub assistant: usize,
    /// Number of messages with the role `tool`: always 0 in `CowAgent`'s own messages.
    pub tool: usize,
    /// Characters of the contents as Python prints them, including brackets, quotes and keys.
    pub chars: usize,
}

impl Statistics {
    /// Counts the messages.
    pub fn of(messages: &[ChatMessage]) -> Self {
        let role = |role: &str| messages.iter().filter(|m| m.is(role)).count();
        let printed = |m: &ChatMessage| python_str(&content_json(&m.content)).chars().count();
        Self {
            messages: messages.len(),
            user: role("user"),
            assistant: role("assistant"),
            tool: role("tool"),
            chars: messages.iter().map(printed).sum(),
        }
    }
}

/// Returns the command's whole answer.
pub fn context_command(messages: &[ChatMessage], session_id: &str) -> String {
    if messages.is_empty() {
        return "当前对话上下文为空".to_owned();
    }
    let counts = Statistics::of(messages);
    let session = if session_id.is_empty() { "default" } else { session_id };
    [
        "💬 当前对话上下文".to_owned(),
        String::new(),
        format!("  会话: {session}"),
        format!("  总消息数: {}", counts.messages),
        format!("  用户消息: {}", counts.user),
        format!("  助手回复: {}", counts.assistant),
        format!("  工具调用: {}", counts.tool),
        format!("  内容总长度: ~{} 字符", counts.chars),
        String::new(),
        "  发送 /context clear 可清除对话上下文".to_owned(),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    #[test]
    fn results_count_as_user_messages_and_lengths_as_python_prints_them() {
        let messages: Vec<ChatMessage> = [
            json!({"role": "user", "content": "ab"}),
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": "1", "name": "t", "input": {"a": null}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "it's"}]}),
            json!({"role": "user"}),
        ]
        .iter()
        .map(message_from_json)
        .collect();
        let printed = [
            "ab",
            "[{'type': 'tool_use', 'id': '1', 'name': 't', 'input': {'a': None}}]",
            r#"[{'type': 'tool_result', 'tool_use_id': '1', 'content': "it's"}]"#,
        ];
        let counts = Statistics {
            messages: 4,
            user: 3,
            assistant: 1,
            tool: 0,
            chars: printed.concat().chars().count(),
        };
        assert_eq!(Statistics::of(&messages), counts);
        let answer = context_command(&messages, "");
        assert!(answer.contains("  会话: default\n  总消息数: 4\n  用户消息: 3\n"));
        assert_eq!(context_command(&[], ""), "当前对话上下文为空");
    }
}
