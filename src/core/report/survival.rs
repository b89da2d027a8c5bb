//! Survival of the session's facts in the lanes of a report.

use super::redaction::{Redactor, ReportText};
use crate::analysis::facts::{FactKind, Facts, KindSurvival, LaneSurvival, LostFact};
use crate::engine::{Case, Outcome};
use crate::figure::{counted, grouped, number, percent};
use crate::units::Share;
use rayon::prelude::*;

/// [`VALIDITY`] in fewer words.
pub const VALIDITY_SHORT: &str = "A loss shows what was removed, not what was missed.";
/// The meaning of losses and references at risk, shown where they are shown (`docs/validity.md`).
pub const VALIDITY: &str =
    "They describe what was removed; they do not predict what the agent reads again.";

/// Number of lost facts that are listed for each lane.
const MAX_LOST: usize = 5;
/// Maximum length of a fact in characters.
const MAX_TEXT: usize = 120;

/// The facts that each lane kept.
#[derive(Clone, Debug)]
pub struct SurvivalReport {
    /// The kinds that the session states, then all facts.
    pub rows: Vec<SurvivalRow>,
    /// The facts that each lane lost, in the order of the lanes.
    pub lost: Vec<LostReport>,
}

/// The facts of a kind.
#[derive(Clone, Debug)]
pub struct SurvivalRow {
    /// The kind; none for all facts.
    pub kind: Option<FactKind>,
    /// The facts at the last call of each lane, in the order of the lanes.
    pub lanes: Vec<KindSurvival>,
}

/// The facts that a lane lost.
#[derive(Clone, Debug)]
pub struct LostReport {
    /// Facts that a call lacked.
    pub lost: usize,
    /// Of these, the facts that an answer used while they were lost.
    pub used: usize,
    /// The first of them; none in a redacted report.
    pub first: Vec<LostLine>,
}

/// A lost fact.
#[derive(Clone, Debug)]
pub struct LostLine {
    /// Its kind.
    pub kind: FactKind,
    /// Its text.
    pub text: ReportText,
    /// Index of the message that states it.
    pub message: usize,
    /// Calls at which it left, came back and was used, as a phrase.
    pub calls: String,
}

impl SurvivalReport {
    /// Follows the facts of a session through the lanes. Returns none for a session without facts or calls.
    pub(super) fn new(case: &Case, lanes: &[&Outcome], redactor: &Redactor) -> Option<Self> {
        if case.session.calls.is_empty() {
            return None;
        }
        let facts = Facts::new(&case.session);
        let survivals = lanes.par_iter();
        let survivals = survivals.map(|outcome| LaneSurvival::new(&facts, case, outcome));
        let survivals: Vec<LaneSurvival> = survivals.collect();
        let row = |kind: Option<FactKind>| SurvivalRow {
            kind,
            lanes: survivals.iter().map(|lane| lane.of(kind)).collect(),
        };
        let kinds = FactKind::ALL.into_iter().map(Some).chain([None]);
        let rows: Vec<SurvivalRow> = kinds.map(row).filter(|row| row.stated() > 0).collect();
        (!rows.is_empty()).then(|| Self {
            rows,
            lost: survivals.iter().map(|lane| lost(&facts, lane, redactor)).collect(),
        })
    }

    /// Returns the note below the table.
    pub(super) fn note(&self) -> String {
        let all = self.rows.last();
        let is_unknown = all.is_some_and(|row| row.lanes.iter().any(|lane| lane.unknown > 0));
        let unknown = if is_unknown {
            " A range: the text of a predicted or encrypted summary is not known."
        } else {
            ""
        };
        format!(
            "Share of the facts that the last call had, verbatim or partly. Facts are found by rules, without a model. A rewording counts as lost: compare lanes, it is not a grade.{unknown} {VALIDITY}"
        )
    }
}

impl SurvivalRow {
    /// Returns the number of facts, equal in all lanes.
    pub fn stated(&self) -> usize {
        self.lanes.first().map_or(0, |lane| lane.stated)
    }

    /// Returns the label.
    pub(super) fn label(&self) -> &'static str {
        self.kind.map_or("all facts", FactKind::label)
    }
}

impl LostReport {
    /// Returns the number of lost facts, as a phrase.
    pub(super) fn count(&self) -> String {
        let used = match self.used {
            0 => String::new(),
            n => format!(", {} of them used while lost", grouped(n as u64)),
        };
        format!("{} lost{used}", counted(self.lost, "fact"))
    }

    /// Returns the number of lost facts that are not listed.
    pub(super) fn more(&self) -> usize {
        self.lost - self.first.len()
    }
}

fn lost(facts: &Facts, lane: &LaneSurvival, redactor: &Redactor) -> LostReport {
    let listed = if redactor.redacts() { 0 } else { MAX_LOST };
    let first = lane.lost.iter().take(listed);
    let used = lane.lost.iter().filter(|lost| lost.used_at.is_some());
    LostReport {
        lost: lane.lost.len(),
        used: used.count(),
        first: first
            .map(|lost| {
                let fact = &facts.all()[lost.fact];
                LostLine {
                    kind: fact.kind,
                    text: redactor.start_of(&fact.text, MAX_TEXT),
                    message: fact.message as usize,
                    calls: calls(lost),
                }
            })
            .collect(),
    }
}

/// Describes when a fact left: `gone from call 12, back at call 30`.
fn calls(lost: &LostFact) -> String {
    let phrases = [
        ("gone from call", lost.left_at),
        ("back at call", lost.back_at),
        ("used at call", lost.used_at),
    ];
    let phrases = phrases.into_iter();
    let phrases: Vec<String> =
        phrases.filter_map(|(what, call)| Some(format!("{what} {}", number(call?)))).collect();
    phrases.join(", ")
}

/// Formats a survival share, or its bounds if the text of a summary is not known: `45 %`, `30–100 %`, `–` without
/// facts. Only a share of exactly 1 is 100 %. `percent` formats a share.
pub fn survival_share(survival: KindSurvival, percent: impl Fn(Share) -> String) -> String {
    let Some([low, high]) = survival.bounds() else {
        return "–".to_owned();
    };
    let all = percent(Share(1.0));
    let text = |share: Share| match percent(share) {
        text if text == all && share.0 < 1.0 => format!("<{all}"),
        text => text,
    };
    let (low, high) = (text(low), text(high));
    if low == high {
        return low;
    }
    let number = low.trim_end_matches(|c: char| c == '%' || c.is_whitespace());
    format!("{number}–{high}")
}

/// Formats a survival share as in the tables of a report.
pub(super) fn share(survival: KindSurvival) -> String {
    survival_share(survival, percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(verbatim: usize, unknown: usize, gone: usize) -> KindSurvival {
        KindSurvival {
            stated: verbatim + unknown + gone,
            verbatim,
            unknown,
            gone,
            ..KindSurvival::default()
        }
    }

    #[test]
    fn survival_is_a_share_a_range_or_not_judged() {
        assert_eq!(share(of(0, 0, 0)), "–");
        assert_eq!(share(of(5, 0, 5)), "50.0 %");
        assert_eq!(share(of(2, 5, 3)), "20.0–70.0 %");
        assert_eq!(share(of(0, 4, 0)), "0.0–100.0 %");
        assert_eq!(share(of(7, 0, 0)), "100.0 %");
        assert_eq!(share(of(9_999, 0, 1)), "<100.0 %", "one fact is gone");
    }
}
