//! The state of a call: the newest reported usage, the counts, the input budget, and what was tried.

use crate::chat::ChatMessage;
use crate::engine::{Memory, RewriteInput};
use crate::systems::langchain::estimate::scaled;
use serde_json::{Value, json};

/// Key of the newest reported usage, in memory: the call and its total.
const USAGE: &str = "deepagents_usage";
/// Key of what was tried at a call, in memory.
const TRIED: &str = "deepagents_tried";

/// Numbers that all actions need which count.
pub(super) const NUMBERS: [&str; 4] =
    ["reported", "max_input_tokens", "max_tokens", "tools_tokens"];

/// What was tried at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// The request as it was.
    Plain,
    /// A request without a summary, whose size was checked.
    Uncut,
    /// A request with a summary, whose size was checked.
    Checked,
    /// The last possible request.
    Last,
    /// Nothing more: the run ended with an error.
    Ended,
}

/// The counts of a call.
pub(super) struct Call<'a> {
    input: &'a RewriteInput<'a>,
    /// The newest reported usage: index of its call, and total.
    usage: Option<(u64, u64)>,
    /// Instructions of the conversation.
    n_system: usize,
}

impl<'a> Call<'a> {
    pub(super) fn new(input: &'a RewriteInput<'a>) -> Self {
        let reported = input.number("reported").max(0.0) as u64;
        let known = &input.memory[USAGE];
        let usage = match (input.call.checked_sub(1), reported) {
            (Some(last), 1..) => Some((last as u64, reported)),
            _ => known[0].as_u64().zip(known[1].as_u64()),
        };
        Self {
            usage,
            n_system: input.messages.iter().take_while(|m| m.is("system")).count(),
            input,
        }
    }

    /// Returns the conversation without instructions.
    pub(super) fn conversation(&self) -> &'a [ChatMessage] {
        &self.input.messages[self.n_system..]
    }

    /// Returns the instructions.
    pub(super) fn system(&self) -> &'a [ChatMessage] {
        &self.input.messages[..self.n_system]
    }

    /// Returns the model's limit for prompts.
    pub(super) fn limit(&self) -> u64 {
        match self.input.count("max_input_tokens") {
            0 => self.input.window,
            limit => limit as u64,
        }
    }

    /// Returns whether a count exceeds the budget for a request.
    pub(super) fn is_over(&self, count: u64) -> bool {
        let budget = (self.limit() as f64 * 0.95) as u64;
        count > budget.saturating_sub(self.input.count("max_tokens") as u64)
    }

    /// Returns the count of a request with these messages behind the instructions.
    pub(super) fn count(&self, messages: &[ChatMessage]) -> u64 {
        let all = [self.system(), messages].concat();
        let tools = self.input.count("tools_tokens") as u64;
        scaled(&all, tools, self.reported_in(&all))
    }

    /// Returns the count of messages alone.
    pub(super) fn count_alone(&self, messages: &[ChatMessage]) -> u64 {
        scaled(messages, 0, self.reported_in(messages))
    }

    /// Returns the newest answer with usage among messages, with its total.
    fn reported_in(&self, messages: &[ChatMessage]) -> Option<(usize, u64)> {
        let (call, total) = self.usage?;
        let n_newer = (self.input.call as u64).checked_sub(call + 1)?;
        let is_answer = |(_, message): &(usize, &ChatMessage)| message.is("assistant");
        let mut answers = messages.iter().enumerate().rev().filter(is_answer);
        let (at, _) = answers.nth(n_newer as usize)?;
        Some((at, total))
    }

    /// Returns the total that the newest answer among messages reported; 0 if none.
    pub(super) fn reported_by_newest(&self, messages: &[ChatMessage]) -> u64 {
        let is_newest =
            |(at, _): &(usize, u64)| !messages[at + 1..].iter().any(|m| m.is("assistant"));
        self.reported_in(messages)
            .filter(is_newest)
            .map_or(0, |(_, total)| total)
    }

    /// Returns what was tried at this call, with the count of that request.
    pub(super) fn tried(&self) -> Option<(Tried, u64)> {
        let known = &self.input.memory[TRIED];
        let is_of_call = known["call"].as_u64() == Some(self.input.call as u64);
        let tried = match known["tried"].as_str() {
            Some("plain") => Tried::Plain,
            Some("uncut") => Tried::Uncut,
            Some("checked") => Tried::Checked,
            Some("last") => Tried::Last,
            _ => Tried::Ended,
        };
        is_of_call.then(|| (tried, known["count"].as_u64().unwrap_or(0)))
    }

    /// Returns memory with the usage and with what was tried at this call.
    pub(super) fn to_memory(&self, tried: Tried, count: u64) -> Memory {
        let name = match tried {
            Tried::Plain => "plain",
            Tried::Uncut => "uncut",
            Tried::Checked => "checked",
            Tried::Last => "last",
            Tried::Ended => "ended",
        };
        let usage = self.usage.map_or(Value::Null, |usage| json!(usage));
        json!({USAGE: usage, TRIED: {"call": self.input.call, "tried": name, "count": count}})
            .into()
    }
}
