//! The rows of the table of actions.

use crate::app::shell::key_context::KeyContext;
use crate::app::state::command::Command;
use egui::{Key, KeyboardShortcut, Modifiers};

/// The condition under which a shortcut works. Each variant except [`Self::Elsewhere`] lists all of its conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Always, also while typing.
    Always,
    /// No text field has the focus, and no menu is open.
    NotTyping,
    /// No text field has the focus, and no menu or dialog is open.
    NoDialog,
    /// A session is open, no text field has the focus, and no menu or dialog is open.
    InDocument,
    /// A session is open, and no dialog.
    InDocumentOrTyping,
    /// As [`Self::InDocument`], and no control has the focus that could handle the key itself.
    Free,
    /// Handled elsewhere: by the plot or the focused control.
    Elsewhere,
}

/// A row of the table.
pub(crate) struct Action {
    /// Keys as shown on the help sheet; empty if the action is not listed there.
    pub(crate) keys: &'static str,
    /// Name on the help sheet, and in the command palette if the action has one command. Empty for further keys of the row
    /// above.
    pub(crate) name: &'static str,
    pub(crate) when: When,
    /// The command of an action without keys.
    pub(crate) command: Option<MakeCommand>,
    pub(crate) bindings: &'static [Binding],
    /// The keys 1 to 9 of the action.
    pub(crate) digits: Option<Digits>,
}

/// The keys 1 to 9, each with the command of one item of a list.
pub(crate) struct Digits {
    pub(crate) modifiers: Modifiers,
    /// Creates the command for the item at an index, if there is one.
    pub(crate) command: fn(&KeyContext<'_>, usize) -> Option<Command>,
}

/// The keys 1 to 9.
pub(crate) const DIGITS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

/// A key with its command.
pub(crate) struct Binding {
    /// Name of the command in the command palette, if the action has several.
    pub(crate) name: &'static str,
    pub(crate) key: KeyboardShortcut,
    pub(crate) command: MakeCommand,
}

/// Creates a command, if there is something to do.
pub(crate) type MakeCommand = fn(&KeyContext<'_>) -> Option<Command>;

/// Returns an action with keys.
pub(crate) const fn row(
    keys: &'static str,
    name: &'static str,
    when: When,
    bindings: &'static [Binding],
) -> Action {
    Action { keys, name, when, command: None, bindings, digits: None }
}

/// Returns further keys of the row above, under another condition.
pub(crate) const fn more_keys(when: When, bindings: &'static [Binding]) -> Action {
    row("", "", when, bindings)
}

/// Returns an action on an item of a list, with the keys 1 to 9. Needs an open session.
pub(crate) const fn digits(
    keys: &'static str,
    name: &'static str,
    modifiers: Modifiers,
    command: fn(&KeyContext<'_>, usize) -> Option<Command>,
) -> Action {
    Action { digits: Some(Digits { modifiers, command }), ..row(keys, name, When::InDocument, &[]) }
}

/// Returns a row of the help sheet for keys that are handled elsewhere.
pub(crate) const fn elsewhere(keys: &'static str, name: &'static str) -> Action {
    row(keys, name, When::Elsewhere, &[])
}

/// Returns an action without keys.
pub(crate) const fn always(name: &'static str, command: MakeCommand) -> Action {
    Action { command: Some(command), ..row("", name, When::Always, &[]) }
}

/// Returns an action without keys that needs an open session.
pub(crate) const fn in_session(name: &'static str, command: MakeCommand) -> Action {
    Action { when: When::InDocument, ..always(name, command) }
}

/// Returns a key of an action with one command.
pub(crate) const fn key(modifiers: Modifiers, key: Key, command: MakeCommand) -> Binding {
    named("", modifiers, key, command)
}

/// Returns a key with a command that the palette offers under its own name.
pub(crate) const fn named(
    name: &'static str,
    modifiers: Modifiers,
    key: Key,
    command: MakeCommand,
) -> Binding {
    let key = KeyboardShortcut::new(modifiers, key);
    Binding { name, key, command }
}
