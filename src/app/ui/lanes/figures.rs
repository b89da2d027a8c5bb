//! The figures of a lane's head, each with a hover text.

use crate::analysis::cost::{Cost, CostSource};
use crate::analysis::rereads::{RereadTotal, rereads_number};
use crate::app::state::evaluate::losses::LaneLoss;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::lanes::figure::{Difference, Figure};
use crate::app::ui::lanes::{hints, own_estimate};
use crate::units::{Tokens, Usd};
use std::cmp::Ordering;

/// Returns the figures of a lane or of the recorded one, most important first. All lanes have the same ones.
pub(crate) fn all_figures(input: &OpenSession<'_>, lane: Option<usize>) -> Vec<Figure> {
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
            tone: loss_tone(input, lane, crate::app::state::evaluate::state::reread_tone),
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
            tone: loss_tone(input, lane, crate::app::state::evaluate::state::blind_tone),
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
fn differences(input: &OpenSession<'_>, lane: Option<usize>) -> [Option<Difference>; 4] {
    let modelled = input.derived.costs().map(|costs| &costs.modelled);
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
            Difference::new(text, crate::app::state::evaluate::state::order(own, recorded))
        }),
    ]
}

/// Formats tokens for a head.
fn tokens(input: &OpenSession<'_>, n: Tokens) -> String {
    let about = input.runs.case.ledger.accuracy.mark();
    format!("{about}{}", wording::short(n))
}

/// Returns the recorded context size at the selected call, or at the end if that is shown, as in all other figures.
fn recorded_now(input: &OpenSession<'_>) -> Tokens {
    let outcome = &input.run(None).outcome;
    let call = input.rows.call;
    let sample = outcome.samples.get(call).map(|sample| sample.tokens);
    sample.filter(|_| call != input.document.last_call()).unwrap_or(outcome.end)
}

/// Returns the lane's context size at the selected call, and its size after manual edits if there are any.
fn now(input: &OpenSession<'_>, lane: Option<usize>) -> (Tokens, Option<Tokens>) {
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
pub(crate) fn now_text(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    match now(input, lane) {
        (now, Some(edited)) => format!("{} → {}", tokens(input, now), wording::short(edited)),
        (now, None) => tokens(input, now),
    }
}

/// Returns the hover text for the context size.
pub(crate) fn now_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let n = input.document.session().calls.len();
    let place = wording::place(input.rows.call, n);
    let (now, edited) = now(input, lane);
    let edited = edited.map_or_else(String::new, |edited| {
        format!(", {} after manual edits", wording::tokens(edited))
    });
    format!("The context {place}: {} tokens{edited}", wording::tokens(now))
}

/// Returns a lane's cost, such as `≈$21.03`, or a dash if a price is unknown.
fn cost_value(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let Some(cost) = input.cost(lane) else {
        return "…".to_owned();
    };
    let text = |usd| wording::cost(cost.source, usd);
    cost.total().map_or_else(|| "–".to_owned(), text)
}

/// Returns the tone of the lane's losses, or a weak tone for the recorded lane and while they are computed.
fn loss_tone(
    input: &OpenSession<'_>,
    lane: Option<usize>,
    tone: fn(&LaneLoss, &LaneLoss) -> Tone,
) -> Tone {
    let known = input.loss(lane).zip(input.derived.losses());
    known
        .filter(|_| lane.is_some() && input.run(lane).peak.is_some())
        .map_or(Tone::Weak, |(loss, all)| tone(loss, &all.recorded))
}
