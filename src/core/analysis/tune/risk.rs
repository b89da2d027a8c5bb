//! The risk that is compared with the cost of a setting: references at risk, or lost facts.

use crate::analysis::facts::{FactKind, Facts, counted_facts};
use crate::figure::grouped;
use crate::session::Session;
use crate::units::Tokens;

/// The risk to compare with cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RiskAxis {
    /// References at risk.
    #[default]
    References,
    /// Lost facts of a kind, or of all kinds.
    Facts(Option<FactKind>),
}

impl RiskAxis {
    /// Returns all risks: references at risk, all facts, then each kind of facts.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = FactKind::ALL
            .into_iter()
            .map(|kind| Self::Facts(Some(kind)));
        [Self::References, Self::Facts(None)]
            .into_iter()
            .chain(kinds)
    }

    /// Returns the label in a list of choices.
    pub fn label(self) -> &'static str {
        match self {
            Self::References => "references at risk",
            Self::Facts(None) => "all facts",
            Self::Facts(Some(kind)) => kind.label(),
        }
    }

    /// Returns the label of a chart's axis or a table's column.
    pub fn axis_label(self) -> String {
        match self {
            Self::References => self.label().to_owned(),
            Self::Facts(None) => "lost facts".to_owned(),
            Self::Facts(Some(kind)) => format!("lost {}", kind.label()),
        }
    }

    /// Finds the facts of a session whose loss is compared; `None` for references at risk.
    pub fn compared_facts(self, session: &Session) -> Option<ComparedFacts> {
        match self {
            Self::References => None,
            Self::Facts(kind) => Some(ComparedFacts {
                facts: Facts::new(session),
                kind,
            }),
        }
    }
}

/// The facts of a session whose loss is compared.
#[derive(Debug)]
pub struct ComparedFacts {
    pub(super) facts: Facts,
    /// The kind to count; `None` for all kinds.
    pub(super) kind: Option<FactKind>,
}

/// Removed content that the recorded agent used. A predicted summary counts as empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// References at risk.
    pub references: usize,
    /// Whether a predicted summary may contain some of them, so that fewer are at risk.
    pub may_be_fewer: bool,
    /// Edits of removed text.
    pub blind_edits: usize,
    /// Tokens to fetch again.
    pub refetch: Tokens,
    /// Lost facts, if these are the risk to compare instead of references.
    pub lost: Option<LostFacts>,
}

/// The facts that the last call of a run lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFacts {
    /// Their kind; `None` for all kinds.
    pub kind: Option<FactKind>,
    /// Their number. Facts that only a predicted summary may hold count as lost.
    pub lost: usize,
    /// Number of facts that were stated before the call and not replaced.
    pub stated: usize,
}

impl LostFacts {
    /// Returns the plural of these facts as text.
    pub fn label(&self) -> &'static str {
        self.kind.map_or("facts", FactKind::label)
    }

    /// Returns how many of the stated facts are lost: `1 of 3 files`.
    pub fn of_stated(&self) -> String {
        let stated = counted_facts(self.kind, self.stated);
        format!("{} of {stated}", grouped(self.lost as u64))
    }
}

impl Risk {
    /// Returns whether the risk can be judged. Lost facts cannot if the session states none of their kind.
    pub fn is_judged(&self) -> bool {
        self.lost.is_none_or(|lost| lost.stated > 0)
    }

    /// Returns the references at risk as text: `4`, or `at most 4` if a predicted summary may contain some.
    pub fn references_text(&self) -> String {
        let at_most = if self.may_be_fewer && self.references > 0 {
            "at most "
        } else {
            ""
        };
        format!("{at_most}{}", grouped(self.references as u64))
    }

    /// Returns the number to compare: lost facts if they are counted, otherwise references at risk.
    pub fn count(&self) -> usize {
        self.lost.map_or(self.references, |lost| lost.lost)
    }
}
