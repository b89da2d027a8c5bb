//! The field that searches in all sessions, the count of its matches, and the switch of the index.

use crate::app::state::command::Commands;
use crate::app::state::sessions::list::{Sessions, SessionsCommand};
use crate::app::state::sessions::search::SessionSearch;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{small, weak};
use crate::safe_text;
use crate::units::Bytes;
use egui::{
    Align, Button, Id, Key, Label, Layout, Margin, Popup, PopupCloseBehavior, ProgressBar,
    RichText, TextEdit, Ui,
};

/// Width of the field, in points.
const WIDTH: f32 = 380.0;

/// Returns the id of the field.
pub(crate) fn field_id() -> Id {
    Id::unique("session search")
}

/// Shows the field and what belongs to it.
pub(crate) fn show(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    let search = &sessions.search;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        field(ui, search, commands);
        if let Some(share) = search.progress() {
            let bar = ProgressBar::new(share.0 as f32).fill(palette(ui).accent);
            ui.add(bar.desired_width(80.0).desired_height(8.0));
            if widgets::secondary_button(ui, "Stop", "")
                .accessible_name("Stop the search")
                .clicked()
            {
                commands.push(SessionsCommand::StopSearch);
            }
        }
        if search.is_active() {
            ui.label(weak(ui, counted(search)));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if search.index.path().is_some() {
                index_menu(ui, search, commands);
            }
        });
    });
    let problem = search.problem.clone();
    if let Some(problem) = problem.or_else(|| search.result.warning()) {
        ui.label(RichText::new(problem).color(palette(ui).bad));
    }
}

/// Shows the field. Enter searches.
fn field(ui: &mut Ui, search: &SessionSearch, commands: &mut Commands) {
    let mut text = search.text.clone();
    let mut edit = TextEdit::singleline(&mut text)
        .id(field_id())
        .hint_text("Search in all sessions…")
        .desired_width(WIDTH.min(ui.available_width() * 0.5))
        .margin(Margin::symmetric(8, 5));
    if search.error.is_some() {
        edit = edit.text_color(palette(ui).bad);
    }
    let response = ui.add(edit).accessible_name("Search in all sessions");
    if response.changed() {
        commands.push(SessionsCommand::SearchText(text));
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    if is_entered {
        response.request_focus();
        if !search.is_current() || search.highlighted.is_none() {
            commands.push(SessionsCommand::StartSearch);
        }
    }
    let purpose = "Search the messages of all sessions";
    // An error is shown in place of the results.
    widgets::explain_query(ui, response, None, purpose);
}

fn counted(search: &SessionSearch) -> String {
    let result = &search.result;
    if search.searched.is_none() || search.is_outdated() || result.sessions.is_empty() {
        return String::new();
    }
    let matches = wording::count(result.n_hits(), "match");
    let messages = wording::count(result.n_messages(), "message");
    let sessions = wording::count(result.sessions.len(), "session");
    let stopped = if search.is_stopped { " (stopped)" } else { "" };
    format!("{matches} in {messages} of {sessions}{stopped}")
}

/// Shows whether the index is on, with a menu that says what it stores and switches it on and off.
fn index_menu(ui: &mut Ui, search: &SessionSearch, commands: &mut Commands) {
    let name = match search.index_bytes {
        Some(bytes) => format!("Index on · {} ⏷", wording::bytes(Bytes(bytes))),
        None => "Index off ⏷".to_owned(),
    };
    let button = ui
        .add(Button::new(weak(ui, name)).frame_when_inactive(false))
        .on_hover_text("An index makes searches in all sessions fast")
        .accessible_name("Search index");
    let path = search.index.path().unwrap_or_default();
    let path = safe_text::one_line(&path.display().to_string(), 200);
    Popup::menu(&button)
        .layout(Layout::top_down(Align::Min))
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.set_width(380.0);
            let text = if search.index_bytes.is_some() {
                "The index stores the text of your sessions in this file, which only your account can read. A search updates it \
                 after files have changed or were deleted."
            } else {
                "Without an index, each search reads all files. With an index, results appear while you type. It stores the text \
                 of your sessions in this file, which only your account can read. A search updates it after files have changed or \
                 were deleted."
            };
            ui.add(Label::new(text).wrap());
            ui.add(Label::new(small(ui, path)).wrap());
            ui.add_space(space::XS);
            let (name, command) = if search.index_bytes.is_some() {
                let name = "Remove the index and switch it off";
                (name, SessionsCommand::RemoveIndex)
            } else {
                ("Switch on the index", SessionsCommand::SwitchIndexOn)
            };
            if ui.button(name).clicked() {
                commands.push(command);
                ui.close();
            }
        });
}
