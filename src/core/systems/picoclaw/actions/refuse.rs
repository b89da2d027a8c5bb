//! Handles a rejected request.

use super::{MakeResult, budget_terms, compression_terms, edition, settings, term};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{Rewrite, RewriteInput, Rewritten};
use crate::systems::picoclaw::estimate::tool_tokens;
use crate::systems::picoclaw::force_compression::{Compressed, EXECUTED, force_compression};
use crate::systems::picoclaw::overflow::{COMPRESSING, DETECTED, REFUSED, rebuild_after_refusal};
use crate::systems::picoclaw::prompt::Prompt;
use crate::systems::picoclaw::provider_error::{ErrorKind, classify};
use crate::systems::picoclaw::{Conversation, Edition};
use std::sync::Arc;

/// PicoClaw's log line for a temporary error.
const RETRYING: &str = "LLM call error, retrying";

#[derive(Debug)]
struct ForceCompression {
    edition: Edition,
}

pub(super) fn make(options: &toml::Table) -> MakeResult {
    let edition = edition(options)?;
    Ok(Arc::new(ForceCompression { edition }))
}

impl Rewrite for ForceCompression {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        if let Some(other) = other_error(input.error, self.edition) {
            return Ok(other);
        }
        let conversation = Conversation::of(input.messages.into_vec());
        let compressed = force_compression(&conversation.stored, self.edition);
        Ok(report(conversation, compressed))
    }
}

pub(super) fn rebuild_request(input: &RewriteInput<'_>) -> Rewritten {
    if let Some(other) = other_error(input.error, Edition::After) {
        return other;
    }
    let settings = settings(input, Edition::After);
    let conversation = Conversation::of(input.messages.to_vec());
    let prompt = Prompt::of(&conversation, Edition::After);
    let stored = &conversation.stored;
    let last_user = stored.history.iter().rposition(|m| m.is("user"));
    let turn = &stored.history[last_user.unwrap_or(0)..];
    let tools = tool_tokens(input.tools);
    let retry = rebuild_after_refusal(&prompt, stored, turn, tools, &settings);
    let mut done = report(conversation, retry.compressed);
    done.halt = (!retry.trimmed.fits).then(|| REFUSED.to_owned());
    done.terms.extend(budget_terms(&retry.trimmed.budget));
    done.terms.push(term("protected", retry.protected as f64));
    done
}

/// Handles a provider error that is not treated as an overflow: the conversation is unchanged.
fn other_error(error: &str, edition: Edition) -> Option<Rewritten> {
    if error.is_empty() {
        return None;
    }
    let done = match classify(error, edition) {
        ErrorKind::Overflow => return None,
        ErrorKind::Temporary => {
            Rewritten { log: vec![format!("{RETRYING}: {error}")], ..Rewritten::default() }
        }
        ErrorKind::Final => Rewritten {
            halt: Some(format!("LLM call failed after retries: {error}")),
            ..Rewritten::default()
        },
    };
    Some(done)
}

/// Reports a compression; one of a history that is too short has no effect and no report.
fn report(mut conversation: Conversation, compressed: Option<Compressed>) -> Rewritten {
    let mut done = Rewritten {
        fired: true,
        log: vec![DETECTED.to_owned(), COMPRESSING.to_owned()],
        ..Rewritten::default()
    };
    if let Some(compressed) = compressed {
        done.log.push(EXECUTED.to_owned());
        done.terms.extend(compression_terms(&compressed));
        conversation.stored = compressed.stored;
        done.messages = Some(conversation.into_messages());
    }
    done
}
