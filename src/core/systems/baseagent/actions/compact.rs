//! Replaces everything before a call with a summary.

use super::{limits_of, terms, total, total_of};
use crate::chat::{PendingRequest, Replies};
use crate::engine::{ActionKind, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::baseagent::log_lines::{compaction_result, insufficient};
use crate::systems::baseagent::{Texts, compact};
use crate::systems::stage_settings::{check_keys, choice_setting, text_setting};
use std::sync::Arc;

/// `result` selects the results that the stage handles (`any`, `shorter`, `not_shorter`), since the loop stores a list
/// only if it is shorter than the stored one: a preset has a stage that stores and one that does not. `prompt` and
/// `prefix` are the request's last message and the start of the summary (default: as shipped).
pub(super) const ACTION: NamedAction = NamedAction::new(
    "baseagent.compact",
    ActionKind::Summarize,
    "The model summarizes everything; only the system prompt and the summary remain.",
    |settings| {
        let choices =
            [("any", Fit::Any), ("shorter", Fit::Shorter), ("not_shorter", Fit::NotShorter)];
        check_keys(settings, &["result", "prompt", "prefix"])?;
        let shipped = Texts::default();
        Ok(Arc::new(Compact {
            fit: choice_setting(settings, "result", &choices)?.unwrap_or(Fit::Any),
            prompt: text_setting(settings, "prompt")?.map_or(shipped.prompt, str::to_owned),
            prefix: text_setting(settings, "prefix")?.map_or(shipped.prefix, str::to_owned),
        }))
    },
)
.with_numbers(&["usable", "threshold", "max_tokens"]);

/// The results that a stage handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Any,
    Shorter,
    NotShorter,
}

#[derive(Debug)]
struct Compact {
    fit: Fit,
    prompt: String,
    prefix: String,
}

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let limits = limits_of(&input);
        let messages = &input.messages;
        let system = messages.first().filter(|first| first.is("system"));
        // A system prompt that is not recorded would count on both sides of the comparison.
        let n_left = 1 + usize::from(system.is_some());
        let is_shorter = n_left < messages.len();
        if (self.fit == Fit::Shorter && !is_shorter) || (self.fit == Fit::NotShorter && is_shorter)
        {
            return Ok(Rewritten::default());
        }
        let texts = Texts {
            prompt: self.prompt.clone(),
            prefix: self.prefix.clone(),
            max_tokens: input.count("max_tokens") as u64,
        };
        let before = total_of(messages);
        let mut log = vec![insufficient(before)];
        let compacted = compact(messages, system, &texts, replies)?;
        log.extend(compacted.log);
        let after = compacted.messages.as_deref().map_or(before, total);
        log.push(compaction_result(before, after));
        if self.fit == Fit::Shorter && compacted.messages.is_some() {
            let n = messages.len();
            log.push(format!("[loop] Context compacted: {n} -> {n_left} messages"));
        }
        Ok(Rewritten {
            messages: compacted.messages,
            fired: true,
            terms: terms(&[
                ("used", before.as_f64()),
                ("trigger", limits.trigger()),
                ("messages", messages.len() as f64),
                ("messages_left", n_left as f64),
                ("used_after", after.as_f64()),
            ]),
            log,
            ..Rewritten::default()
        })
    }
}
