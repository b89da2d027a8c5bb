//! The pages with the figures of both sessions: whole sessions, composition and cost, and use of tools.

use crate::analysis::comparison::{Figure, charges, composition, figures, notes};
use crate::app::state::compare::state::Side;
use crate::app::state::wording;
use crate::app::ui::compare::both::{Both, color};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{small, weak};
use crate::report::NumberFormat;
use crate::safe_text;
use crate::session::Kind;
use egui::{Frame, Label, Margin, RichText, Ui};
use egui_extras::Column as Width;

/// Width in points from which composition and cost are next to the figures of whole sessions.
const SIDE_BY_SIDE: f32 = 860.0;
/// Width of a value, in points.
const VALUE: f32 = 78.0;
/// Width of a difference, in points.
const DIFFERENCE: f32 = 88.0;
/// Way to set an unknown price.
const PRICE_ADVICE: &str = "Choose one in the tab Cost.";
/// Maximum characters of the notes.
const NOTES: usize = 600;
/// Width of a relative change, in points.
const CHANGE: f32 = 58.0;
/// Width of a table from which it shows the relative change, in points.
const WITH_CHANGE: f32 = 400.0;

/// Formats of numbers.
const NUMBERS: NumberFormat = NumberFormat {
    grouped: wording::grouped,
    percent: wording::percent,
    usd: wording::usd,
    minus: '\u{2212}',
};

/// Shows the figures of whole sessions, their composition and cost.
pub(crate) fn show(ui: &mut Ui, both: Both<'_>) {
    let sessions = &both.found.sessions;
    show_notes(ui, &notes(sessions, PRICE_ADVICE));
    let whole = rows("", figures(sessions));
    let parts: Vec<_> = rows("", composition(sessions))
        .into_iter()
        .chain(rows("cost:", charges(sessions)))
        .collect();
    if ui.available_width() < SIDE_BY_SIDE {
        table(ui, "compared figures", &[whole, parts].concat());
        return;
    }
    ui.columns(2, |columns| {
        table(&mut columns[0], "compared figures", &whole);
        table(&mut columns[1], "compared parts", &parts);
    });
}

/// Shows the notes on the figures above the tables.
fn show_notes(ui: &mut Ui, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    let margin = Margin { left: 16, right: 16, top: 2, bottom: 4 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        let text = notes.join(" ").replace('`', "");
        ui.add(Label::new(small(ui, safe_text::one_line(&text, NOTES))).wrap());
    });
}

/// A figure with the group that precedes its name in copied tables.
type FigureRow = (&'static str, Figure);

fn rows(group: &'static str, figures: Vec<Figure>) -> Vec<FigureRow> {
    figures.into_iter().map(|figure| (group, figure)).collect()
}

/// A column of the figures.
#[derive(Clone, Copy)]
enum Col {
    Name,
    Value(Side),
    Difference,
    Change,
}

fn table(ui: &mut Ui, id: &'static str, rows: &[FigureRow]) {
    let value = |key, title| Column::new(key, title, Width::exact(VALUE)).right();
    let columns = vec![
        Column::new(Col::Name, "figure", Width::remainder().at_least(96.0).clip(true)),
        value(Col::Value(Side::A), "A"),
        value(Col::Value(Side::B), "B"),
        Column::new(Col::Difference, "B − A", Width::exact(DIFFERENCE))
            .right()
            .help("Value of B minus value of A"),
        Column::new(Col::Change, "change", Width::exact(CHANGE))
            .right()
            .help("Difference as a share of A")
            .hidden_below(WITH_CHANGE),
    ];
    ui.spacing_mut().item_spacing.y = 0.0;
    Table::new(id, columns, rows.len())
        .margins(space::S, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut row| {
            let (group, figure) = rows[row.index()];
            row.cells(|ui, column| cell(ui, (group, figure), column));
            if !figure.help.is_empty() {
                row.response().on_hover_text(figure.help);
            }
        });
}

fn cell(ui: &mut Ui, (group, figure): FigureRow, column: Col) {
    match column {
        Col::Name => {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == figure.name);
            let name = kind.map_or(figure.name, wording::kind);
            if let Some(kind) = kind {
                widgets::swatch(ui, palette(ui).kind(kind));
            }
            if !group.is_empty() {
                ui.label(weak(ui, group));
            }
            ui.add(Label::new(name).truncate());
        }
        Col::Value(side) => match figure.values[side.index()] {
            Some(value) => {
                let mark = figure.marks[side.index()];
                ui.label(format!("{mark}{}", NUMBERS.value(value)));
            }
            None => unknown(ui),
        },
        Col::Difference if figure.is_incomparable => {
            let help = "Recorded and modelled costs are not comparable";
            ui.label(weak(ui, "–")).on_hover_text(help);
        }
        Col::Difference => match figure.values[0].zip(figure.difference()) {
            Some((value, by)) => {
                let text = NUMBERS.difference(value, by);
                let is_same = by == 0.0;
                ui.label(if is_same { weak(ui, text) } else { text.into() });
            }
            None => unknown(ui),
        },
        Col::Change => {
            if let Some(change) = figure.change() {
                ui.label(weak(ui, NUMBERS.change(change)));
            }
        }
    }
}

fn unknown(ui: &mut Ui) {
    ui.label(weak(ui, "–")).on_hover_text("Unknown");
}

/// A column of the tools.
#[derive(Clone, Copy)]
enum ToolCol {
    Tool,
    Calls(Side),
    Failed(Side),
    Tokens(Side),
}

/// Shows the use of tools.
pub(crate) fn tools(ui: &mut Ui, both: Both<'_>) {
    let tools = &both.found.tools;
    if tools.is_empty() {
        widgets::text::padded(ui, |ui| ui.label(weak(ui, "Neither session calls a tool.")));
        return;
    }
    let value = |key, title, help| {
        let column = Column::new(key, title, Width::exact(VALUE));
        column.right().help(help)
    };
    let columns = vec![
        Column::new(ToolCol::Tool, "tool", Width::remainder().at_least(96.0).clip(true)),
        value(ToolCol::Calls(Side::A), "calls A", "Calls in A"),
        value(ToolCol::Calls(Side::B), "calls B", "Calls in B"),
        value(ToolCol::Failed(Side::A), "failed A", "Failed results in A"),
        value(ToolCol::Failed(Side::B), "failed B", "Failed results in B"),
        value(ToolCol::Tokens(Side::A), "tokens A", "Tokens of calls and results in A"),
        value(ToolCol::Tokens(Side::B), "tokens B", "Tokens of calls and results in B"),
    ];
    ui.spacing_mut().item_spacing.y = 0.0;
    Table::new("compared tools", columns, tools.len())
        .margins(space::S, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut row| {
            let mix = &tools[row.index()];
            row.cells(|ui, column| {
                let count = |n: usize| (n as u64, n == 0);
                let (n, is_zero) = match column {
                    ToolCol::Tool => {
                        only_in(ui, mix.uses.map(|tool_use| tool_use.calls));
                        ui.add(Label::new(safe_text::one_line(&mix.tool, 80)).truncate());
                        return;
                    }
                    ToolCol::Calls(side) => count(mix.uses[side.index()].calls),
                    ToolCol::Failed(side) => count(mix.uses[side.index()].errors),
                    ToolCol::Tokens(side) => count(mix.uses[side.index()].tokens.0 as usize),
                };
                let text = RichText::new(wording::grouped(n));
                ui.label(if is_zero { weak(ui, "–") } else { text });
            });
        });
}

/// Shows the dot of the only session that calls a tool.
fn only_in(ui: &mut Ui, calls: [usize; 2]) {
    let side = match calls {
        [_, 0] => Side::A,
        [0, _] => Side::B,
        _ => return,
    };
    let text = RichText::new(format!("only {}", side.name())).color(color(ui, side));
    ui.label(text);
}
