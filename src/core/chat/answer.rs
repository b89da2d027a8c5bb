//! Joins the messages of one answer, for files that split answers.

use super::{Block, BlockBody, Calls, ChatMessage, Content, Text};

/// Joins the messages of one answer: all content and tool calls, in order. Returns `None` without messages.
pub fn join_answer(messages: &[ChatMessage]) -> Option<ChatMessage> {
    let (first, more) = messages.split_first()?;
    let mut joined = first.clone();
    for message in more {
        let fields = &mut *joined;
        let mut content = std::mem::replace(&mut fields.content, Content::Missing);
        match (&mut fields.calls, message.calls()) {
            (Calls::List(calls), added) => calls.extend_from_slice(added),
            (_, []) => {}
            (calls, added) => *calls = Calls::List(added.to_vec()),
        }
        match (&fields.reasoning, &message.reasoning) {
            (None, reasoning) => fields.reasoning.clone_from(reasoning),
            // A message has one place for reasoning; more of it is added as text.
            (Some(_), Some(text)) => content = both(content, Content::Text(text.clone())),
            (Some(_), None) => {}
        }
        fields.content = both(content, message.content.clone());
    }
    Some(joined)
}

/// Concatenates two contents.
fn both(a: Content, b: Content) -> Content {
    match (a, b) {
        (silent, only) | (only, silent) if silent.is_silent() => only,
        (a, b) => Content::Blocks([blocks(a), blocks(b)].concat()),
    }
}

fn blocks(content: Content) -> Vec<Block> {
    match content {
        Content::Blocks(blocks) => blocks,
        Content::Text(Text { text, part }) => vec![Block { part, body: BlockBody::Text(text) }],
        Content::Other(value) => vec![Block { part: None, body: BlockBody::Other(*value) }],
        Content::Missing | Content::Null => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{message_from_json, message_to_json};
    use crate::json::json;

    #[test]
    fn joins_all_content_and_calls_of_an_answer() {
        let call = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        let pieces = [
            json!({"role": "assistant", "reasoning_content": "hm"}),
            json!({"role": "assistant", "content": "I look."}),
            json!({"role": "assistant", "tool_calls": [call("a")]}),
            json!({"role": "assistant", "tool_calls": [call("b")]}),
        ];
        let pieces: Vec<_> = pieces.iter().map(message_from_json).collect();
        let joined = message_to_json(&join_answer(&pieces).unwrap());
        let whole = json!({"role": "assistant", "content": "I look.", "reasoning_content": "hm",
            "tool_calls": [call("a"), call("b")]});
        assert_eq!(joined, whole);
        assert!(join_answer(&[]).is_none());
    }

    #[test]
    fn keeps_texts_in_order() {
        let pieces = [ChatMessage::new("assistant", "a"), ChatMessage::new("assistant", "b")];
        let joined = join_answer(&pieces).unwrap();
        let texts: Vec<_> = joined.blocks().iter().filter_map(Block::as_text).collect();
        assert_eq!(texts, ["a", "b"]);
    }
}
