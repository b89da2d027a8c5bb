//! The figures of a lane's head, as many as have room, each with what it means.

use super::super::PanelInput;
use super::cost;
use crate::app::billing::PriceChoice;
use crate::app::loss_view;
use crate::app::losses::LaneLoss;
use crate::app::runs::LaneRun;
use crate::app::theme::{self, palette};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::units::Tokens;
use egui::{FontId, TextStyle, TextWrapMode, Ui};

/// One figure of a head.
struct Figure {
    label: &'static str,
    short: &'static str,
    value: String,
    tone: Tone,
    hint: fn(&PanelInput<'_>, usize) -> String,
}

/// The figures of a lane, the most telling first.
fn all_figures(input: &PanelInput<'_>, lane: usize) -> [Figure; 8] {
    let run = &input.runs.lanes[lane];
    let about = wording::about(input.runs.case.ledger.basis);
    let tokens = |n: Tokens| format!("{about}{}", wording::short(n));
    // Without a call nothing was sent, and nothing could be missed: that is not zero but unknown.
    let of_calls = |said: String| run.peak.map_or_else(|| "–".to_owned(), |_| said);
    let (label, short, tone) = ("", "", Tone::Plain);
    let figure = Figure {
        label,
        short,
        value: String::new(),
        tone,
        hint: |_, _| String::new(),
    };
    [
        Figure {
            label: "peak",
            short: "peak",
            value: run
                .peak
                .map_or_else(|| "–".to_owned(), |peak| tokens(peak.tokens)),
            hint: peak_hint,
            ..figure
        },
        Figure {
            label: "compactions",
            short: "comp.",
            value: of_calls(wording::grouped(run.outcome.compactions as u64)),
            hint: |_, _| {
                "How often the policy removed something; manual edits do not count".to_owned()
            },
            ..figure
        },
        Figure {
            label: "overflows",
            short: "over.",
            value: of_calls(wording::grouped(run.outcome.overflows as u64)),
            tone: if run.outcome.overflows > 0 {
                Tone::Bad
            } else {
                Tone::Plain
            },
            hint: |input, lane| overflow_hint(&input.runs.lanes[lane]),
        },
        Figure {
            label: "cost",
            short: "cost",
            value: cost_value(input, lane),
            hint: cost_hint,
            ..figure
        },
        Figure {
            label: "at risk",
            short: "at risk",
            value: of_calls(
                loss(input, lane).map_or_else(|| "…".to_owned(), loss_view::at_risk_said),
            ),
            tone: loss_tone(input, lane, loss_view::risk_tone),
            hint: risk_hint,
        },
        Figure {
            label: "blind edits",
            short: "blind",
            value: of_calls(loss(input, lane).map_or_else(
                || "…".to_owned(),
                |loss| wording::grouped(loss.found.at_risk.blind_edits.len() as u64),
            )),
            tone: loss_tone(input, lane, loss_view::blind_tone),
            hint: blind_hint,
        },
        Figure {
            label: "sent",
            short: "sent",
            value: of_calls(tokens(run.sent)),
            hint: |input, lane| sent_hint(&input.runs.lanes[lane]),
            ..figure
        },
        Figure {
            label: "now",
            short: "now",
            value: match now(input, lane) {
                (now, Some(edited)) => format!("{} → {}", tokens(now), wording::short(edited)),
                (now, None) => tokens(now),
            },
            hint: now_hint,
            ..figure
        },
    ]
}

/// As many figures as fit: with short labels before one is left out, `now` first; the tooltips say all.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, lane: usize) {
    const ROOMS: [(usize, bool, f32); 13] = [
        (8, false, 20.0),
        (8, false, 12.0),
        (8, true, 12.0),
        (8, true, 8.0),
        (7, true, 12.0),
        (7, true, 8.0),
        (6, true, 12.0),
        (5, true, 12.0),
        (5, true, 8.0),
        (4, true, 12.0),
        (3, true, 12.0),
        (3, true, 8.0),
        (3, true, 4.0),
    ];
    let all = all_figures(input, lane);
    let label = |figure: &Figure, is_short: bool| {
        if is_short { figure.short } else { figure.label }
    };
    let (small, strong) = (
        TextStyle::Small.resolve(ui.style()),
        theme::strong().resolve(ui.style()),
    );
    let color = palette(ui).text;
    let width = |(n, is_short, space): (usize, bool, f32)| {
        let width = |text: &str, font: &FontId| {
            let galley = ui
                .painter()
                .layout_no_wrap(text.to_owned(), font.clone(), color);
            galley.size().x
        };
        let one = |f: &Figure| width(label(f, is_short), &small).max(width(&f.value, &strong));
        all[..n].iter().map(one).sum::<f32>() + space * (n - 1) as f32
    };
    let room = ROOMS
        .into_iter()
        .find(|room| width(*room) <= ui.available_width())
        .unwrap_or(ROOMS[ROOMS.len() - 1]);
    let (n, is_short, space) = room;
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space;
        for figure in &all[..n] {
            widgets::figure(ui, label(figure, is_short), &figure.value, figure.tone).on_hover_ui(
                |ui| {
                    ui.label(format!("{}: {}", figure.label, (figure.hint)(input, lane)));
                    for left_out in &all[n..] {
                        let said = (left_out.hint)(input, lane);
                        ui.label(format!("{} {}: {said}", left_out.label, left_out.value));
                    }
                },
            );
        }
    });
}

fn peak_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let run = &input.runs.lanes[lane];
    let Some(peak) = run.peak else {
        return "No calls".to_owned();
    };
    let last = input.document.last_step();
    let budget = input
        .runs
        .budget(&run.policy, &run.knobs, peak.step.unwrap_or(last));
    let place = peak.step.map_or_else(
        || "at the end, the last answer included".to_owned(),
        |step| format!("at call {}", wording::number(step)),
    );
    format!(
        "{} tokens {place}: {}",
        wording::tokens(peak.tokens),
        wording::of_usable(budget.pressure(peak.tokens))
    )
}

/// The lane's context at the selected call, and what manual edits make of it, if there are any.
fn now(input: &PanelInput<'_>, lane: usize) -> (Tokens, Option<Tokens>) {
    let total = input.rows.lanes.get(lane).map_or(Tokens::ZERO, |l| l.total);
    let until = input.rows.until.get(lane).and_then(Option::as_ref);
    let events = until.map_or(&input.runs.lanes[lane].outcome.events, |at| &at.events);
    match events.iter().find(|event| event.is_by_hand()) {
        Some(edit) => (edit.before, Some(total)),
        None => (total, None),
    }
}

fn now_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let n = input.document.session().steps.len();
    let place = wording::place(input.rows.step, n);
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
        "Calls whose first try did not fit. They carried {} tokens.",
        wording::tokens(run.outcome.tokens_rejected)
    )
}

fn sent_hint(run: &LaneRun) -> String {
    let summaries = run.outcome.summaries;
    let apart = if summaries.requests == 0 {
        String::new()
    } else {
        format!(
            ". {} apart: {} sent, {} back",
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

/// `≈$21.03`: a lane's cost is worked out, not billed. A dash where a price is not known.
fn cost_value(input: &PanelInput<'_>, lane: usize) -> String {
    let total = cost(input, lane).map(|cost| cost.cost.total());
    match total {
        Some(Some(usd)) => format!("≈{}", wording::usd(usd)),
        Some(None) => "–".to_owned(),
        None => "…".to_owned(),
    }
}

fn cost_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let Some((cost, costs)) = cost(input, lane).zip(input.costs) else {
        return "Working it out".to_owned();
    };
    if cost.cost.total().is_some() {
        let recorded = costs.recorded.cost.total().map_or_else(String::new, |usd| {
            format!(" What was recorded comes to {}.", wording::usd(usd))
        });
        let prices = match &input.config.billing.price {
            PriceChoice::Own(_) => "At your own prices",
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

/// What the lane lacked; none while that is worked out.
fn loss<'a>(input: &PanelInput<'a>, lane: usize) -> Option<&'a LaneLoss> {
    let loss = input.losses?.of(Some(lane))?;
    loss.is_of(&input.runs.lanes[lane]).then_some(loss)
}

/// The tone of what the lane lacked, once it is known.
fn loss_tone(input: &PanelInput<'_>, lane: usize, tone: fn(&LaneLoss, &LaneLoss) -> Tone) -> Tone {
    let known = loss(input, lane).zip(input.losses);
    known
        .filter(|_| input.runs.lanes[lane].peak.is_some())
        .map_or(Tone::Weak, |(loss, all)| tone(loss, &all.recorded))
}

fn risk_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let Some((loss, all)) = loss(input, lane).zip(input.losses) else {
        return "Looking for what was used again".to_owned();
    };
    let (found, floor) = (&loss.found.at_risk, &all.recorded.found.at_risk);
    let predicted = if found.fewest < found.faults.len() {
        " The fewer, if its summaries held what was asked for most."
    } else {
        ""
    };
    format!(
        "Uses by the recorded agent of what this policy had removed, of {}.{predicted} What was recorded has {} by \
         the same measure: the noise floor.",
        wording::count(found.uses, "use"),
        wording::grouped(floor.faults.len() as u64)
    )
}

fn blind_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let Some((loss, all)) = loss(input, lane).zip(input.losses) else {
        return "Looking for edits".to_owned();
    };
    let floor = all.recorded.found.at_risk.blind_edits.len();
    format!(
        "Edits whose old text was gone, of {} that can be judged. What was recorded has {}.",
        wording::count(loss.found.at_risk.edits, "edit"),
        wording::grouped(floor as u64)
    )
}
