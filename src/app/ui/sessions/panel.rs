//! The list of sessions on this machine: its head, and the table, the results of a search, or the page *Usage*.

use crate::app::state::command::Commands;
use crate::app::state::model::document::Document;
use crate::app::state::sessions::list::{ListPage, Sessions, SessionsCommand, UnreadFile};
use crate::app::state::wording;
use crate::app::ui::sessions::{head, results, search_field, table, usage};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{first_sentence, small, weak};
use crate::app::ui::{theme, widgets};
use crate::exec::stores::{AgentFolder, existing_folders};
use crate::safe_text;
use egui::{CentralPanel, Frame as UiFrame, Margin, ProgressBar, RichText, TextEdit, Ui};

/// Shows the list instead of a session.
pub fn show(ui: &mut Ui, sessions: &Sessions, open: Option<&Document>, commands: &mut Commands) {
    let frame = UiFrame::new().fill(palette(ui).background).inner_margin(Margin::symmetric(16, 12));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        if sessions.page == ListPage::Usage {
            usage::panel::show(ui, sessions, commands);
            return;
        }
        head(ui, sessions, commands);
        ui.add_space(space::S);
        search_field::show(ui, sessions, commands);
        ui.add_space(space::S);
        if sessions.search.is_active() {
            results::show(ui, sessions, commands);
        } else if sessions.order.is_empty() && sessions.progress().is_none() {
            empty_state(ui, sessions, commands);
        } else {
            table::show(ui, sessions, open, commands);
        }
    });
}

fn head(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    head::show(ui, sessions, commands, |ui, commands| {
        let mut ask = |command| commands.push(command);
        let mut filter = sessions.filter.clone();
        let edit = TextEdit::singleline(&mut filter)
            .id(table::filter_id())
            .hint_text("Filter by title, agent or folder")
            .desired_width(200.0)
            .margin(Margin::symmetric(8, 5));
        let edit = ui.add(edit).accessible_name("Filter sessions");
        if edit.changed() {
            ask(SessionsCommand::Filter(filter));
        }
        if let Some(only) = &sessions.only {
            let name = safe_text::one_line(&only.name, 24);
            let button = widgets::secondary_button(ui, &format!("{name} ✖"), "");
            let button = button.accessible_name("List all sessions");
            let help =
                "Only the sessions of this row of the page Usage are listed. Click to list all.";
            if button.on_hover_text(help).clicked() {
                ask(SessionsCommand::ShowAll);
            }
        }
        if let Some(share) = sessions.progress() {
            if widgets::secondary_button(ui, "Stop", "").clicked() {
                ask(SessionsCommand::Stop);
            }
            let bar = ProgressBar::new(share.0 as f32).fill(palette(ui).accent);
            ui.add(bar.desired_width(120.0).desired_height(8.0));
        }
        let text = ui.label(weak(ui, counted(sessions)));
        if !sessions.unread.is_empty() {
            text.on_hover_ui(|ui| unread(ui, &sessions.unread));
        }
    });
    if let Some(problem) = &sessions.problem {
        ui.label(RichText::new(problem).color(palette(ui).bad));
    }
}

fn counted(sessions: &Sessions) -> String {
    let mut text = wording::count(sessions.rows.len(), "session");
    if sessions.order.len() < sessions.rows.len() {
        text = format!("{} of {text}", wording::grouped(sessions.order.len() as u64));
    }
    if !sessions.unread.is_empty() {
        let others = wording::count(sessions.unread.len(), "other file");
        text = format!("{text}, {others} not opened");
    }
    if sessions.n_own_outputs > 0 {
        let n = wording::grouped(sessions.n_own_outputs as u64);
        text = format!("{text}, {n} written by Plimsoll left out");
    }
    text
}

/// Shows files without a session and the reason for each, up to a limit.
fn unread(ui: &mut Ui, files: &[UnreadFile]) {
    const MAX_LISTED: usize = 12;
    ui.set_max_width(560.0);
    ui.spacing_mut().item_spacing.y = 2.0;
    for file in files.iter().take(MAX_LISTED) {
        let name = file.path.file_name().unwrap_or(file.path.as_os_str());
        let name = safe_text::one_line(&name.to_string_lossy(), 60);
        ui.label(RichText::new(name).text_style(theme::strong()));
        let why = safe_text::one_line(first_sentence(&file.why), 160);
        ui.label(small(ui, why));
    }
    if files.len() > MAX_LISTED {
        let more = wording::grouped((files.len() - MAX_LISTED) as u64);
        ui.label(weak(ui, format!("and {more} more")));
    }
}

/// Explains why the list is empty and offers the next actions.
fn empty_state(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    let mut ask = |command| commands.push(command);
    if !sessions.rows.is_empty() {
        if sessions.filter.is_empty() {
            ui.label(weak(ui, "No session of this row is listed."));
            return;
        }
        ui.label(weak(ui, "No session contains this text."));
        ui.add_space(space::S);
        if widgets::secondary_button(ui, "Clear the filter", "").clicked() {
            ask(SessionsCommand::Filter(String::new()));
        }
        return;
    }
    let places = existing_folders();
    if sessions.problem.is_some() {
        // The reason is shown above.
    } else if sessions.folder.is_some() {
        let text = "No file in this folder or its subfolders is a session that can be opened.";
        ui.label(weak(ui, text));
    } else if places.is_empty() {
        let text = "No sessions of a supported agent found on this machine. Drop a file or a folder on the window, or choose a folder.";
        ui.label(weak(ui, text));
    } else {
        ui.label(weak(ui, "No session found in"));
        for AgentFolder { agent, folder } in places {
            let folder = safe_text::one_line(&folder.display().to_string(), 120);
            ui.label(weak(ui, format!("{folder} ({agent})")));
        }
    }
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        if widgets::secondary_button(ui, "Choose folder…", "").clicked() {
            ask(SessionsCommand::Choose);
        }
        if sessions.folder.is_some()
            && widgets::secondary_button(ui, "Sessions on this machine…", "").clicked()
        {
            ask(SessionsCommand::Show(None));
        }
    });
}
