//! The action that summarizes the history: after a turn, and in the proposed edition also before a call that would
//! overflow.

use super::{MakeResult, edition, settings, term};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{Hook, Rewrite, RewriteInput, Rewritten};
use crate::systems::picoclaw::budget::history_budget;
use crate::systems::picoclaw::estimate::tool_tokens;
use crate::systems::picoclaw::prompt::Prompt;
use crate::systems::picoclaw::summarize::{STARTED, Trigger, summarize_session};
use crate::systems::picoclaw::{Conversation, Edition, Settings};
use std::sync::Arc;

#[derive(Debug)]
struct SummarizeSession {
    edition: Edition,
}

pub(super) fn make(options: &toml::Table) -> MakeResult {
    let edition = edition(options)?;
    Ok(Arc::new(SummarizeSession { edition }))
}

impl Rewrite for SummarizeSession {
    fn rewrite(
        &self,
        mut input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let number = |name| input.number(name) as i64;
        let settings = Settings {
            kept_messages: input.count("kept_messages"),
            ..settings(&input, self.edition)
                .with_thresholds(number("message_threshold"), number("token_percent"))
        };
        let mut conversation = Conversation::of(std::mem::take(&mut input.messages).into_vec());
        let trigger = self.trigger(&input, &conversation, &settings);
        let mut done = Rewritten {
            fired: trigger.fires(),
            terms: trigger_terms(&trigger),
            ..Rewritten::default()
        };
        if !trigger.fires() {
            return Ok(done);
        }
        done.log.push(STARTED.to_owned());
        let summarized = summarize_session(&conversation.stored, self.edition, &settings, replies)?;
        if let Some(summarized) = summarized {
            let kept = summarized.stored.history.len();
            done.terms.extend([
                term("summarized", (trigger.messages - kept) as f64),
                term("kept", kept as f64),
                term("model_calls", replies.n_requests() as f64),
            ]);
            conversation.stored = summarized.stored;
            done.messages = Some(conversation.into_messages());
        }
        Ok(done)
    }
}

impl SummarizeSession {
    /// Measures the trigger. In the proposed edition, the budget of the history replaces the share of the window. Before a
    /// call, the number of messages does not count.
    fn trigger(
        &self,
        input: &RewriteInput<'_>,
        conversation: &Conversation,
        settings: &Settings,
    ) -> Trigger {
        let stored = &conversation.stored;
        let token_threshold = match self.edition {
            Edition::Proposed => {
                let system = Prompt::of(conversation, self.edition).system(&stored.summary);
                history_budget(system.as_ref(), tool_tokens(input.tools), settings)
            }
            Edition::Before | Edition::After => settings.token_threshold(),
        };
        let message_threshold = match input.at {
            Hook::BeforeCall => i64::MAX,
            _ => settings.message_threshold,
        };
        Trigger::measure(&stored.history, self.edition, message_threshold, token_threshold)
    }
}

/// Returns the terms of a trigger, without thresholds that cannot be reached.
fn trigger_terms(trigger: &Trigger) -> Vec<(String, f64)> {
    let mut terms = vec![
        term("history_tokens", trigger.tokens as f64),
        term("token_threshold", trigger.token_threshold as f64),
        term("history_messages", trigger.messages as f64),
    ];
    if trigger.message_threshold < i64::MAX {
        let threshold = trigger.message_threshold as f64;
        terms.push(term("message_threshold", threshold));
    }
    terms
}
