//! The matrix of survival: a row for each kind of facts, a column for each lane, and the size and cost of each lane.

use crate::analysis::facts::{FactKind, Facts};
use crate::app::state::command::Commands;
use crate::app::state::evaluate::facts::Evaluation;
use crate::app::state::evaluate::state::{EvaluateView, kind_label};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::evaluate::state_marks::{bar, counts_text, legend, share_text};
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{small, weak};
use crate::report::{VALIDITY, VALIDITY_SHORT};
use egui::{
    Align2, Frame, Label, Margin, Panel, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind,
    TextStyle, Ui, WidgetInfo, vec2,
};
use egui_extras::Column as Width;

/// Widths of the columns, in points.
const LABEL: f32 = 112.0;
const STATED: f32 = 46.0;
const LANE: f32 = 122.0;
/// Width of the number in a cell, and minimum width of a bar next to it, in points. A narrower bar is below the number.
const NUMBER: f32 = 76.0;
const MIN_BAR: f32 = 16.0;
/// Heights below which the note, and the legend too, are hidden in favor of rows, in points.
const LOW: f32 = 240.0;
const VERY_LOW: f32 = 120.0;

/// Returns the width at which `n` lanes and the recorded one have their bars beside the numbers.
pub(crate) fn width(n: usize) -> f32 {
    LABEL + STATED + LANE * (n + 1) as f32 + 3.0 * space::S
}

/// Returns the width at which `n` lanes and the recorded one have their bars below the numbers.
pub(crate) fn narrow_width(n: usize) -> f32 {
    LABEL + STATED + (NUMBER + space::S) * (n + 1) as f32 + 5.0 * space::S
}

/// Returns the height of all rows with the legend and the notes.
pub(crate) fn height(n_rows: usize) -> f32 {
    (n_rows + 4) as f32 * space::ROW + 82.0
}

/// A row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// The facts of a kind, or all facts.
    Facts(Option<FactKind>),
    UsedWhileLost,
    Context,
    Cost,
}

/// A column of the matrix.
#[derive(Clone, Copy)]
enum Col {
    Label,
    Stated,
    Lane(Option<usize>),
}

/// Returns the kinds that the session states.
pub(crate) fn kinds(evaluation: &Evaluation) -> impl Iterator<Item = FactKind> + '_ {
    let is_stated = |kind: &FactKind| evaluation.recorded.of(Some(*kind)).stated > 0;
    FactKind::ALL.into_iter().filter(is_stated)
}

/// Shows the matrix with its legend.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    facts: &Facts,
    evaluation: &Evaluation,
    commands: &mut Commands,
) {
    let note = note(facts, evaluation);
    notes(ui, &note);
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut rows = vec![Row::Facts(None)];
    rows.extend(kinds(evaluation).map(|kind| Row::Facts(Some(kind))));
    rows.extend([Row::UsedWhileLost, Row::Context, Row::Cost]);
    let lanes = shown_lanes(ui, input, evaluation);
    Table::new(("survival", lanes.len()), columns(input, &lanes, &note), rows.len())
        .row_height(space::ROW - 2.0)
        .margins(space::S, space::S)
        .show(ui, |mut shown| {
            let row = rows[shown.index()];
            let kind = match row {
                Row::Facts(kind) => Some(kind),
                _ => None,
            };
            shown.select(
                kind.is_some_and(|kind| kind.is_some() && kind == input.view.evaluate().kind),
            );
            shown.cells(|ui, column| match (column, row) {
                (Col::Label, row) => label(ui, row),
                (Col::Stated, Row::Facts(kind)) => {
                    let n = evaluation.recorded.of(kind).stated;
                    ui.label(weak(ui, wording::grouped(n as u64)));
                }
                (Col::Stated, _) => {}
                (Col::Lane(lane), Row::Facts(kind)) => {
                    if survival_cell(ui, input, evaluation, lane, kind).clicked() {
                        commands.push(SelectCommand::Lane(lane));
                        filter(input, kind, commands);
                    }
                }
                (Col::Lane(lane), row) => figure(ui, input, evaluation, lane, row),
            });
            if shown.response().clicked()
                && let Some(kind) = kind
            {
                filter(input, kind, commands);
            }
        });
}

/// Lists only the facts of a kind.
fn filter(input: &OpenSession<'_>, kind: Option<FactKind>, commands: &mut Commands) {
    commands.push(ViewCommand::new(EvaluateView { kind, ..input.view.evaluate() }));
}

/// Returns the lanes that fit, the recorded one first. Narrow panels show only the recorded lane and the focused one.
fn shown_lanes(ui: &Ui, input: &OpenSession<'_>, evaluation: &Evaluation) -> Vec<Option<usize>> {
    let all = std::iter::once(None).chain((0..evaluation.lanes.len()).map(Some));
    let fits = ui.available_width() >= narrow_width(evaluation.lanes.len()) - space::XS;
    all.filter(|lane| fits || lane.is_none() || *lane == input.selection.lane).collect()
}

fn columns<'a>(
    input: &OpenSession<'a>,
    lanes: &[Option<usize>],
    note: &'a str,
) -> Vec<Column<'a, Col>> {
    let mut columns = vec![
        Column::new(Col::Label, "survival", Width::exact(LABEL).clip(true)).help(note),
        Column::new(Col::Stated, "facts", Width::exact(STATED))
            .right()
            .help("Facts that were stated before the call and not replaced since"),
    ];
    columns.extend(lanes.iter().map(|lane| {
        let width = Width::remainder().at_least(NUMBER).clip(true);
        let help = "Share of the facts that the context of the call contains. Click a cell to list the lost facts";
        Column::new(Col::Lane(*lane), input.runs.label(*lane), width).help(help)
    }));
    columns
}

fn label(ui: &mut Ui, row: Row) {
    let (text, help) = match row {
        Row::Facts(None) => {
            let text = RichText::new(kind_label(None)).text_style(theme::strong());
            ui.label(text);
            return;
        }
        Row::Facts(kind) => {
            ui.label(kind_label(kind));
            return;
        }
        Row::UsedWhileLost => (
            "used while lost",
            "Facts that an answer contains although its call lacked them: derived, guessed or fetched again",
        ),
        Row::Context => ("context", "Tokens of the context of the call"),
        Row::Cost => ("cost of the lane", "All calls at list prices"),
    };
    ui.label(weak(ui, text)).on_hover_text(help);
}

/// Shows the bar and the share of the facts of a kind in a lane.
fn survival_cell(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    evaluation: &Evaluation,
    lane: Option<usize>,
    kind: Option<FactKind>,
) -> Response {
    let size = vec2(ui.available_width(), ui.available_height());
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let Some(survival) = evaluation.of(lane).map(|lane| lane.of(kind)) else {
        return response;
    };
    let is_chosen = lane == input.selection.lane && kind == input.view.evaluate().kind;
    if is_chosen || response.hovered() || response.has_focus() {
        let color = if is_chosen { palette(ui).accent } else { palette(ui).outline };
        let frame = rect.shrink2(vec2(0.0, 2.0));
        ui.painter().rect_stroke(frame, 3.0, Stroke::new(1.0, color), StrokeKind::Inside);
    }
    let text = share_text(survival);
    let inner = rect.shrink2(vec2(6.0, 0.0));
    let color = if survival.stated == 0 { palette(ui).weak } else { palette(ui).text };
    let font = TextStyle::Body.resolve(ui.style());
    let at = inner.right_center();
    ui.painter().text(at, Align2::RIGHT_CENTER, &text, font, color);
    let beside = inner.width() - NUMBER;
    let bar_rect = if beside >= MIN_BAR {
        let center = inner.center() - vec2(NUMBER / 2.0, 0.0);
        Rect::from_center_size(center, vec2(beside, 8.0))
    } else {
        // A thin bar below the number.
        let bottom = inner.bottom() - 3.0;
        Rect::from_x_y_ranges(inner.x_range(), bottom - 2.0..=bottom)
    };
    bar(ui, bar_rect, survival);
    let name = format!("{}: {} {text}", input.runs.label(lane), kind_label(kind));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &name));
    if survival.stated == 0 {
        return response;
    }
    response.on_hover_text(counts_text(survival))
}

/// Shows the figure of a lane in a row that does not count kinds of facts.
fn figure(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    evaluation: &Evaluation,
    lane: Option<usize>,
    row: Row,
) {
    let facts = evaluation.of(lane);
    let dash = || "–".to_owned();
    let text = match row {
        Row::Facts(_) => return,
        Row::UsedWhileLost => {
            facts.map_or_else(dash, |facts| wording::grouped(facts.used_while_lost as u64))
        }
        Row::Context => facts.and_then(|facts| facts.tokens).map_or_else(dash, wording::short),
        Row::Cost => {
            let Some(costs) = input.derived.costs() else {
                ui.label(weak(ui, "…"));
                return;
            };
            let cost = costs.of(lane).map(|lane| &lane.cost);
            cost.map_or_else(dash, |cost| {
                let total = cost.total();
                total.map_or_else(dash, |usd| wording::cost(cost.source, usd))
            })
        }
    };
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.add_space(6.0);
        ui.label(weak(ui, text));
    });
}

/// Returns the note on how survival is determined.
fn note(facts: &Facts, evaluation: &Evaluation) -> String {
    let left_out: usize = FactKind::ALL.map(|kind| facts.left_out(kind)).iter().sum();
    let left_out = match left_out {
        0 => String::new(),
        n => format!(
            " {} left out: too short to be searched, or above the maximum of a kind.",
            wording::count(n, "fact")
        ),
    };
    let has_unknown = std::iter::once(&evaluation.recorded)
        .chain(&evaluation.lanes)
        .any(|lane| lane.of(None).unknown > 0);
    let unknown =
        if has_unknown { " A range: the text of a predicted summary is not known." } else { "" };
    format!(
        "Found by rules, without a model. A rewording counts as lost: compare lanes, it is not a grade.{unknown}{left_out}"
    )
}

/// Shows the legend and the note below the rows if there is enough height.
fn notes(ui: &mut Ui, note: &str) {
    let has_room = ui.available_height() >= LOW;
    if ui.available_height() < VERY_LOW {
        return;
    }
    let frame = Frame::new().inner_margin(Margin::symmetric(16, 4));
    Panel::bottom("survival notes").resizable(false).show_separator_line(false).frame(frame).show(
        ui,
        |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            legend(ui);
            validity_note(ui);
            if has_room {
                ui.label(small(ui, note));
            }
        },
    );
}

/// Shows in one line what losses describe, in fewer words if the space is narrow. The
/// hover text has the whole sentence.
pub(crate) fn validity_note(ui: &mut Ui) {
    let font = TextStyle::Small.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(VALIDITY.to_owned(), font, palette(ui).weak);
    let text = if galley.size().x <= ui.available_width() { VALIDITY } else { VALIDITY_SHORT };
    let line = Label::new(small(ui, text)).truncate();
    let line = ui.add(line.show_tooltip_when_elided(false));
    line.widget_info(|| WidgetInfo::labeled(Role::Label, true, VALIDITY));
    line.on_hover_text(VALIDITY);
}
