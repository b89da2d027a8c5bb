//! The table of keyboard shortcuts.

use super::command::ShellCommand;
use super::keys::KeyContext;
use crate::app::command::Command;
use crate::app::command_palette::state::PaletteCommand;
use crate::app::export::command::ExportCommand;
use crate::app::manual_edits::marks::{Mark, MarkCommand};
use crate::app::messages::order::chosen;
use crate::app::messages::state::MessagesCommand;
use crate::app::open::command::OpenCommand;
use crate::app::selection::{Landmark, SelectCommand};
use crate::app::settings_panel::command::SettingsCommand;
use crate::app::tabs::command::TabsCommand;
use crate::app::tune::command::TuneCommand;
use egui::{Key, Modifiers};

/// The condition under which a shortcut works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Always, also while typing.
    Always,
    /// Only while no text is being typed and no menu is open.
    NotTyping,
    /// Additionally, no dialog is open.
    NoDialog,
    /// Additionally, a session is open.
    InDocument,
    /// A session is open and no dialog, also while typing.
    InDocumentOrTyping,
    /// Additionally to [`When::InDocument`], no control has the focus that could handle the key itself.
    Free,
    /// Handled elsewhere: by the plot or the focused control.
    Elsewhere,
}

/// A line of the help sheet with its key bindings.
pub(super) struct Shortcut {
    /// Its keys; empty for other keys of the row above.
    pub(super) keys: &'static str,
    pub(super) what: &'static str,
    pub(super) when: When,
    pub(super) bindings: &'static [Binding],
}

/// A key with its modifiers and its command.
pub(super) type Binding = (Modifiers, Key, fn(&KeyContext<'_>) -> Option<Command>);

const NONE: Modifiers = Modifiers::NONE;
const COMMAND: Modifiers = Modifiers::COMMAND;

/// All shortcuts: listed on the help sheet and handled by [`commands`].
pub(super) static SHORTCUTS: &[Shortcut] = &[
    Shortcut {
        keys: "Ctrl+O",
        what: "Open a session",
        when: When::Always,
        bindings: &[(COMMAND, Key::O, |_| send(OpenCommand::ShowDialog))],
    },
    Shortcut {
        keys: "Ctrl+T",
        what: "New session tab (Ctrl+click opens a session in one)",
        when: When::Always,
        bindings: &[(COMMAND, Key::T, |_| send(TabsCommand::New))],
    },
    Shortcut {
        keys: "Ctrl+W",
        what: "Close the session tab",
        when: When::Always,
        bindings: &[(COMMAND, Key::W, |_| send(TabsCommand::Close(None)))],
    },
    // Before the keys without Shift, which would match these as well.
    Shortcut {
        keys: "Ctrl+Shift+Tab",
        what: "Previous session tab (or Ctrl+PageUp)",
        when: When::Always,
        bindings: &[
            (COMMAND.plus(Modifiers::SHIFT), Key::Tab, |_| step(true)),
            (COMMAND, Key::PageUp, |_| step(true)),
        ],
    },
    Shortcut {
        keys: "Ctrl+Tab",
        what: "Next session tab (or Ctrl+PageDown)",
        when: When::Always,
        bindings: &[
            (COMMAND, Key::Tab, |_| step(false)),
            (COMMAND, Key::PageDown, |_| step(false)),
        ],
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
        bindings: &[(COMMAND, Key::E, |_| send(ExportCommand::Start(None)))],
    },
    Shortcut {
        keys: "Ctrl+R",
        what: "Try settings of all lanes",
        when: When::InDocument,
        bindings: &[(COMMAND, Key::R, |_| send(TuneCommand::Start))],
    },
    Shortcut {
        keys: "Ctrl+Shift+Z   Ctrl+Y",
        what: "Redo",
        when: When::NotTyping,
        bindings: &[
            (COMMAND.plus(Modifiers::SHIFT), Key::Z, |_| {
                send(ShellCommand::Redo)
            }),
            (COMMAND, Key::Y, |_| send(ShellCommand::Redo)),
        ],
    },
    // After redo: a shortcut without Shift also matches the key with Shift.
    Shortcut {
        keys: "Ctrl+Z",
        what: "Undo",
        when: When::NotTyping,
        bindings: &[(COMMAND, Key::Z, |_| send(ShellCommand::Undo))],
    },
    Shortcut {
        keys: "←   →",
        what: "Previous, next call (Ctrl: ten)",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Shift+←   Shift+→",
        what: "Select a range of calls (or drag over the timeline)",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Z",
        what: "Zoom the timeline to the selected calls",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Ctrl+click",
        what: "In the timeline: compare a call with the selected one",
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
            (Modifiers::SHIFT, Key::K, |context| extend(context, -1)),
            (Modifiers::SHIFT, Key::J, |context| extend(context, 1)),
        ],
    },
    Shortcut {
        keys: "Shift+↑   Shift+↓",
        what: "Same as above when no control has focus",
        when: When::Free,
        bindings: &[
            (Modifiers::SHIFT, Key::ArrowUp, |context| {
                extend(context, -1)
            }),
            (Modifiers::SHIFT, Key::ArrowDown, |context| {
                extend(context, 1)
            }),
        ],
    },
    Shortcut {
        keys: "k   j",
        what: "Previous, next message of the table",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::K, |context| neighbor(context, -1)),
            (NONE, Key::J, |context| neighbor(context, 1)),
        ],
    },
    Shortcut {
        keys: "↑   ↓",
        what: "Same as above when no control has focus",
        when: When::Free,
        bindings: &[
            (NONE, Key::ArrowUp, |context| neighbor(context, -1)),
            (NONE, Key::ArrowDown, |context| neighbor(context, 1)),
        ],
    },
    Shortcut {
        keys: "↑   ↓   Enter",
        what: "In the list of sessions: move the highlight, open the session",
        when: When::Elsewhere,
        bindings: &[],
    },
    Shortcut {
        keys: "Alt+1 … 9",
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
            (Modifiers::ALT, Key::Num9, |_| tab(8)),
        ],
    },
    Shortcut {
        keys: "1 … 6",
        what: "Focus a lane",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::Num1, |context| focus(context, 0)),
            (NONE, Key::Num2, |context| focus(context, 1)),
            (NONE, Key::Num3, |context| focus(context, 2)),
            (NONE, Key::Num4, |context| focus(context, 3)),
            (NONE, Key::Num5, |context| focus(context, 4)),
            (NONE, Key::Num6, |context| focus(context, 5)),
        ],
    },
    Shortcut {
        keys: "R",
        what: "Add or remove a restart mark at this call",
        when: When::InDocument,
        bindings: &[(NONE, Key::R, |context| {
            send(SettingsCommand::ToggleRestart(context.selection.call))
        })],
    },
    Shortcut {
        keys: "P   C   X",
        what: "Pin, clear or drop messages, or undo that",
        when: When::InDocument,
        bindings: &[
            (NONE, Key::P, |context| mark(context, Mark::Pinned)),
            (NONE, Key::C, |context| mark(context, Mark::Cleared)),
            (NONE, Key::X, |context| mark(context, Mark::Dropped)),
        ],
    },
    Shortcut {
        keys: "0",
        what: "Focus the recorded lane",
        when: When::InDocument,
        bindings: &[(NONE, Key::Num0, |_| send(SelectCommand::Lane(None)))],
    },
    Shortcut {
        keys: "Ctrl+F   /",
        what: "Find in the messages",
        when: When::InDocumentOrTyping,
        bindings: &[(COMMAND, Key::F, |_| send(MessagesCommand::FocusFilter))],
    },
    Shortcut {
        keys: "",
        what: "Find in the messages",
        when: When::InDocument,
        bindings: &[(NONE, Key::Slash, |_| send(MessagesCommand::FocusFilter))],
    },
    Shortcut {
        keys: "Ctrl+K",
        what: "Find a command, preset, setting, call or message",
        when: When::Always,
        bindings: &[(COMMAND, Key::K, |_| send(PaletteCommand::Show))],
    },
    Shortcut {
        keys: "N   O   M",
        what: "Next compaction, overflow, cache miss (Shift: previous)",
        when: When::InDocument,
        bindings: &[
            (Modifiers::SHIFT, Key::N, |_| {
                jump(Landmark::Compaction, true)
            }),
            (NONE, Key::N, |_| jump(Landmark::Compaction, false)),
            (Modifiers::SHIFT, Key::O, |_| jump(Landmark::Overflow, true)),
            (NONE, Key::O, |_| jump(Landmark::Overflow, false)),
            (Modifiers::SHIFT, Key::M, |_| {
                jump(Landmark::CacheMiss, true)
            }),
            (NONE, Key::M, |_| jump(Landmark::CacheMiss, false)),
        ],
    },
    Shortcut {
        keys: "F3   Shift+F3",
        what: "Next, previous match (in the field also Enter, Shift+Enter)",
        when: When::InDocumentOrTyping,
        bindings: &[
            (Modifiers::SHIFT, Key::F3, |_| find(true)),
            (NONE, Key::F3, |_| find(false)),
        ],
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
            (NONE, Key::Questionmark, |_| {
                send(ShellCommand::ShowShortcuts(true))
            }),
            (Modifiers::SHIFT, Key::Questionmark, |_| {
                send(ShellCommand::ShowShortcuts(true))
            }),
        ],
    },
];

/// Returns a command of any feature.
#[expect(clippy::unnecessary_wraps, reason = "every binding returns an option")]
fn send(command: impl Into<Command>) -> Option<Command> {
    Some(command.into())
}

fn step(is_back: bool) -> Option<Command> {
    send(TabsCommand::Step { is_back })
}

fn jump(landmark: Landmark, is_back: bool) -> Option<Command> {
    send(SelectCommand::Jump(landmark, is_back))
}

fn find(is_back: bool) -> Option<Command> {
    send(MessagesCommand::Find { is_back })
}

fn focus(context: &KeyContext<'_>, lane: usize) -> Option<Command> {
    (lane < context.lanes).then(|| SelectCommand::Lane(Some(lane)).into())
}

/// Returns the command for the drawer tab with this index.
fn tab(nth: usize) -> Option<Command> {
    super::drawer::tab_at(nth).map(|tab| ShellCommand::ShowTab(tab).into())
}

fn mark(context: &KeyContext<'_>, mark: Mark) -> Option<Command> {
    let messages = chosen(context.selection, context.added, context.order);
    (!messages.is_empty()).then(|| MarkCommand::Toggle(messages, mark).into())
}

/// Returns the message above or below the selected one in the table.
fn neighbor(context: &KeyContext<'_>, by: isize) -> Option<Command> {
    neighboring_message(context, by).map(|message| SelectCommand::Message(message).into())
}

/// Extends the selection to the message above or below.
fn extend(context: &KeyContext<'_>, by: isize) -> Option<Command> {
    neighboring_message(context, by).map(|message| SelectCommand::ExtendTo(message).into())
}

fn neighboring_message(context: &KeyContext<'_>, by: isize) -> Option<usize> {
    let at = context
        .selection
        .message
        .and_then(|m| context.order.iter().position(|o| *o as usize == m));
    let next = at.map_or(0, |at| {
        at.saturating_add_signed(by)
            .min(context.order.len().saturating_sub(1))
    });
    context.order.get(next).map(|message| *message as usize)
}
