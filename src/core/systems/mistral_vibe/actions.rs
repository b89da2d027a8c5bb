//! Actions of presets.

use super::envelope::{envelope, user_messages};
use super::summarize::summarize;
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::languages::python::with_commas;
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, WARN];

/// Acts from `threshold` tokens on, unless it is 0. At `overflow_error` it acts once a turn, unless `is_strict`.
const COMPACT: NamedAction = NamedAction::new(
    "mistral_vibe.compact",
    ActionKind::Summarize,
    "Replaces the whole history with one message: the user's newest messages and a summary.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["reported", "threshold", "is_strict"]);

/// Acts at half of `threshold`, once until the next compaction.
const WARN: NamedAction = NamedAction::new(
    "mistral_vibe.warn",
    ActionKind::Inject,
    "Tells the model how much of the context is used.",
    |settings| numbers_only(settings, warn),
)
.with_numbers(&["reported", "threshold"]);

/// Key of the turn in which an overflow was handled, in memory.
const HANDLED_IN: &str = "mistral_vibe_handled_in";
/// Key of the call of the last compaction, in memory; it may have failed.
const COMPACTED_AT: &str = "mistral_vibe_compacted_at";
/// Key of whether the model was warned since the last compaction, in memory.
const IS_WARNED: &str = "mistral_vibe_is_warned";

/// `CompactionManager.compact`.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let (threshold, is_strict) = (input.count("threshold"), input.flag("is_strict"));
    let is_refused = input.at == Hook::OverflowError;
    let total = input.count("reported");
    let is_compared = !is_refused && threshold > 0;
    let mut done = Rewritten {
        compared: is_compared.then_some(total as u64),
        ..Rewritten::counted(total as u64)
    };
    let acts = if is_refused {
        !is_strict && input.memory[HANDLED_IN].as_u64() != Some(u64::from(input.turn))
    } else {
        is_compared && total >= threshold
    };
    if !acts {
        return Ok(done);
    }
    let all = &input.messages;
    let mut memory = json!({COMPACTED_AT: input.call});
    done.fired = true;
    let summary = match summarize(all, is_strict, replies)? {
        Ok(summary) => summary,
        Err(why) => {
            // The error ends the turn.
            done.memory = memory.into();
            return Ok(done.stopped_by(why));
        }
    };
    memory[IS_WARNED] = false.into();
    if is_refused {
        memory[HANDLED_IN] = input.turn.into();
        // Before the retry the count is 0.
        done.compared = (threshold > 0).then_some(0);
    }
    let n_system = n_system(all);
    let mut messages = all[..n_system].to_vec();
    let text = envelope(&user_messages(all), &summary);
    messages.push(ChatMessage::summary("user", text));
    Ok(Rewritten { messages: Some(messages), memory: memory.into(), ..done })
}

/// `ContextWarningMiddleware`.
fn warn(input: &RewriteInput<'_>) -> Rewritten {
    let (total, threshold) = (input.count("reported"), input.count("threshold"));
    let is_compacted = input.memory[COMPACTED_AT].as_u64() == Some(input.call as u64);
    let is_due = threshold > 0 && total as f64 >= threshold as f64 * 0.5;
    if !is_due || is_compacted || input.memory[IS_WARNED] == true {
        return Rewritten::default();
    }
    let share = total as f64 / threshold as f64 * 100.0;
    let (used, all) = (with_commas(total), with_commas(threshold));
    let text = format!(
        "<vibe_warning>You have used {share:.0}% of your context budget ({used}/{all} tokens before older messages are summarized)</vibe_warning>"
    );
    let mut messages = input.messages.to_vec();
    messages.push(ChatMessage::notice("user", text));
    Rewritten {
        messages: Some(messages),
        fired: true,
        memory: json!({IS_WARNED: true}).into(),
        ..Rewritten::default()
    }
}
