//! The figures of a lane's head, in the same order at every width, each with a hover text.

use super::hints;
use super::input::LanesInput;
use crate::analysis::cost::{Cost, CostSource};
use crate::app::command::Commands;
use crate::app::evaluate::losses::LaneLoss;
use crate::app::selection::SelectCommand;
use crate::app::shell::command::ShellCommand;
use crate::app::theme::{self, palette};
use crate::app::widgets::text::small;
use crate::app::widgets::{self, Tone};
use crate::app::{evaluate, wording};
use crate::units::{Tokens, Usd};
use egui::{Response, Sense, TextStyle, TextWrapMode, Ui, vec2};
use std::cmp::Ordering;

/// A figure of a head.
struct Figure {
    /// Short label.
    label: &'static str,
    /// Full name.
    name: &'static str,
    value: String,
    tone: Tone,
    /// Difference from the recorded lane.
    difference: Option<Difference>,
    hint: Hint,
}

/// Returns the hover text of a figure for a lane or the recorded one.
type Hint = fn(&LanesInput<'_>, Option<usize>) -> String;

/// A difference from the recorded lane.
struct Difference {
    text: String,
    tone: Tone,
}

impl Difference {
    /// Creates a difference; less is better.
    fn new(text: String, order: Ordering) -> Self {
        let tone = match order {
            Ordering::Less => Tone::Ok,
            Ordering::Equal => Tone::Weak,
            Ordering::Greater => Tone::Warn,
        };
        Self { text, tone }
    }
}

/// Number of figures in a head.
const N: usize = 7;
/// Possible numbers of figures per row.
const PER_ROW: [usize; 2] = [N, N_DIFFERENT];
/// Number of figures with a difference; they come first.
const N_DIFFERENT: usize = 4;
/// Height of a row, in points.
const ROW: f32 = 28.0;
/// Height of the differences below the figures of a row, in points.
pub(super) const DIFFERENCE: f32 = 14.0;
/// Space between two rows, in points.
pub(super) const GAP: f32 = 5.0;
/// Range of the space between two figures, in points.
const SPACE: egui::Rangef = egui::Rangef {
    min: 4.0,
    max: 20.0,
};
/// Minimum space between figures, in points; less only with the fewest per row.
const ROOMY: f32 = 10.0;
/// Space between figures in the narrowest lanes, in points.
const CLOSE: f32 = 6.0;

/// Returns the figures of a lane or of the recorded one, most important first.
fn all_figures(input: &LanesInput<'_>, lane: Option<usize>) -> [Figure; N] {
    let run = input.run(lane);
    let peak = run.peak.map(|peak| tokens(input, peak.tokens));
    // Without calls the references at risk are unknown, not zero.
    let of_calls = |text: String| run.peak.map_or_else(|| "–".to_owned(), |_| text);
    let count = |n: usize| of_calls(wording::grouped(n as u64));
    let loss = input.loss(lane);
    let of_loss =
        |text: fn(&LaneLoss) -> String| of_calls(loss.map_or_else(|| "…".to_owned(), text));
    let n_blind = |loss: &LaneLoss| wording::grouped(loss.found.at_risk.blind_edits.len() as u64);
    let [peak_by, cost_by, sent_by, at_risk_by] = differences(input, lane);
    [
        Figure {
            difference: peak_by,
            ..Figure::new(
                "peak",
                peak.unwrap_or_else(|| "–".to_owned()),
                hints::peak_hint,
            )
        },
        Figure {
            difference: cost_by,
            ..Figure::new("cost", cost_value(input, lane), hints::cost_hint)
        },
        Figure {
            difference: sent_by,
            ..Figure::new("sent", of_calls(tokens(input, run.sent)), hints::sent_hint)
        },
        Figure {
            tone: loss_tone(input, lane, evaluate::state::risk_tone),
            difference: at_risk_by,
            ..Figure::new(
                "at risk",
                of_loss(evaluate::state::at_risk_text),
                hints::risk_hint,
            )
        },
        Figure {
            name: "compactions",
            ..Figure::new("comp.", count(run.outcome.compactions), |_, _| {
                "Number of times content was removed, without manual edits".to_owned()
            })
        },
        Figure {
            name: "overflows",
            tone: if run.outcome.overflows > 0 {
                Tone::Bad
            } else {
                Tone::Plain
            },
            ..Figure::new("over.", count(run.outcome.overflows), hints::overflow_hint)
        },
        Figure {
            name: "blind edits",
            tone: loss_tone(input, lane, evaluate::state::blind_tone),
            ..Figure::new("blind", of_loss(n_blind), hints::blind_hint)
        },
    ]
}

/// Returns a lane's differences from the recorded lane: peak, cost, tokens sent and references at risk. `None` for the
/// recorded lane and for unknown figures.
fn differences(input: &LanesInput<'_>, lane: Option<usize>) -> [Option<Difference>; 4] {
    let (Some(_), own, recorded) = (lane, input.run(lane), input.run(None)) else {
        return Default::default();
    };
    let of_tokens = |own: Tokens, recorded: Tokens| {
        Difference::new(wording::difference(own, recorded), own.cmp(&recorded))
    };
    let peaks = own.peak.zip(recorded.peak);
    let totals = input.cost(lane).and_then(Cost::total);
    let totals = totals.zip(input.cost(None).and_then(Cost::total));
    let found = input.loss(lane).filter(|_| own.peak.is_some());
    let found = found.zip(input.loss(None));
    [
        peaks.map(|(own, recorded)| of_tokens(own.tokens, recorded.tokens)),
        totals.map(|(own, recorded)| {
            let more = wording::shown_difference(own, recorded);
            let order = more.0.total_cmp(&0.0);
            let amount = wording::usd(Usd(more.0.abs()));
            Difference::new(wording::signed(order, &amount), order)
        }),
        peaks.map(|_| of_tokens(own.sent, recorded.sent)),
        found.map(|(own, recorded)| {
            let n = |loss: &LaneLoss| loss.found.at_risk.faults.len();
            let (own_n, recorded) = (n(own), n(recorded));
            let amount = wording::grouped(own_n.abs_diff(recorded) as u64);
            let order = own_n.cmp(&recorded);
            let is_exact = own.found.at_risk.fewest == own_n;
            let most = if is_exact { "" } else { "≤" };
            Difference::new(format!("{most}{}", wording::signed(order, &amount)), order)
        }),
    ]
}

/// Formats tokens for a head.
fn tokens(input: &LanesInput<'_>, n: Tokens) -> String {
    let about = wording::about(input.runs.case.ledger.accuracy);
    format!("{about}{}", wording::short(n))
}

/// The layout of the figures, identical in every head.
pub(super) struct Grid {
    columns: Vec<f32>,
    space: f32,
}

impl Grid {
    /// Computes the layout for figures in this width.
    pub(super) fn new(ui: &Ui, input: &LanesInput<'_>, room: f32) -> Self {
        let widths = widths(ui, input);
        let columns = |per_row: usize| columns(&widths, per_row);
        let fits = |columns: &Vec<f32>| {
            columns.iter().sum::<f32>() + ROOMY * (columns.len() - 1) as f32 <= room
        };
        let mut all = PER_ROW.map(columns).into_iter();
        let columns = all.clone().find(fits).or_else(|| all.next_back());
        let columns = columns.unwrap_or_default();
        let free = room - columns.iter().sum::<f32>();
        let space = SPACE.clamp(free / (columns.len() - 1) as f32);
        Self { columns, space }
    }

    /// Returns the height of the rows after the first, in points.
    pub(super) fn more(&self) -> f32 {
        let rows = 1..N.div_ceil(self.columns.len());
        rows.map(|row| self.row(row) + GAP).sum()
    }

    /// Returns the height of a row, in points.
    fn row(&self, nth: usize) -> f32 {
        if nth * self.columns.len() < N_DIFFERENT {
            ROW + DIFFERENCE
        } else {
            ROW
        }
    }
}

/// Returns the width that the figures need with the fewest per row, in points.
pub(super) fn least_width(ui: &Ui, input: &LanesInput<'_>) -> f32 {
    let columns = columns(&widths(ui, input), N_DIFFERENT);
    columns.iter().sum::<f32>() + CLOSE * (columns.len() - 1) as f32
}

/// Returns the largest width of each figure in all lanes.
fn widths(ui: &Ui, input: &LanesInput<'_>) -> [f32; N] {
    let mut widths = [0.0_f32; N];
    for lane in input.columns() {
        for (width, figure) in widths.iter_mut().zip(all_figures(input, lane)) {
            *width = width.max(figure.width(ui));
        }
    }
    widths
}

/// Returns the width of each column with this number of figures per row.
fn columns(widths: &[f32; N], per_row: usize) -> Vec<f32> {
    let widest = |column: usize| {
        let column = widths.iter().skip(column).step_by(per_row);
        column.copied().fold(0.0, f32::max)
    };
    (0..per_row).map(widest).collect()
}

impl Figure {
    /// Creates a plain figure with its label as name.
    fn new(label: &'static str, value: String, hint: Hint) -> Self {
        Self {
            label,
            name: label,
            value,
            tone: Tone::Plain,
            difference: None,
            hint,
        }
    }

    fn show(&self, ui: &mut Ui) -> Response {
        let shown = ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            widgets::figure(ui, self.label, &self.value, self.tone);
            if let Some(Difference { text, tone }) = &self.difference {
                ui.label(small(ui, text).color(tone.color(palette(ui))));
            }
        });
        shown.response
    }

    /// Returns the figure as a line of text: `peak: 118k (−42k)`.
    fn line(&self) -> String {
        let difference = self.difference.as_ref();
        let difference = difference.map_or_else(String::new, |by| format!(" ({})", by.text));
        format!("{}: {}{difference}", self.name, self.value)
    }

    fn width(&self, ui: &Ui) -> f32 {
        let width = |text: &str, style: TextStyle| {
            let (font, color) = (style.resolve(ui.style()), palette(ui).text);
            let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
            galley.size().x
        };
        // Reserves the final width so that other figures do not move when the value arrives.
        let value = if self.value == "…" && self.label == "cost" {
            "≈$0.00"
        } else {
            &self.value
        };
        let difference = self.difference.as_ref();
        width(self.label, TextStyle::Small)
            .max(width(value, theme::strong()))
            .max(difference.map_or(0.0, |by| width(&by.text, TextStyle::Small)))
    }
}

/// Shows the figures of a lane with their differences from the recorded one, hover texts and menus.
pub(super) fn show(
    ui: &mut Ui,
    input: &LanesInput<'_>,
    lane: Option<usize>,
    grid: &Grid,
    commands: &mut Commands,
) {
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    ui.spacing_mut().item_spacing.y = GAP;
    let all = all_figures(input, lane);
    for (nth, row) in all.chunks(grid.columns.len()).enumerate() {
        let height = grid.row(nth);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = grid.space;
            for (figure, width) in row.iter().zip(&grid.columns) {
                let shown = ui.allocate_ui(vec2(*width, height), |ui| {
                    ui.set_min_size(vec2(*width, height));
                    figure.show(ui)
                });
                let response = shown.inner.interact(Sense::CLICK);
                if response.clicked() {
                    commands.push(SelectCommand::Lane(lane));
                }
                response.context_menu(|ui| menu(ui, input, lane, figure, &all, commands));
                response.on_hover_ui(|ui| {
                    ui.label(format!("{}: {}", figure.name, (figure.hint)(input, lane)));
                });
            }
        });
    }
}

/// Shows the menu that copies a figure or all of the lane.
fn menu(
    ui: &mut Ui,
    input: &LanesInput<'_>,
    lane: Option<usize>,
    figure: &Figure,
    all: &[Figure],
    commands: &mut Commands,
) {
    let label = input.runs.label(lane);
    if ui.button(format!("Copy {}", figure.name)).clicked() {
        commands.push(ShellCommand::Copy("the figure", figure.value.clone()));
        ui.close();
    }
    if ui.button("Copy all figures of this lane").clicked() {
        let lines = all.iter().map(Figure::line);
        let text = [label.to_owned()].into_iter().chain(lines);
        let text = text.collect::<Vec<_>>().join("\n");
        commands.push(ShellCommand::Copy("the figures", text));
        ui.close();
    }
}

/// Returns the lane's context size at the selected call, and its size after manual edits if there are any.
fn now(input: &LanesInput<'_>, lane: Option<usize>) -> (Tokens, Option<Tokens>) {
    let total = input.rows.context(lane).map_or(Tokens::ZERO, |l| l.total);
    let state = lane.and_then(|lane| input.rows.states.get(lane)?.as_ref());
    let events = state.map_or(&input.run(lane).outcome.events, |state| &state.events);
    match events.iter().find(|event| event.is_manual()) {
        Some(edit) => (edit.before, Some(total)),
        None => (total, None),
    }
}

/// Returns `79.2k`, or `109k → 85.8k` with manual edits.
pub(super) fn now_text(input: &LanesInput<'_>, lane: Option<usize>) -> String {
    match now(input, lane) {
        (now, Some(edited)) => format!("{} → {}", tokens(input, now), wording::short(edited)),
        (now, None) => tokens(input, now),
    }
}

/// Returns the hover text for the context size.
pub(super) fn now_hint(input: &LanesInput<'_>, lane: Option<usize>) -> String {
    let n = input.document.session().calls.len();
    let place = wording::place(input.rows.call, n);
    let (now, edited) = now(input, lane);
    let edited = edited.map_or_else(String::new, |edited| {
        format!(", {} after manual edits", wording::tokens(edited))
    });
    format!(
        "The context {place}: {} tokens{edited}",
        wording::tokens(now)
    )
}

/// Returns a lane's cost, such as `≈$21.03`, or a dash if a price is unknown.
fn cost_value(input: &LanesInput<'_>, lane: Option<usize>) -> String {
    let Some(cost) = input.cost(lane) else {
        return "…".to_owned();
    };
    let about = match cost.source {
        CostSource::Recorded => "",
        CostSource::Modelled => "≈",
    };
    let text = |usd| format!("{about}{}", wording::usd(usd));
    cost.total().map_or_else(|| "–".to_owned(), text)
}

/// Returns the tone of the lane's losses, or a weak tone for the recorded lane and while they are computed.
fn loss_tone(
    input: &LanesInput<'_>,
    lane: Option<usize>,
    tone: fn(&LaneLoss, &LaneLoss) -> Tone,
) -> Tone {
    let known = input.loss(lane).zip(input.losses);
    known
        .filter(|_| lane.is_some() && input.run(lane).peak.is_some())
        .map_or(Tone::Weak, |(loss, all)| tone(loss, &all.recorded))
}
