//! The hover texts of a head's figures.

use crate::analysis::cost::CostSource;
use crate::analysis::rereads::WINDOW_CALLS;
use crate::app::state::model::billing::PriceChoice;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::safe_text;
use crate::tokens::Accuracy;
use crate::units::Share;
use std::fmt::Write as _;

/// Maximum number of files in the hover text of the expected re-reads.
const SHOWN_FILES: usize = 5;
/// Maximum length of a path, in characters, and of its shown end.
const MAX_PATH_CHARS: usize = 300;
const SHOWN_CHARS: usize = 48;

/// Returns the call of the peak and its fill.
pub(crate) fn peak_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let run = input.run(lane);
    let Some(peak) = run.peak else {
        return "No calls".to_owned();
    };
    let place = peak.call.map_or_else(
        || "at the end, including the last answer".to_owned(),
        |call| format!("at call {}", wording::number(call)),
    );
    format!(
        "{} tokens {place}: {}",
        wording::tokens(peak.tokens),
        wording::of_usable(run.outcome.peak_share())
    )
}

/// Returns the hover text of a cost.
pub(crate) fn cost_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let Some((cost, costs)) = input.cost(lane).zip(input.derived.costs()) else {
        return "Computing costs".to_owned();
    };
    if cost.total().is_some() {
        let prices = match &input.config.billing.price {
            PriceChoice::Own(_) => "At custom prices",
            PriceChoice::Recorded | PriceChoice::Model(_) => "At list prices",
        };
        let modelled = costs
            .modelled
            .total()
            .map_or_else(|| "unknown".to_owned(), |usd| wording::cost(costs.modelled.source, usd));
        return match (lane, cost.source) {
            (None, CostSource::Recorded) => format!(
                "{prices}, by the provider's counts. With its cache modelled, as in the other lanes: {modelled}."
            ),
            (None, CostSource::Modelled) => {
                format!("{prices}, with the provider's cache modelled.")
            }
            (Some(_), _) => format!(
                "{prices}, with the provider's cache modelled. Recorded run by the same model: {modelled}."
            ),
        };
    }
    match costs.unknown() {
        Some("") => {
            "The file names no model, so no price is known. Choose one in the tab Cost.".to_owned()
        }
        Some(model) => {
            let model = safe_text::one_line(model, 60);
            format!("No price is known for {model}. Choose one in the tab Cost.")
        }
        None => "No call was billed.".to_owned(),
    }
}

/// Returns the tokens of all calls and of summary requests.
pub(crate) fn sent_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let run = input.run(lane);
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
    format!("{} tokens sent by all calls{apart}", wording::tokens(run.sent))
}

/// Returns the expected re-reads in words, and the files that the agent most probably reads again.
pub(crate) fn rereads_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let Some((loss, all)) = input.loss(lane).zip(input.derived.losses()) else {
        return "Searching for files that were read".to_owned();
    };
    let mut text = format!(
        "files that the agent will probably read again within {WINDOW_CALLS} calls after their content left the context, beyond those that it reads again anyway.\n{}.",
        wording::capitalized(&loss.rereads.total.words())
    );
    if lane.is_some() {
        let recorded = all.recorded.rereads.total.number();
        let _ = write!(text, " After the recorded compactions: {recorded}.");
    }
    let likely = loss.rereads.likeliest(SHOWN_FILES).into_iter();
    for removed in likely.filter(|removed| removed.extra > 0.0) {
        let file = all.session.index.files.name(removed.file);
        let file = wording::path_end(&safe_text::one_line(file, MAX_PATH_CHARS), SHOWN_CHARS);
        let probability = wording::percent(Share(removed.probability));
        let call = wording::number(removed.call);
        let _ = write!(text, "\n{probability}  {file}, removed at call {call}");
    }
    text
}

/// Defines the overflows.
pub(crate) fn overflow_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let outcome = &input.run(lane).outcome;
    let what = match lane {
        None => "Calls that the provider rejected because their context was too long.",
        Some(_) => "Calls whose first attempt exceeded the context window and would be rejected.",
    };
    if outcome.overflows == 0 {
        return what.to_owned();
    }
    let contained = wording::tokens(outcome.tokens_rejected);
    format!("{what} They contained {contained} tokens.")
}

/// Defines the calls that reach into the output reserve.
pub(crate) fn reserve_hint(_: &OpenSession<'_>, _: Option<usize>) -> String {
    "Calls that fit into the context window but reach into the output reserve, which leaves less space for the answer."
        .to_owned()
}

/// Says why a difference has no color.
pub(crate) fn within_error(input: &OpenSession<'_>, difference: &str) -> String {
    let error = match input.runs.case.ledger.accuracy {
        Accuracy::Calibrated(error) => format!(" of {}", wording::percent(error)),
        Accuracy::Reported | Accuracy::Exact | Accuracy::Estimated => String::new(),
    };
    format!("The difference {difference} is within the calibration error{error}.")
}

/// Defines the blind edits.
pub(crate) fn blind_hint(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let Some((loss, all)) = input.loss(lane).zip(input.derived.losses()) else {
        return "Searching for edits".to_owned();
    };
    let floor = all.recorded.found.at_risk.blind_edits.len();
    format!(
        "Edits whose original text had been removed, of {} with known original text. Recorded: {}.",
        wording::count(loss.found.at_risk.edits, "edit"),
        wording::grouped(floor as u64)
    )
}
