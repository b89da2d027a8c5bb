//! The calls of the focused lane: context growth, new messages and cost of each call.

use crate::analysis::cost::CallCost;
use crate::app::state::command::Commands;
use crate::app::state::cost::compute::{Costs, LaneCost};
use crate::app::state::cost::state;
use crate::app::state::cost::state::{CallKey, CallSort, CostView};
use crate::app::state::model::runs::replays::LaneRun;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tone::Tone;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::cost::sum_cell::sum;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, SortOrder, Table, number_column};
use crate::app::ui::widgets::text::{padded, weak};
use crate::app::ui::{theme, widgets};
use crate::units::Tokens;
use egui::{Frame, Id, Margin, RichText, Ui};
use egui_extras::Column as Width;

/// Growth in tokens from which the number is shown in strong text.
const STRONG: f64 = 10_000.0;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Col {
    Call,
    Context,
    Growth,
    LargestNew,
    Cumulative,
    Read,
    Uncached,
    Output,
    Cost,
}

/// Returns the columns for a list of `n_calls` calls.
fn columns(n_calls: usize, sort: CallSort) -> Vec<Column<'static, Col>> {
    let column = |key, title, help| Column::new(key, title, Width::exact(76.0)).right().help(help);
    let narrow = |key, title, help| Column::new(key, title, Width::exact(64.0)).right().help(help);
    let sorted = |key| {
        // The default order needs no arrow.
        let is_shown = key != CallKey::Call || sort.is_descending;
        (sort.key == key && is_shown).then_some(SortOrder::new(sort.is_descending))
    };
    vec![
        Column::new(Col::Call, "call", number_column(n_calls))
            .right()
            .sortable(sorted(CallKey::Call)),
        column(Col::Context, "context", "Tokens of the context").sortable(sorted(CallKey::Context)),
        column(Col::Growth, "growth", "Context tokens more than at the previous call")
            .sortable(sorted(CallKey::Growth)),
        Column::new(Col::LargestNew, "largest new", Width::remainder().clip(true))
            .help("The largest message that is new at this call"),
        column(
            Col::Cumulative,
            "cumulative",
            "Tokens new at this call, times the recorded calls that sent them",
        )
        .sortable(sorted(CallKey::Cumulative))
        .hidden_below(660.0),
        column(Col::Read, "cache read", "Prompt tokens read from the cache").hidden_below(740.0),
        column(Col::Uncached, "not cached", "Prompt tokens not read from the cache")
            .sortable(sorted(CallKey::Uncached))
            .hidden_below(580.0),
        narrow(Col::Output, "output", "Tokens of the answer").hidden_below(820.0),
        narrow(Col::Cost, "cost", "Cost of the call at list prices")
            .sortable(sorted(CallKey::Cost)),
    ]
}

/// Returns the sort key of a column.
fn sort_key(column: Col) -> Option<CallKey> {
    match column {
        Col::Call => Some(CallKey::Call),
        Col::Context => Some(CallKey::Context),
        Col::Growth => Some(CallKey::Growth),
        Col::Cumulative => Some(CallKey::Cumulative),
        Col::Uncached => Some(CallKey::Uncached),
        Col::Cost => Some(CallKey::Cost),
        Col::LargestNew | Col::Read | Col::Output => None,
    }
}

/// Shows the table.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, commands: &mut Commands) {
    let lane = input.selection.lane;
    let run = input.runs.focused(&input.selection);
    // The order can still be that of another lane.
    let order: Vec<u32> = input
        .derived
        .calls()
        .iter()
        .copied()
        .filter(|at| {
            let sample = run.outcome.samples.get(*at as usize);
            sample.is_some_and(|sample| input.selection.lists(sample.call))
        })
        .collect();
    if order.is_empty() {
        let text = match input.selection.calls {
            Some(_) => "The selected calls have no cost.",
            None => "This session has no calls.",
        };
        padded(ui, |ui| ui.label(weak(ui, text)));
        return;
    }
    let cost = costs.of(lane);
    lane_summary(ui, input, cost, order.len());
    let view = input.view.cost();
    let shown = Table::new("cost calls", columns(order.len(), view.sort), order.len())
        .row_height(space::ROW - 2.0)
        .striped()
        .reveal(reveal(ui, input, &order, run))
        .show(ui, |mut row| {
            let at = order[row.index()] as usize;
            let call = run.outcome.samples[at].call;
            row.select(call == input.selection.call);
            row.cells(|ui, column| content(ui, input, run, cost, at, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Call(call));
            }
        });
    if let Some(key) = shown.sorted_by.and_then(sort_key) {
        let sort = view.sort.clicked(key);
        commands.push(ViewCommand::new(CostView { sort, ..view }));
    }
}

/// Shows the lane's name, and number and cost of the listed calls.
fn lane_summary(ui: &mut Ui, input: &OpenSession<'_>, cost: Option<&LaneCost>, n: usize) {
    let lane = input.selection.lane;
    let margin = Margin::symmetric(16, 4);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.spacing_mut().interact_size.y = 18.0;
            widgets::swatch(ui, palette(ui).lane_or_recorded(lane));
            ui.label(RichText::new(input.runs.label(lane)).text_style(theme::strong()));
            let cost = cost.map(|cost| &cost.cost);
            let total = match input.selection.calls {
                Some(calls) => cost.and_then(|cost| state::calls_cost_text(cost, calls)),
                None => cost.and_then(|cost| {
                    let total = cost.total()?;
                    Some(wording::cost(cost.source, total))
                }),
            };
            let total = total.map_or_else(String::new, |total| format!(", {total}"));
            ui.label(weak(ui, format!("{}{total}", wording::count(n, "call"))));
        });
    });
}

/// Returns the row of the selected call after another call was selected elsewhere.
fn reveal(ui: &Ui, input: &OpenSession<'_>, order: &[u32], run: &LaneRun) -> Option<usize> {
    let id = Id::unique("cost calls seen");
    let seen: Option<usize> = ui.data(|d| d.get_temp(id));
    let call = input.selection.call;
    if seen == Some(call) {
        return None;
    }
    ui.data_mut(|d| d.insert_temp(id, call));
    let is_it = |at: &u32| run.outcome.samples[*at as usize].call == call;
    order.iter().position(is_it)
}

fn content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    run: &LaneRun,
    cost: Option<&LaneCost>,
    at: usize,
    column: Col,
) {
    let sample = &run.outcome.samples[at];
    let call = sample.call;
    let cost = cost.and_then(|cost| cost.call(call));
    let tokens = |of: fn(&CallCost) -> Tokens| {
        cost.map_or_else(|| "–".to_owned(), |cost| wording::tokens(of(cost)))
    };
    match column {
        Col::Call => drop(ui.label(weak(ui, wording::number(call)))),
        Col::Context => drop(ui.label(wording::tokens(sample.tokens))),
        Col::Growth => growth_cell(ui, state::growth(run, at)),
        Col::LargestNew => largest_new_message(ui, input, call),
        Col::Cumulative => {
            let heat = input.derived.cumulative().and_then(|cumulative| cumulative.heat.get(call));
            let text = heat.map_or_else(|| "–".to_owned(), |heat| wording::short(heat.tokens));
            ui.label(text);
        }
        Col::Read => drop(ui.label(weak(ui, tokens(|c| c.read)))),
        Col::Uncached => drop(ui.label(tokens(|c| c.written + c.uncached))),
        Col::Output => drop(ui.label(weak(ui, tokens(|c| c.output)))),
        Col::Cost => drop(sum(ui, cost.and_then(|cost| cost.usd), Tone::Plain)),
    }
}

/// Shows growth such as `+12,804`: strong where it is large, weak where it is negative.
fn growth_cell(ui: &mut Ui, by: f64) {
    let text = wording::grouped(by.abs() as u64);
    ui.label(match by {
        STRONG.. => RichText::new(format!("+{text}")).text_style(theme::strong()),
        0.5.. => RichText::new(format!("+{text}")),
        ..-0.5 => weak(ui, format!("\u{2212}{text}")),
        _ => weak(ui, "0"),
    });
}

/// Shows the largest message that is new at a call.
fn largest_new_message(ui: &mut Ui, input: &OpenSession<'_>, call: usize) {
    let ledger = &input.runs.case.ledger;
    let Some((message, _)) = input.document.largest_new_message(ledger, call) else {
        return;
    };
    let facts = &input.document.facts[message];
    widgets::swatch(ui, palette(ui).kind(facts.kind));
    let what = facts.tool.as_deref().unwrap_or(wording::kind(facts.kind));
    ui.label(weak(ui, wording::number(message)));
    ui.label(what);
    widgets::one_line(ui, weak(ui, &*facts.preview));
}
