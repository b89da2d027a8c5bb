//! The menu of the bar: other sessions, the theme, shortcuts and run logs.

use crate::app::command::Command;
use crate::app::open::examples::EXAMPLES;
use crate::app::run_logs::list::LogsWish;
use crate::app::sessions::list::SessionsWish;
use crate::app::shell::layout::Frame;
use crate::app::theme::space;
use crate::app::widgets;
use crate::app::widgets::text::small;
use egui::{Button, Popup, ScrollArea, ThemePreference, Ui, vec2};

/// Part of the window's height that the menu leaves free, in points.
const BESIDE: f32 = 64.0;

/// Shows the button that opens the menu.
pub(in crate::app) fn show(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    let button = ui.add(Button::new("☰").min_size(vec2(28.0, space::CONTROL)));
    let button = button
        .accessible_name("Menu")
        .on_hover_text("Recent files, examples, theme, shortcuts");
    Popup::menu(&button).show(|ui| {
        ui.set_min_width(240.0);
        let height = ui.ctx().content_rect().height() - BESIDE;
        ScrollArea::vertical()
            .max_height(height)
            .min_scrolled_height(height)
            .show(ui, |ui| {
                open(ui, frame, commands);
                program(ui, commands);
                examples(ui, commands);
            });
    });
}

/// Shows the sources of sessions: found sessions, the clipboard and recent files.
fn open(ui: &mut Ui, frame: &Frame<'_>, commands: &mut Vec<Command>) {
    if ui.button("Sessions on this machine…").clicked() {
        commands.push(Command::Sessions(SessionsWish::Show(None)));
    }
    if let Some(folder) = frame.document.and_then(|open| open.origin.folder()) {
        let button = ui.button("Sessions in this file's folder…");
        if button.on_hover_text(folder.display().to_string()).clicked() {
            let wish = SessionsWish::Show(Some(folder.to_owned()));
            commands.push(Command::Sessions(wish));
        }
    }
    let paste = Button::new("Paste a conversation").right_text(small(ui, "Ctrl V"));
    if ui.add(paste).clicked() {
        commands.push(Command::Paste);
    }
    if frame.document.is_some() && ui.button("Close this session").clicked() {
        commands.push(Command::CloseDocument);
    }
    ui.add_space(space::S);
    if frame.recent.is_empty() {
        return;
    }
    widgets::section(ui, "Recent");
    for path in frame.recent {
        let name = Button::new(crate::app::open::recent::recent_name(path)).truncate();
        let name = ui.add(name);
        if name.on_hover_text(path.display().to_string()).clicked() {
            commands.push(Command::OpenPath(path.clone()));
        }
    }
    ui.add_space(space::S);
}

/// Shows the theme, the shortcuts and the run logs.
fn program(ui: &mut Ui, commands: &mut Vec<Command>) {
    widgets::section(ui, "Theme");
    let now = ui.ctx().options(|o| o.theme_preference);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::M;
        for (theme, name) in [
            (ThemePreference::Dark, "Dark"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::System, "System"),
        ] {
            if ui.radio(now == theme, name).clicked() {
                commands.push(Command::SetTheme(theme));
            }
        }
    });
    ui.add_space(space::S);
    if ui.button("Keyboard shortcuts").clicked() {
        commands.push(Command::ShowKeys(true));
    }
    let logs = ui.button("Run logs…");
    let help = "Requests to summarizer models and their answers";
    if logs.on_hover_text(help).clicked() {
        commands.push(Command::Logs(LogsWish::Show));
    }
    ui.add_space(space::S);
}

fn examples(ui: &mut Ui, commands: &mut Vec<Command>) {
    widgets::section(ui, "Examples");
    for example in EXAMPLES {
        let story = ui.button(example.story).on_hover_text(example.name);
        if story.clicked() {
            commands.push(Command::OpenExample(example.name));
        }
    }
}
