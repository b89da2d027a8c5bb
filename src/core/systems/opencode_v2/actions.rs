//! Actions of presets.

use super::bound::bounded;
use super::checkpoint::History;
use super::record::{parts, tokens, units};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest, n_system};
use crate::engine::{
    ActionKind, Hook, MessageEdit, NamedAction, NewFile, RewriteInput, Rewritten, Storage,
    short_name,
};
use crate::languages::javascript::length;
use crate::systems::stage_settings::{numbers_only, summarizing};

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[BOUND, COMPACT];

const BOUND: NamedAction = NamedAction::new(
    "opencode_v2.bound",
    ActionKind::Spill,
    "Moves long tool results to a file and keeps their ends.",
    |settings| numbers_only(settings, bound_results),
)
.with_numbers(&["max_lines", "max_bytes"]);

/// Acts above the window without the answer or the buffer, whichever is larger.
const COMPACT: NamedAction = NamedAction::new(
    "opencode_v2.compact",
    ActionKind::Summarize,
    "Replaces the whole history with one message: a summary, and the newest messages as text.",
    |settings| summarizing(settings, compact),
)
.with_numbers(&["tools_tokens", "max_output", "buffer", "keep", "is_on"]);

/// Maximum answer to a summary request.
// As in opencode-ai 1.18.33, `SessionCompaction` of `packages/core`.
const MAX_ANSWER: u64 = 4_096;

fn compact(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let max_output = input.count("max_output") as u64;
    let reserve = max_output.max(input.count("buffer") as u64);
    let used = tokens(units(all) + 4 * input.count("tools_tokens"));
    let mut done = Rewritten::counted(used);
    let is_due = input.at == Hook::OverflowError
        || input.flag("is_on") && used > input.window.saturating_sub(reserve);
    if !is_due {
        return Ok(done);
    }
    let (system, history) = all.split_at(n_system(all));
    let Some(history) = History::of(history, input.count("keep") as u64) else {
        return Ok(done);
    };
    let question = history.question();
    let max_tokens = match max_output {
        0 => MAX_ANSWER,
        max_output => max_output.min(MAX_ANSWER),
    };
    if tokens(length(&question)) > input.window.saturating_sub(max_tokens) {
        return Ok(done);
    }
    done.fired = true;
    let request = SummaryRequest {
        messages: vec![ChatMessage::new("user", question)],
        with_tools: false,
        max_tokens: Some(max_tokens),
    };
    // Without a summary, the request is sent as it is.
    if let SummaryReply::Text(summary) = replies.reply_to(request)?
        && !summary.trim().is_empty()
    {
        let mut messages = system.to_vec();
        messages.push(history.checkpoint(&summary));
        done.messages = Some(messages);
    }
    Ok(done)
}

/// `ToolOutputStore.bound`. Joins the texts of a result that is too long.
fn bound_results(input: &RewriteInput<'_>) -> Rewritten {
    let (max_lines, max_bytes) = (input.count("max_lines"), input.count("max_bytes"));
    let (mut edits, mut files) = (Vec::new(), Vec::new());
    for (at, message) in input.messages.iter().enumerate() {
        if !message.is("tool") {
            continue;
        }
        let text = message.joined_text("\n");
        let (output, exit) = parts(&text);
        let text = format!("{output}{}", exit.unwrap_or_default());
        let id = message.call_id.as_deref().unwrap_or_default();
        let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = short_name(format!("tool_{id}"));
        let path = match input.storage {
            Storage::Folder(folder) => format!("{folder}/{name}"),
            Storage::AsSet | Storage::Missing => {
                format!("~/.local/share/opencode/tool-output/{name}")
            }
        };
        if let Some(cut) = bounded(&text, max_lines, max_bytes, &path) {
            let now = Some(message.with_text(cut));
            edits.push(MessageEdit { at, now });
            files.push(NewFile::text(name, text));
        }
    }
    Rewritten { files, ..Rewritten::edited(edits) }
}
