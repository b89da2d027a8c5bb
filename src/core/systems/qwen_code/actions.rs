//! Actions of presets.

use super::compress::{Compressed, Conversation, compress};
use super::estimate::{estimated_tokens, thresholds};
use crate::chat::{
    ChatMessage, PendingRequest, Replies, Rule, first_pending, n_system, stored_ranges,
};
use crate::engine::{ActionKind, Hook, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPRESS, CURATE];

/// Acts from the share of the window on, or earlier to leave space for a summary.
const COMPRESS: NamedAction = NamedAction::new(
    "qwen_code.compress",
    ActionKind::Summarize,
    "Summarizes everything but the newest message, and answers the summary in the model's name.",
    |settings| summarizing(settings, compress_if_due),
)
.with_numbers(&["reported_input", "reported_output", "share", "shares_cache"]);

const CURATE: NamedAction = NamedAction::new(
    "qwen_code.curate",
    ActionKind::Repair,
    "Leaves out an answer without content, with the message that it answers.",
    |settings| numbers_only(settings, curate),
);

const EMPTY_ANSWERS: Rule = Rule::new("qwen_code: empty answers");

/// Failures after which it no longer tries.
// As in qwen-code 0.24.4, `services/chatCompressionService.ts`.
const MAX_FAILURES: u64 = 3;

/// Keys in memory: tokens of the last request and of its answer, whether they are an estimate, and failures in a row
/// below and above the hard limit.
const COUNTS: &str = "qwen_code_counts";
const FAILURES: &str = "qwen_code_failures";
const HARD_FAILURES: &str = "qwen_code_hard_failures";

/// A rejected request is summarized as a whole: its newest message is part of the history.
fn compress_if_due(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let is_rejected = input.at == Hook::OverflowError;
    let start = n_system(all);
    let end = if is_rejected { all.len() } else { first_pending(all).max(start) };
    let (counts, tokens) = count(input, start, end);
    let limits = thresholds(input.window, input.number("share"));
    let failures = input.memory[FAILURES].as_u64().unwrap_or(0);
    let hard_failures = input.memory[HARD_FAILURES].as_u64().unwrap_or(0);
    let is_hard = !is_rejected && tokens as f64 >= limits.hard;
    let unchanged =
        Rewritten { memory: json!({COUNTS: counts}).into(), ..Rewritten::counted(tokens) };
    let is_due = if is_hard {
        hard_failures < MAX_FAILURES
    } else {
        tokens as f64 >= limits.auto && failures < MAX_FAILURES
    };
    if !is_rejected && !is_due {
        return Ok(unchanged);
    }
    let conversation = Conversation {
        system: &all[..start],
        history: &all[start..end],
        pending: &all[end..],
        window: input.window,
        tokens: if is_rejected { input.window } else { tokens },
        shares_cache: input.flag("shares_cache") && counts.0 > 0 && !counts.2,
    };
    let result = compress(&conversation, replies)?;
    if is_hard && let Some(error) = still_too_large(&conversation, &result, limits.hard) {
        return Ok(Rewritten {
            fired: true,
            halt: Some(error),
            memory: json!({COUNTS: counts, HARD_FAILURES: hard_failures + 1}).into(),
            ..unchanged
        });
    }
    Ok(match result {
        Compressed::Nothing => unchanged,
        Compressed::Failed(_) => Rewritten {
            fired: true,
            memory: json!({COUNTS: counts, FAILURES: failures + 1}).into(),
            ..unchanged
        },
        Compressed::History(new, tokens) => Rewritten {
            messages: Some([conversation.system, &new, conversation.pending].concat()),
            fired: true,
            memory: json!({COUNTS: (tokens, 0, true), FAILURES: 0, HARD_FAILURES: 0}).into(),
            ..unchanged
        },
    })
}

/// Returns the error with which a request above the hard limit is not sent: it is still too large.
fn still_too_large(
    conversation: &Conversation<'_>,
    result: &Compressed,
    limit: f64,
) -> Option<String> {
    let before = conversation.tokens;
    let (status, tokens) = match result {
        Compressed::Nothing => ("NOOP", before),
        Compressed::Failed(status) => (*status, before),
        Compressed::History(_, new) => ("COMPRESSED", new + estimated_tokens(conversation.pending)),
    };
    (tokens as f64 >= limit).then(|| format!("Context is too large to send safely after automatic compression. Estimated prompt tokens: {tokens}; hard limit: {limit}; compression status: {status}. Start a new session or reduce the resumed history before continuing."))
}

/// `estimatePromptTokens`: returns the counts of the last request and its answer, with whether they are an estimate, and the tokens of the next
/// request. Without counts, the history is estimated.
fn count(input: &RewriteInput<'_>, start: usize, end: usize) -> ((u64, u64, bool), u64) {
    let reported = |name: &str| input.number(name).max(0.0) as u64;
    let counts = match reported("reported_input") {
        0 => {
            let known = &input.memory[COUNTS];
            let number = |at: usize| known[at].as_u64().unwrap_or(0);
            (number(0), number(1), known[2] == true)
        }
        prompt => (prompt, reported("reported_output"), false),
    };
    let tokens = match counts.0 {
        0 => estimated_tokens(&input.messages[start..]),
        prompt => prompt + counts.1 + estimated_tokens(&input.messages[end..]),
    };
    (counts, tokens)
}

/// `extractCuratedHistory`: the history of a request. Answers in a row count as one, and so do the results of an answer.
fn curate(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let start = n_system(all);
    let is_empty = |m: &ChatMessage| {
        m.calls().is_empty() && m.reasoning.is_none() && m.joined_text("").is_empty()
    };
    let is_gone = |m: &ChatMessage| u64::from(m.is("assistant") && is_empty(m));
    if all.weigh(EMPTY_ANSWERS, is_gone) == 0 {
        return Rewritten::default();
    }
    let contents = stored_ranges(all, start, |first, message| {
        first.role == message.role && !message.is("user")
    });
    let mut sent = vec![false; all.len()];
    let mut last = 0..0;
    for content in contents {
        let is_answer = all[content.start].is("assistant");
        let is_valid = !is_answer || !all[content.clone()].iter().any(is_empty);
        let changed = if is_valid { content.clone() } else { last };
        sent[changed].fill(is_valid);
        last = if is_valid { content } else { 0..0 };
    }
    let gone = (start..all.len()).filter(|at| !sent[*at]);
    Rewritten {
        edits: gone.map(|at| MessageEdit { at, now: None }).collect(),
        ..Rewritten::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::testing::{play, texts};

    #[test]
    fn an_empty_answer_goes_with_its_question() {
        let message = ChatMessage::new;
        let messages = vec![
            message("system", "S"),
            message("user", "one"),
            message("assistant", "1"),
            message("user", "two"),
            message("assistant", ""),
            message("user", "three"),
        ];
        let played = play(&CURATE, &[], (2, 0), messages.clone(), &[]);
        assert_eq!(texts(&played.after()), ["S", "one", "1", "three"]);
        let played = play(&CURATE, &[], (2, 0), messages[..4].to_vec(), &[]);
        assert!(played.done.edits.is_empty());
    }
}
