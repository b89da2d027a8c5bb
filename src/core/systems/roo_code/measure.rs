//! The token count that is compared with the limits: the newest call's usage, and an estimate of the messages since.

use crate::chat::{ChatMessage, Content, Rule};
use crate::engine::RewriteInput;
use crate::json::{Value, json};
use crate::systems::terms::terms;
use crate::tokens;

/// Key of the newest known size of the context, in memory.
const CONTEXT: &str = "roo_code_context";

const TOKENS: Rule = Rule::new("roo_code: tokens");

/// Counts texts with `o200k_base`, each for itself.
fn tokens<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let counter = tokens::by_name("o200k_base").unwrap_or_else(tokens::default_counter);
    let counts = texts.into_iter().map(|text| (counter.count)(text));
    counts.map(u64::from).sum()
}

/// Adds a half to a number of tokens, rounded up.
fn with_half(tokens: u64) -> u64 {
    // As in Roo Code at cb836567, `utils/tiktoken`: a margin for models with other vocabularies.
    (tokens * 3).div_ceil(2)
}

/// The sizes at a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// The newest reported size of the context, or its estimate after a summary.
    pub(super) context: u64,
    /// `context` and the newest message.
    pub(super) total: u64,
}

impl Measure {
    /// Measures the context before a call; `None` if no size is known yet.
    pub(super) fn new(input: &RewriteInput<'_>) -> Option<Self> {
        let reported = input.count("reported") as u64;
        let context = match reported {
            0 => input.memory[CONTEXT].as_u64().unwrap_or(0),
            reported => reported,
        };
        (context > 0).then(|| Self { context, total: context + newest(&input.messages) })
    }

    /// Returns the sizes as terms of an event.
    pub(super) fn terms(self) -> Vec<(String, f64)> {
        terms(&[("last_total", self.context as f64), ("used", self.total as f64)])
    }

    /// Returns the size for an action's memory.
    pub(super) fn to_memory(self) -> Value {
        json!({CONTEXT: self.context})
    }
}

/// Returns the size of a context that consists of instructions, a summary and tools, for an action's memory.
pub(super) fn condensed(system: &[ChatMessage], parts: &[String], tools: &[Value]) -> Value {
    let system: Vec<_> = system.iter().map(|m| m.joined_text("\n")).collect();
    let texts = system.iter().map(|text| &**text).chain(parts.iter().map(String::as_str));
    let tools = if tools.is_empty() { String::new() } else { Value::from(tools).to_string() };
    json!({CONTEXT: with_half(tokens(texts)) + with_half(tokens([&*tools]))})
}

/// Counts the newest message: all results of the newest answer are one.
fn newest(messages: &[ChatMessage]) -> u64 {
    let last_is_result = messages.last().is_some_and(|m| m.is("tool"));
    let n =
        if last_is_result { messages.iter().rev().take_while(|m| m.is("tool")).count() } else { 1 };
    let newest = &messages[messages.len().saturating_sub(n)..];
    let count = |message: &ChatMessage| {
        message.weigh(TOKENS, |message| tokens(blocks(message).iter().map(String::as_str)))
    };
    with_half(newest.iter().map(count).sum())
}

/// Returns the texts that are counted for a message.
fn blocks(message: &ChatMessage) -> Vec<String> {
    let mut blocks = match &message.content {
        Content::Blocks(blocks) if !message.is("tool") => {
            let texts = blocks.iter().filter_map(|block| block.as_text());
            texts.map(str::to_owned).collect()
        }
        _ => vec![message.joined_text("\n").into_owned()],
    };
    if message.is("tool") {
        let id = message.call_id.as_deref().unwrap_or_default();
        blocks = vec![format!("Tool Result ({id})\n{}", message.joined_text("\n"))];
    }
    let calls = message.calls().iter();
    blocks
        .extend(calls.map(|call| {
            format!("Tool: {}\nArguments: {}", call.tool(), call.arguments_as_value())
        }));
    blocks
}
