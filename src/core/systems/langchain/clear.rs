//! `ContextEditingMiddleware` with `ClearToolUsesEdit`.

use super::estimate::{estimated_tokens, total, total_of};
use crate::chat::{Arguments, Calls, ChatMessage, PendingRequest, Replies, Rule, n_system};
use crate::engine::{
    ActionKind, Edits, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten,
};
use crate::systems::stage_settings::{check_keys, names_setting, text_setting};
use std::sync::Arc;

/// `placeholder` takes the place of results (default: `[cleared]`); results of `exclude_tools` are kept.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "langchain.clear",
    ActionKind::Clear,
    "Clears all tool results but the newest, for the request only.",
    |settings| {
        check_keys(settings, &["placeholder", "exclude_tools"])?;
        let placeholder = text_setting(settings, "placeholder")?;
        Ok(Arc::new(Clear {
            placeholder: placeholder.unwrap_or("[cleared]").to_owned(),
            exclude_tools: names_setting(settings, "exclude_tools")?.unwrap_or_default(),
        }))
    },
)
.with_numbers(&["trigger", "keep", "clear_at_least", "clear_tool_inputs"]);

#[derive(Debug)]
struct Clear {
    placeholder: String,
    exclude_tools: Vec<String>,
}

impl Rewrite for Clear {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let all = &input.messages;
        let n_system = n_system(all);
        let before = total_of(all) - total(&all[..n_system]);
        let mut done = Rewritten { compared: Some(before), ..Rewritten::default() };
        if before <= input.count("trigger") as u64 {
            return Ok(done);
        }
        let limits = ClearLimits {
            keep: input.count("keep"),
            at_least: input.count("clear_at_least") as u64,
            inputs: input.flag("clear_tool_inputs"),
        };
        let rule = Rule { name: "langchain: cleared", by: std::ptr::from_ref(self) as usize };
        let cleared = all.updated_state(rule, |cleared: &mut Cleared, messages| {
            cleared.extend(messages, limits, self);
        });
        done.edits = cleared.edits.clone();
        done.fired = !done.edits.is_empty();
        Ok(done)
    }
}

/// Limits of a clearing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ClearLimits {
    /// Number of newest results that are kept.
    keep: usize,
    /// Clearing stops when it has saved this many tokens; 0 for no limit.
    at_least: u64,
    /// Whether the arguments of cleared calls are emptied.
    inputs: bool,
}

/// The clearing of a conversation, extended as it grows.
#[derive(Clone, Debug, Default)]
struct Cleared {
    limits: ClearLimits,
    /// Number of messages read.
    n: usize,
    /// The newest answer of these.
    answer: Option<usize>,
    /// Positions of results, each with the nearest answer before it.
    results: Vec<(usize, Option<usize>)>,
    /// Number of results that were cleared or skipped.
    n_done: usize,
    /// Estimated tokens of the changed messages: before and after.
    tokens: (u64, u64),
    edits: Edits,
}

impl Cleared {
    /// Reads the new messages and clears the results that are now old.
    fn extend(&mut self, messages: &[ChatMessage], limits: ClearLimits, clear: &Clear) {
        if self.limits != limits {
            *self = Self { limits, ..Self::default() };
        }
        for (at, message) in messages.iter().enumerate().skip(self.n) {
            if message.is("tool") {
                self.results.push((at, self.answer));
            } else if message.is("assistant") {
                self.answer = Some(at);
            }
        }
        self.n = messages.len();
        let n_old = self.results.len().saturating_sub(limits.keep);
        while self.n_done < n_old && !self.is_enough() {
            let (at, answer) = self.results[self.n_done];
            self.n_done += 1;
            let Some(answer) =
                answer.filter(|answer| clear.clears(&messages[at], &messages[*answer]))
            else {
                continue;
            };
            if limits.inputs {
                self.clear_arguments(messages, answer, messages[at].call_id.as_deref());
            }
            let now = messages[at].with_text(&*clear.placeholder);
            self.tokens.0 += estimated_tokens(&messages[at]);
            self.tokens.1 += estimated_tokens(&now);
            let now = Some(now);
            self.edits.grow([MessageEdit { at, now }]);
        }
    }

    fn is_enough(&self) -> bool {
        let saved = self.tokens.0.saturating_sub(self.tokens.1);
        self.limits.at_least > 0 && saved >= self.limits.at_least
    }

    /// Empties the arguments of a call. All results between an answer and the next one belong to it.
    fn clear_arguments(&mut self, messages: &[ChatMessage], at: usize, id: Option<&str>) {
        let known = self.edits.binary_search_by_key(&at, |edit| edit.at).ok();
        let before = known.and_then(|known| self.edits[known].now.as_ref());
        let before = before.unwrap_or(&messages[at]).clone();
        let mut now = before.clone();
        clear_arguments(&mut now, id);
        if now == before {
            return;
        }
        self.tokens.0 += estimated_tokens(&before);
        self.tokens.1 += estimated_tokens(&now);
        let edit = MessageEdit { at, now: Some(now) };
        if let Some(known) = known {
            self.edits.list_mut()[known] = edit;
        } else {
            let place = self.edits.partition_point(|edit| edit.at < at);
            self.edits.list_mut().insert(place, edit);
        }
    }
}

impl Clear {
    /// Returns whether a result may be cleared: it has content, the nearest answer before it has its call, and its tool
    /// is not excluded.
    fn clears(&self, result: &ChatMessage, caller: &ChatMessage) -> bool {
        let call = caller.calls().iter().find(|call| call.id == result.call_id);
        let Some(call) = call else {
            return false;
        };
        let tool = result.name.as_deref().unwrap_or_else(|| call.tool());
        let is_excluded = self.exclude_tools.iter().any(|name| name == tool);
        !is_excluded && result.text() != Some(&self.placeholder)
    }
}

/// Empties the arguments of a call.
fn clear_arguments(answer: &mut ChatMessage, id: Option<&str>) {
    if let Calls::List(calls) = &mut answer.calls {
        for call in calls.iter_mut().filter(|call| call.id.as_deref() == id) {
            if let Some(function) = &mut call.function {
                function.arguments = Arguments::Text("{}".into());
            }
        }
    }
}
