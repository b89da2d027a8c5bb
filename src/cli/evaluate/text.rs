//! The output of `plimsoll evaluate` as text.

use super::{Evaluated, EvaluatedLane, Evaluations};
use crate::analysis::facts::{Fact, FactKind, Facts, KindSurvival, LostFact, total};
use crate::analysis::validity::RESULT;
use crate::cli::output::{clean, counted, percent, tokens};
use crate::figure::usd;
use crate::report::survival_share;
use std::fmt::Write as _;

/// Number of lost facts that are listed for each lane.
const MAX_LOST: usize = 5;
/// Maximum number of lanes in one row of the table.
const MAX_COLUMNS: usize = 5;
/// Maximum length of a fact in characters.
const MAX_TEXT: usize = 70;

impl Evaluations {
    pub(super) fn text(&self, all: bool) -> String {
        let mut text = String::new();
        for (nth, session) in self.sessions.iter().enumerate() {
            if nth > 0 {
                text.push('\n');
            }
            session.text(&mut text, all);
        }
        text
    }
}

impl Evaluated {
    fn text(&self, text: &mut String, all: bool) {
        let n_facts = counted(self.facts.all().len(), "fact");
        let _ = writeln!(
            text,
            "{}: {}\n{n_facts} in {} and {}",
            clean(&self.place.to_string()),
            clean(&self.title),
            counted(self.messages, "message"),
            counted(self.calls, "call"),
        );
        let left_out: usize = FactKind::ALL
            .map(|kind| self.facts.left_out(kind))
            .iter()
            .sum();
        if left_out > 0 {
            let _ = writeln!(
                text,
                "{} too short to be searched, or above the maximum of a kind, left out",
                counted(left_out, "fact")
            );
        }
        if self.facts.all().is_empty() {
            let _ = writeln!(
                text,
                "Survival cannot be judged: no rule finds a fact in this session."
            );
            return;
        }
        if self.calls == 0 && !self.is_score {
            let _ = writeln!(text, "Survival cannot be judged: the session has no call.");
            return;
        }
        for lanes in self.lanes.chunks(MAX_COLUMNS) {
            self.table(text, lanes);
        }
        let _ = writeln!(
            text,
            "  The share of the facts that the last call had, verbatim or partly, of those that were not replaced before. A\n  range: the text of a predicted summary is not known. – : the session states none."
        );
        let _ = writeln!(text, "  {RESULT}");
        for lane in &self.lanes {
            self.lost(text, lane, all);
        }
    }

    fn table(&self, text: &mut String, lanes: &[EvaluatedLane]) {
        let (head, size) = if self.is_score {
            ("survival in this text", "tokens of the texts")
        } else {
            ("survival at the last call", "tokens of that call")
        };
        let _ = write!(text, "\n{head:<26}{:>8}", "facts");
        for lane in lanes {
            let _ = write!(text, " {:>12}", short(&lane.name, 12));
        }
        text.push('\n');
        for kind in FactKind::ALL {
            let stated = lanes
                .first()
                .map_or(0, |lane| lane.survival.of(Some(kind)).stated);
            if stated > 0 {
                let cells = lanes.iter().map(|lane| share(lane.survival.of(Some(kind))));
                row(text, kind.label(), &stated.to_string(), cells);
            }
        }
        let stated = lanes
            .first()
            .map_or(0, |lane| total(&lane.survival.kinds).stated);
        row(
            text,
            "all facts",
            &stated.to_string(),
            lanes.iter().map(|lane| share(lane.survival.of(None))),
        );
        row(
            text,
            "verbatim only",
            "",
            lanes
                .iter()
                .map(|lane| share(lane.survival.of(None).verbatim_only())),
        );
        row(
            text,
            "used while lost",
            "",
            lanes.iter().map(|lane| {
                let lost = lane.survival.lost.iter();
                let used = lost.filter(|lost| lost.used_at.is_some()).count();
                if self.is_score {
                    dash()
                } else {
                    used.to_string()
                }
            }),
        );
        row(
            text,
            "overflows",
            "",
            lanes
                .iter()
                .map(|lane| lane.overflows.map_or_else(dash, |n| n.to_string())),
        );
        row(
            text,
            "compactions",
            "",
            lanes
                .iter()
                .map(|lane| lane.compactions.map_or_else(dash, |n| n.to_string())),
        );
        row(
            text,
            size,
            "",
            lanes.iter().map(|lane| tokens(lane.survival.tokens)),
        );
        row(
            text,
            "cost of the lane",
            "",
            lanes.iter().map(|lane| lane.cost.map_or_else(dash, usd)),
        );
    }

    fn lost(&self, text: &mut String, lane: &EvaluatedLane, all: bool) {
        let lost = &lane.survival.lost;
        let name = clean(&lane.name);
        if lost.is_empty() {
            let why = match (
                lane.survival.has_removed,
                lane.survival.of(None).unknown > 0,
            ) {
                (_, true) => "unknown: only a predicted summary may hold what was removed",
                (true, false) => "lost no fact",
                (false, false) => "removed no message that states a fact, and lost none",
            };
            let _ = writeln!(text, "\n{name}: {why}");
            return;
        }
        let _ = writeln!(text, "\n{name}: {} lost", counted(lost.len(), "fact"));
        let shown = if all {
            lost.len()
        } else {
            MAX_LOST.min(lost.len())
        };
        for lost in &lost[..shown] {
            let _ = writeln!(text, "  {}", line(&self.facts, *lost));
        }
        if shown < lost.len() {
            let _ = writeln!(text, "  and {} more (--all)", lost.len() - shown);
        }
    }
}

fn row(text: &mut String, label: &str, facts: &str, cells: impl Iterator<Item = String>) {
    let _ = write!(text, "  {label:<24}{facts:>8}");
    for cell in cells {
        let _ = write!(text, " {cell:>12}");
    }
    text.push('\n');
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats a survival share, or its bounds if the text of a summary is not known.
pub(super) fn share(kind: KindSurvival) -> String {
    survival_share(kind, percent)
}

/// Describes a lost fact in one line.
fn line(facts: &Facts, lost: LostFact) -> String {
    let fact = &facts.all()[lost.fact];
    let mut line = format!(
        "{}: {} (message {})",
        fact.kind.name(),
        quoted(fact),
        fact.message + 1,
    );
    if let Some(left) = lost.left_at {
        let _ = write!(line, ", gone from call {}", left + 1);
    }
    if let Some(back) = lost.back_at {
        let _ = write!(line, ", back at call {}", back + 1);
    }
    if let Some(used) = lost.used_at {
        let _ = write!(line, ", used at call {}", used + 1);
    }
    line
}

/// Returns the text of a fact with its state.
pub(super) fn quoted(fact: &Fact) -> String {
    let text = short(&fact.text, MAX_TEXT);
    let stands = fact.detail.is_empty() || fact.text.contains(&*fact.detail);
    if stands {
        text
    } else {
        format!("{text} [{}]", clean(&fact.detail))
    }
}

fn short(text: &str, max: usize) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let text = clean(line);
    if text.chars().count() <= max {
        return text.into_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}
