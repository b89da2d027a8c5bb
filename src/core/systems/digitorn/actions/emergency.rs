//! Handles a request that the provider rejected as too long.

use super::super::document;
use super::super::emergency::{emergency_compact, is_context_overflow};
use super::super::estimate::{all_log_tokens, log_tokens};
use super::super::tool_index::ToolIndex;
use super::{Reading, documented, mode_of, reminder_inputs, terms};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::check_keys;
use std::sync::Arc;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "digitorn.emergency",
    ActionKind::Drop,
    "After a rejected request, drops old messages without a summary and shortens long ones, once; gives up if it does not recognize the rejection.",
    |settings| {
        check_keys(settings, &["reading"])?;
        let reading = Reading::of(settings)?;
        Ok(Arc::new(Emergency { reading }))
    },
)
.with_numbers(&["max_tokens", "keep_recent", "tool_injection", "provider", "attempt"]);

#[derive(Debug)]
struct Emergency {
    reading: Reading,
}

impl Rewrite for Emergency {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let refusal = match input.error {
            "" => refusal(&input),
            error => error.to_owned(),
        };
        let is_overflow = self.reading == Reading::Document && input.error.is_empty();
        let is_recognized = is_overflow || is_context_overflow(&refusal);
        // A further attempt means that the only retry was rejected too.
        if !is_recognized || input.number("attempt") > 1.0 {
            return Ok(halted(refusal));
        }
        let max_tokens = input.number("max_tokens") as i64;
        let keep = input.number("keep_recent") as i64;
        let mode = mode_of(&input, max_tokens);
        let index = ToolIndex::of_definitions(input.tools);
        let inputs = reminder_inputs(&index, &[]);
        let before = all_log_tokens(&input.messages);
        let done = match self.reading {
            Reading::Code => {
                emergency_compact(input.messages.into_vec(), max_tokens, keep, mode, inputs)
            }
            Reading::Document => document::emergency(
                input.messages.into_vec(),
                max_tokens,
                keep,
                documented(mode),
                inputs,
            ),
        };
        let done = match done {
            Ok(done) => done,
            Err(raised) => return Ok(halted(raised.text)),
        };
        let after = log_tokens(&done.messages);
        Ok(Rewritten {
            terms: terms(&[
                ("tokens_before", before.unwrap_or(0) as f64),
                ("tokens_after", after.unwrap_or(0) as f64),
                ("keep_recent / 2", keep.div_euclid(2) as f64),
                ("messages_left", done.messages.len() as f64),
            ]),
            messages: Some(done.messages),
            fired: true,
            log: done.log,
            ..Rewritten::default()
        })
    }
}

fn halted(why: String) -> Rewritten {
    Rewritten { halt: Some(why), ..Rewritten::default() }
}

/// Returns the provider's error text: by the number, or by the model if that is 0. Providers of the OpenAI kind (1) use
/// phrases that are recognized, Anthropic (2) does not.
fn refusal(input: &RewriteInput<'_>) -> String {
    let is_anthropic = match input.count("provider") {
        1 => false,
        2 => true,
        _ => input.model.starts_with("claude"),
    };
    let window = input.window;
    if is_anthropic {
        format!("prompt is too long: more than {window} tokens > {window} maximum")
    } else {
        format!(
            "This model's maximum context length is {window} tokens. Please reduce the length of the messages."
        )
    }
}
