//! Keyboard shortcuts, and their table for the help sheet.

use crate::app::command::Command;
use crate::app::manual_edits::marks::Mark;
use crate::app::messages::order::chosen;
use crate::app::state::Selection;
use egui::{Context, Key, Modifiers, Popup};

/// The state that shortcuts read.
pub(in crate::app) struct Place<'a> {
    /// The selection.
    pub(in crate::app) selection: &'a Selection,
    /// Messages in the table, in display order.
    pub(in crate::app) order: &'a [u32],
    /// Number of lanes.
    pub(in crate::app) lanes: usize,
}

/// The condition under which a shortcut works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Always, also while typing.
    Always,
    /// Only while no text is being typed and no menu is open.
    NotTyping,
    /// Additionally, no dialog is open.
    NoDialog,
    /// Additionally, a session is open.
    InDocument,
    /// Additionally, no control has the focus that could handle the key itself.
    Free,
    /// Handled elsewhere: by the plot or the focused control.
    Elsewhere,
}

/// A line of the help sheet with its key bindings.
struct Shortcut {
    keys: &'static str,
    what: &'static str,
    when: When,
    bindings: &'static [Binding],
}

/// A key with its modifiers and its command.
type Binding = (Modifiers, Key, fn(&Place<'_>) -> Option<Command>);

const NONE: Modifiers = Modifiers::NONE;
const COMMAND: Modifiers = Modifiers::COMMAND;

/// All shortcuts: listed on the help sheet and handled by [`commands`].
static SHORTCUTS: &[Shortcut] = &[
    Shortcut {
        keys: "Ctrl+O",
        what: "Open a session",
        when: When::Always,
        bindings: &[(COMMAND, Key::O, |_| Some(Command::OpenDialog))],
    },
    Shortcut {
        keys: "Ctrl+V",
        what: "Open the conversation in the clipboard",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Ctrl+E",
        what: "Export the focused lane",
        when: When::InDocument,
        bindings: &[(COMMAND, Key::E, |_| Some(Command::StartExport(None)))],
    },
    Shortcut {
        keys: "Ctrl+R",
        what: "Try settings of all lanes",
        when: When::InDocument,
        bindings: &[(COMMAND, Key::R, |_| Some(Command::StartSweep))],
    },
    Shortcut {
        keys: "Ctrl+Shift+Z   Ctrl+Y",
        what: "Redo",
        when: When::NotTyping,
        bindings: &[
            (COMMAND.plus(Modifiers::SHIFT), Key::Z, |_| {
                Some(Command::Redo)
            }),
            (COMMAND, Key::Y, |_| Some(Command::Redo)),
        ],
    },
    // After redo: a shortcut without Shift also matches the key with Shift.
    Shortcut {
        keys: "Ctrl+Z",
        what: "Undo",
        when: When::NotTyping,
        bindings: &[(COMMAND, Key::Z, |_| Some(Command::Undo))],
    },
    Shortcut {
        keys: "←   →",
        what: "Previous, next call (Shift: ten)",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Home   End",
        what: "First, last call",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "W   S",
        what: "Zoom the timeline in, out (or turn the wheel)",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "A   D",
        what: "Move the timeline left, right",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Space+drag",
        what: "Move the timeline (or drag with the middle button)",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Right drag",
        what: "Zoom into a part of the timeline",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "F",
        what: "Show the whole timeline (or double-click it)",
        when: When::Elsewhere,
        bindings: &[],
    },
    // Before the keys without Shift, which would match these as well.
    Shortcut {
        keys: "Shift+k   Shift+j",
        what: "Select more messages of the table",
        when: When::InDocument,
        bindings: &[
            (Modifiers::SHIFT, Key::K, |place| extend(place, -1)),
            (Modifiers::SHIFT, Key::J, |place| extend(place, 1)),
        ],
    },
    Shortcut {
        keys: "Shift+↑   Shift+↓",
        what: "Same as above when no control has focus",
        when: When::Free,
        bindings: &[
            (Modifiers::SHIFT, Key::ArrowUp, |place| extend(place, -1)),
            (Modifiers::SHIFT, Key::ArrowDown, |place| extend(place, 1)),
        ],
    },
    Shortcut {
        keys: "k   j",
        what: "Previous, next message of the table",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::K, |place| neighbor(place, -1)),
            (NONE, Key::J, |place| neighbor(place, 1)),
        ],
    },
    Shortcut {
        keys: "↑   ↓",
        what: "Same as above when no control has focus",
        when: When::Free,
        bindings: &[
            (NONE, Key::ArrowUp, |place| neighbor(place, -1)),
            (NONE, Key::ArrowDown, |place| neighbor(place, 1)),
        ],
    },
    Shortcut {
        keys: "↑   ↓   Enter",
        what: "In the list of sessions: move the highlight, open the session",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Alt+1 … 8",
        what: "Open a tab of the drawer",
        when: When::InDocument,
        bindings: &[
            (Modifiers::ALT, Key::Num1, |_| tab(0)),
            (Modifiers::ALT, Key::Num2, |_| tab(1)),
            (Modifiers::ALT, Key::Num3, |_| tab(2)),
            (Modifiers::ALT, Key::Num4, |_| tab(3)),
            (Modifiers::ALT, Key::Num5, |_| tab(4)),
            (Modifiers::ALT, Key::Num6, |_| tab(5)),
            (Modifiers::ALT, Key::Num7, |_| tab(6)),
            (Modifiers::ALT, Key::Num8, |_| tab(7)),
        ],
    },
    Shortcut {
        keys: "1 … 6",
        what: "Focus a lane",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::Num1, |place| focus(place, 0)),
            (NONE, Key::Num2, |place| focus(place, 1)),
            (NONE, Key::Num3, |place| focus(place, 2)),
            (NONE, Key::Num4, |place| focus(place, 3)),
            (NONE, Key::Num5, |place| focus(place, 4)),
            (NONE, Key::Num6, |place| focus(place, 5)),
        ],
    },
    Shortcut {
        keys: "R",
        what: "Add or remove a restart mark at this call",
        when: When::InDocument,
        bindings: &[(NONE, Key::R, |place| {
            Some(Command::ToggleRestart(place.selection.step))
        })],
    },
    Shortcut {
        keys: "P   C   X",
        what: "Pin, clear or drop messages, or undo that",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::P, |place| mark(place, Mark::Pinned)),
            (NONE, Key::C, |place| mark(place, Mark::Cleared)),
            (NONE, Key::X, |place| mark(place, Mark::Dropped)),
        ],
    },
    Shortcut {
        keys: "0",
        what: "Focus the recorded lane",
        when: When::InDocument,
        bindings: &[(NONE, Key::Num0, |_| Some(Command::FocusLane(None)))],
    },
    Shortcut {
        keys: "/",
        what: "Filter messages",
        when: When::InDocument,
        bindings: &[(NONE, Key::Slash, |_| Some(Command::FocusFilter))],
    },
    Shortcut {
        keys: "Esc",
        what: "Cancel a drag; close what is open, clear the filter, stop loading: one at a time",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "?",
        what: "This sheet",
        when: When::NoDialog,
        bindings: &[
            (NONE, Key::Questionmark, |_| Some(Command::ShowKeys(true))),
            (Modifiers::SHIFT, Key::Questionmark, |_| {
                Some(Command::ShowKeys(true))
            }),
        ],
    },
];

/// Returns the keys and descriptions of the help sheet.
pub(super) fn sheet() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHORTCUTS
        .iter()
        .map(|shortcut| (shortcut.keys, shortcut.what))
}

/// Returns the commands of the keys pressed in this frame. Returns none while you type or a menu is open. Keys that a
/// focused control handles (arrows) are left to it.
pub(in crate::app) fn commands(
    ctx: &Context,
    place: Option<Place<'_>>,
    is_dialog_open: bool,
) -> Vec<Command> {
    let is_typing = ctx.text_edit_focused() || Popup::is_any_open(ctx);
    let is_free = ctx.memory(|m| m.focused().is_none());
    let has_document = place.is_some();
    let nowhere = Selection::default();
    let place = place.unwrap_or(Place {
        selection: &nowhere,
        order: &[],
        lanes: 0,
    });
    let applies = |when: When| match when {
        When::Always => true,
        When::NotTyping => !is_typing,
        When::NoDialog => !is_typing && !is_dialog_open,
        When::InDocument => !is_typing && !is_dialog_open && has_document,
        When::Free => !is_typing && !is_dialog_open && has_document && is_free,
        When::Elsewhere => false,
    };
    let active = SHORTCUTS.iter().filter(|shortcut| applies(shortcut.when));
    active
        .flat_map(|shortcut| shortcut.bindings)
        .filter(|(modifiers, key, _)| ctx.input_mut(|i| i.consume_key(*modifiers, *key)))
        .filter_map(|(_, _, command)| command(&place))
        .collect()
}

fn focus(place: &Place<'_>, lane: usize) -> Option<Command> {
    (lane < place.lanes).then_some(Command::FocusLane(Some(lane)))
}

/// Returns the command for the drawer tab with this index.
fn tab(nth: usize) -> Option<Command> {
    super::drawer::tab_at(nth).map(Command::ShowTab)
}

fn mark(place: &Place<'_>, mark: Mark) -> Option<Command> {
    let messages = chosen(place.selection, place.order);
    (!messages.is_empty()).then_some(Command::ToggleMark(messages, mark))
}

/// Returns the message above or below the selected one in the table.
fn neighbor(place: &Place<'_>, by: isize) -> Option<Command> {
    beside(place, by).map(Command::SelectMessage)
}

/// Extends the selection to the message above or below.
fn extend(place: &Place<'_>, by: isize) -> Option<Command> {
    beside(place, by).map(Command::ExtendSelection)
}

fn beside(place: &Place<'_>, by: isize) -> Option<usize> {
    let at = place
        .selection
        .message
        .and_then(|m| place.order.iter().position(|o| *o as usize == m));
    let next = at.map_or(0, |at| {
        at.saturating_add_signed(by)
            .min(place.order.len().saturating_sub(1))
    });
    place.order.get(next).map(|message| *message as usize)
}
