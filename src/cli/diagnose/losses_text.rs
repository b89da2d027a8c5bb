//! Content that the lanes removed, in the text of `plimsoll diagnose`.

use super::Diagnosis;
use super::losses::LaneLoss;
use crate::analysis::loss::{Kept, PAGE_IN, Survival};
use crate::cli::output::{clean, counted, tokens};
use crate::report::VALIDITY;
use std::fmt::Write as _;

impl Diagnosis<'_> {
    pub(super) fn losses_text(&self, text: &mut String) {
        let losses = &self.losses;
        let _ = writeln!(
            text,
            "\nwhat was removed: references at risk (names that the agent used again)\n  {VALIDITY}\n  {:<16} {:>16} {:>9} {:>10} {:>12}",
            "", "at risk", "tokens", "from call", "blind edits"
        );
        for lane in &losses.lanes {
            let name = clean(&lane.lane);
            let _ = writeln!(text, "  {name:<16} {}", line(lane));
        }
        let _ = writeln!(
            text,
            "  `recorded` is the noise floor: its references were derived, guessed or read elsewhere. A name counts once in {PAGE_IN}\n  messages. A range: the text of a summary is not known; it may hold none of the names, or those used most."
        );
        self.instructions(text);
        self.compacted(text);
    }

    fn instructions(&self, text: &mut String) {
        let all = self.losses.names.instructions();
        if all.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n{} (word for word in the context)",
            counted(all.len(), "standing instruction")
        );
        for lane in &self.losses.lanes {
            let gone = lane.loss.standing.iter().filter(|s| !s.gone.is_empty());
            let first = gone.clone().map(|s| s.gone[0].start).min();
            let since = first.map_or(String::new(), |call| format!(", first at call {}", call + 1));
            let _ = writeln!(
                text,
                "  {:<16} {} gone at some call{since}",
                clean(&lane.lane),
                missing(gone.count(), lane.loss.is_predicted)
            );
        }
    }

    fn compacted(&self, text: &mut String) {
        let n = self.case().session.compactions.len();
        for compaction in 0..n {
            let of_lane = |lane: &LaneLoss| lane.loss.survival[compaction].clone();
            let Some(first) = self.losses.lanes.first().and_then(of_lane) else {
                continue;
            };
            let _ = writeln!(
                text,
                "\nafter the compaction before call {}: verbatim / partly / gone\n  {:<16} {:>20} {:>20} {:>20}",
                first.call + 1,
                "",
                "names used later",
                "instructions",
                "changed files"
            );
            for lane in &self.losses.lanes {
                let Some(left) = of_lane(lane) else {
                    continue;
                };
                let note = if left.is_predicted { "  (summary not known)" } else { "" };
                let [names, instructions, files] = states(&left);
                let name = clean(&lane.lane);
                let _ =
                    writeln!(text, "  {name:<16} {names:>20} {instructions:>20} {files:>20}{note}");
            }
        }
    }
}

/// Formats the number of items that a context lacks; a summary whose text is not known may hold all of them.
fn missing(n: usize, is_unknown: bool) -> String {
    range(if is_unknown { 0 } else { n }, n)
}

fn line(lane: &LaneLoss) -> String {
    let risk = &lane.loss.at_risk;
    let at_risk = range(risk.fewest, risk.faults.len());
    format!(
        "{:>16} {:>9} {:>10} {:>12}",
        format!("{at_risk}/{}", risk.uses),
        tokens(risk.refetch),
        risk.horizon.map_or("–".to_owned(), |call| (call + 1).to_string()),
        format!("{}/{}", risk.blind_edits.len(), risk.edits),
    )
}

/// Formats a number, or its bounds: `3-12`.
fn range(low: usize, high: usize) -> String {
    if low < high { format!("{low}-{high}") } else { high.to_string() }
}

/// Formats the counts of items that are present verbatim, partly, and not at all.
fn states(left: &Survival) -> [String; 3] {
    let is_unknown = left.is_predicted;
    [
        states_of(left.names.iter().map(|(_, kept)| *kept), is_unknown),
        states_of(left.instructions.iter().map(|(_, kept)| *kept), is_unknown),
        states_of(left.files.iter().map(|(_, kept)| *kept), is_unknown),
    ]
}

fn states_of(all: impl Iterator<Item = Kept>, is_unknown: bool) -> String {
    let mut n = [0; 3];
    all.for_each(|kept| n[kept as usize] += 1);
    if n == [0; 3] {
        return "–".to_owned();
    }
    format!("{} / {} / {}", n[0], n[1], missing(n[2], is_unknown))
}
