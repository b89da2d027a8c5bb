//! The token count that is compared with the limits: the last call's usage, and an estimate of what followed it.

use crate::chat::{ChatMessage, Rule};
use crate::engine::RewriteInput;
use crate::json::{Value, json};

/// Key of the counts and of the number of counted messages, in memory.
const COUNT: &str = "kimi_cli_count";

const RULE: Rule = Rule::new("kimi_cli: characters");

/// Tokens of the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Tokens that the provider reported, or an estimate after a compaction.
    pub(super) reported: u64,
    /// Estimated tokens of the messages since then.
    pub(super) pending: u64,
}

impl Count {
    /// Returns the count before a call: the one of the previous call, and the messages since then.
    pub(super) fn now(input: &RewriteInput<'_>, n_system: usize) -> Self {
        let all = &input.messages;
        let number = |nth: usize| input.memory[COUNT][nth].as_u64();
        let mut count = Self { reported: number(0).unwrap_or(0), pending: number(1).unwrap_or(0) };
        let n_counted = number(2).map_or(n_system, |n| n as usize);
        let mut new = all.get(n_counted..).unwrap_or_default();
        let reported = input.count("reported") as u64;
        while let Some(first) = new.first() {
            // Results of one answer are added together.
            let n_results = new.iter().take_while(|m| m.is("tool")).count();
            let (added, rest) = new.split_at(n_results.max(1));
            let is_newest = first.is("assistant") && !rest.iter().any(|m| m.is("assistant"));
            if is_newest && reported > 0 {
                count = Self { reported, pending: 0 };
            } else {
                count.pending += estimated_tokens(added);
            }
            new = rest;
        }
        count
    }

    pub(super) fn total(self) -> u64 {
        self.reported + self.pending
    }

    /// Returns the memory of this count, which includes a number of messages.
    pub(super) fn to_memory(self, n_messages: usize) -> Value {
        json!({COUNT: [self.reported, self.pending, n_messages]})
    }
}

/// `estimate_text_tokens`: a quarter token for each character of a text.
pub(super) fn estimated_tokens(messages: &[ChatMessage]) -> u64 {
    let chars = |m: &ChatMessage| m.weigh(RULE, |m| m.joined_text("").chars().count() as u64);
    messages.iter().map(chars).sum::<u64>() / 4
}
