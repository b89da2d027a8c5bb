//! The table of sources. A switch computes everything without a source.

use crate::analysis::attribution::{Attribution, Selector, SourceKind, SourceRow};
use crate::app::state::command::Commands;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{padded, weak};
use crate::safe_text;
use egui::{Label, RichText, Ui};
use egui_extras::Column as Width;

/// Columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SourceColumn {
    Sent,
    Name,
    Used,
    Tokens,
    Calls,
    Cumulative,
    Price,
}

/// Table width from which all columns are shown, in points.
const FULL: f32 = 620.0;

/// Draws the table of sources.
pub(super) fn show(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    sources: &Attribution,
    commands: &mut Commands,
) {
    let rows: Vec<&SourceRow> = sources.rows.iter().collect();
    if rows.iter().all(|row| row.source.kind == SourceKind::NotRecorded) {
        padded(ui, |ui| {
            ui.label(weak(
                ui,
                "The file records neither system prompt nor tool definitions. `plimsoll inspect --tools FILE` adds definitions that you have.",
            ));
        });
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    Table::new("sources", columns(), rows.len()).margins(space::S, space::S).show(ui, |mut row| {
        let source = rows[row.index()];
        row.cells(|ui, column| cell(ui, session, source, column, commands));
        if let Some(message) = source.message.filter(|_| row.response().clicked()) {
            commands.push(SelectCommand::Message(message));
            commands.push(ShellCommand::ShowTab(Tab::MESSAGES));
        }
    });
}

fn columns() -> Vec<Column<'static, SourceColumn>> {
    let column = |key, name, help, width| Column::new(key, name, width).help(help);
    vec![
        column(
            SourceColumn::Sent,
            "sent",
            "Switch a source off to compute every lane, threshold and price without it",
            Width::exact(48.0),
        ),
        column(
            SourceColumn::Name,
            "source",
            "Click a row to read it in Messages",
            Width::remainder().at_least(140.0).clip(true),
        ),
        column(
            SourceColumn::Used,
            "used",
            "Calls of the tool, or of the server's tools",
            Width::exact(72.0),
        )
        .right(),
        column(
            SourceColumn::Tokens,
            "tokens",
            "Tokens in one context, the largest if they change",
            Width::exact(80.0),
        )
        .right(),
        column(SourceColumn::Calls, "calls", "Calls that sent it", Width::exact(64.0))
            .right()
            .hidden_below(FULL),
        column(
            SourceColumn::Cumulative,
            "cumulative",
            "Cumulative tokens: tokens times calls",
            Width::exact(92.0),
        )
        .right()
        .hidden_below(FULL),
        column(
            SourceColumn::Price,
            "price",
            "Price of these tokens over the session, by the recorded or modelled cache",
            Width::exact(80.0),
        )
        .right(),
    ]
}

fn cell(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    row: &SourceRow,
    column: SourceColumn,
    commands: &mut Commands,
) {
    match column {
        SourceColumn::Sent => switch(ui, session, row, commands),
        SourceColumn::Name => {
            let indent = if row.source.server().is_some() { "    " } else { "" };
            let name = safe_text::one_line(&row.source.to_string(), 120);
            ui.add(Label::new(format!("{indent}{name}")).truncate());
        }
        SourceColumn::Used => {
            match row.uses {
                None => ui.label(""),
                Some(0) => ui.label(RichText::new("never").color(palette(ui).warn)),
                Some(n) => ui.label(wording::grouped(n as u64)),
            };
        }
        SourceColumn::Tokens => {
            ui.label(wording::tokens(row.tokens));
        }
        SourceColumn::Calls => {
            ui.label(wording::grouped(row.calls as u64));
        }
        SourceColumn::Cumulative => {
            ui.label(row.cumulative.short());
        }
        SourceColumn::Price => {
            match row.usd {
                Some(usd) => ui.label(wording::usd(usd)),
                None => ui.label(weak(ui, "–")),
            };
        }
    }
}

/// Draws the switch of a source. What is not recorded cannot be switched off.
fn switch(ui: &mut Ui, session: &OpenSession<'_>, row: &SourceRow, commands: &mut Commands) {
    let Ok(selector) = row.source.to_string().parse::<Selector>() else {
        return;
    };
    let without = &session.config.without;
    let is_own = without.contains(&selector);
    let is_off = is_own || without.iter().any(|other| other.matches(&row.source));
    let mut is_sent = !is_off;
    let response = ui.add_enabled(is_own || !is_off, egui::Checkbox::without_text(&mut is_sent));
    let name = safe_text::one_line(&row.source.to_string(), 120);
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::CheckBox, true, is_sent, format!("Send {name}"))
    });
    if response.clicked() {
        commands.push(SettingsCommand::ToggleSource(selector));
    }
}
