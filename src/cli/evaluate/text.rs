//! The output of `plimsoll evaluate` as text.

use super::{Evaluated, EvaluatedLane, Evaluations};
use crate::analysis::facts::{Fact, FactKind, Facts, KindSurvival, LostFact};
use crate::cli::output::{clean, counted, grouped, percent, tokens};
use crate::cli::rereads::rereads_line;
use crate::figure::usd;
use crate::report::{Block, VALIDITY, survival_share};
use std::fmt::Write as _;

/// Number of lost facts that are listed for each lane.
const MAX_LOST: usize = 5;
/// Maximum number of lanes in one row of the table, which fits 80 columns.
const MAX_COLUMNS: usize = 5;
/// Maximum length of a fact in characters: a line of 80 columns with its indentation.
const MAX_TEXT: usize = 70;

/// Meaning of the table of lanes.
const EXPLANATION: &str = "The share of the facts that the last call had, verbatim or partly, of those that were not replaced before. A range: the text of a predicted or encrypted summary is not known. – : the session states none.";
/// Meaning of the table of a scored conversation or text.
const SCORE_EXPLANATION: &str = "The share of the facts that this conversation or text has, verbatim or partly, of those that the source states and does not replace. A lane of `evaluate` counts at the last call: its answer is not part of the context, and a fact that is back by then counts as lost too. Tokens are calibrated as in the source. Those of a conversation include what is not recorded, such as the system prompt.";

impl Evaluations {
    /// Returns the page.
    pub(super) fn blocks(&self, all: bool) -> Vec<Block> {
        let sessions = self.sessions.iter();
        sessions.flat_map(|session| session.blocks(all)).collect()
    }

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
        if !self.head(text) {
            return;
        }
        for lanes in self.lanes.chunks(MAX_COLUMNS) {
            self.table(text, lanes);
        }
        let _ = writeln!(text, "  {}\n  {VALIDITY}", self.explanation());
        let rereads = self.lanes.iter();
        let rereads = rereads.filter_map(|lane| Some((&*lane.name, lane.rereads.as_ref()?)));
        if !self.is_score {
            let _ = writeln!(text, "{}", rereads_line(rereads));
        }
        for lane in &self.lanes {
            self.lost(text, lane, all);
        }
    }

    /// Writes the name and size of the session, and why survival cannot be judged. Returns whether it can.
    fn head(&self, text: &mut String) -> bool {
        let n_facts = counted(self.facts.all().len(), "fact");
        let _ = writeln!(
            text,
            "{}: {}\n{n_facts} in {} and {}; {} not replaced by a later one",
            clean(&self.id.to_string()),
            clean(&self.title),
            counted(self.messages, "message"),
            counted(self.calls, "call"),
            grouped(self.facts.at_end().count() as u64),
        );
        let left_out: usize = FactKind::ALL.map(|kind| self.facts.left_out(kind)).iter().sum();
        if left_out > 0 {
            let _ = writeln!(
                text,
                "{} too short to be searched, or above the maximum of a kind, left out",
                counted(left_out, "fact")
            );
        }
        if self.facts.all().is_empty() {
            let _ =
                writeln!(text, "Survival cannot be judged: no rule finds a fact in this session.");
            return false;
        }
        if self.calls == 0 && !self.is_score {
            let _ = writeln!(text, "Survival cannot be judged: the session has no call.");
            return false;
        }
        true
    }

    fn table(&self, text: &mut String, lanes: &[EvaluatedLane]) {
        let (head, size) = self.labels();
        let _ = write!(text, "\n{head:<26}{:>8}", "facts");
        for lane in lanes {
            let _ = write!(text, " {:>12}", short(&lane.name, 12));
        }
        text.push('\n');
        for (label, facts, cells) in self.rows(lanes, size) {
            let _ = write!(text, "  {label:<24}{facts:>8}");
            for cell in cells {
                let _ = write!(text, " {cell:>12}");
            }
            text.push('\n');
        }
    }

    /// Returns the rows of the table: label, number of facts, and a cell for each lane. `size` is the label of the
    /// tokens.
    fn rows<'a>(
        &self,
        lanes: &[EvaluatedLane],
        size: &'a str,
    ) -> Vec<(&'a str, String, Vec<String>)> {
        let cells = |of: &dyn Fn(&EvaluatedLane) -> String| lanes.iter().map(of).collect();
        let stated = |kind: Option<FactKind>| {
            let first = lanes.first();
            first.map_or(0, |lane| lane.survival.of(kind).stated)
        };
        let kinds = FactKind::ALL.into_iter();
        let kinds = kinds.filter(|kind| stated(Some(*kind)) > 0).map(|kind| {
            let cells = cells(&|lane| share(lane.survival.of(Some(kind))));
            (kind.label(), stated(Some(kind)).to_string(), cells)
        });
        let number = |n: Option<usize>| n.map_or_else(dash, |n| n.to_string());
        let used = |lane: &EvaluatedLane| {
            let lost = lane.survival.lost.iter();
            let used = lost.filter(|lost| lost.used_at.is_some()).count();
            number((!self.is_score).then_some(used))
        };
        let verbatim = |lane: &EvaluatedLane| share(lane.survival.of(None).verbatim_only());
        let all = cells(&|lane| share(lane.survival.of(None)));
        let rest = [
            ("verbatim only", cells(&verbatim)),
            ("used while lost", cells(&used)),
            ("overflows", cells(&|lane| number(lane.overflows))),
            ("into the reserve", cells(&|lane| number(lane.into_reserve))),
            ("compactions", cells(&|lane| number(lane.compactions))),
            (size, cells(&|lane| tokens(lane.survival.tokens))),
            ("cost of the lane", cells(&|lane| lane.cost.map_or_else(dash, usd))),
        ];
        let rest = rest.map(|(label, cells)| (label, String::new(), cells));
        kinds.chain([("all facts", stated(None).to_string(), all)]).chain(rest).collect()
    }

    fn lost(&self, text: &mut String, lane: &EvaluatedLane, all: bool) {
        let (summary, lines) = self.lost_lines(lane, all);
        let _ = writeln!(text, "\n{}: {summary}", clean(&lane.name));
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }

    /// Returns what a lane lost in a few words, and a line for each fact.
    fn lost_lines(&self, lane: &EvaluatedLane, all: bool) -> (String, Vec<String>) {
        let (lost, partial) = (&lane.survival.lost, &lane.survival.partial);
        let mut summary = lost_summary(lane);
        if !partial.is_empty() {
            let _ = write!(summary, "; {} kept partly", grouped(partial.len() as u64));
        }
        let n_shown = if all { lost.len() } else { MAX_LOST.min(lost.len()) };
        let shown = lost[..n_shown].iter();
        let mut lines: Vec<String> = shown.map(|lost| lost_line(&self.facts, *lost)).collect();
        let left = lost.len() - n_shown;
        if all {
            let partial = partial.iter().map(|idx| fact_line(&self.facts, *idx));
            lines.extend(partial.map(|line| format!("kept partly: {line}")));
        } else if left > 0 {
            lines.push(format!("and {left} more (--all)"));
        }
        (summary, lines)
    }

    /// Returns the session as a part of a page.
    pub(super) fn blocks(&self, all: bool) -> Vec<Block> {
        let mut text = String::new();
        let is_judged = self.head(&mut text);
        let heading = Block::Heading(clean(&self.id.to_string()).into_owned());
        let lines = text.lines().skip(1).map(|line| Block::Text(line.to_owned()));
        let title = Block::Text(clean(&self.title).into_owned());
        let mut blocks = vec![heading, title];
        blocks.extend(lines);
        if !is_judged {
            return blocks;
        }
        let (head, size) = self.labels();
        let mut heads = vec![head.to_owned(), "#facts".to_owned()];
        let names = self.lanes.iter().map(|lane| clean(&lane.name));
        heads.extend(names.map(|name| format!("#{name}")));
        let rows = self.rows(&self.lanes, size).into_iter();
        let rows =
            rows.map(|(label, facts, cells)| [vec![label.to_owned(), facts], cells].concat());
        blocks.push(Block::Table { head: heads, rows: rows.collect() });
        blocks.extend([self.explanation(), VALIDITY].map(|text| Block::Text(text.to_owned())));
        for lane in &self.lanes {
            let (summary, lines) = self.lost_lines(lane, all);
            let heading = format!("{}: {summary}", clean(&lane.name));
            blocks.push(Block::Subheading(heading));
            blocks.extend((!lines.is_empty()).then_some(Block::List(lines)));
        }
        blocks
    }

    /// Returns the labels of the table: that of survival and that of the tokens.
    fn labels(&self) -> (&'static str, &'static str) {
        if self.is_score {
            ("survival in this text", "tokens")
        } else {
            ("survival at the last call", "tokens of that call")
        }
    }

    fn explanation(&self) -> &'static str {
        if self.is_score { SCORE_EXPLANATION } else { EXPLANATION }
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats a survival share, or its bounds if the text of a summary is not known.
pub(super) fn share(kind: KindSurvival) -> String {
    survival_share(kind, percent)
}

/// Returns the facts that a lane lost, or why it lost none, in a few words.
fn lost_summary(lane: &EvaluatedLane) -> String {
    let survival = &lane.survival;
    let n_gone = survival.lost.iter().filter(|lost| lost.is_gone).count();
    let n_lost = survival.lost.len();
    if n_lost > n_gone {
        return format!(
            "{} lost, {} of them missing at the last call",
            counted(n_lost, "fact"),
            grouped(n_gone as u64)
        );
    }
    if n_lost > 0 {
        return format!("{} lost", counted(n_lost, "fact"));
    }
    let why = match (survival.has_removed, survival.of(None).unknown > 0) {
        (_, true) => "unknown: only a summary whose text is not known may hold what was removed",
        (true, false) => "lost no fact",
        (false, false) => "removed no message that states a fact, and lost none",
    };
    why.to_owned()
}

/// Describes a fact in one line.
fn fact_line(facts: &Facts, idx: usize) -> String {
    let fact = &facts.all()[idx];
    format!("{}: {} (message {})", fact.kind.name(), quoted(fact), fact.message + 1)
}

/// Describes a lost fact in one line.
fn lost_line(facts: &Facts, lost: LostFact) -> String {
    let mut line = fact_line(facts, lost.fact);
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
    if stands { text } else { format!("{text} [{}]", clean(&fact.detail)) }
}

fn short(text: &str, max: usize) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let text = clean(line);
    if text.chars().count() <= max {
        return text.into_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}
