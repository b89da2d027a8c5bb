//! Actions of presets.

use super::view::{ViewLimits, trims, truncates, view};
use crate::chat::{Call, ChatMessage, PendingRequest, Replies, SummaryRequest, n_system};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::{numbers_only, summarizing};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, TRIM, TRUNCATE];

/// Acts above `limit` tokens, and after every rejection.
const COMPACT: NamedAction = NamedAction::new(
    "docker_agent.compact",
    ActionKind::Summarize,
    "Replaces the whole history, the newest request too, with a summary.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["reported", "limit", "is_on", "max_items", "max_result_tokens"]);

const TRIM: NamedAction = NamedAction::new(
    "docker_agent.trim",
    ActionKind::Drop,
    "Omits the oldest answers and results from the request.",
    |settings| numbers_only(settings, trim),
)
.with_numbers(&["max_items"]);

const TRUNCATE: NamedAction = NamedAction::new(
    "docker_agent.truncate",
    ActionKind::Clear,
    "Replaces old tool results by a placeholder, for the request only.",
    |settings| numbers_only(settings, truncate),
)
.with_numbers(&["max_result_tokens"]);

/// Key of the newest reported size of the context, in memory.
const REPORTED: &str = "docker_agent_reported";
const SYSTEM: &str = include_str!("system.txt");
const PROMPT: &str = include_str!("user.txt");

/// `doCompact`, if `compaction.ShouldCompact`.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let is_rejected = input.at == Hook::OverflowError;
    let results = all.iter().rev().take_while(|message| message.is("tool"));
    // Without usage the count of the last call that had one remains.
    let reported = match input.count("reported") as u64 {
        0 => input.memory[REPORTED].as_u64().unwrap_or(0),
        reported => reported,
    };
    let total = reported + results.map(estimate).sum::<u64>();
    let mut done = Rewritten {
        compared: (!is_rejected).then_some(total),
        memory: json!({REPORTED: reported}).into(),
        ..Rewritten::counted(total)
    };
    let acts = is_rejected || total as f64 > input.number("limit");
    let start = n_system(all);
    if !acts || !input.flag("is_on") || start == all.len() {
        return Ok(done);
    }
    let limits = ViewLimits {
        max_items: input.count("max_items"),
        max_result_tokens: input.count("max_result_tokens") as u64,
    };
    let system = [ChatMessage::new("system", SYSTEM)];
    let prompt = [ChatMessage::new("user", PROMPT)];
    let asked = SummaryRequest::new([&system[..], &view(all, limits), &prompt].concat());
    done.fired = true;
    // After results it counts them, before the request only what was reported.
    let is_again = !is_rejected && total > reported && reported as f64 > input.number("limit");
    let mut summary: Arc<str> = Arc::default();
    for _ in 0..=usize::from(is_again) {
        if summary.is_empty() {
            summary = ask(asked.clone(), &mut done, replies)?;
        }
    }
    if !summary.is_empty() {
        // The usage that the summary request reports, here a quarter token for each character.
        done.memory = json!({REPORTED: summary.chars().count() / 4}).into();
        let text = format!("Session Summary: {summary}");
        let mut messages = all[..start].to_vec();
        messages.push(ChatMessage::summary("user", text));
        done.messages = Some(messages);
    }
    Ok(done)
}

/// Returns the reply to a request; empty if it failed, which is logged.
fn ask(
    request: SummaryRequest,
    done: &mut Rewritten,
    replies: &mut Replies<'_>,
) -> Result<Arc<str>, PendingRequest> {
    let text = replies.reply_to(request)?.into_text();
    Ok(text.map_err(|why| done.log.push(why)).unwrap_or_default())
}

/// `EstimateMessageTokens`: a quarter token for each byte, and the structure of a message.
fn estimate(message: &ChatMessage) -> u64 {
    // As in docker-agent 1.32.3, `pkg/compaction/compaction.go`, like the 4 bytes a token.
    const PER_MESSAGE: u64 = 5;
    let call = |call: &Call| call.tool().len() + call.arguments_as_text().len();
    let calls: usize = message.calls().iter().map(call).sum();
    (message.joined_text("").len() + calls) as u64 / 4 + PER_MESSAGE
}

fn trim(input: &RewriteInput<'_>) -> Rewritten {
    let edits = trims(&input.messages, input.count("max_items"));
    Rewritten::edited_for_request(input, "docker_agent_trimmed", edits.into())
}

fn truncate(input: &RewriteInput<'_>) -> Rewritten {
    let max_tokens = input.count("max_result_tokens") as u64;
    let edits = truncates(&input.messages, max_tokens);
    Rewritten::edited_for_request(input, "docker_agent_truncated", edits.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SummaryReply;
    use crate::systems::testing::{Played, play, texts};

    /// Plays the compaction after a result of 40 bytes, with a limit of 90,000 tokens.
    fn played(reported: f64, reply: SummaryReply) -> Played {
        let messages = vec![
            ChatMessage::new("system", "S"),
            ChatMessage::new("user", "request"),
            ChatMessage::new("assistant", "step"),
            ChatMessage::new("tool", "r".repeat(40)),
        ];
        let numbers = [
            ("reported", reported),
            ("limit", 90_000.0),
            ("is_on", 1.0),
            ("max_items", 0.0),
            ("max_result_tokens", 9.0),
        ];
        play(&COMPACT, &numbers, (1, 1), messages, &[reply.clone(), reply])
    }

    fn summary() -> SummaryReply {
        SummaryReply::Text("SUMMARY".into())
    }

    #[test]
    fn acts_above_the_limit_with_the_estimate_of_new_results() {
        // 40 bytes are 10 tokens and 5 more.
        assert_eq!(played(89_985.0, summary()).done.compared, Some(90_000));
        assert!(!played(89_985.0, summary()).done.fired);
        assert!(played(89_986.0, summary()).done.fired);
    }

    #[test]
    fn only_the_summary_remains() {
        let played = played(95_000.0, summary());
        assert_eq!(texts(&played.after()), ["S", "Session Summary: SUMMARY"]);
        // The result of 10 tokens is above the limit of a request's results.
        let expected = [SYSTEM, "S", "request", "step", "[content truncated]", PROMPT];
        assert_eq!(texts(&played.requests[0].messages), expected);
    }

    #[test]
    fn a_failed_or_empty_summary_changes_nothing() {
        let failed = played(95_000.0, SummaryReply::Failed("no".into()));
        assert_eq!(
            (failed.after().len(), &*failed.done.log),
            (4, &["no", "no"].map(str::to_owned)[..])
        );
        assert_eq!(played(95_000.0, SummaryReply::Text("".into())).after().len(), 4);
    }
}
