//! From a stage that fires to an edit of the context: what it takes, whether that is worth it, what stands there then.

use super::context::Written;
use super::expr::Moment;
use super::file::NewFile;
use super::meter::Meter;
use super::outcome::Idle;
use super::shorten::{Shortened, shorten};
use super::stages::{Action, Guard, Place, Replacement, Stage, Summarize};
use super::taken::{Taken, ranges, widen};
use super::working::{Which, Working};
use super::{Case, Reply, Request, select};
use crate::session::{Role, WrittenKind};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// What a stage would do.
#[derive(Debug)]
pub(super) enum Plan {
    /// Nothing, and why.
    Nothing(Idle),
    /// It can be done.
    Ready(Edit),
    /// It needs a summary first.
    Asks(Request, Asked),
}

/// What waits for a summary.
#[derive(Debug)]
pub(super) struct Asked {
    taken: Taken,
    must_shrink: bool,
    place: Place,
}

/// A change of the context.
#[derive(Debug)]
pub(super) enum Edit {
    /// Tool results are emptied.
    Clear { which: Which, marker: Arc<str> },
    /// Live tool results, by their places, get shorter texts.
    Shorten(Shortened),
    /// Entries are taken out; a message of ours, with its true tokens, may stand in their place.
    Replace {
        taken: Taken,
        written: Option<(Written, u32)>,
        place: Place,
    },
}

/// What the stage would do now.
pub(super) fn plan(
    case: &Case,
    working: &Working<'_>,
    stage: &Stage,
    step: usize,
    moment: &Moment,
) -> Plan {
    match &stage.action {
        // Nothing is planned for what only speaks, or plans for itself.
        Action::Named(_) | Action::Log(_) => Plan::Nothing(Idle::NothingToTake),
        Action::Cut(cut) => {
            let (which, _) = select::tool_results(case, working, &stage.take, moment);
            let places = which.places().into_iter();
            let shortened = shorten(case, working, (stage, cut), places, moment);
            let (gone, left) = (shortened.gone, shortened.left);
            judged(
                &stage.guard,
                gone,
                || left,
                moment,
                || Plan::Ready(Edit::Shorten(shortened)),
            )
        }
        Action::Clear(clear) => {
            let (which, gone) = select::tool_results(case, working, &stage.take, moment);
            if which.len() == 0 {
                return Plan::Nothing(Idle::NothingToTake);
            }
            let n_cleared = which.len();
            let left = || {
                let (_, marker) = working.marker_weights(&clear.marker);
                Tokens(u64::from(marker) * n_cleared as u64)
            };
            judged(&stage.guard, gone, left, moment, || {
                Plan::Ready(Edit::Clear {
                    which,
                    marker: Arc::clone(&clear.marker),
                })
            })
        }
        Action::Drop(drop) => {
            let taken = select::messages(case, working, &stage.take, moment);
            let n_messages = taken.covers.iter().map(ExactSizeIterator::len).sum();
            let notice = drop.notice(n_messages, taken.tokens.0);
            let left = notice
                .as_ref()
                .map_or(0, |n| working.meter.weigh(case, &n.text));
            judged(
                &stage.guard,
                taken.metered,
                || Tokens::from(left),
                moment,
                || {
                    let written = notice.map(|notice| {
                        let tokens = case.ledger.weigh(&notice.text).0 as u32;
                        (written(notice, WrittenKind::Notice, false), tokens)
                    });
                    let place = Place::First;
                    Plan::Ready(Edit::Replace {
                        taken,
                        written,
                        place,
                    })
                },
            )
        }
        Action::Summarize(summarize) => {
            let taken = select::messages(case, working, &stage.take, moment);
            judged(
                &stage.guard,
                taken.metered,
                || Tokens::ZERO,
                moment,
                || {
                    let max_tokens = Tokens(summarize.max_tokens.value(moment).max(0.0) as u64);
                    let request = request(working, stage, step, &taken, (summarize, max_tokens));
                    Plan::Asks(
                        request,
                        Asked {
                            taken,
                            must_shrink: stage.guard.must_shrink,
                            place: summarize.place,
                        },
                    )
                },
            )
        }
    }
}

fn request(
    working: &Working<'_>,
    stage: &Stage,
    step: usize,
    taken: &Taken,
    (summarize, max_tokens): (&Summarize, Tokens),
) -> Request {
    Request {
        step,
        stage: stage.id.clone(),
        messages: widen(&taken.messages),
        covers: widen(&taken.covers),
        written: taken
            .entries
            .iter()
            .filter_map(|idx| working.context.entries[*idx].text())
            .collect(),
        input: taken.tokens,
        prefix: summarize.prefix.clone(),
        max_tokens,
        predicted: max_tokens,
        prompt: summarize.prompt.clone(),
        ask: None,
    }
}

/// Turns an answer into the edit that waited for it, with what the answer weighs.
///
/// # Errors
/// Why it is not done: the answer failed, is empty, or would not make the context smaller. Whoever asks holds it to its
/// limit.
pub(super) fn fulfil(
    case: &Case,
    meter: &Meter,
    asked: Asked,
    request: &Request,
    reply: Reply,
) -> Result<(Edit, Tokens), String> {
    let (text, is_predicted) = match reply {
        Reply::Predicted(text) => (text, true),
        Reply::Summary(text) => (text, false),
        Reply::Called => return Err("the model called a tool in the place of a summary".to_owned()),
        Reply::Failed(why) => return Err(why),
    };
    if text.trim().is_empty() {
        return Err("the summary is empty".to_owned());
    }
    let (message, weight) = weighed(case, request, &text, is_predicted);
    if asked.must_shrink
        && Tokens::from(meter.weigh_known(&message, weight.0 as u32)) >= asked.taken.metered
    {
        return Err(format!(
            "a summary of {} tokens would not be smaller than what it replaces",
            weight.0
        ));
    }
    let replacement = Replacement {
        role: Role::User,
        text: message,
    };
    let written = written(replacement, WrittenKind::Summary, is_predicted);
    Ok((
        Edit::Replace {
            taken: asked.taken,
            written: Some((written, weight.0 as u32)),
            place: asked.place,
        },
        weight,
    ))
}

/// The message that carries a summary, with its true tokens.
fn weighed(
    case: &Case,
    request: &Request,
    text: &Arc<str>,
    is_predicted: bool,
) -> (Arc<str>, Tokens) {
    if is_predicted {
        let known = case.predicted(&request.prefix, request.predicted);
        if Arc::ptr_eq(&known.text, text) {
            return (known.message, known.weight);
        }
    }
    let message = request.message(text);
    let weight = case.ledger.weigh(&message);
    (message, weight)
}

fn written(replacement: Replacement, kind: WrittenKind, is_predicted: bool) -> Written {
    let Replacement { role, text } = replacement;
    Written {
        role,
        kind,
        text,
        blocks: None,
        is_predicted,
        covers: Vec::new(),
        event: 0,
    }
}

/// What is planned, if a guard lets something of weight `gone` be replaced by what `left` weighs. What is too little
/// even with nothing left is told before anything is weighed: a policy may ask in vain before every call.
fn judged(
    guard: &Guard,
    gone: Tokens,
    left: impl FnOnce() -> Tokens,
    moment: &Moment,
    plan: impl FnOnce() -> Plan,
) -> Plan {
    if gone == Tokens::ZERO {
        return Plan::Nothing(Idle::NothingToTake);
    }
    let least = guard.min_saved.as_ref().map(|min| min.value(moment));
    let is_enough = |saved: f64| least.is_none_or(|least| saved > least);
    if !is_enough(gone.as_f64()) {
        return Plan::Nothing(Idle::GuardHeld);
    }
    let saved = gone.as_f64() - left().as_f64();
    if is_enough(saved) && (!guard.must_shrink || saved > 0.0) {
        plan()
    } else {
        Plan::Nothing(Idle::GuardHeld)
    }
}

impl Edit {
    /// The messages it touches, as ascending ranges; what an earlier event took already is not among them.
    pub(super) fn messages(&self, working: &Working<'_>) -> Vec<Range<usize>> {
        match self {
            Self::Clear { which, .. } => widen(&which.messages(&working.live)),
            Self::Shorten(shortened) => {
                let messages = shortened.results.iter();
                let messages = messages.map(|(nth, _)| working.live[*nth].message);
                widen(&ranges(messages))
            }
            Self::Replace { taken, .. } => widen(&taken.messages),
        }
    }

    /// Files that it writes.
    pub(super) fn take_files(&mut self) -> Vec<NewFile> {
        match self {
            Self::Shorten(shortened) => std::mem::take(&mut shortened.files),
            _ => Vec::new(),
        }
    }

    /// Carries it out as the event of this index.
    pub(super) fn apply(self, working: &mut Working<'_>, event: u32) {
        match self {
            Self::Clear { which, marker } => working.clear(&which, &marker, event),
            Self::Shorten(shortened) => {
                for (nth, text) in shortened.results {
                    working.shorten(nth, &text, event);
                }
            }
            Self::Replace {
                taken,
                written,
                place,
            } => {
                let written = written.map(|(text, tokens)| (Written { event, ..text }, tokens));
                working.replace(taken, (written, place), event);
            }
        }
    }
}
