//! The figures of a lane's head, in the same order at every width, each with a hover text.

use super::head::cost;
use super::input::LanesInput;
use crate::app::cost::billing::PriceChoice;
use crate::app::evaluate::losses::LaneLoss;
use crate::app::runs::replays::LaneRun;
use crate::app::theme::{self, palette};
use crate::app::widgets::{self, Tone};
use crate::app::{evaluate, wording};
use crate::units::Tokens;
use egui::{TextStyle, TextWrapMode, Ui, vec2};

/// A figure of a head.
struct Figure {
    /// Label, short enough for a narrow lane.
    label: &'static str,
    name: &'static str,
    value: String,
    tone: Tone,
    hint: fn(&LanesInput<'_>, usize) -> String,
}

/// Number of figures in a head.
const N: usize = 6;
/// Possible numbers of figures per row.
const PER_ROW: [usize; 2] = [N, 3];
/// Height of a row and space between two rows, in points.
const ROW: f32 = 28.0;
const GAP: f32 = 5.0;
/// Range of the space between two figures, in points.
const SPACE: egui::Rangef = egui::Rangef {
    min: 4.0,
    max: 20.0,
};
/// Minimum space between figures in a single row, in points.
const ROOMY: f32 = 10.0;

/// Returns the figures of a lane, most important first.
fn all_figures(input: &LanesInput<'_>, lane: usize) -> [Figure; N] {
    let run = &input.runs.lanes[lane];
    // Without calls the references at risk are unknown, not zero.
    let of_calls = |text: String| run.peak.map_or_else(|| "–".to_owned(), |_| text);
    let figure = Figure {
        label: "",
        name: "",
        value: String::new(),
        tone: Tone::Plain,
        hint: |_, _| String::new(),
    };
    [
        Figure {
            label: "peak",
            name: "peak",
            value: run
                .peak
                .map_or_else(|| "–".to_owned(), |peak| tokens(input, peak.tokens)),
            hint: peak_hint,
            ..figure
        },
        Figure {
            label: "cost",
            name: "cost",
            value: cost_value(input, lane),
            hint: |input, lane| {
                let sent = sent_hint(&input.runs.lanes[lane]);
                format!("{} {sent}.", cost_hint(input, lane))
            },
            ..figure
        },
        Figure {
            label: "at risk",
            name: "at risk",
            value: of_calls(
                loss(input, lane).map_or_else(|| "…".to_owned(), evaluate::state::at_risk_text),
            ),
            tone: loss_tone(input, lane, evaluate::state::risk_tone),
            hint: risk_hint,
        },
        Figure {
            label: "comp.",
            name: "compactions",
            value: of_calls(wording::grouped(run.outcome.compactions as u64)),
            hint: |_, _| {
                "Number of times the policy removed content, without manual edits".to_owned()
            },
            ..figure
        },
        Figure {
            label: "over.",
            name: "overflows",
            value: of_calls(wording::grouped(run.outcome.overflows as u64)),
            tone: if run.outcome.overflows > 0 {
                Tone::Bad
            } else {
                Tone::Plain
            },
            hint: |input, lane| overflow_hint(&input.runs.lanes[lane]),
        },
        Figure {
            label: "blind",
            name: "blind edits",
            value: of_calls(loss(input, lane).map_or_else(
                || "…".to_owned(),
                |loss| wording::grouped(loss.found.at_risk.blind_edits.len() as u64),
            )),
            tone: loss_tone(input, lane, evaluate::state::blind_tone),
            hint: blind_hint,
        },
    ]
}

/// Formats tokens for a head.
fn tokens(input: &LanesInput<'_>, n: Tokens) -> String {
    let about = wording::about(input.runs.case.ledger.basis);
    format!("{about}{}", wording::short(n))
}

/// The layout of the figures, identical in every head.
pub(in crate::app) struct Grid {
    columns: Vec<f32>,
    space: f32,
}

impl Grid {
    /// Computes the layout for figures in this width.
    pub(in crate::app) fn new(ui: &Ui, input: &LanesInput<'_>, room: f32) -> Self {
        let mut widths = [0.0_f32; N];
        for lane in 0..input.runs.lanes.len() {
            for (width, figure) in widths.iter_mut().zip(all_figures(input, lane)) {
                *width = width.max(figure.width(ui));
            }
        }
        let columns = |per_row: usize| -> Vec<f32> {
            let widest = |column: usize| {
                let column = widths.iter().skip(column).step_by(per_row);
                column.copied().fold(0.0, f32::max)
            };
            (0..per_row).map(widest).collect()
        };
        let [one_row, several] = PER_ROW.map(columns);
        let needed = one_row.iter().sum::<f32>() + ROOMY * (N - 1) as f32;
        let columns = if needed <= room { one_row } else { several };
        let free = room - columns.iter().sum::<f32>();
        let space = SPACE.clamp(free / (columns.len() - 1) as f32);
        Self { columns, space }
    }

    /// Returns the height of the rows after the first, in points.
    pub(in crate::app) fn more(&self) -> f32 {
        (N.div_ceil(self.columns.len()) - 1) as f32 * (ROW + GAP)
    }
}

impl Figure {
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
        width(self.label, TextStyle::Small).max(width(value, theme::strong()))
    }
}

/// Shows the figures of a lane with their hover texts.
pub(super) fn show(ui: &mut Ui, input: &LanesInput<'_>, lane: usize, grid: &Grid) {
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    ui.spacing_mut().item_spacing.y = GAP;
    let all = all_figures(input, lane);
    for row in all.chunks(grid.columns.len()) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = grid.space;
            for (figure, width) in row.iter().zip(&grid.columns) {
                let size = vec2(*width, ROW);
                let shown = ui.allocate_ui(size, |ui| {
                    ui.set_min_width(*width);
                    widgets::figure(ui, figure.label, &figure.value, figure.tone)
                });
                shown.inner.on_hover_ui(|ui| {
                    ui.label(format!("{}: {}", figure.name, (figure.hint)(input, lane)));
                });
            }
        });
    }
}

fn peak_hint(input: &LanesInput<'_>, lane: usize) -> String {
    let run = &input.runs.lanes[lane];
    let Some(peak) = run.peak else {
        return "No calls".to_owned();
    };
    let last = input.document.last_call();
    let budget = input
        .runs
        .budget(&run.policy, &run.knobs, peak.call.unwrap_or(last));
    let place = peak.call.map_or_else(
        || "at the end, including the last answer".to_owned(),
        |call| format!("at call {}", wording::number(call)),
    );
    format!(
        "{} tokens {place}: {}",
        wording::tokens(peak.tokens),
        wording::of_usable(budget.pressure(peak.tokens))
    )
}

/// Returns the lane's context size at the selected call, and its size after manual edits if there are any.
fn now(input: &LanesInput<'_>, lane: usize) -> (Tokens, Option<Tokens>) {
    let total = input.rows.lanes.get(lane).map_or(Tokens::ZERO, |l| l.total);
    let until = input.rows.until.get(lane).and_then(Option::as_ref);
    let events = until.map_or(&input.runs.lanes[lane].outcome.events, |at| &at.events);
    match events.iter().find(|event| event.is_manual()) {
        Some(edit) => (edit.before, Some(total)),
        None => (total, None),
    }
}

/// Returns `79.2k`, or `109k → 85.8k` with manual edits.
pub(super) fn now_text(input: &LanesInput<'_>, lane: usize) -> String {
    match now(input, lane) {
        (now, Some(edited)) => format!("{} → {}", tokens(input, now), wording::short(edited)),
        (now, None) => tokens(input, now),
    }
}

/// Returns the hover text for the context size.
pub(super) fn now_hint(input: &LanesInput<'_>, lane: usize) -> String {
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

fn overflow_hint(run: &LaneRun) -> String {
    format!(
        "Calls whose first attempt exceeded the context window. They contained {} tokens.",
        wording::tokens(run.outcome.tokens_rejected)
    )
}

fn sent_hint(run: &LaneRun) -> String {
    let summaries = run.outcome.summaries;
    let apart = if summaries.requests == 0 {
        String::new()
    } else {
        format!(
            ". In addition {}: {} sent, {} received",
            wording::count(summaries.requests, "summary request"),
            wording::tokens(summaries.sent),
            wording::tokens(summaries.received)
        )
    };
    format!(
        "{} tokens sent by all calls{apart}",
        wording::tokens(run.sent)
    )
}

/// Returns a lane's modelled cost, such as `≈$21.03`, or a dash if a price is unknown.
fn cost_value(input: &LanesInput<'_>, lane: usize) -> String {
    let total = cost(input, lane).map(|cost| cost.cost.total());
    match total {
        Some(Some(usd)) => format!("≈{}", wording::usd(usd)),
        Some(None) => "–".to_owned(),
        None => "…".to_owned(),
    }
}

fn cost_hint(input: &LanesInput<'_>, lane: usize) -> String {
    let Some((cost, costs)) = cost(input, lane).zip(input.costs) else {
        return "Computing costs".to_owned();
    };
    if cost.cost.total().is_some() {
        let recorded = costs.recorded.cost.total().map_or_else(String::new, |usd| {
            format!(" Recorded: {}.", wording::usd(usd))
        });
        let prices = match &input.config.billing.price {
            PriceChoice::Own(_) => "At custom prices",
            PriceChoice::Recorded | PriceChoice::Model(_) => "At list prices",
        };
        return format!("{prices}, with the provider's cache modelled.{recorded}");
    }
    match costs.unknown() {
        Some("") => {
            "The file names no model, so no price is known. Choose one in the tab Cost.".to_owned()
        }
        Some(model) => {
            let model = crate::safe_text::one_line(model, 60);
            format!("No price is known for {model}. Choose one in the tab Cost.")
        }
        None => "No call was billed.".to_owned(),
    }
}

/// Returns the lane's losses, or `None` while they are computed.
fn loss<'a>(input: &LanesInput<'a>, lane: usize) -> Option<&'a LaneLoss> {
    let loss = input.losses?.of(Some(lane))?;
    loss.is_of(&input.runs.lanes[lane]).then_some(loss)
}

/// Returns the tone of the lane's losses, or a plain tone while they are computed.
fn loss_tone(input: &LanesInput<'_>, lane: usize, tone: fn(&LaneLoss, &LaneLoss) -> Tone) -> Tone {
    let known = loss(input, lane).zip(input.losses);
    known
        .filter(|_| input.runs.lanes[lane].peak.is_some())
        .map_or(Tone::Weak, |(loss, all)| tone(loss, &all.recorded))
}

fn risk_hint(input: &LanesInput<'_>, lane: usize) -> String {
    let Some((loss, all)) = loss(input, lane).zip(input.losses) else {
        return "Searching for references".to_owned();
    };
    let (found, floor) = (&loss.found.at_risk, &all.recorded.found.at_risk);
    let predicted = if found.fewest < found.faults.len() {
        " The lower count assumes that summaries contain the most used names."
    } else {
        ""
    };
    format!(
        "References by the recorded agent to content that this policy had removed, of {} in total.{predicted} Noise floor \
 (recorded context): {}.",
        wording::count(found.uses, "reference"),
        wording::grouped(floor.faults.len() as u64)
    )
}

fn blind_hint(input: &LanesInput<'_>, lane: usize) -> String {
    let Some((loss, all)) = loss(input, lane).zip(input.losses) else {
        return "Searching for edits".to_owned();
    };
    let floor = all.recorded.found.at_risk.blind_edits.len();
    format!(
        "Edits whose original text had been removed, of {} with known original text. Recorded: {}.",
        wording::count(loss.found.at_risk.edits, "edit"),
        wording::grouped(floor as u64)
    )
}
