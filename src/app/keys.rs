//! Keyboard shortcuts, and the table from which the sheet of shortcuts is shown.

use super::command::Command;
use super::state::{MAX_LANES, Selection};
use egui::{Context, Key, Modifiers};

/// What keys act upon.
pub(super) struct Place<'a> {
    /// What is selected.
    pub(super) selection: &'a Selection,
    /// Messages in the table, in its order.
    pub(super) order: &'a [u32],
    /// Number of lanes.
    pub(super) lanes: usize,
}

/// Every shortcut and what it does, as the sheet shows them.
pub(super) static SHEET: &[(&str, &str)] = &[
    ("Ctrl+O", "Open a session"),
    ("Ctrl+E", "Export the focused lane"),
    ("Ctrl+Z  ·  Ctrl+Shift+Z", "Undo  ·  redo"),
    ("←  →", "Previous, next call (Shift: ten)"),
    ("Home  End", "First, last call"),
    ("↑  ↓   or   k  j", "Previous, next message of the table"),
    ("1 … 6", "Focus a lane"),
    ("0", "Focus what was recorded"),
    ("/", "Filter messages"),
    ("F", "Show the whole timeline"),
    ("Esc", "Close a dialog, leave a field"),
    ("?", "This sheet"),
];

/// What the keys pressed in this frame ask for. Nothing while a text is being typed; what a focused control
/// understands itself (arrows) stays its own.
pub(super) fn commands(
    ctx: &Context,
    place: Option<Place<'_>>,
    is_dialog_open: bool,
) -> Vec<Command> {
    let mut asked = Vec::new();
    let mut on = |modifiers: Modifiers, key: Key, command: Command| {
        if ctx.input_mut(|i| i.consume_key(modifiers, key)) {
            asked.push(command);
        }
    };
    on(Modifiers::COMMAND, Key::O, Command::OpenDialog);
    if ctx.text_edit_focused() {
        return asked;
    }
    on(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z, Command::Redo);
    on(Modifiers::COMMAND, Key::Y, Command::Redo);
    on(Modifiers::COMMAND, Key::Z, Command::Undo);
    if is_dialog_open {
        return asked;
    }
    if ctx.input_mut(|i| {
        i.consume_key(Modifiers::NONE, Key::Questionmark)
            || i.consume_key(Modifiers::SHIFT, Key::Questionmark)
    }) {
        asked.push(Command::ShowKeys(true));
    }
    if let Some(place) = place {
        let is_free = ctx.memory(|m| m.focused().is_none());
        asked.extend(in_document(ctx, &place, is_free));
    }
    asked
}

fn in_document(ctx: &Context, place: &Place<'_>, is_free: bool) -> Vec<Command> {
    let mut asked = Vec::new();
    let mut on = |modifiers: Modifiers, key: Key, command: Command| {
        if ctx.input_mut(|i| i.consume_key(modifiers, key)) {
            asked.push(command);
        }
    };
    on(Modifiers::COMMAND, Key::E, Command::StartExport(None));
    on(Modifiers::NONE, Key::Slash, Command::FocusFilter);
    on(Modifiers::NONE, Key::Num0, Command::FocusLane(None));
    let digits = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
    ];
    for (lane, key) in digits
        .into_iter()
        .enumerate()
        .take(place.lanes.min(MAX_LANES))
    {
        on(Modifiers::NONE, key, Command::FocusLane(Some(lane)));
    }
    for (key, by) in [(Key::K, -1), (Key::J, 1)] {
        on(Modifiers::NONE, key, neighbor(place, by));
    }
    if !is_free {
        return asked;
    }
    on(Modifiers::NONE, Key::ArrowUp, neighbor(place, -1));
    on(Modifiers::NONE, Key::ArrowDown, neighbor(place, 1));
    asked
}

/// The message above or below the selected one in the table.
fn neighbor(place: &Place<'_>, by: isize) -> Command {
    let at = place
        .selection
        .message
        .and_then(|m| place.order.iter().position(|o| *o as usize == m));
    let next = at.map_or(0, |at| {
        at.saturating_add_signed(by)
            .min(place.order.len().saturating_sub(1))
    });
    Command::SelectMessage(place.order.get(next).map_or(0, |m| *m as usize))
}
