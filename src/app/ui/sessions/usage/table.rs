//! The table of the page: the total, then a row per day, project, model or another key.

use crate::analysis::usage::UsageRow;
use crate::app::state::command::Commands;
use crate::app::state::model::tone::Tone;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::sessions::usage::page::{UsagePage, UsageSums};
use crate::app::state::sessions::usage::text;
use crate::app::state::sessions::usage::view::UsageColumn;
use crate::app::ui::sessions::keys;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table;
use crate::app::ui::widgets::table::Table;
use crate::app::ui::widgets::text::small;
use crate::safe_text;
use egui::{Id, Label, RichText, ScrollArea, TextStyle, Ui};
use egui_extras::Column as Width;

/// Share of the usable window from which a peak needs attention, as in the list of sessions.
const FULL: f64 = 0.75;

/// Columns behind the key with their titles, widths in points and hover texts.
const COLUMNS: [(UsageColumn, &str, f32, &str); 10] = [
    (
        UsageColumn::Sessions,
        "sessions",
        60.0,
        "Sessions with a call in the row; a sub-agent belongs to the session that started it",
    ),
    (UsageColumn::Calls, "calls", 52.0, "Requests to the model"),
    (UsageColumn::Input, "input", 56.0, "Tokens of the prompts, cached or not"),
    (UsageColumn::Cached, "cached", 56.0, "Share of the input that was read from the cache"),
    (UsageColumn::Output, "output", 56.0, "Tokens of the answers"),
    (
        UsageColumn::Cost,
        "cost",
        76.0,
        "Cost at the providers' prices; * marks a cost without calls of models without a known price",
    ),
    (
        UsageColumn::Misses,
        "cache misses",
        100.0,
        "Calls that sent again what an earlier call had sent and the cache did not have, and their cost above cache reads",
    ),
    (UsageColumn::Compactions, "compactions", 80.0, "Recorded compactions"),
    (UsageColumn::Peak, "peak", 52.0, "Largest context as a share of the usable window"),
    (
        UsageColumn::Overflows,
        "overflows",
        64.0,
        "Calls whose context was larger than the context window",
    ),
];

fn list_id() -> Id {
    Id::unique("usage rows")
}

/// Shows the table.
pub(super) fn show(ui: &mut Ui, page: &UsagePage, sums: &UsageSums, commands: &mut Commands) {
    let rows = &sums.table.rows;
    let position = |row: usize| page.order.iter().position(|of| *of == row);
    let highlighted = page.highlighted.and_then(position);
    // The table has no field.
    let field = list_id().with("field");
    let keys = keys::read(ui, list_id(), field, page.order.len(), highlighted);
    let mut ask = |command| commands.push(SessionsCommand::Usage(command));
    if let Some(position) = highlighted.filter(|_| keys.is_entered) {
        ask(UsageCommand::ShowSessions(page.order[position]));
    }
    if let Some(position) = keys.moved_to {
        ask(UsageCommand::Highlight(page.order[position]));
    }
    let highlighted = keys.moved_to.or(highlighted);
    let area = ui.available_rect_before_wrap();
    ScrollArea::horizontal().id_salt("usage table").show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // The first row is the total. The right margin is space for the scroll bar.
        let table = Table::new("usage", columns(page, sums), page.order.len() + 1);
        let table = table.margins(0.0, space::M).own_row_menu();
        let revealed = keys.moved_to.map(|position| position + 1);
        let shown = table.reveal(revealed).show(ui, |mut row| {
            let Some(position) = row.index().checked_sub(1) else {
                row.cells(|ui, column| cell(ui, column, &sums.table.total, true));
                row.menu(|_| {});
                return;
            };
            let idx = page.order[position];
            row.select(highlighted == Some(position));
            row.cells(|ui, column| cell(ui, column, &rows[idx], false));
            let show_sessions = || SessionsCommand::Usage(UsageCommand::ShowSessions(idx));
            row.menu(|ui| {
                if ui.button("List the sessions of this row").clicked() {
                    commands.push(show_sessions());
                }
            });
            let response = row.response();
            if response.clicked() {
                commands.push(show_sessions());
            }
            response
                .on_hover_ui(|ui| hover(ui, &rows[idx], "Click to list the sessions of this row."));
        });
        if let Some(column) = shown.sorted_by {
            let view = page.view.sorted_by(column);
            commands.push(SessionsCommand::Usage(UsageCommand::View(view)));
        }
    });
    let name = highlighted.map(|position| text::key_text(&rows[page.order[position]].key));
    let below_head = area.with_min_y(area.top() + space::ROW);
    keys::make_focusable(ui, list_id(), below_head, "Usage rows", name.as_deref());
}

fn columns(page: &UsagePage, sums: &UsageSums) -> Vec<table::Column<'static, UsageColumn>> {
    let sort = page.view.order();
    let sorted = |column| {
        let (of, is_descending) = sort?;
        (of == column).then(|| table::SortOrder::new(is_descending))
    };
    let key = Width::remainder().at_least(104.0).clip(true);
    let key = table::Column::new(UsageColumn::Key, sums.by.name(), key).flush();
    let figure = |(column, title, width, help): (UsageColumn, &'static str, f32, &'static str)| {
        let column_of = table::Column::new(column, title, Width::exact(width));
        column_of.right().help(help).sortable(sorted(column))
    };
    let mut columns = vec![key.sortable(sorted(UsageColumn::Key))];
    columns.extend(COLUMNS.map(figure));
    columns
}

fn cell(ui: &mut Ui, column: UsageColumn, row: &UsageRow, is_total: bool) {
    let style = if is_total { theme::strong() } else { TextStyle::Body };
    if column == UsageColumn::Key {
        let name = if is_total { "total".to_owned() } else { text::key_text(&row.key) };
        ui.add(Label::new(RichText::new(name).text_style(style)).truncate());
        return;
    }
    let figure = text::cell(row, column);
    let tone = match column {
        _ if figure == text::NONE => Tone::Weak,
        UsageColumn::Overflows => Tone::Bad,
        UsageColumn::Peak if row.overflows > 0 => Tone::Bad,
        UsageColumn::Peak if row.peak.0 >= FULL => Tone::Warn,
        _ => Tone::Plain,
    };
    ui.label(RichText::new(figure).text_style(style).color(palette(ui).tone(tone)));
}

/// Shows the name and the exact figures of a row, and the effect of a click.
pub(super) fn hover(ui: &mut Ui, row: &UsageRow, click: &str) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let name = safe_text::one_line(&text::key_text(&row.key), 120);
    ui.label(RichText::new(name).text_style(theme::strong()));
    for line in text::details(row) {
        ui.label(line);
    }
    ui.label(small(ui, click));
}
