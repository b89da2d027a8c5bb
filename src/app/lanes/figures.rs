//! The figures of a lane's head, each with a hover text.

use super::input::LanesInput;
use super::{hints, own_estimate};
use crate::analysis::cost::{Cost, CostSource};
use crate::analysis::rereads::{RereadTotal, rereads_number};
use crate::app::evaluate::losses::LaneLoss;
use crate::app::widgets::Tone;
use crate::app::{evaluate, wording};
use crate::units::{Tokens, Usd};
use std::cmp::Ordering;

/// A figure of a head.
pub(super) struct Figure {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) tone: Tone,
    /// Difference from the recorded lane, which shows the modelled cost here.
    pub(super) difference: Option<Difference>,
    pub(super) hint: Hint,
}

/// Returns the hover text of a figure for a lane or the recorded one.
type Hint = fn(&LanesInput<'_>, Option<usize>) -> String;

/// A difference from the recorded lane.
pub(super) struct Difference {
    pub(super) text: String,
    /// Words after the text. They may extend over the next column, which then has no difference.
    pub(super) note: &'static str,
    pub(super) tone: Tone,
    /// Whether it is smaller than the error of the calibration. It has no color then.
    pub(super) is_within_error: bool,
}

impl Difference {
    /// Creates a difference; less is better.
    fn new(text: String, order: Ordering) -> Self {
        let tone = match order {
            Ordering::Less => Tone::Ok,
            Ordering::Equal => Tone::Weak,
            Ordering::Greater => Tone::Warn,
        };
        Self { text, note: "", tone, is_within_error: false }
    }

    /// Removes the color of a difference from `base` that is smaller than the error of the calibration.
    fn with_error(self, input: &LanesInput<'_>, difference: f64, base: f64) -> Self {
        let ledger = &input.runs.case.ledger;
        if difference != 0.0 && ledger.is_within_error(difference, base) {
            Self { tone: Tone::Weak, is_within_error: true, ..self }
        } else {
            self
        }
    }
}

/// Returns the figures of a lane or of the recorded one, most important first. All lanes have the same ones.
pub(super) fn all_figures(input: &LanesInput<'_>, lane: Option<usize>) -> Vec<Figure> {
    let run = input.run(lane);
    let peak = run.peak.map(|peak| tokens(input, peak.tokens));
    // Without calls the losses are unknown, not zero.
    let of_calls = |text: String| run.peak.map_or_else(|| "–".to_owned(), |_| text);
    let count = |n: usize| of_calls(wording::grouped(n as u64));
    let loss = input.loss(lane);
    let of_loss =
        |text: fn(&LaneLoss) -> String| of_calls(loss.map_or_else(|| "…".to_owned(), text));
    let n_blind = |loss: &LaneLoss| wording::grouped(loss.found.at_risk.blind_edits.len() as u64);
    let [peak_by, cost_by, sent_by, rereads_by] = differences(input, lane);
    let overflow_tone = if run.outcome.overflows > 0 { Tone::Bad } else { Tone::Plain };
    let mut all = vec![
        Figure {
            tone: overflow_tone,
            difference: peak_by,
            ..Figure::new("peak", peak.unwrap_or_else(|| "–".to_owned()), hints::peak_hint)
        },
        Figure {
            difference: cost_by,
            ..Figure::new("cost", cost_value(input, lane), hints::cost_hint)
        },
        Figure {
            tone: loss_tone(input, lane, evaluate::state::reread_tone),
            difference: rereads_by,
            ..Figure::new(
                "re-reads",
                of_loss(|loss| loss.rereads.total.number()),
                hints::rereads_hint,
            )
        },
        Figure::new("compactions", count(run.outcome.compactions), |_, _| {
            "Number of times content was removed, without manual edits".to_owned()
        }),
        Figure {
            difference: sent_by,
            ..Figure::new("sent", of_calls(tokens(input, run.sent)), hints::sent_hint)
        },
        Figure {
            tone: overflow_tone,
            ..Figure::new("overflows", count(run.outcome.overflows), hints::overflow_hint)
        },
        Figure {
            tone: if run.outcome.into_reserve() > 0 { Tone::Warn } else { Tone::Plain },
            ..Figure::new(
                "into the reserve",
                count(run.outcome.into_reserve()),
                hints::reserve_hint,
            )
        },
        Figure {
            tone: loss_tone(input, lane, evaluate::state::blind_tone),
            ..Figure::new("blind edits", of_loss(n_blind), hints::blind_hint)
        },
    ];
    if own_estimate::is_any(input) {
        all.insert(4, own_estimate::figure(input, lane));
    }
    all
}

/// Returns a lane's differences from the recorded lane: peak, cost, tokens sent and expected re-reads. `None` for
/// unknown figures. The recorded lane has only the cost that the others are compared with, if it shows another one.
fn differences(input: &LanesInput<'_>, lane: Option<usize>) -> [Option<Difference>; 4] {
    let modelled = input.costs.map(|costs| &costs.modelled);
    if lane.is_none() {
        let is_reported = |cost: &Cost| cost.source == CostSource::Recorded;
        let modelled = modelled.filter(|_| input.cost(None).is_some_and(is_reported));
        let reference = modelled.and_then(|cost| Some(wording::cost(cost.source, cost.total()?)));
        let reference = reference
            .map(|text| Difference { note: " modelled", ..Difference::new(text, Ordering::Equal) });
        return [None, reference, None, None];
    }
    let (own, recorded) = (input.run(lane), input.run(None));
    let of_tokens = |own: Tokens, recorded: Tokens| {
        let by = own.as_f64() - recorded.as_f64();
        Difference::new(wording::difference(own, recorded), own.cmp(&recorded)).with_error(
            input,
            by,
            recorded.as_f64(),
        )
    };
    let peaks = own.peak.zip(recorded.peak);
    let totals = input.cost(lane).and_then(Cost::total);
    let totals = totals.zip(modelled.and_then(Cost::total));
    let found = input.loss(lane).filter(|_| own.peak.is_some());
    let found = found.zip(input.loss(None));
    [
        peaks.map(|(own, recorded)| of_tokens(own.tokens, recorded.tokens)),
        totals.map(|(own, recorded)| {
            let more = wording::shown_difference(own, recorded);
            let order = more.0.total_cmp(&0.0);
            let amount = wording::usd(Usd(more.0.abs()));
            let text = wording::signed(order, &amount);
            Difference::new(text, order).with_error(input, more.0, recorded.0)
        }),
        peaks.map(|_| of_tokens(own.sent, recorded.sent)),
        found.map(|(own, recorded)| {
            let [own, recorded] = [own, recorded].map(|loss| &loss.rereads.total);
            // The difference of the shown numbers, independent of rounding.
            let shown = |total: &RereadTotal| total.number().parse().unwrap_or(0.0);
            let more: f64 = shown(own) - shown(recorded);
            let text = wording::signed(more.total_cmp(&0.0), &rereads_number(more.abs()));
            // A difference within the error of the coefficients has no color.
            Difference::new(text, evaluate::state::order(own, recorded))
        }),
    ]
}

/// Formats tokens for a head.
fn tokens(input: &LanesInput<'_>, n: Tokens) -> String {
    let about = input.runs.case.ledger.accuracy.mark();
    format!("{about}{}", wording::short(n))
}

impl Figure {
    /// Creates a plain figure.
    pub(super) fn new(label: &'static str, value: String, hint: Hint) -> Self {
        Self { label, value, tone: Tone::Plain, difference: None, hint }
    }

    /// Returns the figure as a line of text: `peak: 118k (−42k)`.
    pub(super) fn line(&self) -> String {
        let difference = self.difference.as_ref();
        let difference =
            difference.map_or_else(String::new, |by| format!(" ({}{})", by.text, by.note));
        format!("{}: {}{difference}", self.label, self.value)
    }
}

/// Returns the recorded context size at the selected call, or at the end if that is shown, as in all other figures.
fn recorded_now(input: &LanesInput<'_>) -> Tokens {
    let outcome = &input.run(None).outcome;
    let call = input.rows.call;
    let sample = outcome.samples.get(call).map(|sample| sample.tokens);
    sample.filter(|_| call != input.document.last_call()).unwrap_or(outcome.end)
}

/// Returns the lane's context size at the selected call, and its size after manual edits if there are any.
fn now(input: &LanesInput<'_>, lane: Option<usize>) -> (Tokens, Option<Tokens>) {
    let total = match lane {
        Some(_) => input.rows.context(lane).map_or(Tokens::ZERO, |l| l.total),
        None => recorded_now(input),
    };
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
    format!("The context {place}: {} tokens{edited}", wording::tokens(now))
}

/// Returns a lane's cost, such as `≈$21.03`, or a dash if a price is unknown.
fn cost_value(input: &LanesInput<'_>, lane: Option<usize>) -> String {
    let Some(cost) = input.cost(lane) else {
        return "…".to_owned();
    };
    let text = |usd| wording::cost(cost.source, usd);
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
