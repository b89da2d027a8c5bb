//! Items that open a session: in this tab by a click, in a new one by Ctrl+click or the middle button.

use super::command::TabsCommand;
use crate::app::command::Commands;
use crate::app::compare::command::CompareCommand;
use crate::app::open::command::OpenCommand;
use egui::{Response, Ui};

/// Sends the command of a click on an item.
pub(in crate::app) fn clicked(response: &Response, open: OpenCommand, commands: &mut Commands) {
    let is_new = response.ctx.input(|input| input.modifiers.command);
    if response.middle_clicked() || response.clicked() && is_new {
        commands.push(TabsCommand::OpenInNew(open));
    } else if response.clicked() {
        commands.push(open);
    }
}

/// Shows the menu of an item. `compare` compares its session with the open one, if there is one.
pub(in crate::app) fn menu(
    ui: &mut Ui,
    open: OpenCommand,
    compare: Option<CompareCommand>,
    commands: &mut Commands,
) {
    if ui.button("Open").clicked() {
        commands.push(open.clone());
    }
    let new = ui.button("Open in a new tab");
    if new.on_hover_text("Ctrl+click or middle button").clicked() {
        commands.push(TabsCommand::OpenInNew(open));
    }
    if let Some(compare) = compare
        && ui.button("Compare with the open session").clicked()
    {
        commands.push(compare);
    }
}
