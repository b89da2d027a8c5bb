//! Costs as recorded and of every lane: total, difference and components.

use super::compute::Costs;
use super::panel::sum;
use super::state;
use crate::analysis::cost::{Charge, Cost, CostSource};
use crate::app::command::Command;
use crate::app::shell::layout::PanelInput;
use crate::app::theme::{self, palette, space};
use crate::app::widgets::table::{Side, cell, head, notes_below};
use crate::app::widgets::text::weak;
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::units::{Tokens, Usd};
use egui::{Align, Label, Layout, Rect, RichText, Sense, Ui, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

/// A component of a total: its name, its hover text and its part of a cost.
type Piece = (&'static str, &'static str, fn(&Cost) -> Charge);

static PIECES: [Piece; 6] = [
    ("cache read", "Prompt tokens read from the cache", |cost| {
        cost.read
    }),
    (
        "cache write",
        "Prompt tokens written to the cache",
        |cost| cost.written,
    ),
    (
        "uncached",
        "Prompt tokens neither read from nor written to the cache",
        |cost| cost.uncached,
    ),
    ("output", "Tokens of the answers", |cost| cost.output),
    (
        "summaries",
        "Input and output of summary requests",
        |cost| cost.summaries,
    ),
    (
        "rejected",
        "Calls that the provider rejected as too long",
        |cost| cost.rejected,
    ),
];

/// Shows the table and its notes.
pub(in crate::app) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    costs: &Costs,
    commands: &mut Vec<Command>,
) {
    let said = notes(costs);
    notes_below(ui, "cost notes", &said);
    table(ui, input, (costs, &said.join("\n")), commands);
}

/// Widths in points: the lane's name and sums, a component, the count of hidden components, and the narrowest useful
/// bar.
const FIXED: f32 = 330.0;
const PIECE: f32 = 78.0;
const MORE: f32 = 28.0;
const BAR: f32 = 100.0;

/// Returns the indices of the components that are not zero in all lanes: those that fit and the others.
fn pieces(ui: &Ui, rows: &[(Option<usize>, &Cost)]) -> (Vec<usize>, Vec<usize>) {
    let is_any = |piece: &usize| {
        let (.., part) = PIECES[*piece];
        rows.iter()
            .any(|(_, cost)| part(cost).tokens > Tokens::ZERO)
    };
    let mut shown: Vec<usize> = (0..PIECES.len()).filter(is_any).collect();
    let room = ui.available_width() - FIXED;
    if PIECE * shown.len() as f32 <= room {
        return (shown, Vec::new());
    }
    let n_shown = ((room - MORE) / PIECE).max(0.0) as usize;
    let others = shown.split_off(n_shown.min(shown.len()));
    (shown, others)
}

fn table(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (costs, said): (&Costs, &str),
    commands: &mut Vec<Command>,
) {
    let rows = state::lanes(costs);
    let (pieces, others) = pieces(ui, &rows);
    let has_bar = ui.available_width() > FIXED + BAR + PIECE * pieces.len() as f32;
    let most = rows.iter().filter_map(|(_, cost)| cost.total());
    let most = most.map(|usd| usd.0).fold(0.0, f64::max);
    let mut table = TableBuilder::new(ui)
        .id_salt(("cost lanes", pieces.len(), has_bar))
        .sense(Sense::CLICK)
        .auto_shrink(false)
        .min_scrolled_height(0.0)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::exact(space::S))
        .column(Column::initial(132.0).at_least(80.0).clip(true))
        .column(Column::exact(72.0))
        .column(Column::exact(84.0));
    for _ in &pieces {
        table = table.column(Column::exact(PIECE));
    }
    table = table.column(Column::remainder().clip(true));
    let table = table.header(space::ROW, |mut row| {
        row.col(|_| {});
        cell(&mut row, Side::Left, |ui| head(ui, "lane", said));
        cell(&mut row, Side::Right, |ui| {
            head(ui, "cost", "All calls at list prices");
        });
        cell(&mut row, Side::Right, |ui| {
            let help = "Difference from the recorded cost";
            head(ui, "vs recorded", help);
        });
        for piece in &pieces {
            let (name, help, _) = PIECES[*piece];
            cell(&mut row, Side::Right, |ui| head(ui, name, help));
        }
        cell(&mut row, Side::Left, |ui| {
            if !others.is_empty() {
                let names: Vec<&str> = others.iter().map(|piece| PIECES[*piece].0).collect();
                let help = format!("Hidden for lack of width: {}", names.join(", "));
                head(ui, &format!("+{}", others.len()), &help);
            }
        });
    });
    let recorded = costs.recorded.cost.total();
    table.body(|body| {
        body.rows(space::ROW, rows.len(), |mut row| {
            let (lane, cost) = rows[row.index()];
            row.set_selected(lane == input.selection.lane);
            row.col(|_| {});
            name(&mut row, input, lane);
            cell(&mut row, Side::Right, |ui| total(ui, cost));
            cell(&mut row, Side::Right, |ui| {
                difference(ui, cost, recorded, lane);
            });
            for piece in &pieces {
                cell(&mut row, Side::Right, |ui| charge(ui, cost, *piece));
            }
            cell(&mut row, Side::Left, |ui| {
                let share = cost.total().map_or(0.0, |usd| usd.0 / most.max(1e-12));
                if has_bar {
                    bar(ui, share as f32, lane);
                }
            });
            if row.response().clicked() {
                commands.push(Command::FocusLane(lane));
            }
        });
    });
}

fn name(row: &mut TableRow<'_, '_>, input: &PanelInput<'_>, lane: Option<usize>) {
    cell(row, Side::Left, |ui| {
        let color = palette(ui).lane_or_recorded(lane);
        widgets::swatch(ui, color);
        ui.add(Label::new(input.runs.label(lane)).truncate());
    });
}

fn total(ui: &mut Ui, cost: &Cost) {
    let about = match cost.source {
        CostSource::Recorded => "",
        CostSource::Modelled => "≈",
    };
    let said = cost.total().map_or_else(
        || "–".to_owned(),
        |usd| format!("{about}{}", wording::usd(usd)),
    );
    ui.label(RichText::new(said).text_style(theme::strong()))
        .on_hover_text(match cost.source {
            CostSource::Recorded => {
                "Based on the provider's counts for each call, including its cache"
            }
            CostSource::Modelled => "Based on a model of the provider's cache",
        });
}

/// Shows the difference from the recorded cost as displayed: higher in amber, lower in green.
fn difference(ui: &mut Ui, cost: &Cost, recorded: Option<Usd>, lane: Option<usize>) {
    let (Some(_), Some(usd), Some(recorded)) = (lane, cost.total(), recorded) else {
        ui.label(weak(ui, "–"));
        return;
    };
    let more = wording::shown_difference(usd, recorded);
    let (sign, tone) = match more.0 {
        0.000_05.. => ("+", Tone::Warn),
        ..-0.000_05 => ("", Tone::Ok),
        _ => ("", Tone::Weak),
    };
    let said = RichText::new(format!("{sign}{}", wording::usd(more)));
    ui.label(said.color(tone.color(palette(ui))));
}

fn charge(ui: &mut Ui, cost: &Cost, piece: usize) {
    let (.., part) = PIECES[piece];
    let charge = part(cost);
    // A sum with an unknown part is unknown.
    let known = cost.total().map(|_| charge.usd);
    let tokens = format!("{} tokens", wording::tokens(charge.tokens));
    sum(ui, known, Tone::Plain).on_hover_text(tokens);
}

fn bar(ui: &mut Ui, share: f32, lane: Option<usize>) {
    ui.add_space(space::S);
    let size = vec2((ui.available_width() - space::M).max(0.0), 8.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let color = lane.map_or(palette(ui).weak, |lane| palette(ui).lane(lane));
    let bar = Rect::from_min_size(rect.min, vec2(rect.width() * share, rect.height()));
    ui.painter()
        .rect_filled(bar, 2.0, color.gamma_multiply(0.8));
}

/// Returns notes on how the figures are determined.
fn notes(costs: &Costs) -> Vec<String> {
    let recorded = &costs.recorded.cost;
    let mut said = Vec::new();
    if recorded.source == CostSource::Modelled {
        said.push(
            "The file contains no cache counts: recorded costs use the cache model, like the lanes.".to_owned(),
        );
    } else {
        let modelled = costs.modelled.total().map(wording::usd);
        let modelled = modelled.map_or_else(String::new, |usd| format!("; cache model ≈{usd}"));
        said.push(format!(
            "Recorded: provider's counts{modelled}. Lanes: cache model."
        ));
    }
    if recorded.estimated_outputs > 0 {
        let answers = wording::count(recorded.estimated_outputs, "answer");
        said.push(format!(
            "{answers} without a reported size: estimated from the recorded content."
        ));
    }
    let lanes = costs.lanes.iter().map(|lane| &lane.cost);
    let is_any_rejected = lanes
        .chain([recorded])
        .any(|cost| cost.rejected.tokens > Tokens::ZERO);
    if is_any_rejected && !costs.billing.bills_rejected {
        said.push("Rejected calls are free: no known provider bills them.".to_owned());
    }
    said
}
