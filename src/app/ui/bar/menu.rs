//! The menu of the bar: other sessions, actions on the open one, the theme, shortcuts and run logs.

use crate::app::state::command::Commands;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::examples::EXAMPLES;
use crate::app::state::open::recent::{is_folder, recent_name};
use crate::app::state::run_logs::list::RunLogsCommand;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::shell_command::{ShellCommand, ThemeChoice};
use crate::app::ui::bar::input::BarInput;
use crate::app::ui::parts::open_item;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::{Button, Popup, Ui, vec2};
use std::path::PathBuf;

/// Minimum width of a menu, in points.
const WIDTH: f32 = 240.0;
/// Maximum number of entries of one level of the menu: more are not read at a glance.
const MAX_ENTRIES: usize = 10;

/// Shows the button that opens the menu.
pub(crate) fn show(ui: &mut Ui, input: &BarInput<'_>, commands: &mut Commands) {
    let button = ui.add(Button::new("☰").min_size(vec2(28.0, space::CONTROL)));
    let button =
        button.accessible_name("Menu").on_hover_text("Recent files, examples, theme, shortcuts");
    Popup::menu(&button).show(|ui| {
        ui.set_min_width(WIDTH);
        source_items(ui, input, commands);
        if input.document.is_some() {
            ui.separator();
            session_items(ui, input, commands);
        }
        ui.separator();
        let new = Button::new("New tab").right_text(small(ui, "Ctrl+T"));
        if ui.add(new).accessible_name("New tab").clicked() {
            commands.push(TabsCommand::New);
        }
        ui.menu_button("Theme, shortcuts, logs", |ui| program_items(ui, commands));
    });
}

/// Shows the sources of sessions: found sessions, recent files, examples and the clipboard.
fn source_items(ui: &mut Ui, input: &BarInput<'_>, commands: &mut Commands) {
    if !input.recent.is_empty() {
        ui.menu_button("Recent", |ui| recent_items(ui, input.recent, commands));
    }
    ui.menu_button("Examples", |ui| example_items(ui, commands));
    if ui.button("Sessions on this machine…").clicked() {
        commands.push(SessionsCommand::Show(None));
    }
    if let Some(folder) = input.document.and_then(|open| open.origin.folder()) {
        let button = ui.button("Sessions in this file's folder…");
        if button.on_hover_text(folder.display().to_string()).clicked() {
            let command = SessionsCommand::Show(Some(folder.to_owned()));
            commands.push(command);
        }
    }
    let paste = Button::new("Paste a conversation").right_text(small(ui, "Ctrl+V"));
    if ui.add(paste).clicked() {
        commands.push(OpenCommand::Paste);
    }
}

/// Shows the actions on the open session.
fn session_items(ui: &mut Ui, input: &BarInput<'_>, commands: &mut Commands) {
    comparison_items(ui, input, commands);
    let save = ui.button("Save workspace…");
    let help =
        "Writes lanes, settings, marks, notes and view to a file in the folder of the session";
    if save.on_hover_text(help).clicked() {
        commands.push(ShellCommand::SaveWorkspace);
    }
    let close = Button::new("Close this session").right_text(small(ui, "Ctrl+W"));
    let close = ui.add(close).accessible_name("Close this session");
    if close.clicked() {
        commands.push(TabsCommand::Close(None));
    }
}

fn recent_items(ui: &mut Ui, recent: &[PathBuf], commands: &mut Commands) {
    ui.set_min_width(WIDTH);
    for path in recent.iter().take(MAX_ENTRIES) {
        let name = Button::new(recent_name(path)).truncate();
        let name = ui.add(name);
        let name = name.on_hover_text(path.display().to_string());
        open_item::clicked(&name, OpenCommand::Path(path.clone()), commands);
    }
}

/// Shows the sessions that can be compared with the open one.
fn comparison_items(ui: &mut Ui, input: &BarInput<'_>, commands: &mut Commands) {
    let compare = ui.menu_button("Open as comparison", |ui| {
        ui.set_min_width(WIDTH);
        if ui.button("Choose a file…").clicked() {
            commands.push(CompareCommand::ShowDialog);
        }
        let open = input.document.and_then(|document| document.origin.path());
        let is_other = |path: &&PathBuf| Some(path.as_path()) != open && !is_folder(path);
        let others = input.recent.iter().filter(is_other);
        for path in others.take(MAX_ENTRIES - 1) {
            let name = Button::new(recent_name(path)).truncate();
            let name = ui.add(name).on_hover_text(path.display().to_string());
            if name.clicked() {
                commands.push(CompareCommand::Path(path.clone()));
            }
        }
    });
    let help = "Compares a second session with this one: curves, composition, cost and contents";
    compare.response.on_hover_text(help);
}

/// Shows the theme, the shortcuts and the run logs.
fn program_items(ui: &mut Ui, commands: &mut Commands) {
    ui.set_min_width(WIDTH);
    widgets::section(ui, "Theme");
    let now = ui.ctx().options(|o| o.theme_preference);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        for (theme, name) in [
            (ThemeChoice::Dark, "Dark"),
            (ThemeChoice::Light, "Light"),
            (ThemeChoice::System, "System"),
        ] {
            if ui.radio(now == theme.preference(), name).clicked() {
                commands.push(ShellCommand::SetTheme(theme));
            }
        }
    });
    ui.add_space(space::S);
    if ui.button("Keyboard shortcuts").clicked() {
        commands.push(ShellCommand::ShowShortcuts);
    }
    let logs = ui.button("Run logs…");
    let help = "Requests to summarizer models and their answers";
    if logs.on_hover_text(help).clicked() {
        commands.push(RunLogsCommand::Show);
    }
}

fn example_items(ui: &mut Ui, commands: &mut Commands) {
    ui.set_min_width(WIDTH);
    for example in EXAMPLES {
        let story = ui.button(example.story).on_hover_text(example.name);
        open_item::clicked(&story, OpenCommand::Example(example.name), commands);
    }
}
