//! The request that turns dropped messages into a few lines for the daily memory file.

use super::fallback::rule_based;
use super::flush::full_text;
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::languages::python::{first_chars, strip};

/// `SUMMARIZE_SYSTEM_PROMPT`.
const SYSTEM_PROMPT: &str = r#"你是一个对话记录助手。请将对话内容归纳为当天的日常记录。

## 要求

按「事件」维度归纳发生的事，不要按对话轮次逐条记录：
- 每条一行，用 "- " 开头
- 合并同一件事的多轮对话
- 只记录有意义的事件，忽略闲聊和问候
- 保留关键的决策、结论和待办事项

当对话没有任何记录价值（仅含问候或无意义内容），直接回复"无"。"#;

/// Introduction of the conversation.
const USER_PROMPT: &str = "请归纳以下对话的日常记录：\n\n";

/// The model's answer if nothing is worth keeping.
const NOTHING: &str = "无";

/// Temperature of the request.
// The numbers of the request are those of `CowAgent` 2.0.8, `agent/memory/summarizer.py`.
pub const SUMMARY_TEMPERATURE: u64 = 0;

/// Limits of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summarizer {
    /// Characters of each message's text that the model reads.
    pub text_chars: usize,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u64,
}

impl Summarizer {
    /// As in the code.
    pub const SHIPPED: Self = Self { text_chars: 500, max_tokens: 500 };

    /// Returns the summary as written to the file; `None` if there is nothing to write. Falls back to rules if the
    /// request fails.
    ///
    /// # Errors
    /// [`PendingRequest`] until the answer is available.
    pub fn summarize(
        self,
        messages: &[ChatMessage],
        replies: &mut Replies<'_>,
    ) -> Result<Option<String>, PendingRequest> {
        let conversation = self.conversation(messages);
        if strip(&conversation).is_empty() {
            return Ok(None);
        }
        let request = SummaryRequest {
            messages: vec![
                ChatMessage::new("system", SYSTEM_PROMPT),
                ChatMessage::new("user", format!("{USER_PROMPT}{conversation}")),
            ],
            with_tools: false,
            max_tokens: Some(self.max_tokens),
        };
        let raw = match replies.reply_to(request)? {
            SummaryReply::Text(text) => text.to_string(),
            SummaryReply::ToolCall => String::new(),
            SummaryReply::Failed(_) => rule_based(messages),
        };
        Ok(Some(clean(&raw)).filter(|summary| !summary.is_empty()))
    }

    /// Returns the input for the model: the beginning of each message on one line, without tools.
    fn conversation(self, messages: &[ChatMessage]) -> String {
        let lines: Vec<String> = messages
            .iter()
            .filter_map(|message| {
                let text = full_text(message);
                let text = first_chars(strip(&text), self.text_chars);
                let who = match &*message.role {
                    "user" => "用户",
                    "assistant" => "助手",
                    _ => return None,
                };
                (!text.is_empty()).then(|| format!("{who}: {text}"))
            })
            .collect();
        lines.join("\n")
    }
}

/// Returns the answer without the markers of an older prompt and without code fences.
fn clean(raw: &str) -> String {
    let mut text = strip(raw);
    if text == NOTHING {
        return String::new();
    }
    if let Some((before, daily)) = text.split_once("[DAILY]") {
        // A memory section before the marker removes all of the daily one.
        text = match daily.split_once("[MEMORY]") {
            _ if before.contains("[MEMORY]") => "",
            Some((daily, _)) => strip(daily),
            None => strip(daily),
        };
    }
    let text = text.split_once("[MEMORY]").map_or(text, |(text, _)| text);
    strip(&strip(text).replace("```", "")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::run_with_replies;

    #[test]
    fn markers_and_fences_are_removed() {
        assert_eq!(clean("x [DAILY]\n- a\n[MEMORY]\n- b"), "- a", "only the daily part");
        assert_eq!(clean("- a\n[MEMORY] - b"), "- a");
        assert_eq!(clean("```\n- a\n```"), "- a");
        assert_eq!(clean(" 无 "), "");
        assert_eq!(clean("[MEMORY] b [DAILY] a"), "");
    }

    #[test]
    fn only_the_beginning_of_a_message_is_sent() {
        let messages =
            [ChatMessage::new("user", "x".repeat(600)), ChatMessage::new("assistant", "y")];
        let mut requests = Vec::new();
        let summary = run_with_replies(
            |replies| Summarizer::SHIPPED.summarize(&messages, replies),
            |request| {
                requests.push(request.clone());
                SummaryReply::Text(" - done ".into())
            },
        );
        assert_eq!(summary.as_deref(), Some("- done"));
        let wanted = format!("{USER_PROMPT}用户: {}\n助手: y", "x".repeat(500));
        assert_eq!(requests[0].messages[1].text(), Some(&*wanted));
        assert_eq!(SYSTEM_PROMPT.chars().count(), 166);
    }

    #[test]
    fn rules_replace_a_failed_request() {
        let messages = [
            ChatMessage::new("user", "build it"),
            ChatMessage::new("assistant", "# Done\n**built in 3 s**"),
        ];
        let summary = run_with_replies(
            |replies| Summarizer::SHIPPED.summarize(&messages, replies),
            |_| SummaryReply::Failed("down".to_owned()),
        );
        let wanted = "- 用户: build it → 回复: built in 3 s**";
        assert_eq!(summary.as_deref(), Some(wanted));
    }
}
