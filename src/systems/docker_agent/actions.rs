//! Actions of presets.

use super::view::{Limits, trims, truncates, view};
use crate::chat::{
    Arguments, Call, ChatMessage, PendingRequest, Replies, Shape, SummaryReply, SummaryRequest,
    n_system,
};
use crate::engine::{ActionKind, Hook, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten};
use serde_json::json;
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, TRIM, TRUNCATE];

/// Acts above `limit` tokens, and after every rejection.
const COMPACT: NamedAction = NamedAction {
    name: "docker_agent.compact",
    kind: ActionKind::Summarize,
    help: "Replaces the whole history, the newest request too, with a summary.",
    shape: Shape::OpenAi,
    numbers: &[
        "reported",
        "limit",
        "is_on",
        "max_items",
        "max_result_tokens",
    ],
    make: |_| Ok(Arc::new(Compact)),
};

const TRIM: NamedAction = NamedAction {
    name: "docker_agent.trim",
    kind: ActionKind::Drop,
    help: "Omits the oldest answers and results from the request.",
    shape: Shape::OpenAi,
    numbers: &["max_items"],
    make: |_| Ok(Arc::new(Trim)),
};

const TRUNCATE: NamedAction = NamedAction {
    name: "docker_agent.truncate",
    kind: ActionKind::Clear,
    help: "Replaces old tool results by a placeholder, for the request only.",
    shape: Shape::OpenAi,
    numbers: &["max_result_tokens"],
    make: |_| Ok(Arc::new(Truncate)),
};

/// Key of the newest reported size of the context, in memory.
const REPORTED: &str = "docker_agent_reported";
const SYSTEM: &str = include_str!("system.txt");
const PROMPT: &str = include_str!("user.txt");

#[derive(Debug)]
struct Compact;

impl Rewrite for Compact {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
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
            terms: vec![("used".to_owned(), total as f64)],
            memory: json!({REPORTED: reported}).into(),
            ..Rewritten::default()
        };
        let acts = is_rejected || total as f64 > input.number("limit");
        let start = n_system(all);
        if !acts || input.number("is_on") == 0.0 || start == all.len() {
            return Ok(done);
        }
        let limits = Limits {
            max_items: input.count("max_items"),
            max_result_tokens: input.count("max_result_tokens") as u64,
        };
        let system = [ChatMessage::new("system", SYSTEM)];
        let prompt = [ChatMessage::new("user", PROMPT)];
        let asked = SummaryRequest {
            messages: [&system[..], &view(all, limits), &prompt].concat(),
            with_tools: false,
            max_tokens: None,
        };
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
}

/// Returns the reply to a request; empty if it failed, which is logged.
fn ask(
    request: SummaryRequest,
    done: &mut Rewritten,
    replies: &mut Replies<'_>,
) -> Result<Arc<str>, PendingRequest> {
    Ok(match replies.reply_to(request)? {
        SummaryReply::Text(text) => text,
        SummaryReply::ToolCall => Arc::default(),
        SummaryReply::Failed(why) => {
            done.log.push(why);
            Arc::default()
        }
    })
}

/// `EstimateMessageTokens`: a quarter token for each byte, and the structure of a message.
fn estimate(message: &ChatMessage) -> u64 {
    const PER_MESSAGE: u64 = 5;
    let call = |call: &Call| {
        let arguments = match call.function.as_ref().map(|f| &f.arguments) {
            Some(Arguments::Text(text)) => text.len(),
            Some(Arguments::Json(value)) => value.to_string().len(),
            Some(Arguments::Missing) | None => 0,
        };
        call.tool().len() + arguments
    };
    let calls: usize = message.calls().iter().map(call).sum();
    (message.joined_text("").len() + calls) as u64 / 4 + PER_MESSAGE
}

#[derive(Debug)]
struct Trim;

impl Rewrite for Trim {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let edits = trims(&input.messages, input.count("max_items"));
        Ok(omitted(&input, "docker_agent_trimmed", edits))
    }
}

#[derive(Debug)]
struct Truncate;

impl Rewrite for Truncate {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let max_tokens = input.count("max_result_tokens") as u64;
        let edits = truncates(&input.messages, max_tokens);
        Ok(omitted(&input, "docker_agent_truncated", edits))
    }
}

/// Returns the result of edits that are made anew for every call. They count as new if there are more than before; their
/// number is kept in memory under `key`.
fn omitted(input: &RewriteInput<'_>, key: &str, edits: Vec<MessageEdit>) -> Rewritten {
    let n_before = input.memory[key].as_u64().unwrap_or(0);
    Rewritten {
        repeats: edits.len() as u64 == n_before,
        memory: json!({key: edits.len()}).into(),
        edits: edits.into(),
        ..Rewritten::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        play(
            &COMPACT,
            &numbers,
            (1, 1),
            messages,
            &[reply.clone(), reply],
        )
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
        let expected = [
            SYSTEM,
            "S",
            "request",
            "step",
            "[content truncated]",
            PROMPT,
        ];
        assert_eq!(texts(&played.asked[0].messages), expected);
    }

    #[test]
    fn a_failed_or_empty_summary_changes_nothing() {
        let failed = played(95_000.0, SummaryReply::Failed("no".into()));
        assert_eq!(
            (failed.after().len(), &*failed.done.log),
            (4, &["no", "no"].map(str::to_owned)[..])
        );
        assert_eq!(
            played(95_000.0, SummaryReply::Text("".into()))
                .after()
                .len(),
            4
        );
    }
}
