//! The calls of the focused lane: context growth, new messages and cost of each call.

use super::compute::{Costs, LaneCost};
use super::panel::sum;
use super::state::{self, CallKey, CostView};
use crate::analysis::cost::CallCost;
use crate::app::command::Command;
use crate::app::runs::replays::LaneRun;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::table::{Side, cell, head, number_column, sort_head};
use crate::app::widgets::text::weak;
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::units::Tokens;
use egui::{Align, Frame, Id, Layout, Margin, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Growth in tokens from which the number is shown in strong text.
const MUCH: f64 = 10_000.0;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Col {
    Call,
    Context,
    Grown,
    CameIn,
    Carried,
    Read,
    Fresh,
    Output,
    Cost,
}

impl Col {
    /// All columns, each with the minimum table width at which it is shown, in points.
    const ALL: [(Self, f32); 9] = [
        (Self::Call, 0.0),
        (Self::Context, 0.0),
        (Self::Grown, 0.0),
        (Self::CameIn, 0.0),
        (Self::Carried, 660.0),
        (Self::Read, 740.0),
        (Self::Fresh, 580.0),
        (Self::Output, 820.0),
        (Self::Cost, 0.0),
    ];

    /// Returns the column's layout in a list of `n_calls` calls.
    fn width(self, n_calls: usize) -> Column {
        match self {
            Self::Call => number_column(n_calls),
            Self::CameIn => Column::remainder().clip(true),
            Self::Cost | Self::Output => Column::exact(64.0),
            _ => Column::exact(76.0),
        }
    }

    /// Returns the title, the sort key if any, and the hover text.
    fn head(self) -> (&'static str, Option<CallKey>, &'static str) {
        match self {
            Self::Call => ("call", Some(CallKey::Call), ""),
            Self::Context => ("context", Some(CallKey::Context), "Tokens of the context"),
            Self::Grown => (
                "growth",
                Some(CallKey::Grown),
                "Context tokens more than at the previous call",
            ),
            Self::CameIn => (
                "largest new",
                None,
                "The largest message that is new at this call",
            ),
            Self::Carried => (
                "cumulative",
                Some(CallKey::Carried),
                "Tokens new at this call, times the recorded calls that sent them",
            ),
            Self::Read => ("cache read", None, "Prompt tokens read from the cache"),
            Self::Fresh => (
                "not cached",
                Some(CallKey::Fresh),
                "Prompt tokens not read from the cache",
            ),
            Self::Output => ("output", None, "Tokens of the answer"),
            Self::Cost => (
                "cost",
                Some(CallKey::Cost),
                "Cost of the call at list prices",
            ),
        }
    }

    fn side(self) -> Side {
        if self == Self::CameIn {
            Side::Left
        } else {
            Side::Right
        }
    }
}

/// Shows the table.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    costs: &Costs,
    commands: &mut Vec<Command>,
) {
    let lane = input.selection.lane;
    let run = input.runs.focused(&input.selection);
    let n = run.outcome.samples.len();
    // The order can still be that of another lane.
    let order: Vec<u32> = input
        .calls
        .iter()
        .copied()
        .filter(|at| (*at as usize) < n)
        .collect();
    if order.is_empty() {
        crate::app::widgets::text::padded(ui, |ui| {
            ui.label(weak(ui, "This session has no calls."))
        });
        return;
    }
    let cost = costs.of(lane);
    lane_summary(ui, input, cost, n);
    let width = ui.available_width();
    let columns = Col::ALL.into_iter().filter(|(_, from)| width >= *from);
    let columns: Vec<Col> = columns.map(|(column, _)| column).collect();
    let revealed = reveal(ui, input, &order, run);
    let mut table = TableBuilder::new(ui)
        .id_salt(("cost calls", columns.len()))
        .striped(true)
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S));
    for column in &columns {
        table = table.column(column.width(order.len()));
    }
    table = table.column(Column::exact(space::S));
    if let Some(row) = revealed {
        table = table.scroll_to_row(row, None).animate_scrolling(false);
    }
    let table = table.header(space::ROW, |mut row| {
        row.col(|_| {});
        for column in &columns {
            cell(&mut row, column.side(), |ui| {
                heading(ui, input, *column, commands);
            });
        }
        row.col(|_| {});
    });
    table.body(|body| {
        body.rows(space::ROW - 2.0, order.len(), |mut row| {
            let at = order[row.index()] as usize;
            let step = run.outcome.samples[at].step;
            row.set_selected(step == input.selection.step);
            row.col(|_| {});
            for column in &columns {
                content(&mut row, input, (run, cost), at, *column);
            }
            row.col(|_| {});
            if row.response().clicked() {
                commands.push(Command::SelectStep(step));
            }
        });
    });
}

/// Shows the lane's name, number of calls and total cost.
fn lane_summary(ui: &mut Ui, input: &PanelInput<'_>, cost: Option<&LaneCost>, n: usize) {
    let lane = input.selection.lane;
    let margin = Margin::symmetric(16, 4);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.spacing_mut().interact_size.y = 18.0;
            widgets::swatch(ui, palette(ui).lane_or_recorded(lane));
            ui.label(RichText::new(input.runs.label(lane)).text_style(theme::strong()));
            let total = cost.and_then(|cost| cost.cost.total());
            let about = if lane.is_some() { "≈" } else { "" };
            let total =
                total.map_or_else(String::new, |usd| format!(", {about}{}", wording::usd(usd)));
            ui.label(weak(ui, format!("{}{total}", wording::count(n, "call"))));
        });
    });
}

/// Returns the row of the selected call after another call was selected elsewhere.
fn reveal(ui: &Ui, input: &PanelInput<'_>, order: &[u32], run: &LaneRun) -> Option<usize> {
    let id = Id::unique("cost calls seen");
    let seen: Option<usize> = ui.data(|d| d.get_temp(id));
    let step = input.selection.step;
    if seen == Some(step) {
        return None;
    }
    ui.data_mut(|d| d.insert_temp(id, step));
    let is_it = |at: &u32| run.outcome.samples[*at as usize].step == step;
    order.iter().position(is_it)
}

fn heading(ui: &mut Ui, input: &PanelInput<'_>, column: Col, commands: &mut Vec<Command>) {
    let view = input.view.cost;
    let (title, key, help) = column.head();
    let Some(key) = key else {
        head(ui, title, help);
        return;
    };
    let sorted = (view.sort.key == key).then_some(view.sort.is_descending);
    // The default order needs no arrow.
    let sorted = sorted.filter(|is_descending| key != CallKey::Call || *is_descending);
    if sort_head(ui, title, help, sorted) {
        let sort = view.sort.clicked(key);
        commands.push(Command::SetCostView(CostView { sort, ..view }));
    }
}

fn content(
    row: &mut TableRow<'_, '_>,
    input: &PanelInput<'_>,
    (run, cost): (&LaneRun, Option<&LaneCost>),
    at: usize,
    column: Col,
) {
    let sample = &run.outcome.samples[at];
    let step = sample.step;
    let call = cost.and_then(|cost| cost.call(step));
    let tokens = |of: fn(&CallCost) -> Tokens| {
        call.map_or_else(|| "–".to_owned(), |call| wording::tokens(of(call)))
    };
    cell(row, column.side(), |ui| match column {
        Col::Call => drop(ui.label(weak(ui, wording::number(step)))),
        Col::Context => drop(ui.label(wording::tokens(sample.tokens))),
        Col::Grown => growth_cell(ui, state::grown(run, at)),
        Col::CameIn => largest_new_message(ui, input, step),
        Col::Carried => {
            let heat = input.carried.and_then(|carried| carried.heat.get(step));
            let said = heat.map_or_else(|| "–".to_owned(), |heat| wording::short(heat.retained));
            ui.label(said);
        }
        Col::Read => drop(ui.label(weak(ui, tokens(|c| c.read)))),
        Col::Fresh => drop(ui.label(tokens(|c| c.written + c.uncached))),
        Col::Output => drop(ui.label(weak(ui, tokens(|c| c.output)))),
        Col::Cost => drop(sum(ui, call.and_then(|call| call.usd), Tone::Plain)),
    });
}

/// Shows growth such as `+12 804`: strong where it is large, weak where it is negative.
fn growth_cell(ui: &mut Ui, by: f64) {
    let said = wording::grouped(by.abs() as u64);
    ui.label(match by {
        MUCH.. => RichText::new(format!("+{said}")).text_style(theme::strong()),
        0.5.. => RichText::new(format!("+{said}")),
        ..-0.5 => weak(ui, format!("\u{2212}{said}")),
        _ => weak(ui, "0"),
    });
}

fn largest_new_message(ui: &mut Ui, input: &PanelInput<'_>, step: usize) {
    let ledger = &input.runs.case.ledger;
    let Some((message, _)) = input.document.biggest_growth(ledger, step) else {
        return;
    };
    let facts = &input.document.facts[message];
    widgets::swatch(ui, palette(ui).kind(facts.kind));
    let what = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
    ui.label(weak(ui, wording::number(message)));
    ui.label(what);
    widgets::one_line(ui, weak(ui, &*facts.preview));
}
