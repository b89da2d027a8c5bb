//! Handles keyboard shortcuts, and lists them for the help sheet and the command palette.

use super::shortcut_table::{SHORTCUTS, Shortcut, When};
use crate::app::App;
use crate::app::command::Command;
use crate::app::selection::Selection;
use egui::{Context, Popup};
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

/// Returns the keys and descriptions of the help sheet.
pub(super) fn sheet() -> impl Iterator<Item = (&'static str, &'static str)> {
    let shown = SHORTCUTS.iter().filter(|row| !row.keys.is_empty());
    shown.map(|shortcut| (shortcut.keys, shortcut.what))
}

/// Returns the name, keys and command of each shortcut with one command.
pub(in crate::app) fn actions(
    context: Option<&KeyContext<'_>>,
) -> Vec<(&'static str, &'static str, Command)> {
    let nowhere = KeyContext::default();
    let is_possible = |when: When| match when {
        When::Always | When::NotTyping | When::NoDialog => true,
        When::InDocument | When::InDocumentOrTyping => context.is_some(),
        // Second keys of other rows, and keys of the focused control.
        When::Free | When::Elsewhere => false,
    };
    let action = |row: &Shortcut| {
        let context = context.unwrap_or(&nowhere);
        let commands = row.bindings.iter().map(|(_, _, command)| command(context));
        let mut commands = commands.collect::<Option<Vec<_>>>()?;
        commands.dedup();
        let command = commands.pop().filter(|_| commands.is_empty())?;
        Some((row.what, row.keys, command))
    };
    let shown = SHORTCUTS.iter().filter(|row| !row.keys.is_empty());
    let possible = shown.filter(|row| is_possible(row.when));
    possible.filter_map(action).collect()
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
    let active = SHORTCUTS.iter().filter(|shortcut| applies(shortcut.when));
    active
        .flat_map(|shortcut| shortcut.bindings)
        .filter(|(modifiers, key, _)| ctx.input_mut(|i| i.consume_key(*modifiers, *key)))
        .filter_map(|(_, _, command)| command(&context))
        .collect()
}
