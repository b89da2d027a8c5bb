//! Plans the edit of a stage that fires: selects content, checks the guard, and builds the replacement.

use super::dedupe::dedupe;
use super::shorten::{Shortened, shorten};
use crate::engine::case::Case;
use crate::engine::case::storage::NewFile;
use crate::engine::context::Written;
use crate::engine::context::taken::{Taken, ranges, widen};
use crate::engine::expr::{Expr, Moment};
use crate::engine::meter::Meter;
use crate::engine::outcome::Idle;
use crate::engine::policy::stages::{
    Action, Clear, Cut, Dedupe, Drop, Replacement, Stage, Summarize,
};
use crate::engine::select;
use crate::engine::summary::request::{Reply, Request};
use crate::engine::vocabulary::SummaryPosition;
use crate::engine::working::{Which, Working};
use crate::session::{Role, WrittenKind, is_blank};
use crate::units::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// The plan of a stage.
#[derive(Debug)]
pub(super) enum Plan {
    /// No change, with the reason.
    Nothing(Idle),
    /// An edit that can be applied.
    Ready(Edit),
    /// An edit that needs a summary first.
    NeedsSummary(Request, PendingEdit),
}

/// An edit that waits for a summary.
#[derive(Debug)]
pub(super) struct PendingEdit {
    taken: Taken,
    must_shrink: bool,
    place: SummaryPosition,
    /// Tokens of a predicted summary that the model does not write.
    added: Tokens,
}

/// A change of the context.
#[derive(Debug)]
pub(super) enum Edit {
    /// Clears tool results.
    Clear { which: Which, marker: Arc<str> },
    /// Replaces live tool results, by their positions, with shorter texts or pointers.
    Shorten(Shortened),
    /// Removes entries. A written message, with its true tokens, may replace them.
    Replace { taken: Taken, written: Option<(Written, u32)>, place: SummaryPosition },
}

/// Returns the current plan of a stage.
pub(super) fn plan(
    case: &Case,
    working: &Working<'_>,
    stage: &Stage,
    call: usize,
    moment: &Moment,
) -> Plan {
    let planner = Planner { case, working, stage, call, moment };
    match &stage.action {
        // Log and named actions have no plan: they do not edit, or plan for themselves.
        Action::Named(_) | Action::Log(_) => Plan::Nothing(Idle::NothingToTake),
        Action::Cut(cut) => planner.cut(cut),
        Action::Clear(clear) => planner.clear(clear),
        Action::Dedupe(settings) => planner.dedupe(settings),
        Action::Drop(drop) => planner.drop(drop),
        Action::Summarize(summarize) => planner.summarize(summarize),
    }
}

/// A stage at one moment of a run.
struct Planner<'a> {
    case: &'a Case,
    working: &'a Working<'a>,
    stage: &'a Stage,
    call: usize,
    moment: &'a Moment,
}

impl Planner<'_> {
    fn cut(&self, cut: &Cut) -> Plan {
        let (which, _) = self.tool_results();
        let places = which.places().into_iter();
        let stage = (self.stage, cut);
        self.shortened(shorten(self.case, self.working, stage, places, self.moment))
    }

    fn dedupe(&self, settings: &Dedupe) -> Plan {
        let (which, _) = self.tool_results();
        self.shortened(dedupe(self.case, self.working, settings, &which.places()))
    }

    fn shortened(&self, shortened: Shortened) -> Plan {
        let (gone, left) = (shortened.gone, shortened.left);
        self.guarded(gone, || left, || Plan::Ready(Edit::Shorten(shortened)))
    }

    fn clear(&self, clear: &Clear) -> Plan {
        let (which, gone) = self.tool_results();
        if which.len() == 0 {
            return Plan::Nothing(Idle::NothingToTake);
        }
        let n_cleared = which.len() as u64;
        let left = || {
            let marker = self.working.marker_weights(&clear.marker);
            Tokens(u64::from(marker.metered) * n_cleared)
        };
        let marker = Arc::clone(&clear.marker);
        self.guarded(gone, left, || Plan::Ready(Edit::Clear { which, marker }))
    }

    fn drop(&self, drop: &Drop) -> Plan {
        let taken = self.messages();
        let n_messages = taken.covers.iter().map(ExactSizeIterator::len).sum();
        let notice = drop.notice(n_messages, taken.tokens.0);
        let weight = |notice: &Replacement| self.working.meter.weigh(self.case, &notice.text);
        let left = Tokens::from(notice.as_ref().map_or(0, weight));
        let gone = taken.metered;
        let plan = || {
            let written = notice.map(|notice| {
                let tokens = self.case.ledger.weigh(&notice.text).0 as u32;
                (written(notice, WrittenKind::Notice, false), tokens)
            });
            let place = SummaryPosition::First;
            Plan::Ready(Edit::Replace { taken, written, place })
        };
        self.guarded(gone, || left, plan)
    }

    fn summarize(&self, summarize: &Summarize) -> Plan {
        let taken = self.messages();
        let gone = taken.metered;
        let tokens = |expr: &Expr| Tokens(expr.value(self.moment).max(0.0) as u64);
        let plan = || {
            let request = self.request(&taken, summarize, tokens(&summarize.max_tokens));
            let pending = PendingEdit {
                taken,
                must_shrink: self.stage.guard.must_shrink,
                place: summarize.place,
                added: tokens(&summarize.added),
            };
            Plan::NeedsSummary(request, pending)
        };
        self.guarded(gone, || Tokens::ZERO, plan)
    }

    fn tool_results(&self) -> (Which, Tokens) {
        select::tool_results(self.case, self.working, &self.stage.take, self.moment)
    }

    fn messages(&self) -> Taken {
        select::messages(self.case, self.working, &self.stage.take, self.moment)
    }

    fn request(&self, taken: &Taken, summarize: &Summarize, max_tokens: Tokens) -> Request {
        let entries = &self.working.context.entries;
        let texts = taken.entries.iter().filter_map(|idx| entries[*idx].text());
        Request {
            call: self.call,
            stage: self.stage.id.clone(),
            messages: widen(&taken.messages),
            covers: widen(&taken.covers),
            written: texts.collect(),
            input: taken.tokens,
            prefix: summarize.prefix.clone(),
            max_tokens,
            predicted: max_tokens,
            prompt: summarize.prompt.clone(),
            verbatim: None,
        }
    }

    /// Returns the plan if the stage's guard accepts replacing content of weight `gone` by content of weight `left`.
    /// Rejects savings that are too small even for an empty replacement before it computes `left`, because a policy may
    /// try before every call.
    fn guarded(
        &self,
        gone: Tokens,
        left: impl FnOnce() -> Tokens,
        plan: impl FnOnce() -> Plan,
    ) -> Plan {
        if gone == Tokens::ZERO {
            return Plan::Nothing(Idle::NothingToTake);
        }
        let guard = &self.stage.guard;
        let least = guard.min_saved.as_ref().map(|min| min.value(self.moment));
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
}

/// Converts an answer to the edit that waited for it, and returns the tokens that the model wrote.
///
/// # Errors
/// Returns the reason if the edit is not applied: the answer failed, is empty, or would not make the context smaller.
/// The caller enforces the limit.
pub(super) fn edit_of_reply(
    case: &Case,
    meter: &Meter,
    pending: PendingEdit,
    request: &Request,
    reply: Reply,
) -> Result<(Edit, Tokens), String> {
    let (text, is_predicted) = match reply {
        Reply::Predicted(text) => (text, true),
        Reply::Summary(text) => (text, false),
        Reply::ToolCall => {
            return Err("the model called a tool in the place of a summary".to_owned());
        }
        Reply::Failed(why) => return Err(why),
    };
    if is_blank(&text) {
        return Err("the summary is empty".to_owned());
    }
    let (message, weight) = weighed(case, request, &text, is_predicted);
    if pending.must_shrink
        && Tokens::from(meter.weigh_known(&message, weight.0 as u32)) >= pending.taken.metered
    {
        return Err(format!(
            "a summary of {} tokens would not be smaller than what it replaces",
            weight.0
        ));
    }
    let replacement = Replacement { role: Role::User, text: message };
    let written = written(replacement, WrittenKind::Summary, is_predicted);
    // The model writes no more than its part.
    let excess = weight - (request.max_tokens - pending.added);
    let received = weight - excess.min(pending.added);
    Ok((
        Edit::Replace {
            taken: pending.taken,
            written: Some((written, weight.0 as u32)),
            place: pending.place,
        },
        received,
    ))
}

/// Returns the message that contains a summary, with its true tokens.
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
        joins_next: false,
        answers: None,
        is_predicted,
        covers: Vec::new(),
        event: 0,
    }
}

impl Edit {
    /// Returns the messages that it changes, as ascending ranges, without those that an earlier event removed.
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

    /// Returns the files that it writes.
    pub(super) fn take_files(&mut self) -> Vec<NewFile> {
        match self {
            Self::Shorten(shortened) => std::mem::take(&mut shortened.files),
            Self::Clear { .. } | Self::Replace { .. } => Vec::new(),
        }
    }

    /// Applies it as the event of this index.
    pub(super) fn apply(self, working: &mut Working<'_>, event: u32) {
        match self {
            Self::Clear { which, marker } => working.clear(&which, &marker, event),
            Self::Shorten(shortened) => {
                for (nth, text) in shortened.results {
                    working.shorten(nth, (&text, shortened.remainder), event);
                }
            }
            Self::Replace { taken, written, place } => {
                let written = written.map(|(text, tokens)| (Written { event, ..text }, tokens));
                working.replace(taken, (written, place), event);
            }
        }
    }
}
