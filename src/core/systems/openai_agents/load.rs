//! `SessionSettings.limit`: a turn begins with the newest items of the stored history.

use super::items::{edits, items, paired};
use super::turn::Turn;
use crate::chat::{ChatMessage, n_system};
use crate::engine::{ActionKind, MessageEdit, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::numbers_only;

/// A negative `limit` loads everything.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "openai_agents.load",
    ActionKind::Drop,
    "Loads only the newest stored items at the start of a turn. All stay stored.",
    |settings| numbers_only(settings, load_newest),
)
.with_numbers(&["limit"]);

fn load_newest(input: &RewriteInput<'_>) -> Rewritten {
    let all = &input.messages;
    let turn = Turn::of(input);
    let n_system = n_system(all);
    let history = &all[n_system..turn.start.max(n_system)];
    let mut edits = load(history, input.number("limit"));
    for edit in &mut edits {
        edit.at += n_system;
    }
    Rewritten { edits: edits.into(), repeats: !turn.begins(all), ..Rewritten::default() }
}

/// Returns what is missing of a history when only its newest items are loaded, up to a limit: older items, and the other
/// halves of pairs.
pub(super) fn load(history: &[ChatMessage], limit: f64) -> Vec<MessageEdit> {
    if limit < 0.0 {
        return Vec::new();
    }
    let items = items(history);
    let first = items.len().saturating_sub(limit as usize);
    if first == 0 {
        return Vec::new();
    }
    let stays = paired(&items[first..], history);
    edits(&items, history, |nth| nth >= first && stays[nth - first])
}
