//! Handles keyboard shortcuts, and lists them for the help sheet and the command palette.

use super::action::{Action, Binding, DIGITS, When};
use super::action_table::ACTIONS;
use crate::app::App;
use crate::app::command::Command;
use crate::app::manual_edits::marks::{Mark, MarkCommand};
use crate::app::messages::order::chosen;
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
    fn default() -> Self {
        static NOWHERE: (Selection, BTreeSet<u32>) = (Selection::NONE, BTreeSet::new());
        Self {
            selection: &NOWHERE.0,
            added: &NOWHERE.1,
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
        let messages = chosen(self.selection, self.added, self.order);
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
    /// Returns what shortcuts read; `None` without a session.
    pub(in crate::app) fn key_context(&self) -> Option<KeyContext<'_>> {
        self.document.as_ref().map(|_| KeyContext {
            selection: &self.selection,
            added: &self.view.messages.added,
            order: self.derived.order(),
            lanes: self.config.lanes.len(),
        })
    }
}

/// Returns the keys and names of the help sheet.
pub(super) fn sheet() -> impl Iterator<Item = (&'static str, &'static str)> {
    let shown = ACTIONS.iter().filter(|action| !action.keys.is_empty());
    shown.map(|action| (action.keys, action.name))
}

/// Returns the name, keys and command of each action that the command palette offers.
pub(in crate::app) fn actions(
    context: Option<&KeyContext<'_>>,
) -> Vec<(&'static str, String, Command)> {
    let is_possible = |action: &&Action| match action.when {
        When::Always | When::NotTyping | When::NoDialog => true,
        When::InDocument | When::InDocumentOrTyping => context.is_some(),
        // Second keys of other rows, and keys of the focused control.
        When::Free | When::Elsewhere => false,
    };
    let nowhere = KeyContext::default();
    let context = context.unwrap_or(&nowhere);
    let possible = ACTIONS.iter().filter(is_possible);
    possible
        .flat_map(|action| offered(action, context))
        .collect()
}

/// Returns the commands of an action under their own names, or its only command.
fn offered(action: &Action, context: &KeyContext<'_>) -> Vec<(&'static str, String, Command)> {
    if let Some(command) = action.command {
        let command = command(context).map(|command| (action.name, String::new(), command));
        return command.into_iter().collect();
    }
    let named = action.bindings.iter().filter(|b| !b.name.is_empty());
    let mut named: Vec<&Binding> = named.collect();
    // Keys with Shift come first, but "next" precedes "previous" in a list.
    named.sort_by_key(|binding| binding.key.modifiers.shift);
    if !named.is_empty() || action.name.is_empty() {
        let entry = |binding: &Binding| {
            let keys = binding.key.format(&ModifierNames::NAMES, false);
            Some((binding.name, keys, (binding.command)(context)?))
        };
        return named.into_iter().filter_map(entry).collect();
    }
    let commands = action.bindings.iter().map(|b| (b.command)(context));
    let mut commands = commands.collect::<Option<Vec<_>>>().unwrap_or_default();
    commands.dedup();
    let command = commands.pop().filter(|_| commands.is_empty());
    let only = command.map(|command| (action.name, action.keys.to_owned(), command));
    only.into_iter().collect()
}

/// Returns the commands of the keys pressed in this frame. Returns none while you type or a menu is open. Keys that a
/// focused control handles (arrows) are left to it.
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
