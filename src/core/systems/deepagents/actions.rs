//! Actions of presets.

use super::arguments::{self, restored};
use super::call;
use super::clip::Clip;
use super::files::{offloaded, path};
use super::patch::patch;
use super::preview::{of_user_message, with_one_text};
use super::summarize::{CutArguments, Summarize};
use crate::engine::{ActionKind, MessageEdit, NamedAction, NewFile, RewriteInput, Rewritten};
use crate::json::json;
use crate::systems::stage_settings::{check_keys, joined, numbers_only, text_setting};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[
    OFFLOAD_RESULT,
    OFFLOAD_USER_MESSAGE,
    PATCH,
    CUT_ARGUMENTS,
    RESTORE_ARGUMENTS,
    SUMMARIZE,
    CLIP,
];

const OFFLOAD_RESULT: NamedAction = NamedAction::new(
    "deepagents.offload_result",
    ActionKind::Spill,
    "Moves a large tool result to a file and keeps its first and last lines.",
    |settings| numbers_only(settings, offload_result),
)
.with_numbers(&["max_tokens"]);

const OFFLOAD_USER_MESSAGE: NamedAction = NamedAction::new(
    "deepagents.offload_user_message",
    ActionKind::Spill,
    "Moves a large newest message of the user to a file and keeps its first and last lines.",
    |settings| numbers_only(settings, offload_user_message),
)
.with_numbers(&["max_tokens"]);

const PATCH: NamedAction = NamedAction::new(
    "deepagents.patch",
    ActionKind::Repair,
    "Adds a result to each call that has none.",
    |settings| numbers_only(settings, patch),
);

/// `truncation_text` follows the first characters of an argument (default: `...(argument truncated)`).
const CUT_ARGUMENTS: NamedAction = NamedAction::new(
    "deepagents.cut_arguments",
    ActionKind::Cut,
    "Cuts long arguments of old calls that write files, for the request only.",
    |settings| Ok(Arc::new(CutArguments { marker: marker(settings)? })),
)
.with_numbers(&const { joined::<11>(&[&call::NUMBERS, &arguments::NUMBERS]) });

const RESTORE_ARGUMENTS: NamedAction = NamedAction::new(
    "deepagents.restore_arguments",
    ActionKind::Cut,
    "Puts back the arguments that only the last request left out.",
    |settings| numbers_only(settings, restore_arguments),
);

/// Acts as `langchain.summarize`, above the budget, and after a rejection. `truncation_text` is that of
/// `deepagents.cut_arguments`.
const SUMMARIZE: NamedAction = NamedAction::new(
    "deepagents.summarize",
    ActionKind::Summarize,
    "Replaces everything but the newest messages with a summary, and moves them to a file.",
    |settings| Ok(Arc::new(Summarize { marker: marker(settings)? })),
)
.with_numbers(
    &const {
        joined::<19>(&[
            &call::NUMBERS,
            &arguments::NUMBERS,
            &[
                "trigger_tokens",
                "trigger_share",
                "trigger_messages",
                "needs_all",
                "keep_messages",
                "keep_tokens",
                "keep_share",
                "trim_tokens",
            ],
        ])
    },
);

const CLIP: NamedAction = NamedAction::new(
    "deepagents.clip",
    ActionKind::Spill,
    "Moves the results at the end of a request that is still too large to files.",
    |settings| Ok(Arc::new(Clip { marker: marker(settings)? })),
)
.with_numbers(&const { joined::<11>(&[&call::NUMBERS, &arguments::NUMBERS]) });

/// Characters of a token.
// As in deepagents 0.7.32, `NUM_CHARS_PER_TOKEN` (`middleware/filesystem.py`).
const TOKEN_CHARS: usize = 4;
/// Tools whose results are never moved.
const EXCLUDED: [&str; 7] =
    ["ls", "glob", "grep", "read_file", "edit_file", "write_file", "delete"];
/// Key of the number of moved messages of the user, in memory.
const N_MOVED: &str = "deepagents_moved";

fn marker(settings: &toml::Table) -> Result<String, String> {
    check_keys(settings, &["truncation_text"])?;
    let given = text_setting(settings, "truncation_text")?;
    Ok(given.unwrap_or("...(argument truncated)").to_owned())
}

fn offload_result(input: &RewriteInput<'_>) -> Rewritten {
    let mut done = Rewritten::default();
    for (at, result) in input.messages.iter().enumerate() {
        let tool = result.name.as_deref().unwrap_or_default();
        let is_large = exceeds(&result.joined_text("\n"), input);
        if !result.is("tool") || EXCLUDED.contains(&tool) || !is_large {
            continue;
        }
        if let Some((now, file)) = offloaded(input.storage, result) {
            done.edits.list_mut().push(MessageEdit { at, now: Some(now) });
            done.files.push(file);
        }
    }
    done.fired = !done.edits.is_empty();
    done
}

/// Returns whether a text is larger than `max_tokens`; 0 is no limit.
fn exceeds(text: &str, input: &RewriteInput<'_>) -> bool {
    let max_chars = TOKEN_CHARS * input.count("max_tokens");
    max_chars > 0 && text.len() > max_chars && text.chars().nth(max_chars).is_some()
}

fn offload_user_message(input: &RewriteInput<'_>) -> Rewritten {
    let newest = input.messages.last();
    let newest = newest.filter(|m| m.is("user") && m.written.is_none());
    let text = newest.map(|newest| newest.joined_text("\n").into_owned());
    let Some((newest, text)) = newest.zip(text.filter(|text| exceeds(text, input))) else {
        return Rewritten::default();
    };
    // Each message has an id of its own.
    let nth = input.memory[N_MOVED].as_u64().unwrap_or(0) + 1;
    let name = format!("conversation_history/00000000-0000-0000-0000-{nth:012}.md");
    let Some(path) = path(input.storage, &name) else {
        return Rewritten::default();
    };
    let now = with_one_text(newest, of_user_message(&path, &text));
    let at = input.messages.len() - 1;
    Rewritten {
        edits: vec![MessageEdit { at, now: Some(now) }].into(),
        files: vec![NewFile::text(name, text)],
        fired: true,
        memory: json!({N_MOVED: nth}).into(),
        ..Rewritten::default()
    }
}

fn restore_arguments(input: &RewriteInput<'_>) -> Rewritten {
    Rewritten::edited(restored(input))
}
