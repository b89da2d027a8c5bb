//! Actions of presets.

use super::compress::{Compressed, compress};
use super::contents::{estimated_tokens, tools};
use super::mask::mask;
use super::output_file::{file_name, path};
use super::truncate::{applies_to, truncate};
use crate::chat::{ChatMessage, PendingRequest, Replies, first_pending, n_system};
use crate::engine::{
    ActionKind, MessageEdit, NamedAction, NewFile, Rewrite, RewriteInput, Rewritten,
};
use crate::json::json;
use crate::systems::stage_settings::{check_keys, names_setting, numbers_only, summarizing};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[COMPRESS, GUARD, MASK, TRUNCATE];

/// Acts from `trigger` tokens on.
const COMPRESS: NamedAction = NamedAction::new(
    "gemini_cli.compress",
    ActionKind::Summarize,
    "Summarizes about seven tenths of the history, cut at a user message, with two requests.",
    |settings| summarizing(settings, compress_history),
)
.with_numbers(&["reported_input", "trigger"]);

const GUARD: NamedAction = NamedAction::new(
    "gemini_cli.guard",
    ActionKind::Log,
    "Ends the run if the request is larger than what the last count leaves of the window.",
    |settings| numbers_only(settings, guard),
);

const MASK: NamedAction = NamedAction::new(
    "gemini_cli.mask",
    ActionKind::Spill,
    "Moves old tool results to files and keeps a preview of each.",
    |settings| numbers_only(settings, mask_results),
)
.with_numbers(&["protect", "minimum"]);

const TRUNCATE: NamedAction = NamedAction::new(
    "gemini_cli.truncate",
    ActionKind::Spill,
    "Moves long outputs of shell and MCP tools to a file and keeps their start and end.",
    |settings| {
        check_keys(settings, &["also"])?;
        let also = names_setting(settings, "also")?.unwrap_or_default();
        Ok(Arc::new(Truncate { also }))
    },
)
.with_numbers(&["max_chars"]);

/// Status of a compression whose result is larger than the history.
const INFLATED: &str = "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT";

/// Key of the count that is compared with the trigger, in memory.
const COUNT: &str = "gemini_cli_count";
/// Key of whether a compression saved nothing, in memory.
const HAS_FAILED: &str = "gemini_cli_has_failed";

/// Returns the number of instructions and the end of the history.
fn history_of(all: &[ChatMessage]) -> (usize, usize) {
    let n_system = n_system(all);
    (n_system, first_pending(all).max(n_system))
}

fn compress_history(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let all = &input.messages;
    let (start, end) = history_of(all);
    let history = &all[start..end];
    let count = match input.count("reported_input") as u64 {
        0 => input.memory[COUNT].as_u64(),
        reported => Some(reported),
    };
    let count = count.unwrap_or_else(|| estimated_tokens(history, &tools(history)));
    let unchanged = Rewritten {
        compared: Some(count),
        terms: vec![("last_input".to_owned(), count as f64)],
        memory: json!({COUNT: count}).into(),
        ..Rewritten::default()
    };
    let has_failed = input.memory[HAS_FAILED] == true;
    if (count as f64) < input.number("trigger") || has_failed {
        return Ok(unchanged);
    }
    Ok(match compress(history, replies)? {
        Compressed::Nothing => unchanged,
        Compressed::Failed(why) => Rewritten { fired: true, log: vec![why], ..unchanged },
        Compressed::History(_, tokens) if tokens > count => Rewritten {
            fired: true,
            log: vec![INFLATED.to_owned()],
            memory: json!({COUNT: count, HAS_FAILED: true}).into(),
            ..unchanged
        },
        Compressed::History(new, tokens) => {
            let mut messages = all[..start].to_vec();
            messages.extend(new);
            messages.extend_from_slice(&all[end..]);
            Rewritten {
                messages: Some(messages),
                fired: true,
                memory: json!({COUNT: tokens}).into(),
                ..unchanged
            }
        }
    })
}

/// `sendMessageStream`: a request above what the last count leaves of the window is not sent.
fn guard(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let (_, end) = history_of(all);
    let request = estimated_tokens(&all[end..], &tools(all));
    let left = input.window.saturating_sub(input.memory[COUNT].as_u64().unwrap_or(0));
    if request <= left {
        return Rewritten::default();
    }
    Rewritten::default().stopped_by(format!(
        "ContextWindowWillOverflow: the request is estimated at {request}, {left} are left"
    ))
}

fn mask_results(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let (start, end) = history_of(all);
    let (protect, minimum) = (input.count("protect"), input.count("minimum"));
    let history = &all[start..end];
    let masked = mask(history, protect as u64, minimum as u64, input.storage);
    if masked.is_empty() {
        return Rewritten::default();
    }
    let mut after = history.to_vec();
    let (mut edits, mut files) = (Vec::new(), Vec::new());
    for result in masked {
        after[result.at] = result.now.clone();
        edits.push(MessageEdit { at: start + result.at, now: Some(result.now) });
        files.push(NewFile::text(file_name(&result.file.0), result.file.1));
    }
    let tokens = estimated_tokens(&after, &tools(all));
    Rewritten { files, memory: json!({COUNT: tokens}).into(), ..Rewritten::edited(edits) }
}

/// Results of `also` are treated as those of shell tools: names that other agents use.
#[derive(Debug)]
struct Truncate {
    also: Vec<String>,
}

impl Rewrite for Truncate {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        // The count is one call late: the newest answer's usage is read afterwards.
        let count = input.memory[COUNT].as_f64().unwrap_or(0.0);
        let left = 4.0 * (input.window as f64 - count);
        let limit = input.number("max_chars").min(left).max(0.0) as usize;
        let (mut edits, mut files) = (Vec::new(), Vec::new());
        for (at, message) in input.messages.iter().enumerate() {
            let tool = message.name.as_deref().unwrap_or_default();
            let applies = applies_to(tool) || self.also.iter().any(|name| name == tool);
            if !message.is("tool") || !applies {
                continue;
            }
            let text = message.joined_text("\n").into_owned();
            let id = message.call_id.as_deref().unwrap_or_default();
            let name = format!("{tool}_{id}.txt");
            if let Some(cut) = truncate(&text, limit, &path(input.storage, &name)) {
                let now = Some(message.with_text(cut));
                edits.push(MessageEdit { at, now });
                files.push(NewFile::text(file_name(&name), text));
            }
        }
        Ok(Rewritten { files, ..Rewritten::edited(edits) })
    }
}
