//! `AgentSession._checkCompaction` and `compact` as an action of presets.

use super::cut::find_cut;
use super::file_lists::FileLists;
use super::request;
use crate::chat::{ChatMessage, Messages, PendingRequest, Replies, Rule, n_system};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::session::WrittenKind;
use crate::systems::missing_results::{ResultPosition, add_missing};
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, SHAPE];

/// `at = "turn_start"`: checks when the last run ended, and again before the user message if that failed. The new user
/// message is not part of it. At `overflow_error` everything is.
const COMPACT: NamedAction = NamedAction::new(
    "pi.compact",
    ActionKind::Summarize,
    "Summarizes everything before a cut that may split a turn, whose beginning gets a summary of its own.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["keep", "reserve"]);

const SHAPE: NamedAction = NamedAction::new(
    "pi.shape",
    ActionKind::Repair,
    "Adds results for calls without one, and leaves out answers without text and calls.",
    |settings| numbers_only(settings, shape),
);

/// Text of an added result.
const NO_RESULT: &str = "No result provided";

const PREFIX: &str = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n";
const SUFFIX: &str = "\n</summary>";

fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let n_system = n_system(all);
    let is_summary = |m: &&ChatMessage| m.written == Some(WrittenKind::Summary);
    let previous = all.get(n_system).filter(is_summary);
    let start = n_system + usize::from(previous.is_some());
    let end = if input.at == Hook::TurnStart {
        let answered = all.iter().rposition(|m| !m.is("user"));
        answered.map_or(start, |last| (last + 1).max(start))
    } else {
        all.len()
    };
    let range = &all[start..end];
    let Some(cut) = find_cut(range, input.count("keep")) else {
        return Ok(Rewritten::default());
    };
    let history = &range[..cut.turn_start.unwrap_or(cut.first_kept)];
    let prefix = cut.turn_start.map(|start| &range[start..cut.first_kept]);
    let previous = previous.and_then(ChatMessage::text).and_then(summary_in);
    let reserve = input.number("reserve");
    let n_tries = if input.at == Hook::TurnStart { 2 } else { 1 };
    let mut log = Vec::new();
    for _ in 0..n_tries {
        let summary = summary(history, prefix, previous, reserve, replies)?;
        let mut summary = match summary {
            Ok(summary) => summary,
            Err(why) => {
                log.push(format!("Auto-compaction failed: {why}"));
                continue;
            }
        };
        let mut files = FileLists::from_memory(&input.memory);
        files.add(&range[..cut.first_kept]);
        summary.push_str(&files.text());
        let mut messages = all[..n_system].to_vec();
        let text = format!("{PREFIX}{summary}{SUFFIX}");
        messages.push(ChatMessage::summary("user", text));
        messages.extend_from_slice(&all[start + cut.first_kept..]);
        return Ok(Rewritten {
            messages: Some(messages),
            fired: true,
            log,
            memory: files.to_memory().into(),
            ..Rewritten::default()
        });
    }
    Ok(Rewritten { fired: true, log, ..Rewritten::default() })
}

/// Returns the summary in the message that a compaction wrote.
fn summary_in(text: &str) -> Option<&str> {
    text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// Requests the summary of the history and, at the same time, that of the beginning of a split turn. The inner error is a
/// failed request.
fn summary(
    history: &[ChatMessage],
    prefix: Option<&[ChatMessage]>,
    previous: Option<&str>,
    reserve: f64,
    replies: &mut Replies<'_>,
) -> Result<Result<String, String>, PendingRequest> {
    let mut ask = |request, failure: &str| {
        let text = replies.reply_to(request)?.into_text();
        let text = text.map(|text| text.to_string());
        Ok::<_, PendingRequest>(text.map_err(|why| format!("{failure}: {why}")))
    };
    let first = match prefix {
        Some(_) if history.is_empty() => Ok("No prior history.".to_owned()),
        _ => ask(request::history(history, previous, reserve), "Summarization failed")?,
    };
    let Some(prefix) = prefix else {
        return Ok(first);
    };
    let second = ask(request::turn_prefix(prefix, reserve), "Turn prefix summarization failed")?;
    Ok(first.and_then(|first| {
        let second = second?;
        let turn = "**Turn Context (split turn):**";
        Ok(format!("{first}\n\n---\n\n{turn}\n\n{second}"))
    }))
}

const BLANK: Rule = Rule::new("pi: blank answers");

/// `transformMessages` and the adapter of OpenAI's API: the messages of a request.
fn shape(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let is_blank = |m: &ChatMessage| {
        m.is("assistant") && m.calls().is_empty() && m.joined_text("").trim().is_empty()
    };
    let has_blank = all.weigh(BLANK, |message| u64::from(is_blank(message))) > 0;
    let sent = has_blank.then(|| {
        let sent = all.iter().filter(|message| !is_blank(message));
        Messages::from(sent.cloned().collect::<Vec<_>>())
    });
    let answered = add_missing(sent.as_ref().unwrap_or(all), NO_RESULT, ResultPosition::Last);
    Rewritten {
        messages: answered.or_else(|| sent.map(Messages::into_vec)),
        ..Rewritten::default()
    }
}
