//! Leaves out the oldest turns of a turn's requests until the first request fits.

use super::turn::{BuiltRequest, leave_out};
use super::{budget_terms, settings, term};
use crate::engine::{Memory, RewriteInput, Rewritten};
use crate::systems::picoclaw::budget::{Trimmed, trim_to_fit};
use crate::systems::picoclaw::estimate::tool_tokens;
use crate::systems::picoclaw::overflow::{STILL_EXCEEDED, TRIMMED};
use crate::systems::picoclaw::prompt::Prompt;
use crate::systems::picoclaw::store::history;
use crate::systems::picoclaw::{Conversation, Edition};

/// Memory key of the [`BuiltRequest`] of the turn.
const BUILT: &str = "picoclaw.trimmed";

pub(super) fn trim_request(input: &RewriteInput<'_>) -> Rewritten {
    let turn = input.turn;
    let before = input.memory.shared::<BuiltRequest>(BUILT);
    let mut done = Rewritten::default();
    let still = before.filter(|built| built.is_current(&input.messages, turn));
    let built = still.copied().unwrap_or_else(|| {
        let conversation = Conversation::of(input.messages.to_vec());
        let history = &conversation.stored.history;
        let mut built = BuiltRequest::new(history, turn, before);
        let trimmed = trim(input, &conversation, built.turn_start(history));
        built.leave_out(history, trimmed.dropped);
        report(&mut done, &trimmed);
        done.memory = Memory::default().with(BUILT, built);
        built
    });
    let left_out = built.left_out(history(&input.messages));
    done.terms.push(term("left_out", left_out as f64));
    done.fired = left_out > 0;
    done.edits = leave_out(&input.messages, 0..left_out).into();
    done
}

/// Trims the messages before the current turn.
fn trim(input: &RewriteInput<'_>, conversation: &Conversation, turn_start: usize) -> Trimmed {
    let settings = settings(input, Edition::After);
    let prompt = Prompt::of(conversation, Edition::After);
    let mut stable = conversation.stored.clone();
    let active = stable.history.split_off(turn_start);
    trim_to_fit(&prompt, &stable, &active, tool_tokens(input.tools), &settings)
}

fn report(done: &mut Rewritten, trimmed: &Trimmed) {
    if trimmed.dropped > 0 {
        done.log.push(TRIMMED.to_owned());
    } else if !trimmed.fits {
        done.log.push(STILL_EXCEEDED.to_owned());
    }
    done.terms.extend(budget_terms(&trimmed.budget));
    done.terms.push(term("fits", f64::from(u8::from(trimmed.fits))));
}
