//! Costs as recorded and of every lane: total, difference and components.

use crate::analysis::cost::{Charge, Cost, CostSource};
use crate::app::state::command::Commands;
use crate::app::state::cost::compute::Costs;
use crate::app::state::cost::state;
use crate::app::state::cost::state::CostRow;
use crate::app::state::model::selection::{CallRange, SelectCommand};
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::cost::sum_cell::sum;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table, lane_cell, notes_below};
use crate::app::ui::widgets::text::weak;
use crate::units::{Share, Tokens, Usd};
use egui::{Rect, RichText, Sense, Ui, vec2};
use egui_extras::Column as Width;

/// A part of a total.
struct CostPart {
    name: &'static str,
    help: &'static str,
    charge: fn(&Cost) -> Charge,
    is_known: fn(&Cost) -> bool,
}

impl CostPart {
    /// Creates a part that is always known.
    const fn new(name: &'static str, help: &'static str, charge: fn(&Cost) -> Charge) -> Self {
        Self { name, help, charge, is_known: |_| true }
    }
}

static PARTS: [CostPart; 6] = [
    CostPart::new("cache read", "Prompt tokens read from the cache", |cost| cost.read),
    CostPart::new("cache write", "Prompt tokens written to the cache", |cost| cost.written),
    CostPart::new("uncached", "Prompt tokens neither read from nor written to the cache", |cost| {
        cost.uncached
    }),
    CostPart::new("output", "Tokens of the answers", |cost| cost.output),
    CostPart {
        is_known: Cost::knows_summaries,
        ..CostPart::new("summaries", "Input and output of summary requests", |cost| cost.summaries)
    },
    CostPart::new("rejected", "Calls that the provider rejected as too long", |cost| cost.rejected),
];

/// Shows the table and its notes.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, commands: &mut Commands) {
    let text = notes(costs);
    notes_below(ui, "cost notes", &text);
    table(ui, input, costs, &text.join("\n"), commands);
}

/// Width of the lane's name and sums, in points.
const FIXED: f32 = 344.0;
/// Width of a part, in points.
const PART: f32 = 78.0;
/// Width of a part with the space before it, in points.
const STEP: f32 = PART + space::S;
/// Width of the number of hidden parts, in points.
const N_HIDDEN: f32 = 28.0;
/// Minimum width of a bar, in points.
const BAR: f32 = 100.0;

/// The parts that are not zero in all lanes.
struct FittingParts {
    shown: Vec<&'static CostPart>,
    hidden: Vec<&'static CostPart>,
}

impl FittingParts {
    fn new(ui: &Ui, rows: &[CostRow<'_>]) -> Self {
        let is_any = |part: &&CostPart| {
            let has = |row: &CostRow<'_>| (part.charge)(row.cost).tokens > Tokens::ZERO;
            rows.iter().any(has)
        };
        let mut shown: Vec<_> = PARTS.iter().filter(is_any).collect();
        let available = ui.available_width() - FIXED;
        let n_shown = if STEP * shown.len() as f32 <= available {
            shown.len()
        } else {
            ((available - N_HIDDEN) / STEP).max(0.0) as usize
        };
        let hidden = shown.split_off(n_shown.min(shown.len()));
        Self { shown, hidden }
    }
}

fn table(ui: &mut Ui, input: &OpenSession<'_>, costs: &Costs, note: &str, commands: &mut Commands) {
    let rows = state::lanes(costs);
    let FittingParts { shown, hidden } = FittingParts::new(ui, &rows);
    let has_bar = ui.available_width() > FIXED + BAR + STEP * shown.len() as f32;
    let most = rows.iter().filter_map(|row| row.cost.total());
    let most = most.map(|usd| usd.0).fold(0.0, f64::max);
    let names: Vec<&str> = hidden.iter().map(|part| part.name).collect();
    let n_hidden = match names.len() {
        0 => String::new(),
        n => format!("+{n}"),
    };
    let part_column = |part: &'static CostPart| {
        let column = Column::new(Col::Part(part), part.name, Width::exact(PART));
        column.right().help(part.help)
    };
    let mut columns = vec![
        Column::new(
            Col::Lane,
            "lane",
            Width::initial(132.0).at_least(80.0).clip(true),
        )
        .help(note),
        Column::new(Col::Total, "cost", Width::exact(72.0))
            .right()
            .help("All calls at list prices"),
        Column::new(Col::Difference, base_name(&rows), Width::exact(84.0))
            .right()
            .help("Difference from the recorded run by the same cache model. Gray: within the error of the token counts"),
    ];
    if let Some(calls) = input.selection.calls {
        let column = Column::new(Col::Calls(calls), wording::calls(calls), Width::exact(96.0));
        let help = "Cost of the selected calls, with their summary requests and rejected attempts";
        columns.push(column.right().help(help));
    }
    columns.extend(shown.into_iter().map(part_column));
    columns.push(
        Column::new(Col::Bar, n_hidden, Width::remainder().clip(true))
            .help(format!("Hidden for lack of width: {}", names.join(", "))),
    );
    // A recorded cost and a modelled one are not comparable.
    let base = costs.modelled.total();
    let error = input.runs.case.ledger.accuracy.error();
    Table::new(("cost lanes", has_bar), columns, rows.len()).margins(space::S, 0.0).show(
        ui,
        |mut row| {
            let shown = rows[row.index()];
            let CostRow { lane, cost, .. } = shown;
            row.select(lane == input.selection.lane && !shown.is_base);
            row.cells(|ui, column| match column {
                Col::Lane if shown.is_base => {
                    lane_cell(ui, lane, "Recorded, modelled");
                }
                Col::Lane => lane_cell(ui, lane, input.runs.label(lane)),
                Col::Total => total(ui, cost),
                Col::Difference => difference(ui, shown, base, error),
                Col::Calls(calls) => {
                    let text = state::calls_cost_text(cost, calls);
                    ui.label(text.unwrap_or_else(|| "–".to_owned()));
                }
                Col::Part(part) => charge(ui, cost, part),
                Col::Bar if has_bar => {
                    let share = cost.total().map_or(0.0, |usd| usd.0 / most.max(1e-12));
                    bar(ui, share as f32, lane);
                }
                Col::Bar => {}
            });
            if row.response().clicked() {
                commands.push(SelectCommand::Lane(lane));
            }
        },
    );
}

/// A column of the table.
#[derive(Clone, Copy)]
enum Col {
    Lane,
    Total,
    Difference,
    /// The cost of the selected calls.
    Calls(CallRange),
    Part(&'static CostPart),
    Bar,
}

fn total(ui: &mut Ui, cost: &Cost) {
    let text = cost.total().map_or_else(|| "–".to_owned(), |usd| wording::cost(cost.source, usd));
    ui.label(RichText::new(text).text_style(theme::strong())).on_hover_text(match cost.source {
        CostSource::Recorded => "Based on the provider's counts for each call, including its cache",
        CostSource::Modelled => "Based on a model of the provider's cache",
    });
}

/// Returns the head of the column of differences, which names the row that they refer to.
fn base_name(rows: &[CostRow<'_>]) -> &'static str {
    if rows.iter().any(|row| row.is_base) { "vs modelled" } else { "vs recorded" }
}

/// Shows the difference of displayed costs, of a lane and of the base: higher in amber, lower in green, and in gray if it
/// is within this error of the counts.
fn difference(ui: &mut Ui, row: CostRow<'_>, base: Option<Usd>, error: Share) {
    let (Some(_), Some(usd), Some(base)) = (row.lane, row.cost.total(), base) else {
        ui.label(weak(ui, if row.is_base { "base" } else { "–" }));
        return;
    };
    let more = wording::shown_difference(usd, base);
    let is_within_error = more.0.abs() <= error.0 * base.0;
    let (sign, tone) = match more.0 {
        0.000_05.. if is_within_error => ("+", Tone::Weak),
        _ if is_within_error => ("", Tone::Weak),
        0.000_05.. => ("+", Tone::Warn),
        ..-0.000_05 => ("", Tone::Ok),
        _ => ("", Tone::Weak),
    };
    let text = RichText::new(format!("{sign}{}", wording::usd(more)));
    ui.label(text.color(palette(ui).tone(tone)));
}

fn charge(ui: &mut Ui, cost: &Cost, part: &CostPart) {
    let charge = (part.charge)(cost);
    // A part of an unknown sum is unknown.
    let is_known = cost.total().is_some() && (part.is_known)(cost);
    let known = is_known.then_some(charge.usd);
    let tokens = format!("{} tokens", wording::tokens(charge.tokens));
    sum(ui, known, Tone::Plain).on_hover_text(tokens);
}

fn bar(ui: &mut Ui, share: f32, lane: Option<usize>) {
    ui.add_space(space::S);
    let size = vec2((ui.available_width() - space::M).max(0.0), 8.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let color = lane.map_or(palette(ui).weak, |lane| palette(ui).lane(lane));
    let bar = Rect::from_min_size(rect.min, vec2(rect.width() * share, rect.height()));
    ui.painter().rect_filled(bar, 2.0, color.gamma_multiply(0.8));
}

/// Returns notes on how the figures are determined.
fn notes(costs: &Costs) -> Vec<String> {
    let recorded = &costs.recorded.cost;
    let mut text = Vec::new();
    if recorded.source == CostSource::Modelled {
        text.push(
            "The file contains no cache counts: recorded costs use the cache model, like the lanes.".to_owned(),
        );
    } else {
        text.push(
            "Recorded: provider's counts. Lanes differ from the recorded run by the same cache model.".to_owned(),
        );
    }
    text.extend(recorded.notes());
    if recorded.estimated_outputs > 0 {
        let answers = wording::count(recorded.estimated_outputs, "answer");
        text.push(format!(
            "{answers} without a reported size: estimated from the recorded content."
        ));
    }
    let lanes = costs.lanes.iter().map(|lane| &lane.cost);
    let is_any_rejected = lanes.chain([recorded]).any(|cost| cost.rejected.tokens > Tokens::ZERO);
    if is_any_rejected && !costs.billing.bills_rejected {
        text.push("Rejected calls are free: no known provider bills them.".to_owned());
    }
    text
}
