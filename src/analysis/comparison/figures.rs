//! The figures of a session, and those of two sessions side by side.

use super::ComparedSession;
use crate::analysis::cost::{Bills, Charge, Cost, audit, price_recorded};
use crate::engine::{Peak, recorded};
use crate::session::Kind;
use crate::units::{Share, Tokens, Usd};

/// The figures of a recorded session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionFigures {
    /// Number of messages of the history.
    pub messages: usize,
    /// Number of turns.
    pub turns: usize,
    /// Number of model calls.
    pub calls: usize,
    /// The context window, the largest if it changes.
    pub window: Tokens,
    /// Tokens of the history and of what is not recorded.
    pub history: Tokens,
    /// Tokens that every call sends and the file does not record.
    pub not_recorded: Tokens,
    /// Recorded tokens of the history by kind, in the order of [`Kind::ALL`].
    pub by_kind: [Tokens; Kind::ALL.len()],
    /// The largest context; `None` without calls.
    pub peak: Option<Peak>,
    /// The peak as a share of the usable window; `None` without calls.
    pub peak_share: Option<Share>,
    /// Sum of the contexts of all calls.
    pub sent: Tokens,
    /// Cost of all calls.
    pub cost: Cost,
    /// Recorded cache reads as a share of the sent tokens; `None` if the file records none.
    pub cache_hit_rate: Option<Share>,
    /// Number of recorded compactions; `None` if the format does not record them.
    pub compactions: Option<usize>,
    /// Number of calls that overflowed.
    pub overflows: usize,
    /// Tokens of the context of each call.
    pub contexts: Vec<Tokens>,
}

impl SessionFigures {
    pub(super) fn new(of: ComparedSession<'_>) -> Self {
        let case = of.case;
        let (session, ledger) = (&case.session, &case.ledger);
        let recorded = recorded(case, of.output_reserve, None);
        let bills = Bills::new(case, of.billing);
        let cost = price_recorded(case, &bills, &recorded);
        let sent = recorded.tokens_sent();
        let mut by_kind = ledger.by_kind(session);
        // The ledger counts tokens that are not recorded as system.
        let system = &mut by_kind[Kind::System.index()];
        *system = *system - ledger.overhead;
        let peak = recorded.peak();
        Self {
            messages: session.messages.iter().filter(|m| m.in_history).count(),
            turns: session.turns as usize,
            calls: session.calls.len(),
            window: case.windows.largest(),
            history: ledger.total(),
            not_recorded: ledger.overhead,
            by_kind,
            peak_share: peak.map(|_| recorded.peak_share()),
            peak,
            sent,
            cost,
            cache_hit_rate: audit(case, &bills, &recorded)
                .map(|audit| audit.recorded.share_of(sent)),
            compactions: of.records_compactions.then_some(recorded.compactions),
            overflows: recorded.overflows,
            contexts: recorded
                .samples
                .iter()
                .map(|sample| sample.tokens)
                .collect(),
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
}

impl Figure {
    /// Returns the value of B minus the value of A; `None` if one is unknown.
    pub fn difference(&self) -> Option<f64> {
        let [a, b] = self.values;
        Some(b?.number() - a?.number())
    }

    /// Returns the difference as a share of the value of A; `None` if that is unknown or zero.
    pub fn change(&self) -> Option<Share> {
        let a = self.values[0]?.number();
        let is_share = matches!(self.values[0], Some(Quantity::Share(_)));
        let difference = self.difference().filter(|_| a != 0.0 && !is_share)?;
        Some(Share(difference / a))
    }

    /// Returns whether both sessions have nothing of it.
    fn is_zero(&self) -> bool {
        self.values
            .iter()
            .flatten()
            .all(|value| value.number() == 0.0)
    }
}

/// Returns the figures of whole sessions.
pub fn figures(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    use Quantity::{Count, Tokens, Usd};
    type Value = fn(&SessionFigures) -> Option<Quantity>;
    let rows: [(&str, &str, Value); 13] = [
        ("calls", "Model calls.", |s| Some(Count(s.calls))),
        ("turns", "User messages up to the next one.", |s| {
            Some(Count(s.turns))
        }),
        ("messages", "Messages of the history.", |s| {
            Some(Count(s.messages))
        }),
        (
            "context window",
            "Hard limit of the model in tokens, the largest if it changes.",
            |s| Some(Tokens(s.window)),
        ),
        (
            "peak",
            "Largest context, including the one at the end.",
            |s| s.peak.map(|peak| Tokens(peak.tokens)),
        ),
        (
            "peak fill",
            "The peak as a share of the usable window.",
            |s| s.peak_share.map(Quantity::Share),
        ),
        (
            "history",
            "Tokens of the whole history and of what is not recorded.",
            |s| Some(Tokens(s.history)),
        ),
        (
            "cumulative tokens",
            "Sum of the contexts of all calls.",
            |s| Some(Tokens(s.sent)),
        ),
        ("output", "Tokens of the answers.", |s| {
            Some(Tokens(s.cost.output.tokens))
        }),
        ("cost", "Cost of all calls at list prices.", |s| {
            s.cost.total().map(Usd)
        }),
        (
            "cache hit rate",
            "Recorded cache reads as a share of the cumulative tokens.",
            |s| s.cache_hit_rate.map(Quantity::Share),
        ),
        ("compactions", "Recorded compactions.", |s| {
            s.compactions.map(Count)
        }),
        (
            "overflows",
            "Calls whose context was larger than the usable window.",
            |s| Some(Count(s.overflows)),
        ),
    ];
    let row = |(name, help, value): (_, _, Value)| Figure {
        name,
        help,
        values: sessions.each_ref().map(value),
    };
    rows.into_iter().map(row).collect()
}

/// Returns the composition of the histories: tokens that are not recorded, then those of each kind that occurs.
pub fn composition(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    let row = |name, help, value: &dyn Fn(&SessionFigures) -> Tokens| Figure {
        name,
        help,
        values: sessions
            .each_ref()
            .map(|s| Some(Quantity::Tokens(value(s)))),
    };
    let not_recorded = row(
        "not recorded",
        "Tokens that every call sends and the file does not record, mostly system prompt and tool definitions.",
        &|s| s.not_recorded,
    );
    let kinds = Kind::ALL
        .into_iter()
        .map(|kind| row(kind.name(), "", &|s| s.by_kind[kind.index()]));
    let mut rows: Vec<Figure> = std::iter::once(not_recorded).chain(kinds).collect();
    rows.retain(|row| !row.is_zero());
    rows
}

/// Returns the parts of the cost that occur; their values are unknown if the cost is.
pub fn charges(sessions: &[SessionFigures; 2]) -> Vec<Figure> {
    type Part = fn(&Cost) -> Charge;
    let parts: [(&str, &str, Part); 5] = [
        ("cache read", "Prompt tokens read from the cache.", |cost| {
            cost.read
        }),
        (
            "cache write",
            "Prompt tokens written to the cache.",
            |cost| cost.written,
        ),
        ("uncached", "Other prompt tokens.", |cost| cost.uncached),
        ("answers", "Output tokens.", |cost| cost.output),
        (
            "rejected",
            "Attempts that the provider rejected as too long.",
            |cost| cost.rejected,
        ),
    ];
    let row = |(name, help, part): (_, _, Part)| Figure {
        name,
        help,
        values: sessions.each_ref().map(|session| {
            let usd = session.cost.total().map(|_| part(&session.cost).usd);
            usd.map(Quantity::Usd)
        }),
    };
    let mut rows: Vec<Figure> = parts.into_iter().map(row).collect();
    rows.retain(|row| !row.is_zero());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(a: Option<Quantity>, b: Option<Quantity>) -> Figure {
        Figure {
            name: "",
            help: "",
            values: [a, b],
        }
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
}
