//! The table of sessions, which can be sorted and opened from.

use crate::app::state::command::Commands;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::open::command::OpenCommand;
use crate::app::state::sessions::list::{Column, Sessions, SessionsCommand};
use crate::app::state::wording;
use crate::app::ui::parts::open_item;
use crate::app::ui::sessions::keys;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table;
use crate::app::ui::widgets::table::Table;
use crate::app::ui::widgets::text::weak;
use crate::app::ui::{theme, widgets};
use crate::engine::WindowSource;
use crate::exec::stores::{ListedSession, PeakAccuracy, SessionSummary};
use crate::presets::default_output_reserve;
use crate::safe_text;
use crate::units::Bytes;
use egui::{Align, Id, Label, Layout, RichText, ScrollArea, Sense, TextStyle, Ui, vec2};
use egui_extras::Column as Width;
use std::time::{Duration, SystemTime};

/// Width in points below which the project column is hidden.
const WIDE: f32 = 980.0;

/// Columns with their titles, from left to right.
const COLUMNS: [(Column, &str); 8] = [
    (Column::LastCall, "last call"),
    (Column::Agent, "agent"),
    (Column::Project, "project"),
    (Column::Title, "title"),
    (Column::Messages, "messages"),
    (Column::Peak, "peak"),
    (Column::Compactions, "compactions"),
    (Column::Size, "size"),
];

/// Returns the id of the filter field.
pub(crate) fn filter_id() -> Id {
    Id::unique("session filter")
}

fn list_id() -> Id {
    Id::unique("session list")
}

/// Shows the table.
pub(crate) fn show(
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
    let keys = keys::read(ui, list_id(), filter_id(), sessions.order.len(), highlighted);
    if let Some(position) = highlighted.filter(|_| keys.is_entered) {
        let row = sessions.order[position] as usize;
        commands.push(open_command(&sessions.rows[row]));
    }
    if let Some(position) = keys.moved_to {
        commands.push(SessionsCommand::Highlight(sessions.order[position]));
    }
    let highlighted = keys.moved_to.or(highlighted);
    let rect = ui.available_rect_before_wrap();
    let columns = columns(sessions, ui.available_width() > WIDE);
    let now = SystemTime::now();
    ScrollArea::horizontal().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // The right margin is space for the scroll bar.
        let table = Table::new("sessions", columns, sessions.order.len())
            .margins(0.0, space::M)
            .own_row_menu();
        let shown = table.reveal(keys.moved_to).show(ui, |mut row| {
            let listed = &sessions.rows[sessions.order[row.index()] as usize];
            let Ok(summary) = &listed.summary else { return };
            row.select(highlighted == Some(row.index()));
            let sub_agents = sessions.sub_agents(listed);
            row.cells(|ui, column| cell(ui, column, (listed, sub_agents), summary, now));
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
    let row = highlighted.map(|position| &sessions.rows[sessions.order[position] as usize]);
    let summary = row.and_then(|row| row.summary.as_ref().ok());
    let title = summary.map(|summary| safe_text::one_line(&summary.title, 200));
    let below_head = rect.with_min_y(rect.top() + space::ROW);
    keys::make_focusable(ui, list_id(), below_head, "Sessions found", title.as_deref());
}

/// Returns whether a listed session is the open one.
fn is_of(listed: &ListedSession, open: &Document) -> bool {
    let origin = Origin::Path(listed.found.path.clone());
    open.is_from(&origin, listed.conversation.unwrap_or(0))
}

fn open_command(listed: &ListedSession) -> OpenCommand {
    let path = listed.found.path.clone();
    match listed.conversation {
        Some(conversation) => OpenCommand::ConversationOf(path, conversation),
        None => OpenCommand::Path(path),
    }
}

fn compare_command(listed: &ListedSession) -> CompareCommand {
    let path = listed.found.path.clone();
    match listed.conversation {
        Some(conversation) => CompareCommand::ConversationOf(path, conversation),
        None => CompareCommand::Path(path),
    }
}

fn columns(sessions: &Sessions, is_wide: bool) -> Vec<table::Column<'static, Column>> {
    let column = |(key, title): (Column, &'static str)| {
        let order = table::SortOrder::new(sessions.is_descending);
        let sorted = (sessions.column == key).then_some(order);
        let column = table::Column::new(key, title, width(key)).flush();
        let column = column.sortable(sorted);
        match key {
            Column::Messages | Column::Compactions | Column::Size | Column::Peak => column.right(),
            _ => column,
        }
    };
    let shown = COLUMNS.into_iter().filter(|(key, _)| is_wide || *key != Column::Project);
    shown.map(column).collect()
}

fn width(column: Column) -> Width {
    match column {
        Column::LastCall => Width::exact(104.0),
        Column::Project => Width::initial(180.0).at_least(60.0).clip(true),
        Column::Title => Width::remainder().at_least(160.0).clip(true),
        Column::Messages | Column::Size => Width::exact(80.0),
        Column::Agent | Column::Peak => Width::exact(132.0),
        Column::Compactions => Width::exact(92.0),
    }
}

fn cell(
    ui: &mut Ui,
    column: Column,
    (listed, sub_agents): (&ListedSession, usize),
    summary: &SessionSummary,
    now: SystemTime,
) {
    match column {
        Column::LastCall => {
            last_call(ui, weak(ui, age_of_call(now, listed.ended())), listed.ended());
        }
        Column::Agent => {
            ui.add(Label::new(listed.agent_name()).truncate());
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
            if sub_agents > 0 {
                let n = wording::count(sub_agents, "sub-agent");
                title = format!("{title}  ({n})");
            }
            if let Some(repeats) = listed.repeats_text() {
                let repeats = safe_text::one_line(&repeats, 120);
                title = format!("{title}  ({repeats})");
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
                ui.label(if summary.compactions == 0 { weak(ui, n) } else { RichText::new(n) });
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
    let share = summary.peak_share(default_output_reserve());
    let (about, help) = match summary.peak_accuracy {
        PeakAccuracy::Reported => ("", "as reported by the provider"),
        PeakAccuracy::Estimated => ("≈", "estimated at least in part"),
    };
    let tone = palette(ui);
    let color = if summary.is_above_window() {
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
    let window = match summary.window_source {
        WindowSource::Assumed => ", which is assumed",
        _ => "",
    };
    let hover = format!(
        "{} tokens, {help}: {}{window}",
        wording::grouped(summary.peak),
        wording::of_usable(share)
    );
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
    ui.painter().rect_filled(rect.with_max_x(rect.left() + filled), 2.0, color);
}

/// Shows the age of the last call, with its time as hover text.
pub(crate) fn last_call(ui: &mut Ui, age: RichText, time: Option<i64>) {
    let help = match time.and_then(time_of_call) {
        Some(time) => format!("Last call: {}", wording::minute(time)),
        None => "The file does not record when its calls were made.".to_owned(),
    };
    ui.label(age).on_hover_text(help);
}

/// Formats the age of the last call, from its time in milliseconds since 1970: `2 days ago`, `–` if not recorded.
pub(crate) fn age_of_call(now: SystemTime, time: Option<i64>) -> String {
    time.and_then(time_of_call).map_or_else(|| "–".to_owned(), |time| age(now, time))
}

fn time_of_call(milliseconds: i64) -> Option<SystemTime> {
    let since_epoch = Duration::from_millis(u64::try_from(milliseconds).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_epoch)
}

/// Formats an age, such as `2 days ago`.
fn age(now: SystemTime, then: SystemTime) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
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
