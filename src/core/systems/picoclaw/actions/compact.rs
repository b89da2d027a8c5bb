//! Before a turn: compresses the store by force if the request would overflow.

use super::turn::split_current;
use super::{budget_terms, compression_terms, settings, term};
use crate::engine::{RewriteInput, Rewritten};
use crate::systems::picoclaw::estimate::tool_tokens;
use crate::systems::picoclaw::force_compression::EXECUTED;
use crate::systems::picoclaw::overflow::{EXCEEDED, compact_if_over};
use crate::systems::picoclaw::prompt::Prompt;
use crate::systems::picoclaw::{Conversation, Edition};

pub(super) fn compact_before_turn(input: &RewriteInput<'_>) -> Rewritten {
    let settings = settings(input, Edition::After);
    let mut conversation = Conversation::of(input.messages.to_vec());
    let mut prompt = Prompt::of(&conversation, Edition::After);
    prompt.current = split_current(&mut conversation.stored.history);
    let tools = tool_tokens(input.tools);
    let (budget, compressed) = compact_if_over(&prompt, &conversation.stored, tools, &settings);
    let mut done = Rewritten {
        fired: budget.is_over(),
        terms: budget_terms(&budget).to_vec(),
        ..Rewritten::default()
    };
    let percent = budget.shown_percent() as f64;
    done.terms.push(term("shown_percent", percent));
    if budget.is_over() {
        done.log.push(EXCEEDED.to_owned());
    }
    if let Some(compressed) = compressed {
        done.log.push(EXECUTED.to_owned());
        done.terms.extend(compression_terms(&compressed));
        conversation.stored = compressed.stored;
        conversation.stored.history.extend(prompt.current);
        done.messages = Some(conversation.into_messages());
    }
    done
}
