//! Compaction of the command line: `compactChatHistory`, and the places of `streamChatResponse` that call it.

use super::history::{SAFETY, count, count_all, summary_request};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest, n_system};
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::{numbers_only, summarizing};
use std::sync::Arc;

/// Acts once after an answer that ends a turn in which the history was compacted.
pub(super) const CONTINUE: NamedAction = NamedAction::new(
    "continue_cli.continue",
    ActionKind::Inject,
    "Asks the model to continue at the end of a turn that was compacted.",
    |settings| numbers_only(settings, continue_turn),
);

/// Acts from `threshold` tokens on. `answer` is the longest answer.
pub(super) const COMPACT: NamedAction = NamedAction::new(
    "continue_cli.compact",
    ActionKind::Summarize,
    "Replaces the whole history, the newest request too, with a summary as the model's answer.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["threshold", "answer", "tools"]);

/// Key of the turn that was compacted and not yet continued, in memory.
const COMPACTED_IN: &str = "continue_cli_compacted_in";

fn continue_turn(input: &RewriteInput<'_>) -> Rewritten {
    let is_compacted = input.memory[COMPACTED_IN].as_u64() == Some(u64::from(input.turn));
    let ends = |message: &ChatMessage| message.is("assistant") && message.calls().is_empty();
    let has_ended = input.call_in_turn > 0 && input.messages.last().is_some_and(ends);
    if !is_compacted || !has_ended {
        return Rewritten::default();
    }
    let mut messages = input.messages.to_vec();
    messages.push(ChatMessage::notice("user", "continue"));
    Rewritten {
        messages: Some(messages),
        fired: true,
        memory: json!({COMPACTED_IN: null}).into(),
        ..Rewritten::default()
    }
}

const FAILED: &str = "Context limit exceeded and compaction failed. Unable to continue.";

fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let threshold = input.number("threshold");
    let answer = input.count("answer") as u64;
    let tools = input.count("tools") as u64;
    let all = &input.messages;
    let (system, history) = all.split_at(n_system(all));
    let mut total = count_all(all) + tools;
    let mut done = Rewritten::default();
    // The history is compacted before the request that begins a turn is added to it, then checked again.
    if let (0, [before @ .., newest]) = (input.call_in_turn, history) {
        let of_rest = count(system) + tools + count(std::slice::from_ref(newest));
        let of_before = total.saturating_sub(of_rest);
        if of_before as f64 >= threshold {
            done.compared = Some(of_before);
            if let Some(summary) =
                ask(summary_request(system, before, input.window, answer), &mut done, replies)?
            {
                let mut messages = compacted(system, summary);
                messages.push(newest.clone());
                total = count(&messages) + tools;
                done.messages = Some(messages);
            }
        }
    }
    done.compared = done.compared.or(Some(total));
    done.terms = vec![("used".to_owned(), total as f64)];
    if (total as f64) < threshold {
        return Ok(done);
    }
    let is_within_turn = history.last().is_some_and(|message| message.is("tool"));
    let is_too_large = is_within_turn && total + answer + SAFETY > input.window;
    // Within a turn it is compacted after the results, and again before the request if that failed.
    let n_tries = 1 + usize::from(is_within_turn && !is_too_large);
    let now = done.messages.as_deref().unwrap_or(all);
    let asked = summary_request(system, &now[system.len()..], input.window, answer);
    let mut summary = None;
    for _ in 0..n_tries {
        if summary.is_none() {
            summary = ask(asked.clone(), &mut done, replies)?;
        }
    }
    match summary {
        Some(summary) => {
            done.messages = Some(compacted(system, summary));
            done.memory = json!({COMPACTED_IN: input.turn}).into();
        }
        None if is_too_large => done.halt = Some(FAILED.to_owned()),
        None => {}
    }
    Ok(done)
}

/// Returns the instructions and a summary.
fn compacted(system: &[ChatMessage], summary: Arc<str>) -> Vec<ChatMessage> {
    let summary = ChatMessage::summary("assistant", summary);
    system.iter().cloned().chain([summary]).collect()
}

/// Returns the reply to a request; `None` if it failed, which is logged.
fn ask(
    request: SummaryRequest,
    done: &mut Rewritten,
    replies: &mut Replies<'_>,
) -> Result<Option<Arc<str>>, PendingRequest> {
    done.fired = true;
    let text = replies.reply_to(request)?.into_text();
    Ok(text.map_err(|why| done.log.push(why)).ok())
}
