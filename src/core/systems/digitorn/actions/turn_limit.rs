//! Asks the model to finish shortly before its turns run out.

use super::super::turn_limit::turn_limit_warning;
use super::hooks::calls_of_turn;
use super::terms;
use crate::engine::{ActionKind, NamedAction, RewriteInput, Rewritten};
use crate::systems::stage_settings::numbers_only;

pub(super) const ACTION: NamedAction = NamedAction::new(
    "digitorn.turn_limit",
    ActionKind::Inject,
    "Two calls before a turn's limit, asks the model to stop calling tools.",
    |settings| numbers_only(settings, warn_of_limit),
)
.with_numbers(&["max_turns"]);

fn warn_of_limit(input: &RewriteInput<'_>) -> Rewritten {
    let turn = i64::from(input.call_in_turn);
    let max_turns = input.number("max_turns") as i64;
    let tool_calls = calls_of_turn(&input.messages);
    let warning = turn_limit_warning(turn, max_turns, tool_calls);
    let is_near = warning.is_some();
    Rewritten {
        messages: warning.map(|warning| {
            let mut messages = input.messages.to_vec();
            messages.push(warning);
            messages
        }),
        fired: is_near,
        terms: terms(&[("turn", turn as f64), ("max_turns", max_turns as f64)]),
        ..Rewritten::default()
    }
}
