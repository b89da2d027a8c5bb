//! Splits a message too large for one request into labelled parts.

use super::count::{Llm, uncounted};
use crate::chat::{Block, BlockBody, ChatMessage, Content, Fields, Text};

/// The label assumed while the number of parts is unknown.
// As in holmesgpt 0.45.0, `_split_message`: a label with fewer digits only leaves space.
const WIDEST_LABEL: (usize, usize) = (999, 999);

/// Splits a message of more than `max_tokens` (`_split_message`): into equal slices first, then into halves. Contents
/// other than text remain in the first part. Keeps a message whole if splitting does not help.
pub fn split_message(llm: &Llm, message: &mut ChatMessage, max_tokens: i64) -> Vec<ChatMessage> {
    if llm.count_message(message) <= max_tokens {
        return vec![message.clone()];
    }
    let (text, others) = text_and_others(&message.content);
    let base =
        ChatMessage::from(Fields { content: Content::Missing, ..uncounted(message).into_fields() });
    let overhead = llm.count_message(&mut base.clone());
    let fits = |part: &str| {
        let labelled = label(WIDEST_LABEL, part);
        overhead + llm.counter.tokenizer.count(&labelled).cast_signed() <= max_tokens
    };
    if text.is_empty() || !fits("") {
        return vec![message.clone()];
    }
    let chars: Vec<char> = text.chars().collect();
    // `max_tokens` is above 0 here, otherwise not even the label would fit.
    let n_slices = (llm.count_message(message) + max_tokens - 1) / max_tokens;
    let size = chars.len().div_ceil(n_slices.max(1) as usize);
    let mut texts = Vec::new();
    for slice in chars.chunks(size) {
        halve(slice, &fits, &mut texts);
    }
    let part = message.content.first_part();
    let n_parts = texts.len();
    let parts = texts.iter().enumerate().map(|(idx, text)| {
        let text = Text { text: label((idx + 1, n_parts), text).into(), part };
        let content = if idx == 0 && !others.is_empty() {
            with_others(text, &others)
        } else {
            Content::Text(text)
        };
        ChatMessage::from(Fields { content, ..base.clone().into_fields() })
    });
    parts.collect()
}

fn label((idx, n): (usize, usize), text: &str) -> String {
    format!("[part {idx} of {n} of a message split to fit the summarization request]\n{text}")
}

/// Halves until every part fits, down to one character.
fn halve(chars: &[char], fits: &impl Fn(&str) -> bool, parts: &mut Vec<String>) {
    let text: String = chars.iter().collect();
    if chars.len() <= 1 || fits(&text) {
        parts.push(text);
        return;
    }
    let (left, right) = chars.split_at(chars.len() / 2);
    halve(left, fits, parts);
    halve(right, fits, parts);
}

/// Returns the text of a content, and its other blocks.
fn text_and_others(content: &Content) -> (String, Vec<Block>) {
    match content {
        Content::Text(text) => (text.text.to_string(), Vec::new()),
        Content::Blocks(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(text_of).collect();
            let others = blocks.iter().filter(|b| text_of(b).is_none()).cloned();
            (texts.join("\n"), others.collect())
        }
        Content::Missing | Content::Null | Content::Other(_) => (String::new(), Vec::new()),
    }
}

/// Returns the text of a text block, whatever its other fields.
fn text_of(block: &Block) -> Option<&str> {
    match &block.body {
        BlockBody::Text(text) => Some(text),
        BlockBody::Other(value) if value["type"] == "text" => {
            Some(value["text"].as_str().unwrap_or_default())
        }
        _ => None,
    }
}

fn with_others(text: Text, others: &[Block]) -> Content {
    let mut blocks = vec![Block { part: text.part, ..Block::text(text.text) }];
    blocks.extend_from_slice(others);
    Content::Blocks(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::message_from_json;
    use crate::json::json;

    #[test]
    fn images_stay_with_the_first_part() {
        let llm = Llm::with_chars_4("gpt-4o");
        let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
        let content = json!([{"type": "text", "text": "a".repeat(300)}, image]);
        let mut message = message_from_json(&json!({"role": "user", "content": content}));
        let parts = split_message(&llm, &mut message, 60);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0].blocks().len(), 2);
        let last = parts[2].text().unwrap_or_default();
        assert!(last.starts_with("[part 3 of 3 of a message split"), "{last}");
    }
}
