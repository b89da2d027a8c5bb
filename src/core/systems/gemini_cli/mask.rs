//! Masking of old tool results: a preview with the path of a file takes their place.

use super::contents::{contents, estimated_tokens, tools};
use super::output_file::path;
use crate::chat::{ChatMessage, Rule};
use crate::engine::Storage;
use crate::json::json;
use crate::languages::javascript::{first_units, last_units, length};

/// Tools whose results are never masked.
const EXEMPT: [&str; 4] = ["activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"];
const SHELL: &str = "run_shell_command";
const TAG: &str = "tool_output_masked";
/// UTF-16 units of a preview that is shown whole, and of each end of a longer one.
// The numbers of this file are those of gemini-cli-core 0.61.0, `context/toolOutputMaskingService.js`.
const PREVIEW: usize = 500;
const PREVIEW_END: usize = 250;
/// Lines of each end of the preview of a shell result.
const SHELL_LINES: usize = 10;

/// A masked result.
pub(super) struct Masked {
    /// Its position in the history.
    pub(super) at: usize,
    /// The message afterwards.
    pub(super) now: ChatMessage,
    /// Name of the file with the whole result, and its text.
    pub(super) file: (String, String),
}

/// `ToolOutputMaskingService.mask`: returns the results to mask in a history, those beyond the newest `protect` tokens of results, if they have at
/// least `minimum`. The newest content is not looked at.
pub(super) fn mask(
    history: &[ChatMessage],
    protect: u64,
    minimum: u64,
    storage: &Storage,
) -> Vec<Masked> {
    let tools = tools(history);
    let newest = contents(history).last().map_or(0, |content| content.start);
    let (mut sum, mut prunable) = (0, 0);
    let mut old = Vec::new();
    for at in (0..newest).rev() {
        let message = &history[at];
        let id = message.call_id.as_deref().unwrap_or_default();
        let tool = tools.get(id).copied().unwrap_or_default();
        if !message.is("tool") || EXEMPT.contains(&tool) || !has_whole_text(message) {
            continue;
        }
        let tokens = estimated_tokens(&history[at..=at], &tools);
        sum += tokens;
        if sum > protect {
            prunable += tokens;
            old.push((at, tool, id, tokens));
        }
    }
    if old.is_empty() || prunable < minimum {
        return Vec::new();
    }
    old.reverse();
    let masked = old.into_iter().filter_map(|(at, tool, id, tokens)| {
        let text = history[at].joined_text("\n").into_owned();
        let name = format!("{tool}_{id}.txt");
        let preview = if tool == SHELL { shell_preview(&text) } else { preview(&text) };
        let masked = |storage: &Storage| {
            let path = path(storage, &name);
            history[at].with_text(format!(
                "<{TAG}>\n{preview}\n\nOutput too large. Full output available at: {path}\n</{TAG}>"
            ))
        };
        // Whether a result is masked does not depend on the folder that an export writes to.
        let is_smaller = estimated_tokens(&[masked(&Storage::AsSet)], &tools) < tokens;
        let now = masked(storage);
        let file = (name, text);
        is_smaller.then_some(Masked { at, now, file })
    });
    masked.collect()
}

const WHOLE_TEXT: Rule = Rule::new("gemini_cli: whole text");

/// Returns whether a result has a text that is not masked.
fn has_whole_text(message: &ChatMessage) -> bool {
    let has_text = |message: &ChatMessage| {
        let text = message.joined_text("\n").into_owned();
        u64::from(!text.is_empty() && !text.contains(&format!("<{TAG}>")))
    };
    message.weigh(WHOLE_TEXT, has_text) > 0
}

fn preview(text: &str) -> String {
    let json = format!("{:#}", json!({"output": text}));
    if length(&json) <= PREVIEW {
        return json;
    }
    let (start, end) = (first_units(&json, PREVIEW_END), last_units(&json, PREVIEW_END));
    format!("{start}\n... [TRUNCATED] ...\n{end}")
}

fn shell_preview(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let omitted = lines.len().saturating_sub(2 * SHELL_LINES);
    if omitted == 0 {
        return text.to_owned();
    }
    let start = lines[..SHELL_LINES].join("\n");
    let end = lines[lines.len() - SHELL_LINES..].join("\n");
    format!("{start}\n\n... [{omitted} lines omitted] ...\n\n{end}")
}
