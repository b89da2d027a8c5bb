//! The figures of a session, and those of two sessions side by side.

use super::ComparedSession;
use crate::analysis::cost::{Bills, Charge, Cost, audit, price_recorded};
use crate::engine::{Peak, recorded};
use crate::session::Kind;
use crate::units::{Share, Tokens, Usd};

/// The figures of a recorded session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionFigures {
    /// Number of messages in the history.
    pub messages: usize,
    /// Number of messages that only recorded compactions wrote: summaries and copies.
    pub compaction_messages: usize,
    /// Number of turns.
    pub turns: usize,
    /// Number of model calls.
    pub calls: usize,
    /// The context window, the largest if it changes.
    pub window: Tokens,
    /// The context window minus the output reserve.
    pub usable_window: Tokens,
    /// Tokens of the history and of what is not recorded.
    pub history: Tokens,
    /// Tokens that every call sends and the file does not record.
    pub not_recorded: Tokens,
    /// Recorded tokens of the history by kind, in the order of [`Kind::ALL`].
    pub by_kind: [Tokens; Kind::ALL.len()],
    /// The largest context; `None` without calls.
    pub peak: Option<Peak>,
    /// The context after the last message and the last compaction.
    pub end: Tokens,
    /// The peak as a share of the usable window; `None` without calls or without usable tokens.
    pub peak_share: Option<Share>,
    /// Sum of the contexts of all calls.
    pub sent: Tokens,
    /// Cost of all calls.
    pub cost: Cost,
    /// The file reports the usage of calls.
    pub reports_usage: bool,
    /// The session is a managed conversation.
    pub is_managed: bool,
    /// Model of the first call whose price is unknown; empty if the file names no model.
    pub unpriced_model: Option<String>,
    /// Recorded cache reads as a share of the sent tokens; `None` if the file records none.
    pub cache_hit_rate: Option<Share>,
    /// Number of recorded compactions; `None` if the format does not record them.
    pub compactions: Option<usize>,
    /// Number of calls that overflowed.
    pub overflows: usize,
    /// Number of calls that reach into the output reserve without an overflow.
    pub into_reserve: usize,
    /// Tokens of the context of each call.
    pub contexts: Vec<Tokens>,
}

impl SessionFigures {
    pub(super) fn new(of: ComparedSession<'_>) -> Self {
        let case = of.case;
        let (session, ledger) = (&case.session, &case.ledger);
        let recorded = recorded(case, of.output_reserve, None);
        let bills = Bills::new(case, of.billing);
        let cost = price_recorded(&bills, &recorded);
        let sent = recorded.tokens_sent();
        let mut by_kind = ledger.by_kind(session);
        // The ledger counts tokens that are not recorded as system.
        let system = &mut by_kind[Kind::System.index()];
        *system = *system - ledger.overhead;
        let peak = recorded.peak();
        let messages = session.n_history();
        let window = case.windows.largest();
        let unpriced = bills.calls.iter().find(|call| call.tariff.is_none());
        let model_of = |call: usize| session.calls[call].model.map(|idx| &session.models[idx]);
        Self {
            messages,
            compaction_messages: session.messages.len() - messages,
            turns: session.turns as usize,
            calls: session.calls.len(),
            window,
            usable_window: window - of.output_reserve,
            history: ledger.total(),
            not_recorded: ledger.overhead,
            by_kind,
            end: recorded.end,
            peak_share: peak.and_then(|_| recorded.peak_share().known()),
            peak,
            sent,
            cost,
            reports_usage: session.calls.iter().any(|call| call.usage.is_some()),
            is_managed: session.calibration.is_some(),
            unpriced_model: unpriced.map(|call| model_of(call.index).cloned().unwrap_or_default()),
            cache_hit_rate: audit(case, &bills, &recorded).map(|audit| audit.hit_rate(&recorded)),
            compactions: of.records_compactions.then_some(recorded.compactions),
            overflows: recorded.overflows,
            into_reserve: recorded.into_reserve(),
            contexts: recorded.samples.iter().map(|sample| sample.tokens).collect(),
        }
    }
}

/// The value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A number of items.
    Count(usize),
    /// A number of tokens.
    Tokens(Tokens),
    /// A share.
    Share(Share),
    /// A cost.
    Usd(Usd),
}

impl Quantity {
    /// Returns the number without its unit.
    pub fn number(self) -> f64 {
        match self {
            Self::Count(n) => n as f64,
            Self::Tokens(tokens) => tokens.as_f64(),
            Self::Share(share) => share.0,
            Self::Usd(usd) => usd.0,
        }
    }
}

/// A figure of both sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Its definition in one sentence; empty if the name says it.
    pub help: &'static str,
    /// The value in each session; `None` if it is unknown.
    pub values: [Option<Quantity>; 2],
    /// `≈` before each value that is modelled or estimated, else empty.
    pub marks: [&'static str; 2],
    /// The values have different sources, so that their difference means nothing.
    pub is_incomparable: bool,
}

impl Figure {
    /// Creates a figure of comparable, exact values.
    pub fn new(name: &'static str, help: &'static str, values: [Option<Quantity>; 2]) -> Self {
        Self { name, help, values, marks: [""; 2], is_incomparable: false }
    }

    /// Returns the value of B minus the value of A; `None` if one is unknown or they cannot be compared.
    pub fn difference(&self) -> Option<f64> {
        let [a, b] = self.values;
        let difference = b?.number() - a?.number();
        (!self.is_incomparable).then_some(difference)
    }

    /// Returns the difference as a share of the value of A; `None` if that is unknown or zero.
    pub fn change(&self) -> Option<Share> {
        let a = self.values[0]?.number();
        let is_share = matches!(self.values[0], Some(Quantity::Share(_)));
        let difference = self.difference().filter(|_| a != 0.0 && !is_share)?;
        Some(Share(difference / a))
    }

    /// Marks values of a cost by their source. Only values of the same source can be compared.
    fn of_cost(self, sessions: &[SessionFigures; 2]) -> Self {
        Self {
            marks: sessions.each_ref().map(|s| s.cost.source.mark()),
            is_incomparable: has_different_sources(sessions),
            ..self
        }
    }

    /// Returns whether both sessions have nothing of it.
    fn is_zero(&self) -> bool {
        self.values.iter().flatten().all(|value| value.number() == 0.0)
    }
}

/// Returns whether the cost of one session is recorded and that of the other modelled.
pub fn has_different_sources([a, b]: &[SessionFigures; 2]) -> bool {
    a.cost.source != b.cost.source
}

/// Returns the figures of whole sessions.
pub fn figures(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    use Quantity::{Count, Tokens, Usd};
    type Value = fn(&SessionFigures) -> Option<Quantity>;
    let row = |name, help, value: Value| Figure::new(name, help, sessions.each_ref().map(value));
    let from_compactions = row(
        "from compactions",
        "Messages that only recorded compactions wrote: summaries and copies.",
        |s| Some(Count(s.compaction_messages)),
    );
    let mut rows = vec![
        row("calls", "Model calls.", |s| Some(Count(s.calls))),
        row("turns", "User messages up to the next one.", |s| Some(Count(s.turns))),
        row("messages in history", "Messages in the history.", |s| Some(Count(s.messages))),
    ];
    rows.extend((!from_compactions.is_zero()).then_some(from_compactions));
    rows.extend([
        row(
            "context window",
            "Hard limit of the model in tokens, the largest if it changes.",
            |s| Some(Tokens(s.window)),
        ),
        row(
            "usable window",
            "Context window minus the output reserve.",
            |s| Some(Tokens(s.usable_window)),
        ),
        row(
            "peak",
            "Largest context, including the one at the end.",
            |s| s.peak.map(|peak| Tokens(peak.tokens)),
        ),
        row(
            "peak, of usable",
            "The peak as a share of the usable window.",
            |s| s.peak_share.map(Quantity::Share),
        ),
        row(
            "history",
            "Tokens of the whole history and of what is not recorded.",
            |s| Some(Tokens(s.history)),
        ),
        row(
            "context at the end",
            "Tokens that the next call would send, before a new message: after the last compaction.",
            |s| Some(Tokens(s.end)),
        ),
        row(
            "cumulative tokens",
            "Sum of the contexts of all calls.",
            |s| Some(Tokens(s.sent)),
        ),
        Figure {
            marks: sessions.each_ref().map(|s| match s.cost.estimated_outputs {
                0 => "",
                _ => "≈",
            }),
            ..row("output", "Tokens of the answers.", |s| {
                Some(Tokens(s.cost.output.tokens))
            })
        },
        row("cost", "Cost of all calls at list prices.", |s| {
            s.cost.total().map(Usd)
        })
        .of_cost(sessions),
        row(
            "cache hit rate",
            "Recorded cache reads as a share of the cumulative tokens.",
            |s| s.cache_hit_rate.map(Quantity::Share),
        ),
        row("compactions", "Recorded compactions.", |s| {
            s.compactions.map(Count)
        }),
        row(
            "overflows",
            "Calls that the provider rejected because their context was too long.",
            |s| Some(Count(s.overflows)),
        ),
        row(
            "into the reserve",
            "Calls whose context was larger than the usable window, without an overflow.",
            |s| Some(Count(s.into_reserve)),
        ),
    ]);
    rows
}

/// Returns the composition of the histories: tokens that are not recorded, then those of each kind that occurs.
pub fn composition(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    let row = |name, help, value: &dyn Fn(&SessionFigures) -> Tokens| {
        let tokens = |s| Some(Quantity::Tokens(value(s)));
        Figure::new(name, help, sessions.each_ref().map(tokens))
    };
    let not_recorded = row(
        "not recorded",
        "Tokens that every call sends and the file does not record, mostly system prompt and tool definitions.",
        &|s| s.not_recorded,
    );
    let kinds =
        Kind::ALL.into_iter().map(|kind| row(kind.name(), "", &|s| s.by_kind[kind.index()]));
    let mut rows: Vec<Figure> = std::iter::once(not_recorded).chain(kinds).collect();
    rows.retain(|row| !row.is_zero());
    rows
}

/// Returns the parts of the cost that occur; their values are unknown if the cost is.
pub fn charges(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    type Part = fn(&Cost) -> Charge;
    let parts: [(&str, &str, Part); 5] = [
        ("cache read", "Prompt tokens read from the cache.", |cost| cost.read),
        ("cache write", "Prompt tokens written to the cache.", |cost| cost.written),
        ("uncached", "Other prompt tokens.", |cost| cost.uncached),
        ("answers", "Output tokens.", |cost| cost.output),
        ("rejected", "Attempts that the provider rejected as too long.", |cost| cost.rejected),
    ];
    let row = |(name, help, part): (_, _, Part)| {
        let usd = |session: &SessionFigures| {
            let usd = session.cost.total().map(|_| part(&session.cost).usd);
            usd.map(Quantity::Usd)
        };
        Figure::new(name, help, sessions.each_ref().map(usd)).of_cost(sessions)
    };
    let mut rows: Vec<Figure> = parts.into_iter().map(row).collect();
    rows.retain(|row| !row.is_zero());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(a: Option<Quantity>, b: Option<Quantity>) -> Figure {
        Figure::new("", "", [a, b])
    }

    #[test]
    fn a_difference_needs_both_values() {
        let count = |n| Some(Quantity::Count(n));
        assert_eq!(figure(count(4), count(1)).difference(), Some(-3.0));
        assert_eq!(figure(count(4), count(1)).change(), Some(Share(-0.75)));
        assert_eq!(figure(count(4), None).difference(), None);
        assert_eq!(figure(count(0), count(1)).change(), None);
    }

    #[test]
    fn a_share_has_a_difference_but_no_relative_change() {
        let share = |n| Some(Quantity::Share(Share(n)));
        let figure = figure(share(0.5), share(0.75));
        assert_eq!((figure.difference(), figure.change()), (Some(0.25), None));
    }

    #[test]
    fn values_of_different_sources_have_no_difference() {
        let usd = |n| Some(Quantity::Usd(Usd(n)));
        let figure = Figure { is_incomparable: true, ..figure(usd(4.0), usd(1.0)) };
        assert_eq!((figure.difference(), figure.change()), (None, None));
    }
}
