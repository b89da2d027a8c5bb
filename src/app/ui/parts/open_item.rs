//! Items that open a session: in this tab by a click, in a new one by Ctrl+click or the middle button.

use crate::app::state::command::{Command, Commands};
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::session_tabs::target_tab::TargetTab;
use egui::{Response, Ui};

/// Returns the tab in which a click on an item opens its session; `None` without a click.
pub(crate) fn target(response: &Response) -> Option<TargetTab> {
    let is_new = response.ctx.input(|input| input.modifiers.command);
    if response.middle_clicked() || response.clicked() && is_new {
        Some(TargetTab::New)
    } else {
        response.clicked().then_some(TargetTab::Shown)
    }
}

/// Sends the command of a click on an item.
pub(crate) fn clicked(response: &Response, open: OpenCommand, commands: &mut Commands) {
    if let Some(tab) = target(response) {
        commands.push(open_in(tab, open));
    }
}

/// Returns the command that opens an item in a tab.
fn open_in(tab: TargetTab, open: OpenCommand) -> Command {
    match tab {
        TargetTab::Shown => open.into(),
        TargetTab::New => TabsCommand::OpenInNew(open).into(),
    }
}

/// Shows the menu of an item. `compare` compares its session with the open one, if there is one.
pub(crate) fn menu(
    ui: &mut Ui,
    open: OpenCommand,
    compare: Option<CompareCommand>,
    commands: &mut Commands,
) {
    if let Some(tab) = chosen(ui) {
        commands.push(open_in(tab, open));
    }
    if let Some(compare) = compare
        && ui.button("Compare with the open session").clicked()
    {
        commands.push(compare);
    }
}

/// Shows the items of a menu that open a session. Returns the chosen tab.
pub(crate) fn chosen(ui: &mut Ui) -> Option<TargetTab> {
    let is_shown = ui.button("Open").clicked();
    let new = ui.button("Open in a new tab");
    if new.on_hover_text("Ctrl+click or middle button").clicked() {
        return Some(TargetTab::New);
    }
    is_shown.then_some(TargetTab::Shown)
}
