//! Actions of presets.

use super::request::summary_request;
use super::tail::first_kept;
use super::truncate::truncate;
use super::units::rounded_quarter;
use crate::chat::{ChatMessage, PendingRequest, Replies, n_system};
use crate::engine::{
    ActionKind, Hook, MessageEdit, NamedAction, NewFile, RewriteInput, Rewritten, Storage,
    short_name,
};
use crate::languages::javascript::length;
use crate::session::WrittenKind;
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPACT, PRUNE, TRUNCATE];

const COMPACT: NamedAction = NamedAction::new(
    "opencode.compact",
    ActionKind::Summarize,
    "Summarizes everything but the newest messages within a budget, and continues in the user's name.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["keep", "max_tokens"]);

const PRUNE: NamedAction = NamedAction::new(
    "opencode.prune",
    ActionKind::Clear,
    "Clears old tool results beyond the protected tokens when a turn has ended.",
    |settings| numbers_only(settings, prune),
)
.with_numbers(&["protect", "minimum", "spare_turns"]);

const TRUNCATE: NamedAction = NamedAction::new(
    "opencode.truncate",
    ActionKind::Spill,
    "Moves long tool results to a file and keeps their first lines.",
    |settings| numbers_only(settings, truncate_results),
)
.with_numbers(&["max_lines", "max_bytes"]);

const QUESTION: &str = "What did we do so far?";
const CONTINUE: &str = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";
const MARKER: &str = "[Old tool result content cleared]";
/// Tools whose results are never cleared.
const PROTECTED_TOOLS: [&str; 1] = ["skill"];

/// `SessionCompaction.process`. The newest user message is not part of it: the program looks at its context right after each answer. After a
/// rejected request, that message is replayed at the end.
fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let n_system = n_system(all);
    let is_summary = |m: &ChatMessage| m.written == Some(WrittenKind::Summary);
    let prior = all.iter().rposition(is_summary);
    let start = prior.map_or(n_system, |prior| prior + 1);
    let answered = all.iter().rposition(|m| !m.is("user") && !m.is("system"));
    let answered = answered.map_or(start, |last| (last + 1).max(start));
    let is_rejected = input.at == Hook::OverflowError;
    let newest_user = all[start..].iter().rposition(|m| m.is("user") && m.written.is_none());
    let replayed = newest_user.map(|idx| start + idx).filter(|idx| is_rejected && *idx > start);
    let end = match replayed {
        Some(user) => user,
        None if is_rejected => all.len(),
        None => answered,
    };
    let range = &all[start..end];
    let kept = match (is_rejected, replayed) {
        (true, None) => range.len(),
        _ => first_kept(range, input.count("keep")),
    };
    if kept == 0 {
        return Ok(Rewritten::default());
    }
    let prior = prior.and_then(|prior| all[prior].text());
    let max_tokens = input.number("max_tokens").max(1.0) as u64;
    let request = summary_request(&range[..kept], prior, max_tokens);
    let summary = match replies.reply_to(request)?.into_text() {
        Ok(summary) => summary,
        Err(why) => {
            return Ok(Rewritten { fired: true, log: vec![why], ..Rewritten::default() });
        }
    };
    let mut messages = all[..n_system].to_vec();
    messages.push(ChatMessage::notice("user", QUESTION));
    messages.push(ChatMessage::summary("assistant", summary));
    messages.extend_from_slice(&range[kept..]);
    if let Some(user) = replayed {
        messages.extend_from_slice(&all[user..]);
    } else {
        messages.push(ChatMessage::notice("user", CONTINUE));
        messages.extend_from_slice(&all[end..]);
    }
    Ok(Rewritten { messages: Some(messages), fired: true, ..Rewritten::default() })
}

/// `SessionCompaction.prune`.
fn prune(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let (protect, minimum) = (input.count("protect"), input.count("minimum"));
    let ended = all.iter().rposition(|m| !m.is("user")).map_or(0, |last| last + 1);
    let (mut n_users, mut sum, mut pruned) = (0, 0, 0);
    let mut edits = Vec::new();
    for (at, message) in all[..ended].iter().enumerate().rev() {
        n_users += usize::from(message.is("user"));
        if n_users < input.count("spare_turns") {
            continue;
        }
        if message.written == Some(WrittenKind::Summary) {
            break;
        }
        if !message.is("tool") || is_protected(all, message) {
            continue;
        }
        let text = message.joined_text("\n");
        if text == MARKER {
            break;
        }
        let tokens = rounded_quarter(length(&text));
        sum += tokens;
        if sum > protect {
            pruned += tokens;
            let now = Some(message.with_text(MARKER));
            edits.push(MessageEdit { at, now });
        }
    }
    edits.reverse();
    if pruned > minimum {
        Rewritten { fired: true, edits: edits.into(), ..Rewritten::default() }
    } else {
        Rewritten::default()
    }
}

/// Returns whether a result belongs to a protected tool.
fn is_protected(all: &[ChatMessage], result: &ChatMessage) -> bool {
    let calls = all.iter().flat_map(ChatMessage::calls);
    let mut own = calls.filter(|call| call.id == result.call_id);
    own.any(|call| PROTECTED_TOOLS.contains(&call.tool()))
}

fn truncate_results(input: &RewriteInput<'_>) -> Rewritten {
    let (max_lines, max_bytes) = (input.count("max_lines"), input.count("max_bytes"));
    let (mut edits, mut files) = (Vec::new(), Vec::new());
    for (at, message) in input.messages.iter().enumerate() {
        if !message.is("tool") {
            continue;
        }
        let text = message.joined_text("\n");
        let id = message.call_id.as_deref().unwrap_or_default();
        let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = short_name(format!("tool_{id}"));
        let path = match input.storage {
            Storage::Folder(folder) => format!("{folder}/{name}"),
            Storage::AsSet | Storage::Missing => {
                format!("~/.local/share/opencode/tool-output/{name}")
            }
        };
        if let Some(cut) = truncate(&text, max_lines, max_bytes, &path) {
            let now = Some(message.with_text(cut));
            edits.push(MessageEdit { at, now });
            files.push(NewFile::text(name, text));
        }
    }
    Rewritten { files, ..Rewritten::edited(edits) }
}
