//! The losses of `plimsoll diagnose` as text.

use super::Diagnosis;
use super::losses::{Current, LaneLoss, MESSAGES, MISSES, RESULTS};
use crate::analysis::loss::{Distances, Kept, PAGE_IN, Survival};
use crate::cli::output::{clean, counted, percent, tokens};
use crate::cli::presets::role_name;
use crate::engine::KnobRole;
use crate::figure::{usd, whole_percent};
use crate::units::{Share, Tokens};
use std::fmt::Write as _;

impl Diagnosis<'_> {
    pub(super) fn losses_text(&self, text: &mut String) {
        let losses = &self.losses;
        let _ = writeln!(
            text,
            "\nreferences at risk (names the agent used again; no measure of quality)\n  {:<16} {:>12} {:>8} {:>9} {:>10} {:>12} {:>7}",
            "", "at risk", "at best", "re-read", "from call", "blind edits", "saved"
        );
        for lane in &losses.lanes {
            let name = clean(&lane.lane);
            let _ = writeln!(text, "  {name:<16} {}", line(lane));
        }
        let _ = writeln!(
            text,
            "  `recorded` is the noise floor: its references were derived, guessed or read elsewhere. After a miss, the content counts\n  as re-read for {PAGE_IN} messages. Predicted summaries count as empty; \"at best\" assumes that they hold the names used\n  most. Saved: share of the lossless maximum."
        );
        self.hindsight(text);
        self.instructions(text);
        self.compacted(text);
        self.reuse(text);
    }

    fn hindsight(&self, text: &mut String) {
        let best = &self.losses.hindsight;
        let _ = writeln!(
            text,
            "  Hindsight optimum (each tool result cleared after its last use, {}): {} tokens sent, peak {}.",
            counted(best.clearings, "clearing"),
            tokens(best.sent),
            tokens(best.peak),
        );
        if let Some(cheapest) = &best.cheapest {
            let _ = writeln!(
                text,
                "  In money: ≈{}, {}; what happened: ≈{} by the same cache model.",
                usd(cheapest.usd),
                cheapest.text(),
                usd(cheapest.recorded),
            );
        }
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
            let since = first.map_or(String::new(), |call| {
                format!(", first at call {}", call + 1)
            });
            let _ = writeln!(
                text,
                "  {:<16} {} gone at some call{since}",
                clean(&lane.lane),
                gone.count()
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
                let note = if left.is_predicted {
                    "  (summary not known)"
                } else {
                    ""
                };
                let [names, instructions, files] = states(&left);
                let name = clean(&lane.lane);
                let _ = writeln!(
                    text,
                    "  {name:<16} {names:>20} {instructions:>20} {files:>20}{note}"
                );
            }
        }
    }

    fn reuse(&self, text: &mut String) {
        let curves = &self.losses.curves;
        if curves.messages.uses() == 0 {
            return;
        }
        let _ = writeln!(
            text,
            "\nhow far back the agent reached: share of later uses missed"
        );
        self.curve(text, KnobRole::KeepRecent, &curves.messages, &MESSAGES);
        self.curve(text, KnobRole::PruneProtect, &curves.results, &RESULTS);
    }

    fn curve(&self, text: &mut String, role: KnobRole, curve: &Distances, values: &[u64]) {
        // Values after the first one that misses nothing are not listed.
        let enough = values
            .iter()
            .position(|value| curve.miss(*value) == Share(0.0));
        let values = &values[..enough.map_or(values.len(), |at| at + 1)];
        let points: Vec<String> = values
            .iter()
            .map(|value| format!("{} {}", short(role, *value), percent(curve.miss(*value))))
            .collect();
        let smallest = MISSES.map(|miss| short(role, curve.smallest(miss)));
        let _ = writeln!(
            text,
            "  {:<14} ({}): {}\n  {:<14} at most 5 % from {}, 1 % from {}",
            role_name(role),
            counted(curve.uses(), "use"),
            points.join(", "),
            "",
            smallest[0],
            smallest[1],
        );
        let here = self
            .losses
            .current
            .iter()
            .filter(|current| current.role == role);
        for Current {
            lane, value, miss, ..
        } in here
        {
            let (lane, value) = (clean(lane), short(role, *value));
            let _ = writeln!(text, "  {:<14} {lane} has {value}: {}", "", percent(*miss));
        }
    }
}

fn line(lane: &LaneLoss) -> String {
    let risk = &lane.loss.at_risk;
    format!(
        "{:>12} {:>8} {:>9} {:>10} {:>12} {:>7}",
        format!("{}/{}", risk.faults.len(), risk.uses),
        risk.fewest,
        tokens(risk.refetch),
        risk.horizon
            .map_or("–".to_owned(), |call| (call + 1).to_string()),
        format!("{}/{}", risk.blind_edits.len(), risk.edits),
        lane.saved.map_or("–".to_owned(), whole_percent),
    )
}

fn short(role: KnobRole, value: u64) -> String {
    match role {
        KnobRole::PruneProtect => Tokens(value).short(),
        _ => value.to_string(),
    }
}

/// Formats the counts of items that are present verbatim, partly, and not at all.
fn states(left: &Survival) -> [String; 3] {
    [
        states_of(left.names.iter().map(|(_, kept)| *kept)),
        states_of(left.instructions.iter().map(|(_, kept)| *kept)),
        states_of(left.files.iter().map(|(_, kept)| *kept)),
    ]
}

fn states_of(all: impl Iterator<Item = Kept>) -> String {
    let mut n = [0; 3];
    all.for_each(|kept| n[kept as usize] += 1);
    if n == [0; 3] {
        return "–".to_owned();
    }
    format!("{} / {} / {}", n[0], n[1], n[2])
}
