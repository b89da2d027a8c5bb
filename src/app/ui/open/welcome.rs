//! The start screen of the empty window: ways to open a session, the progress of opening one, and errors.

use crate::app::state::command::Commands;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::examples::EXAMPLES;
use crate::app::state::open::opening::Opening;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::ui::parts::open_item;
use crate::app::ui::parts::progress::progress;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::weak;
use crate::formats;
use egui::{
    Align, CentralPanel, Frame as UiFrame, Id, Key, Label, Layout, Margin, RichText, ScrollArea,
    Stroke, TextEdit, TextStyle, TextWrapMode, Ui, UiBuilder,
};
use std::path::PathBuf;

/// Input of the start screen.
pub(crate) struct WelcomeInput<'a> {
    /// The session that is being opened.
    pub(crate) opening: Opening<'a>,
    /// Recently opened files and folders.
    pub(crate) recent: &'a [PathBuf],
    /// Text of the path field.
    pub(crate) path: &'a str,
    /// Focus the path field.
    pub(crate) focuses_path: bool,
    /// The first results of an open session are computed.
    pub(crate) is_replaying: bool,
}

/// Width of the start screen's content, in points.
const WIDTH: f32 = 560.0;

/// Shows the start screen.
pub(crate) fn show(ui: &mut Ui, input: &WelcomeInput<'_>, commands: &mut Commands) {
    CentralPanel::no_frame().frame(UiFrame::new().fill(palette(ui).background)).show(ui, |ui| {
        if input.is_replaying {
            ui.centered_and_justified(|ui| ui.label(weak(ui, "Replaying…")));
            return;
        }
        let side = ((ui.available_width() - WIDTH) / 2.0).max(space::L);
        let top = (ui.available_height() * 0.12).max(space::L);
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let rect =
                ui.max_rect().shrink2(egui::vec2(side, 0.0)).with_min_y(ui.max_rect().top() + top);
            ui.scope_builder(
                UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min)),
                |ui| {
                    ui.set_width(rect.width());
                    content(ui, input, commands);
                },
            );
        });
    });
}

fn content(ui: &mut Ui, input: &WelcomeInput<'_>, commands: &mut Commands) {
    ui.heading("Inspect an agent's context window");
    ui.add_space(space::XS);
    ui.label(weak(ui, "Open a recorded session to see where its context overflowed and to compare truncation, pruning and summarization."));
    ui.add_space(space::L);
    if let Some(problem) = input.opening.problem {
        show_problem(ui, problem, commands);
    }
    drop_area(ui, input, commands);
    ui.add_space(space::M);
    path_field(ui, input, commands);
    ui.add_space(space::XL);
    recent(ui, input, commands);
    examples(ui, commands);
    ui.add_space(space::L);
    ui.label(weak(ui, "All data stays on this machine. Files are never changed."));
}

fn drop_area(ui: &mut Ui, input: &WelcomeInput<'_>, commands: &mut Commands) {
    let is_over = ui.input(|i| !i.raw.hovered_files.is_empty());
    let palette = palette(ui);
    let stroke = if is_over { Stroke::new(2.0, palette.accent) } else { palette.line() };
    let area = UiFrame::new()
        .fill(palette.panel)
        .stroke(stroke)
        .corner_radius(10)
        .inner_margin(Margin::symmetric(24, 28));
    area.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical_centered(|ui| {
            if let Some(loading) = input.opening.loading {
                progress(ui, loading, commands);
                return;
            }
            ui.label(RichText::new("Drop a session file here").size(16.0));
            let formats = ui.label(weak(ui, formats::prominent()));
            formats.on_hover_text(formats::supported());
            ui.add_space(space::M);
            if widgets::primary_button(ui, "Open a file…").clicked() {
                commands.push(OpenCommand::ShowDialog);
            }
            ui.add_space(space::XS);
            other_ways(ui, commands);
        });
    });
}

/// Shows the other ways to open a session, centered side by side.
fn other_ways(ui: &mut Ui, commands: &mut Commands) {
    let id = ui.make_persistent_id("others");
    let width: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let row = ui.horizontal(|ui| {
        ui.add_space(((ui.available_width() - width) / 2.0).max(0.0));
        let start = ui.cursor().left();
        let find = widgets::secondary_button(ui, "Sessions on this machine…", "");
        let find = find.on_hover_text(
            "Lists sessions in the folders of supported agents. Nothing is searched before you click.",
        );
        if find.clicked() {
            commands.push(SessionsCommand::Show(None));
        }
        let paste = widgets::secondary_button(ui, "Paste a conversation", "Ctrl+V");
        let paste = paste.on_hover_text(
            "Opens a session file or the messages of a request from the clipboard",
        );
        if paste.clicked() {
            commands.push(OpenCommand::Paste);
        }
        paste.rect.right() - start
    });
    if (row.inner - width).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, row.inner));
        ui.ctx().request_discard("the width of the buttons is known only after layout");
    }
}

fn show_problem(ui: &mut Ui, problem: &str, commands: &mut Commands) {
    let bad = palette(ui).bad;
    let frame = UiFrame::new()
        .stroke(Stroke::new(1.0, bad))
        .corner_radius(8)
        .inner_margin(Margin::same(12));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new(problem).color(bad));
        ui.add_space(space::XS);
        if widgets::secondary_button(ui, "Dismiss", "").clicked() {
            commands.push(OpenCommand::DismissError);
        }
    });
    ui.add_space(space::M);
}

fn path_field(ui: &mut Ui, input: &WelcomeInput<'_>, commands: &mut Commands) {
    ui.horizontal(|ui| {
        let label = ui.label("Path");
        let mut path = input.path.to_owned();
        // The button is right-aligned; the field takes the remaining width.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_clicked = widgets::secondary_button(ui, "Load", "").clicked();
            // An error above the field does not change its id.
            let edit = TextEdit::singleline(&mut path)
                .id(path_id())
                .hint_text("/home/me/session.jsonl")
                .desired_width(ui.available_width() - 16.0);
            let response = ui.add(edit.margin(Margin::symmetric(8, 6))).labelled_by(label.id);
            let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
            if is_entered || input.focuses_path {
                // If the path is wrong, typing goes on.
                response.request_focus();
            }
            if response.changed() {
                commands.push(OpenCommand::EditPath(path.clone()));
            }
            if (is_entered || is_clicked) && !path.trim().is_empty() {
                commands.push(OpenCommand::Path(PathBuf::from(path.trim())));
            }
        });
    });
}

fn examples(ui: &mut Ui, commands: &mut Commands) {
    if EXAMPLES.is_empty() {
        return;
    }
    widgets::section(ui, "Try an example");
    for example in EXAMPLES {
        if ui.link(example.story).on_hover_text(example.name).clicked() {
            commands.push(OpenCommand::Example(example.name));
        }
    }
}

fn recent(ui: &mut Ui, input: &WelcomeInput<'_>, commands: &mut Commands) {
    if input.recent.is_empty() {
        return;
    }
    widgets::section(ui, "Recent");
    for path in input.recent.iter().take(6) {
        ui.horizontal(|ui| {
            // Same height as the other links.
            ui.spacing_mut().interact_size.y = 0.0;
            ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
            let link = ui.link(crate::app::state::open::recent::recent_name(path));
            let link = link.on_hover_text(path.display().to_string());
            let open = OpenCommand::Path(path.clone());
            link.context_menu(|ui| open_item::menu(ui, open.clone(), None, commands));
            open_item::clicked(&link, open, commands);
            let folder = path.parent().map(|f| f.display().to_string());
            let folder = RichText::new(folder.unwrap_or_default()).text_style(TextStyle::Small);
            ui.add(Label::new(folder.color(palette(ui).weak)).truncate());
        });
    }
    ui.add_space(space::M);
}

/// Returns the id of the path field of the start screen.
pub(crate) fn path_id() -> Id {
    Id::unique("path of a session")
}
