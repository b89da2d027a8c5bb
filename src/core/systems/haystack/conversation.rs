//! A conversation with its turns, its steps and its tokens.

use super::render::{n_images, render};
use crate::chat::{ChatMessage, Rule, n_system, tools_by_call};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

const CHARACTERS: Rule = Rule::new("haystack: characters");
const IMAGES: Rule = Rule::new("haystack: images");
/// Tokens of an image.
// As in haystack-ai 3.4.1, `ApproximateTokenCounter` (`token_counters/approximate_counter.py`).
const IMAGE_TOKENS: u64 = 85;

/// A conversation.
pub(super) struct Conversation {
    pub(super) messages: Vec<ChatMessage>,
    /// Tool of each call by its id.
    tools: HashMap<Arc<str>, Arc<str>>,
    /// Characters of each message as text, and the tokens of its images.
    sizes: Vec<(u64, u64)>,
    /// Number of instructions at the start.
    pub(super) n_system: usize,
    /// The newest message of the user, where the current task begins.
    pub(super) task: Option<usize>,
}

impl Conversation {
    pub(super) fn new(messages: &[ChatMessage]) -> Self {
        let mut made = Self {
            tools: tools_by_call(messages),
            sizes: Vec::new(),
            n_system: n_system(messages),
            task: messages.iter().rposition(is_user),
            messages: messages.to_vec(),
        };
        made.sizes = messages.iter().map(|m| made.size(m)).collect();
        made
    }

    fn size(&self, message: &ChatMessage) -> (u64, u64) {
        let text = |m: &ChatMessage| render(m, "", false).chars().count() as u64;
        let images = |m: &ChatMessage| n_images(m) as u64 * IMAGE_TOKENS;
        let tool = self.tool(message).chars().count() as u64;
        let chars = message.weigh(CHARACTERS, text) + tool;
        (chars, message.weigh(IMAGES, images))
    }

    /// Returns the tool of a result; empty for other messages.
    pub(super) fn tool<'a>(&'a self, message: &'a ChatMessage) -> &'a str {
        if !message.is("tool") {
            return "";
        }
        let called = message.call_id.as_ref().and_then(|id| self.tools.get(id));
        called.or(message.name.as_ref()).map_or("", |name| name)
    }

    /// Returns the tokens of messages.
    pub(super) fn count(&self, at: impl IntoIterator<Item = usize>) -> u64 {
        total(at.into_iter().map(|at| self.sizes[at]), 0)
    }

    /// Returns the tokens of all messages, and of tools with this many characters.
    pub(super) fn count_all(&self, tools: u64) -> u64 {
        total(self.sizes.iter().copied(), tools)
    }

    /// Returns the tokens of a message.
    pub(super) fn count_one(&self, message: &ChatMessage) -> u64 {
        total([self.size(message)], 0)
    }

    /// Returns the first message behind the current task.
    pub(super) fn task_start(&self) -> usize {
        self.task.map_or(self.n_system, |task| task + 1)
    }

    /// Returns the end of the history before the current task.
    pub(super) fn history_end(&self) -> usize {
        self.task.unwrap_or(self.n_system)
    }

    /// Returns the steps from a message on: answers with their results.
    pub(super) fn steps(&self, start: usize) -> Vec<Range<usize>> {
        let answers = (start..self.messages.len()).filter(|at| self.messages[*at].is("assistant"));
        let step = |at: usize| {
            let after = self.messages[at + 1..].iter();
            at..at + 1 + after.take_while(|m| m.is("tool")).count()
        };
        answers.map(step).collect()
    }

    /// Returns the turns of the history.
    pub(super) fn turns(&self) -> Vec<Range<usize>> {
        let end = self.history_end();
        let starts = (self.n_system..end).filter(|at| is_user(&self.messages[*at]));
        let starts: Vec<usize> = starts.collect();
        let ends = starts.iter().skip(1).copied().chain([end]);
        starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
    }
}

fn total(sizes: impl IntoIterator<Item = (u64, u64)>, tools: u64) -> u64 {
    let (mut chars, mut images, mut n) = (tools, 0, 0_u64);
    for (of_text, of_images) in sizes {
        chars += of_text;
        images += of_images;
        n += 1;
    }
    (chars + n.saturating_sub(1)) / 4 + images
}

/// Returns whether a message is by the user, not by a compaction.
fn is_user(message: &ChatMessage) -> bool {
    message.is("user") && message.written.is_none()
}
