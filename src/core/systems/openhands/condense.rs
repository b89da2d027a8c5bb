//! `LLMSummarizingCondenser.condense`, repeated as the agent's loop does until it returns no condensation.

use super::text::{event_text, summary_request};
use super::view::EventView;
use crate::chat::{PendingRequest, Replies, SummaryReply};
use crate::engine::{ActionKind, Hook, NamedAction, RewriteInput, Rewritten};
use crate::languages::python::signed;
use crate::systems::stage_settings::summarizing;
use crate::systems::terms::terms;
use std::ops::Range;
use std::sync::Arc;

/// Acts on request after a rejected call, above `max_tokens` (0: the window alone) and above `max_size` events.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "openhands.condense",
    ActionKind::Summarize,
    "Summarizes the events between the first ones and the newest half.",
    |settings| summarizing(settings, condense),
)
.with_numbers(&[
    "max_size",
    "keep_first",
    "max_tokens",
    "minimum_progress",
    "reset_retries",
    "reset_scaling",
    "forced",
]);

const NO_INDEX: &str = "Unable to compute forgotten events";
const NO_EVENTS: &str = "Cannot condense 0 events. This typically occurs when a tool loop spans almost the entire view, leaving no valid range for forgetting events. Consider adjusting keep_first or max_size parameters.";
const NO_PROGRESS: &str =
    "Cannot apply condensation: events forgotten below minimum progress threshold.";

/// Reasons to condense.
#[derive(Clone, Copy, Debug)]
struct Reasons {
    request: bool,
    events: bool,
    /// Tokens of the view, if they exceed the limit.
    tokens: Option<u64>,
}

/// Events that a condensation removes, and its summary if the answer has one.
type Condensation = (Range<usize>, Option<Arc<str>>);

fn condense(
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
) -> Result<Rewritten, PendingRequest> {
    let mut view = EventView::new(input);
    let mut done = Rewritten::default();
    let mut is_requested = input.at == Hook::OverflowError || input.flag("forced");
    let mut changed = false;
    loop {
        let total = view.tokens(view.len());
        done.compared = Some(total);
        done.terms = terms(&[("used", total as f64), ("events", view.len() as f64)]);
        let reasons = Reasons {
            request: is_requested,
            events: view.len() > input.count("max_size"),
            tokens: (total > limit(input)).then_some(total),
        };
        if !reasons.request && !reasons.events && reasons.tokens.is_none() {
            break;
        }
        let attempt = condensation(&view, reasons, input, replies, &mut done.log)?;
        let is_hard = reasons.request || reasons.tokens.is_some();
        let condensation = match attempt {
            Ok(condensation) => condensation,
            Err(_) if !is_hard => break,
            Err(why) => {
                let reset = hard_reset(&view, input, replies, &mut done.log)?;
                let Some(condensation) = reset else {
                    done.halt = Some(why);
                    break;
                };
                condensation
            }
        };
        let n_before = view.len();
        view.apply(condensation.0, condensation.1);
        changed = true;
        is_requested = false;
        if view.len() >= n_before {
            break;
        }
    }
    done.fired = changed || !done.log.is_empty();
    done.messages = changed.then(|| view.into_messages());
    Ok(done)
}

/// Returns the smaller of the two limits in tokens.
fn limit(input: &RewriteInput<'_>) -> u64 {
    match input.count("max_tokens") as u64 {
        0 => input.window,
        max_tokens => max_tokens.min(input.window),
    }
}

/// Returns a condensation, or the reason why none is available.
fn condensation(
    view: &EventView<'_>,
    reasons: Reasons,
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
    log: &mut Vec<String>,
) -> Result<Result<Condensation, String>, PendingRequest> {
    let Some(range) = forgotten(view, reasons, input) else {
        return Ok(Err(NO_INDEX.to_owned()));
    };
    if range.is_empty() {
        return Ok(Err(NO_EVENTS.to_owned()));
    }
    if (range.len() as f64) < view.len() as f64 * input.number("minimum_progress") {
        return Ok(Err(NO_PROGRESS.to_owned()));
    }
    let summary = summary(view, range.clone(), None, replies)?;
    Ok(summary
        .map(|text| (range, text))
        .inspect_err(|why| log.push(format!("No condensation available: {why}"))))
}

/// Returns the events to remove; `None` if no allowed index follows.
fn forgotten(
    view: &EventView<'_>,
    reasons: Reasons,
    input: &RewriteInput<'_>,
) -> Option<Range<usize>> {
    let keep_first = input.count("keep_first");
    let half = |n: usize| signed(n / 2) - signed(keep_first) - 1;
    let tails = [
        reasons.request.then(|| half(view.len())),
        reasons.events.then(|| half(input.count("max_size"))),
        reasons.tokens.map(|total| {
            let reduction = total.saturating_sub(limit(input) / 2);
            signed(suffix(view, keep_first, reduction))
        }),
    ];
    let tail = tails.into_iter().flatten().min()?;
    let end = usize::try_from(signed(view.len()) - tail).unwrap_or(0);
    // The system prompt is the first event.
    let start = view.next_index(keep_first.max(1))?;
    Some(start..view.next_index(end)?)
}

/// Returns the number of newest events to keep so that those removed have more tokens than `reduction`.
fn suffix(view: &EventView<'_>, keep_first: usize, reduction: u64) -> usize {
    let n = view.len().saturating_sub(keep_first);
    let base = if keep_first > 0 { view.tokens(keep_first) } else { 0 };
    let exceeds = |prefix: usize| view.tokens(keep_first + prefix) - base > reduction;
    if n == 0 || reduction == 0 {
        return n;
    }
    if !exceeds(n) {
        return 0;
    }
    let (mut left, mut right) = (1, n);
    while left < right {
        let mid = usize::midpoint(left, right);
        if exceeds(mid) {
            right = mid;
        } else {
            left = mid + 1;
        }
    }
    n - left
}

/// Summarizes everything behind the system prompt, with shorter events after each failure.
fn hard_reset(
    view: &EventView<'_>,
    input: &RewriteInput<'_>,
    replies: &mut Replies<'_>,
    log: &mut Vec<String>,
) -> Result<Option<Condensation>, PendingRequest> {
    let range = 1..view.len();
    if range.is_empty() {
        return Ok(None);
    }
    let mut max_length = None;
    for _ in 0..input.count("reset_retries") {
        let why = match summary(view, range.clone(), max_length, replies)? {
            Ok(summary) => return Ok(Some((range, summary))),
            Err(why) => why,
        };
        let longest = || {
            let lengths = (0..view.len()).map(|at| event_text(view, at).chars().count());
            lengths.max().unwrap_or(0)
        };
        let length = max_length.unwrap_or_else(longest);
        let length = (length as f64 * input.number("reset_scaling")) as usize;
        max_length = Some(length);
        log.push(format!(
            "Hard context reset summarization failed with exception: {why}. Reducing max event size to {length} and retrying."
        ));
    }
    Ok(None)
}

/// Returns the summary of events; `None` if the answer has no text. The inner error is a failed request.
fn summary(
    view: &EventView<'_>,
    events: Range<usize>,
    max_length: Option<usize>,
    replies: &mut Replies<'_>,
) -> Result<Result<Option<Arc<str>>, String>, PendingRequest> {
    let texts = events.map(|at| event_text(view, at));
    Ok(match replies.reply_to(summary_request(texts, max_length))? {
        SummaryReply::Text(text) => Ok(Some(text)),
        SummaryReply::ToolCall => Ok(None),
        SummaryReply::Failed(why) => Err(format!("Summarization LLM call failed: {why}")),
    })
}
