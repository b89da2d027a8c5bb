//! Handles keyboard shortcuts, and lists them for the help sheet and the command palette.

use crate::app::shell::App;
pub(crate) use crate::app::shell::action::DIGITS;
use crate::app::shell::action::{Action, Binding, When};
use crate::app::shell::action_table::ACTIONS;
use crate::app::shell::key_context::KeyContext;
use crate::app::state::command::Command;
use egui::{Context, Event, Key, ModifierNames, Modifiers, Popup};

impl App {
    /// Returns the state that shortcuts read; `None` without a session.
    pub(crate) fn key_context(&self) -> Option<KeyContext<'_>> {
        self.session.document.as_ref().map(|_| KeyContext {
            selection: &self.session.selection,
            added: &self.session.view.messages().added,
            order: self.session.derived.order(),
            lanes: self.session.config.lanes.len(),
        })
    }
}

/// Returns the actions of the help sheet.
pub(crate) fn sheet() -> impl Iterator<Item = &'static Action> {
    ACTIONS.iter().filter(|action| !action.keys.is_empty())
}

/// An action that the command palette offers.
pub(crate) struct OfferedAction {
    pub(crate) name: &'static str,
    /// Its keys; empty if it has none.
    pub(crate) keys: String,
    pub(crate) command: Command,
}

/// Returns the actions that the command palette offers.
pub(crate) fn offered_actions(context: Option<&KeyContext<'_>>) -> Vec<OfferedAction> {
    let is_possible = |action: &&Action| match action.when {
        When::Always | When::NotTyping | When::NoDialog => true,
        When::InDocument | When::InDocumentOrTyping => context.is_some(),
        // Second keys of other rows, and keys of the focused control.
        When::Free | When::Elsewhere => false,
    };
    let without_session = KeyContext::default();
    let context = context.unwrap_or(&without_session);
    let possible = ACTIONS.iter().filter(is_possible);
    possible.flat_map(|action| offered(action, context)).collect()
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

/// A key that was pressed, with its modifiers.
#[derive(Clone, Copy, Debug)]
struct PressedKey(Modifiers, Key);

/// The conditions of this frame for shortcuts. [`When`] decides which keys work.
#[derive(Clone, Copy)]
struct KeyConditions {
    /// A text field has the focus, or a menu is open.
    is_typing: bool,
    /// No control has the focus.
    is_free: bool,
}

impl KeyConditions {
    fn new(ctx: &Context) -> Self {
        Self {
            is_typing: ctx.text_edit_focused() || Popup::is_any_open(ctx),
            is_free: ctx.memory(|m| m.focused().is_none()),
        }
    }

    /// Returns the command of a key. The first row of the table with the key decides.
    fn command(
        self,
        PressedKey(modifiers, pressed): PressedKey,
        context: Option<KeyContext<'_>>,
        is_dialog_open: bool,
    ) -> Option<Command> {
        let Self { is_typing, is_free } = self;
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
        let is_it =
            |needed: Modifiers, key: Key| key == pressed && modifiers.matches_logically(needed);
        for action in ACTIONS.iter().filter(|action| applies(action.when)) {
            let mut bindings = action.bindings.iter();
            if let Some(found) = bindings.find(|b| is_it(b.key.modifiers, b.key.logical_key)) {
                return (found.command)(&context);
            }
            let digits = action.digits.as_ref();
            let nth = |with: Modifiers| DIGITS.into_iter().position(|key| is_it(with, key));
            if let Some((digits, nth)) = digits.and_then(|d| Some((d, nth(d.modifiers)?))) {
                return (digits.command)(&context, nth);
            }
        }
        None
    }
}

fn pressed(event: &Event) -> Option<PressedKey> {
    match event {
        Event::Key { key, pressed: true, modifiers, .. } => Some(PressedKey(*modifiers, *key)),
        _ => None,
    }
}

impl App {
    /// Gives keys that were typed ahead to their field. Keys after the first one that opens a field wait for that field.
    pub(crate) fn hold_typed_ahead(&mut self, ctx: &Context) {
        self.typed_ahead.update(ctx, self.dialog.is_some());
        let conditions = KeyConditions::new(ctx);
        if self.is_covered() {
            // A dialog has the keys, and nothing else is opened above it.
            return;
        }
        let opens = |event: &Event| {
            let command = conditions.command(pressed(event)?, self.key_context(), false)?;
            Some(command.opens_field())
        };
        let opener = ctx.input(|input| input.events.iter().position(|e| opens(e) == Some(true)));
        if let Some(opener) = opener {
            self.typed_ahead.await_field(ctx, opener);
        }
    }

    /// Executes the keys of this frame in the order in which they were pressed. Each sees what the ones before it changed.
    /// `was_covered`: a dialog was open when they were pressed.
    pub(crate) fn execute_keys(&mut self, ctx: &Context, was_covered: bool) {
        let mut conditions = KeyConditions::new(ctx);
        // Enter ends the typing, but the keys before it were typed.
        conditions.is_typing |= self.is_typing;
        let keys: Vec<_> = ctx.input(|input| input.events.iter().filter_map(pressed).collect());
        for key in keys {
            let is_covered = was_covered || self.is_covered();
            if let Some(command) = conditions.command(key, self.key_context(), is_covered) {
                self.execute(ctx, command);
            }
        }
    }
}
