//! Lines for the daily memory file without a model: a question and the first line of its answer.

use super::flush::full_text;
use crate::chat::ChatMessage;
use crate::languages::python::{first_chars, is_space, strip};

/// Characters of a question or an answer.
// The numbers of this file are those of `CowAgent` 2.0.8, `agent/memory/summarizer.py`.
const LINE_CHARS: usize = 120;
/// Maximum number of lines.
const MAX_LINES: usize = 10;
/// Questions of at most this many characters are skipped.
const GREETING_CHARS: usize = 3;
/// A line of an answer has at least this many characters.
const MIN_LINE_CHARS: usize = 5;

/// Returns one line per question, with its answer if there is one.
pub(super) fn rule_based(messages: &[ChatMessage]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut question = String::new();
    for message in messages {
        let text = full_text(message);
        let text = strip(&text);
        if text.is_empty() {
            continue;
        }
        if message.is("user") && text.chars().count() > GREETING_CHARS {
            first_chars(text, LINE_CHARS).clone_into(&mut question);
        } else if message.is("assistant") && !question.is_empty() {
            let answer = first_meaningful_line(text);
            let asked = std::mem::take(&mut question);
            lines.push(if answer.is_empty() {
                format!("- 用户: {asked}")
            } else {
                format!("- 用户: {asked} → 回复: {answer}")
            });
        }
    }
    if !question.is_empty() {
        lines.push(format!("- 用户: {question}"));
    }
    lines.truncate(MAX_LINES);
    lines.join("\n")
}

/// Returns the first line that is not decoration, without leading bullets and emoji.
fn first_meaningful_line(text: &str) -> &str {
    let lines = text.split('\n').map(strip);
    let plain = |line: &str| -> bool { !line.is_empty() && !is_decoration(line) };
    let meaningful = lines
        .filter(|line| plain(line))
        .map(undecorated)
        .find(|line| line.chars().count() >= MIN_LINE_CHARS);
    let first = || strip(text.split('\n').next().unwrap_or_default());
    first_chars(meaningful.unwrap_or_else(first), LINE_CHARS)
}

/// `^(#{1,4}\s|```|---|\*\*\*|[-*]\s*$|[^\w\u4e00-\u9fff]{1,5}$)`
fn is_decoration(line: &str) -> bool {
    let after_hashes = line.trim_start_matches('#');
    let n_hashes = line.len() - after_hashes.len();
    let is_heading = (1..=4).contains(&n_hashes) && after_hashes.starts_with(is_space);
    let is_rule = ["```", "---", "***"].iter().any(|r| line.starts_with(r));
    let is_bullet = line == "-" || line == "*";
    let is_symbols =
        line.chars().count() <= 5 && !line.chars().any(|c| c.is_alphanumeric() || c == '_');
    is_heading || is_rule || is_bullet || is_symbols
}

/// Removes Markdown, then leading emoji.
fn undecorated(line: &str) -> &str {
    let is_markdown = |c: char| "*#>-".contains(c) || is_space(c);
    let is_emoji = |c: char| {
        ('\u{1f300}'..='\u{1f9ff}').contains(&c)
            || ('\u{2600}'..='\u{27bf}').contains(&c)
            || is_space(c)
    };
    strip(strip(line.trim_start_matches(is_markdown)).trim_start_matches(is_emoji))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_is_skipped() {
        assert_eq!(first_meaningful_line("## Plan\n---\n- ✅ it works now"), "it works now");
        assert_eq!(first_meaningful_line("ok\nyes"), "ok");
        assert_eq!(first_meaningful_line("✅✅\n好的，完成了"), "好的，完成了");
    }

    #[test]
    fn greetings_are_skipped_and_ten_lines_are_the_maximum() {
        let mut messages = vec![ChatMessage::new("user", "hi")];
        messages.extend((10..30).map(|n| ChatMessage::new("user", format!("question {n}"))));
        assert_eq!(rule_based(&messages), "- 用户: question 29");
        let pairs: Vec<ChatMessage> = (10..30)
            .flat_map(|n| {
                [
                    ChatMessage::new("user", format!("question {n}")),
                    ChatMessage::new("assistant", format!("answer {n}")),
                ]
            })
            .collect();
        assert_eq!(rule_based(&pairs).lines().count(), 10);
    }
}
