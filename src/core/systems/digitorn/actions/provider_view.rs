//! The messages sent to the provider: without orphans and old thoughts. The store is unchanged.

use super::super::provider_view::repairs;
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::numbers_only;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "digitorn.provider_view",
    ActionKind::Repair,
    "Leaves unanswered calls, results without a call and <think> blocks out of a request.",
    |settings| numbers_only(settings, provider_view),
);

fn provider_view(input: &RewriteInput<'_>) -> Rewritten {
    let edits = repairs(&input.messages);
    let dropped = edits.iter().filter(|edit| edit.now.is_none()).count();
    Rewritten {
        edits: edits.into(),
        terms: super::terms(&[("messages_left_out", dropped as f64)]),
        ..Rewritten::default()
    }
}
