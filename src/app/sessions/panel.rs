//! The list of sessions on this machine: a table that can be sorted, filtered and opened from.

use super::list::{Column, Sessions, SessionsCommand, Unread, agent};
use crate::app::command::Commands;
use crate::app::compare::command::CompareCommand;
use crate::app::open::command::OpenCommand;
use crate::app::open::document::{Document, Origin};
use crate::app::tabs::open_item;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::table::{self, Table};
use crate::app::widgets::text::{first_sentence, small, weak};
use crate::app::{widgets, wording};
use crate::exec::stores::{Listed, PeakBasis, SessionSummary, existing_folders};
use crate::safe_text;
use crate::units::{Bytes, Share};
use egui::{
    Align, CentralPanel, EventFilter, Frame as UiFrame, Id, Key, Label, Layout, Margin, Modifiers,
    Popup, ProgressBar, RichText, Role, ScrollArea, Sense, TextEdit, TextStyle, Ui, WidgetInfo,
    vec2,
};
use egui_extras::Column as Width;
use std::time::{Duration, SystemTime};

/// Width in points below which the project column is hidden.
const WIDE: f32 = 980.0;

/// Columns with their titles, from left to right.
const COLUMNS: [(Column, &str); 8] = [
    (Column::Modified, "written"),
    (Column::Agent, "agent"),
    (Column::Project, "project"),
    (Column::Title, "title"),
    (Column::Messages, "messages"),
    (Column::Peak, "peak"),
    (Column::Compactions, "compactions"),
    (Column::Size, "size"),
];

/// Shows the list instead of a session.
pub fn show(ui: &mut Ui, sessions: &Sessions, open: Option<&Document>, commands: &mut Commands) {
    let frame = UiFrame::new()
        .fill(palette(ui).background)
        .inner_margin(Margin::symmetric(16, 12));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        head(ui, sessions, commands);
        ui.add_space(space::S);
        if sessions.order.is_empty() && sessions.progress().is_none() {
            empty_state(ui, sessions, commands);
        } else {
            session_table(ui, sessions, open, commands);
        }
    });
}

fn head(ui: &mut Ui, sessions: &Sessions, commands: &mut Commands) {
    let mut ask = |command| commands.push(command);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.label(RichText::new("Sessions").text_style(TextStyle::Heading));
        let place = match &sessions.folder {
            Some(folder) => safe_text::one_line(&folder.display().to_string(), 60),
            None => "sessions on this machine".to_owned(),
        };
        ui.label(weak(ui, place));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                ask(SessionsCommand::Close);
            }
            let mut filter = sessions.filter.clone();
            let edit = TextEdit::singleline(&mut filter)
                .id(filter_id())
                .hint_text("Filter")
                .desired_width(200.0)
                .margin(Margin::symmetric(8, 5));
            let edit = ui.add(edit).accessible_name("Filter sessions");
            if edit.changed() {
                ask(SessionsCommand::Filter(filter));
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
    });
    if let Some(problem) = &sessions.problem {
        ui.label(RichText::new(problem).color(palette(ui).bad));
    }
}

fn counted(sessions: &Sessions) -> String {
    let mut text = wording::count(sessions.rows.len(), "session");
    if sessions.order.len() < sessions.rows.len() {
        text = format!(
            "{} of {text}",
            wording::grouped(sessions.order.len() as u64)
        );
    }
    if !sessions.unread.is_empty() {
        let others = wording::count(sessions.unread.len(), "other file");
        text.push_str(", ");
        text.push_str(&others);
        text.push_str(" not opened");
    }
    text
}

/// Shows files without a session and the reason for each, up to a limit.
fn unread(ui: &mut Ui, files: &[Unread]) {
    const MAX_LISTED: usize = 12;
    ui.set_max_width(560.0);
    ui.spacing_mut().item_spacing.y = 2.0;
    for file in files.iter().take(MAX_LISTED) {
        let name = file.path.file_name().unwrap_or(file.path.as_os_str());
        let name = safe_text::one_line(&name.to_string_lossy(), 60);
        ui.label(RichText::new(name).text_style(theme::strong()));
        // Formats that can be opened are described elsewhere.
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
        let sentence = "No file in this folder or its subfolders is a session that can be opened.";
        ui.label(weak(ui, sentence));
    } else if places.is_empty() {
        let sentence = "No sessions of a supported agent found on this machine. Drop a file or a folder on the window, or choose a folder.";
        ui.label(weak(ui, sentence));
    } else {
        ui.label(weak(ui, "No session found in"));
        for (agent, folder) in places {
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

fn filter_id() -> Id {
    Id::unique("session filter")
}

fn list_id() -> Id {
    Id::unique("session list")
}

/// Keys that move the highlight, each with its number of rows.
const MOVES: [(Key, isize); 6] = [
    (Key::ArrowUp, -1),
    (Key::ArrowDown, 1),
    (Key::PageUp, -10),
    (Key::PageDown, 10),
    (Key::Home, isize::MIN),
    (Key::End, isize::MAX),
];

/// Handles the keys of the list: the arrow keys move the highlight, Enter opens the highlighted session. The keys work
/// in the list, in the filter, and while no control has the focus. Returns the position of a row to scroll to.
fn keys(
    ui: &Ui,
    sessions: &Sessions,
    highlighted: Option<usize>,
    commands: &mut Commands,
) -> Option<usize> {
    let focused = ui.memory(egui::Memory::focused);
    let is_typing = focused == Some(filter_id());
    let is_covered = ui.memory(|m| m.top_modal_layer().is_some()) || Popup::is_any_open(ui.ctx());
    if is_covered || !(is_typing || focused.is_none_or(|id| id == list_id())) {
        return None;
    }
    let pressed = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    let row = |position: usize| sessions.order.get(position).copied();
    if let Some(row) = highlighted.filter(|_| pressed(Key::Enter)).and_then(row) {
        commands.push(open_command(&sessions.rows[row as usize]));
    }
    // In the filter, Home and End move the cursor.
    let is_ours = |key: Key| !(is_typing && matches!(key, Key::Home | Key::End));
    let by = MOVES
        .into_iter()
        .find_map(|(key, by)| (is_ours(key) && pressed(key)).then_some(by))?;
    let last = sessions.order.len().checked_sub(1)?;
    let to = highlighted.map_or(0, |at| at.saturating_add_signed(by).min(last));
    commands.push(SessionsCommand::Highlight(row(to)?));
    Some(to)
}

fn session_table(
    ui: &mut Ui,
    sessions: &Sessions,
    open: Option<&Document>,
    commands: &mut Commands,
) {
    let is_open = |row: &u32| {
        let listed = &sessions.rows[*row as usize];
        open.is_some_and(|open| is_of(listed, open))
    };
    let is_highlighted = |row: &u32| sessions.highlighted == Some(*row);
    let position = |is_wanted: &dyn Fn(&u32) -> bool| sessions.order.iter().position(is_wanted);
    // The open session is highlighted until a key moves the highlight.
    let highlighted = position(&is_highlighted).or_else(|| position(&is_open));
    let followed = keys(ui, sessions, highlighted, commands);
    let highlighted = followed.or(highlighted);
    let rect = ui.available_rect_before_wrap();
    let columns = columns(sessions, ui.available_width() > WIDE);
    let now = SystemTime::now();
    ScrollArea::horizontal().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // The right margin is space for the scroll bar.
        let table = Table::new("sessions", columns, sessions.order.len())
            .margins(0.0, space::M)
            .own_row_menu();
        let shown = table.reveal(followed).show(ui, |mut row| {
            let listed = &sessions.rows[sessions.order[row.index()] as usize];
            let Ok(summary) = &listed.summary else { return };
            row.select(highlighted == Some(row.index()));
            row.cells(|ui, column| cell(ui, column, listed, summary, now));
            let path = safe_text::one_line(&listed.found.path.display().to_string(), 300);
            let compare = open.map(|_| compare_command(listed));
            row.menu(|ui| open_item::menu(ui, open_command(listed), compare, commands));
            let response = row.response().on_hover_text(path);
            open_item::clicked(&response, open_command(listed), commands);
        });
        if let Some(column) = shown.sorted_by {
            commands.push(SessionsCommand::Sort(column));
        }
    });
    let below_head = rect.with_min_y(rect.top() + space::ROW);
    let list = ui.interact(below_head, list_id(), Sense::FOCUSABLE);
    list.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ListBox, true, "Sessions found");
        let row = highlighted.map(|position| &sessions.rows[sessions.order[position] as usize]);
        let summary = row.and_then(|row| row.summary.as_ref().ok());
        info.current_text_value = summary.map(|summary| safe_text::one_line(&summary.title, 200));
        info
    });
    if list.has_focus() {
        let arrows = EventFilter {
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|m| m.set_focus_lock_filter(list.id, arrows));
    }
}

/// Returns whether a listed session is the open one.
fn is_of(listed: &Listed, open: &Document) -> bool {
    let path = &listed.found.path;
    open.origin == Origin::Path(path.clone())
        && open.conversation == listed.conversation.unwrap_or(0)
}

fn open_command(listed: &Listed) -> OpenCommand {
    let path = listed.found.path.clone();
    match listed.conversation {
        Some(conversation) => OpenCommand::ConversationOf(path, conversation),
        None => OpenCommand::Path(path),
    }
}

fn compare_command(listed: &Listed) -> CompareCommand {
    CompareCommand::Open(listed.found.path.clone(), listed.conversation.unwrap_or(0))
}

fn columns(sessions: &Sessions, is_wide: bool) -> Vec<table::Column<'static, Column>> {
    let column = |(key, title): (Column, &'static str)| {
        let sorted = (sessions.column == key).then_some(sessions.is_descending);
        let column = table::Column::new(key, title, width(key)).flush();
        let column = column.sortable(sorted);
        match key {
            Column::Messages | Column::Compactions | Column::Size | Column::Peak => column.right(),
            _ => column,
        }
    };
    let shown = COLUMNS
        .into_iter()
        .filter(|(key, _)| is_wide || *key != Column::Project);
    shown.map(column).collect()
}

fn width(column: Column) -> Width {
    match column {
        Column::Modified => Width::exact(104.0),
        Column::Project => Width::initial(180.0).at_least(60.0).clip(true),
        Column::Title => Width::remainder().at_least(160.0).clip(true),
        Column::Messages | Column::Size => Width::exact(80.0),
        Column::Agent | Column::Peak => Width::exact(132.0),
        Column::Compactions => Width::exact(92.0),
    }
}

fn cell(ui: &mut Ui, column: Column, listed: &Listed, summary: &SessionSummary, now: SystemTime) {
    match column {
        Column::Modified => {
            let age = listed.found.modified.map(|time| age(now, time));
            ui.label(weak(ui, age.unwrap_or_else(|| "–".to_owned())));
        }
        Column::Agent => {
            ui.add(Label::new(agent(listed)).truncate());
        }
        Column::Project => {
            let project = summary.project.as_deref().unwrap_or("–");
            let last = project.rsplit(['/', '\\']).find(|name| !name.is_empty());
            let name = safe_text::one_line(last.unwrap_or(project), 60);
            ui.add(Label::new(weak(ui, name)).truncate());
        }
        Column::Title => {
            let mut title = safe_text::one_line(&summary.title, 200);
            if let Some(parent) = &listed.parent {
                let parent = safe_text::one_line(parent.name(), 80);
                title = format!("{title}  (sub-agent of {parent})");
            }
            widgets::one_line(ui, RichText::new(title));
        }
        Column::Messages => {
            ui.label(wording::grouped(summary.messages as u64));
        }
        Column::Peak => peak(ui, summary),
        Column::Compactions => {
            if summary.records_compactions() {
                let n = wording::grouped(summary.compactions as u64);
                ui.label(if summary.compactions == 0 {
                    weak(ui, n)
                } else {
                    RichText::new(n)
                });
            } else {
                let unknown = ui.label(weak(ui, "–"));
                unknown.on_hover_text("Files of this format do not record compactions.");
            }
        }
        Column::Size => {
            ui.label(weak(ui, wording::bytes(Bytes(listed.found.size.0))));
        }
    }
}

/// Shows the largest context of the session as a bar and a figure.
fn peak(ui: &mut Ui, summary: &SessionSummary) {
    let share = Share(summary.peak_share);
    let (about, help) = match summary.peak_basis {
        PeakBasis::Reported => ("", "as reported by the provider"),
        PeakBasis::Estimated => ("≈", "estimated from samples of the text"),
    };
    let tone = palette(ui);
    let color = if share.0 >= 1.0 {
        tone.bad
    } else if share.0 >= 0.75 {
        tone.warn
    } else {
        tone.accent
    };
    let peak = wording::percent(share);
    let about = if peak.starts_with('<') { "" } else { about };
    let text = format!("{about}{peak}");
    let label = RichText::new(text).text_style(if share.0 >= 0.75 {
        theme::strong()
    } else {
        TextStyle::Body
    });
    let hover = format!("{} tokens, {help}", wording::grouped(summary.peak));
    // The bars are aligned regardless of the width of the figures.
    let figure = Layout::right_to_left(Align::Center);
    let label = ui.allocate_ui_with_layout(vec2(52.0, space::ROW), figure, |ui| {
        ui.set_min_width(52.0);
        ui.label(label)
    });
    label.inner.on_hover_text(hover);
    let (rect, _) = ui.allocate_exact_size(vec2(64.0, 6.0), Sense::hover());
    let filled = rect.width() * share.0.clamp(0.0, 1.0) as f32;
    ui.painter().rect_filled(rect, 2.0, tone.raised);
    ui.painter()
        .rect_filled(rect.with_max_x(rect.left() + filled), 2.0, color);
}

/// Formats an age, such as `2 days ago`.
fn age(now: SystemTime, then: SystemTime) -> String {
    const UNITS: [(u64, &str); 4] = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(
        || "now".to_owned(),
        |(length, name)| format!("{} ago", wording::count((seconds / length) as usize, name)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_use_the_largest_full_unit() {
        let then = SystemTime::UNIX_EPOCH;
        let after = |seconds| age(then + Duration::from_secs(seconds), then);
        assert_eq!(after(0), "now");
        assert_eq!(after(59), "59 seconds ago");
        assert_eq!(after(3_599), "59 minutes ago");
        assert_eq!(after(2 * 86_400), "2 days ago");
        // A clock that was set back.
        assert_eq!(age(then, then + Duration::from_secs(5)), "now");
    }
}
