//! Converts the agent's own blocks to OpenAI's messages, the format of most of its providers.

use super::block::{answered_id, call_id, content_json, has, input, is, text_of};
use crate::chat::{
    Arguments, Block, BlockBody, Call, Calls, ChatMessage, Content, Fields, Function, Layout, Text,
    python_dumps,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Puts results first, then the text of the same message. Drops thinking and results without an earlier call.
pub fn to_openai(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut known: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut converted = messages.iter().flat_map(convert).collect::<Vec<_>>();
    converted.retain(|message| {
        if message.is("assistant") {
            known.extend(message.calls().iter().filter_map(|call| call.id.clone()));
        }
        let answers = message.call_id.as_ref().filter(|id| !id.is_empty());
        !message.is("tool") || answers.is_none_or(|id| known.contains(id))
    });
    converted
}

fn convert(message: &ChatMessage) -> Vec<ChatMessage> {
    let Content::Blocks(blocks) = &message.content else {
        return vec![message.clone()];
    };
    if message.is("assistant") {
        return vec![assistant(blocks)];
    }
    if !message.is("user") || !has(message, "tool_result") {
        return vec![message.clone()];
    }
    let results = blocks.iter().filter(|block| is(block, "tool_result"));
    let texts = joined_texts(blocks).map(|text| with_content("user", Content::Text(text)));
    results.map(result).chain(texts).collect()
}

fn with_content(role: &str, content: Content) -> ChatMessage {
    ChatMessage::from(Fields {
        content,
        ..ChatMessage::new(role, "").into_fields()
    })
}

/// Joins texts by a space; `None` if there is no text block.
fn joined_texts(blocks: &[Block]) -> Option<Text> {
    let texts: Vec<&Block> = blocks.iter().filter(|block| is(block, "text")).collect();
    let part = texts.first()?.part;
    let texts: Vec<&str> = texts.into_iter().map(text_of).collect();
    Some(Text {
        text: texts.join(" ").into(),
        part,
    })
}

fn result(block: &Block) -> ChatMessage {
    let content = match &block.body {
        BlockBody::ToolResult { content, .. } => content_json(content),
        BlockBody::Other(value) => value.get("content").cloned().unwrap_or_else(|| json!("")),
        _ => Value::Null,
    };
    let text = match content {
        Value::String(text) => text,
        other => python_dumps(&other, Layout::UNICODE),
    };
    let content = Content::Text(Text {
        text: text.into(),
        part: block.part,
    });
    ChatMessage::from(Fields {
        call_id: Some(answered_id(block).unwrap_or_default().into()),
        ..with_content("tool", content).into_fields()
    })
}

fn assistant(blocks: &[Block]) -> ChatMessage {
    let calls: Vec<Call> = blocks
        .iter()
        .filter(|b| is(b, "tool_use"))
        .map(call)
        .collect();
    let content = joined_texts(blocks).map_or(Content::Null, Content::Text);
    ChatMessage::from(Fields {
        calls: if calls.is_empty() {
            Calls::Missing
        } else {
            Calls::List(calls)
        },
        ..with_content("assistant", content).into_fields()
    })
}

/// Converts a call, with arguments in ASCII.
fn call(block: &Block) -> Call {
    let name = match &block.body {
        BlockBody::ToolUse { name, .. } => Arc::clone(name),
        BlockBody::Other(value) => value["name"].as_str().unwrap_or_default().into(),
        _ => "".into(),
    };
    let arguments = input(block).map_or_else(
        || "{}".to_owned(),
        |input| python_dumps(input, Layout::ASCII),
    );
    Call {
        part: block.part,
        id: Some(call_id(block).unwrap_or_default().into()),
        function: Some(Function {
            name,
            arguments: Arguments::Text(arguments.into()),
        }),
        rest: Map::from_iter([("type".to_owned(), json!("function"))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{message_from_json, message_to_json};

    #[test]
    fn results_precede_the_text_and_thinking_is_removed() {
        let messages: Vec<ChatMessage> = [
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "tool_use", "id": "1", "name": "t", "input": {"a": "é"}}]}),
            json!({"role": "user", "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "é"}]},
                {"type": "text", "text": "b"}]}),
        ]
        .iter()
        .map(message_from_json)
        .collect();
        let converted: Vec<Value> = to_openai(&messages).iter().map(message_to_json).collect();
        let call = json!({"id": "1", "type": "function",
            "function": {"name": "t", "arguments": r#"{"a": "\u00e9"}"#}});
        let wanted = [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "content": r#"[{"type": "text", "text": "é"}]"#, "tool_call_id": "1"}),
            json!({"role": "user", "content": "a b"}),
        ];
        assert_eq!(converted, wanted);
    }
}
