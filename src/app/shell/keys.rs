//! Handles keyboard shortcuts, and lists them for the help sheet and the command palette.

pub(in crate::app) use super::action::DIGITS;
use super::action::{Action, Binding, When};
use super::action_table::ACTIONS;
use crate::app::App;
use crate::app::command::Command;
use crate::app::manual_edits::marks::{Mark, MarkCommand};
use crate::app::messages::order::selected_messages;
use crate::app::selection::{SelectCommand, Selection};
use egui::{Context, KeyboardShortcut, ModifierNames, Popup};
use std::collections::BTreeSet;

/// The state that shortcuts read.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct KeyContext<'a> {
    /// The selection.
    pub(in crate::app) selection: &'a Selection,
    /// Messages that were selected one by one.
    pub(in crate::app) added: &'a BTreeSet<u32>,
    /// Messages in the table, in display order.
    pub(in crate::app) order: &'a [u32],
    /// Number of lanes.
    pub(in crate::app) lanes: usize,
}

impl Default for KeyContext<'_> {
    /// Returns the state without a session.
    fn default() -> Self {
        static SELECTION: Selection = Selection::NONE;
        static ADDED: BTreeSet<u32> = BTreeSet::new();
        Self {
            selection: &SELECTION,
            added: &ADDED,
            order: &[],
            lanes: 0,
        }
    }
}

impl KeyContext<'_> {
    /// Focuses a lane, if there is one with this index.
    pub(super) fn focus(&self, lane: usize) -> Option<Command> {
        (lane < self.lanes).then(|| SelectCommand::Lane(Some(lane)).into())
    }

    /// Marks the selected messages.
    pub(super) fn mark(&self, mark: Mark) -> Option<Command> {
        let messages = selected_messages(self.selection, self.added, self.order);
        (!messages.is_empty()).then(|| MarkCommand::Toggle(messages, mark).into())
    }

    /// Selects the message above or below the selected one in the table.
    pub(super) fn neighbor(&self, by: isize) -> Option<Command> {
        let message = self.neighboring_message(by)?;
        Some(SelectCommand::Message(message).into())
    }

    /// Extends the selection to the message above or below.
    pub(super) fn extend(&self, by: isize) -> Option<Command> {
        let message = self.neighboring_message(by)?;
        Some(SelectCommand::ExtendTo(message).into())
    }

    fn neighboring_message(&self, by: isize) -> Option<usize> {
        let selected = self.selection.message;
        let at = selected.and_then(|m| self.order.iter().position(|o| *o as usize == m));
        let last = self.order.len().saturating_sub(1);
        let next = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.order.get(next).map(|message| *message as usize)
    }
}

impl App {
    /// Returns the state that shortcuts read; `None` without a session.
    pub(in crate::app) fn key_context(&self) -> Option<KeyContext<'_>> {
        self.session.document.as_ref().map(|_| KeyContext {
            selection: &self.session.selection,
            added: &self.session.view.messages.added,
            order: self.session.derived.order(),
            lanes: self.session.config.lanes.len(),
        })
    }
}

/// Returns the actions of the help sheet.
pub(super) fn sheet() -> impl Iterator<Item = &'static Action> {
    ACTIONS.iter().filter(|action| !action.keys.is_empty())
}

/// An action that the command palette offers.
pub(in crate::app) struct OfferedAction {
    pub(in crate::app) name: &'static str,
    /// Its keys; empty if it has none.
    pub(in crate::app) keys: String,
    pub(in crate::app) command: Command,
}

/// Returns the actions that the command palette offers.
pub(in crate::app) fn offered_actions(context: Option<&KeyContext<'_>>) -> Vec<OfferedAction> {
    let is_possible = |action: &&Action| match action.when {
        When::Always | When::NotTyping | When::NoDialog => true,
        When::InDocument | When::InDocumentOrTyping => context.is_some(),
        // Second keys of other rows, and keys of the focused control.
        When::Free | When::Elsewhere => false,
    };
    let without_session = KeyContext::default();
    let context = context.unwrap_or(&without_session);
    let possible = ACTIONS.iter().filter(is_possible);
    possible
        .flat_map(|action| offered(action, context))
        .collect()
}

/// Returns the commands of an action under their own names, or its only command.
fn offered(action: &Action, context: &KeyContext<'_>) -> Vec<OfferedAction> {
    let under_its_name = |keys: &str, command: Command| OfferedAction {
        name: action.name,
        keys: keys.to_owned(),
        command,
    };
    if let Some(command) = action.command {
        let command = command(context).map(|command| under_its_name("", command));
        return command.into_iter().collect();
    }
    let named = action.bindings.iter().filter(|b| !b.name.is_empty());
    let mut named: Vec<&Binding> = named.collect();
    // Keys with Shift come first, but "next" precedes "previous" in a list.
    named.sort_by_key(|binding| binding.key.modifiers.shift);
    if !named.is_empty() || action.name.is_empty() {
        let under_own_name = |binding: &Binding| {
            Some(OfferedAction {
                name: binding.name,
                keys: binding.key.format(&ModifierNames::NAMES, false),
                command: (binding.command)(context)?,
            })
        };
        return named.into_iter().filter_map(under_own_name).collect();
    }
    let commands = action.bindings.iter().map(|b| (b.command)(context));
    let mut commands = commands.collect::<Option<Vec<_>>>().unwrap_or_default();
    commands.dedup();
    let only = commands.pop().filter(|_| commands.is_empty());
    let only = only.map(|command| under_its_name(action.keys, command));
    only.into_iter().collect()
}

/// Returns the commands of the keys pressed in this frame, and consumes the keys. [`When`] decides which keys work.
pub(in crate::app) fn commands(
    ctx: &Context,
    context: Option<KeyContext<'_>>,
    is_dialog_open: bool,
) -> Vec<Command> {
    let is_typing = ctx.text_edit_focused() || Popup::is_any_open(ctx);
    let is_free = ctx.memory(|m| m.focused().is_none());
    let has_document = context.is_some();
    let context = context.unwrap_or_default();
    let applies = |when: When| match when {
        When::Always => true,
        When::NotTyping => !is_typing,
        When::NoDialog => !is_typing && !is_dialog_open,
        When::InDocument => !is_typing && !is_dialog_open && has_document,
        When::InDocumentOrTyping => !is_dialog_open && has_document,
        When::Free => !is_typing && !is_dialog_open && has_document && is_free,
        When::Elsewhere => false,
    };
    let is_pressed = |key: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(key));
    let mut commands = Vec::new();
    for action in ACTIONS.iter().filter(|action| applies(action.when)) {
        let pressed = action.bindings.iter().filter(|b| is_pressed(&b.key));
        commands.extend(pressed.filter_map(|binding| (binding.command)(&context)));
        if let Some(digits) = &action.digits {
            for (nth, key) in DIGITS.into_iter().enumerate() {
                if is_pressed(&KeyboardShortcut::new(digits.modifiers, key)) {
                    commands.extend((digits.command)(&context, nth));
                }
            }
        }
    }
    commands
}
