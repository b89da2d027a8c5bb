//! The events of a conversation: each call of an answer is one, and so is each result and every other message.

use crate::chat::{Call, Calls, ChatMessage, Rule};
use crate::engine::RewriteInput;
use crate::json::Value;
use crate::session::WrittenKind;
use crate::systems::litellm::{PRIMING, TokenCounter};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Tokens that two joined user messages save: those of a message and of its role.
// 3 and 1 in the count of litellm (`systems/litellm/counter.rs`).
const JOINED: u64 = 4;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CondenserEventKind {
    System,
    Message,
    Summary,
    Action,
    Observation,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(super) struct CondenserEvent {
    pub(super) kind: CondenserEventKind,
    /// Index of its message.
    message: usize,
    /// Index of its call in the message.
    pub(super) nth: usize,
}

/// The events of a conversation, the system prompt first.
#[derive(Debug)]
pub(super) struct EventView<'a> {
    messages: Vec<ChatMessage>,
    events: Vec<CondenserEvent>,
    tools: &'a [Value],
    counter: TokenCounter,
    /// Whether the conversation has no system prompt, so that the first message is a stand-in.
    has_stand_in: bool,
    /// Whether reasoning is sent as thinking blocks.
    has_thinking: bool,
}

impl<'a> EventView<'a> {
    /// Returns the events of a conversation.
    pub(super) fn new(input: &RewriteInput<'a>) -> Self {
        let all = &input.messages;
        let has_stand_in = !all.first().is_some_and(|m| m.is("system"));
        let mut counter = TokenCounter::of_model(input.model);
        counter.tokenizer = counter.tokenizer.in_chunks();
        let stand_in = has_stand_in.then(|| ChatMessage::new("system", ""));
        let mut view = Self {
            messages: stand_in.into_iter().chain(all.iter().cloned()).collect(),
            events: Vec::new(),
            tools: input.tools,
            counter,
            has_stand_in,
            has_thinking: input.model.to_lowercase().contains("claude"),
        };
        view.find_events();
        view
    }

    fn find_events(&mut self) {
        let events = self.messages.iter().enumerate().flat_map(|(at, message)| {
            let kind = match &*message.role {
                _ if message.written == Some(WrittenKind::Summary) => CondenserEventKind::Summary,
                "system" => CondenserEventKind::System,
                "tool" => CondenserEventKind::Observation,
                _ if message.calls().is_empty() => CondenserEventKind::Message,
                _ => CondenserEventKind::Action,
            };
            (0..message.calls().len().max(1)).map(move |nth| CondenserEvent {
                kind,
                message: at,
                nth,
            })
        });
        self.events = events.collect();
    }

    /// Returns the number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns an event.
    pub(super) fn event(&self, at: usize) -> CondenserEvent {
        self.events[at]
    }

    /// Returns the message of an event.
    pub(super) fn message_of(&self, event: CondenserEvent) -> &ChatMessage {
        &self.messages[event.message]
    }

    /// Returns the number of tools.
    pub(super) fn n_tools(&self) -> usize {
        self.tools.len()
    }

    /// Returns the conversation.
    pub(super) fn into_messages(mut self) -> Vec<ChatMessage> {
        if self.has_stand_in {
            self.messages.remove(0);
        }
        self.messages
    }

    /// Replaces events, which are whole messages, by a summary.
    pub(super) fn apply(&mut self, events: Range<usize>, summary: Option<Arc<str>>) {
        let message = |at: usize| {
            let event = self.events.get(at);
            event.map_or(self.messages.len(), |event| event.message)
        };
        let range = message(events.start)..message(events.end);
        let summary = summary.map(|text| ChatMessage::summary("user", text));
        self.messages.splice(range, summary);
        self.find_events();
    }

    /// Returns the first index from `at` on where events may be cut: not within the calls of an answer and their
    /// results, and not within a loop of calls that begins with thinking. `None` without such an index.
    pub(super) fn next_index(&self, at: usize) -> Option<usize> {
        // One pass with two states: the calls that wait for a result, and whether a loop of calls has begun with
        // thinking.
        let mut pending: HashSet<&str> = HashSet::new();
        let mut is_loop = false;
        for idx in 0..=self.len() {
            // The state before an event decides about the index in front of it.
            let is_open = !pending.is_empty();
            let event = self.events.get(idx).copied();
            let mut is_in_loop = false;
            if let Some(event) = event {
                let message = self.message_of(event);
                match event.kind {
                    CondenserEventKind::Action => {
                        // The first action of an answer has its thinking.
                        let has_thinking = self.has_thinking && message.reasoning.is_some();
                        let starts = has_thinking && event.nth == 0;
                        is_in_loop = is_loop && !starts;
                        is_loop |= starts;
                        pending.insert(id(&message.calls()[event.nth]));
                    }
                    CondenserEventKind::Observation => {
                        is_in_loop = is_loop;
                        pending.remove(message.call_id.as_deref().unwrap_or_default());
                    }
                    _ => is_loop = false,
                }
            }
            let is_in_batch = event.is_some_and(|event| event.nth > 0);
            if idx >= at && !is_open && !is_in_loop && !is_in_batch {
                return Some(idx);
            }
        }
        None
    }

    /// Returns the tokens of the first `n` events as one request.
    pub(super) fn tokens(&self, n: usize) -> u64 {
        let mut sum = PRIMING;
        let mut last_is_user = false;
        let mut at = 0;
        while at < n.min(self.len()) {
            let event = self.events[at];
            let message = self.message_of(event);
            let n_calls = message.calls().len();
            let n_shown = n_calls.min(n - at);
            sum += if n_shown < n_calls {
                self.weigh(&with_calls(message, n_shown))
            } else {
                self.weigh(message)
            };
            let is_user = message.is("user");
            if is_user && last_is_user {
                sum -= JOINED;
            }
            last_is_user = is_user;
            at += n_calls.max(1);
        }
        if self.tools.is_empty() {
            return sum;
        }
        sum + self.counter.definitions(&self.messages[..1], self.tools)
    }

    /// Counts a message. Reasoning is only sent as thinking.
    fn weigh(&self, message: &ChatMessage) -> u64 {
        let rule = Rule {
            name: "openhands: tokens",
            by: self.counter.tokenizer.id() * 2 + usize::from(self.has_thinking),
        };
        message.weigh(rule, |message| {
            let mut sent = message.clone();
            if !self.has_thinking {
                sent.reasoning = None;
            }
            self.counter.message(&sent)
        })
    }
}

fn id(call: &Call) -> &str {
    call.id.as_deref().unwrap_or_default()
}

/// Returns an answer with its first `n` calls.
fn with_calls(message: &ChatMessage, n: usize) -> ChatMessage {
    let mut first = message.clone();
    if let Calls::List(calls) = &mut first.calls {
        calls.truncate(n);
    }
    first
}
