//! The losses of `plimsoll diagnose` as JSON.

use super::lost::{Current, LaneLoss, Lost, MESSAGES, MISSES, RESULTS};
use super::shape::cost;
use crate::analysis::loss::{BlindEdit, Distances, Fault, Kept, Names, PAGE_IN, Survival};
use crate::cli::streamed::Streamed;
use crate::engine::KnobRole;
use serde_json::{Value, json};

impl Lost {
    /// Returns the JSON value.
    pub(super) fn shape(&self) -> Streamed<'_> {
        let instructions = self.names.instructions().iter();
        let best = &self.hindsight;
        let lanes = self.lanes.iter().map(|lane| self.lane(lane));
        let instructions = json!(
            instructions
                .map(|instruction| json!({
                    "message": instruction.message + 1,
                    "text": instruction.text,
                }))
                .collect::<Vec<_>>()
        );
        let hindsight = json!({
            "tokens_sent": best.sent,
            "peak": best.peak,
            "clearings": best.clearings,
        });
        let reuse = json!({
            "keep_recent": self.curve(&self.curves.messages, KnobRole::KeepRecent, &MESSAGES),
            "prune_protect": self.curve(&self.curves.results, KnobRole::PruneProtect, &RESULTS),
        });
        Streamed::from(json!({ "fetched_for_messages": PAGE_IN }))
            .with("lanes", Streamed::list(lanes))
            .with("instructions", instructions)
            .with("compactions", Streamed::list(self.compactions()))
            .with(
                "hindsight",
                Streamed::from(hindsight).with("cost", cost(&best.cost)),
            )
            .with("reuse", reuse)
    }

    fn lane<'a>(&'a self, lane: &'a LaneLoss) -> Streamed<'a> {
        let (risk, standing) = (&lane.loss.at_risk, lane.loss.standing.iter().enumerate());
        let gone = standing.filter(|(_, standing)| !standing.gone.is_empty());
        let head = json!({
            "lane": lane.lane,
            "uses": risk.uses,
            "at_risk": risk.faults.len(),
            "at_risk_at_best": risk.fewest,
            "refetch": risk.refetch,
            "horizon": risk.horizon.map(|step| step + 1),
            "edits": risk.edits,
            "saved_of_lossless": lane.saved,
            "knows_summaries": !lane.loss.is_predicted,
        });
        let edit = |edit: &BlindEdit| {
            json!({
                "step": edit.step + 1,
                "message": edit.message + 1,
                "lines": edit.lines,
                "lines_there": edit.seen,
            })
        };
        let gone = gone.map(|(idx, standing)| json!({
                "instruction": idx + 1,
                "calls": standing.gone.iter().map(|steps| [steps.start + 1, steps.end]).collect::<Vec<_>>(),
            }));
        let faults = risk.faults.iter().map(|found| fault(&self.names, found));
        Streamed::from(head)
            .with("faults", Streamed::list(faults))
            .with(
                "blind_edits",
                Streamed::list(risk.blind_edits.iter().map(edit)),
            )
            .with("instructions_gone", Streamed::list(gone))
    }

    /// Returns, for each recorded compaction, what is left in every lane at the first call after it.
    fn compactions(&self) -> impl Iterator<Item = Value> + Clone {
        let n = self
            .lanes
            .first()
            .map_or(0, |lane| lane.loss.survival.len());
        (0..n).filter_map(move |idx| {
            let left = |lane: &LaneLoss| {
                let left = lane.loss.survival[idx].as_ref()?;
                Some((left.step, self.survival(&lane.lane, left)))
            };
            let lanes: Vec<(usize, Value)> = self.lanes.iter().filter_map(left).collect();
            let (step, _) = lanes.first()?;
            Some(json!({
                "step": step + 1,
                "lanes": lanes.iter().map(|(_, lane)| lane).collect::<Vec<_>>(),
            }))
        })
    }

    fn survival(&self, lane: &str, left: &Survival) -> Value {
        let names = left.names.iter();
        let names = names.map(|(name, kept)| (self.names.word(*name).into(), *kept));
        let instructions = left.instructions.iter();
        let instructions = instructions.map(|(idx, kept)| ((idx + 1).into(), *kept));
        let files = left
            .files
            .iter()
            .map(|(file, kept)| ((&**file).into(), *kept));
        json!({
            "lane": lane,
            "knows_summary": !left.is_predicted,
            "names": states(names),
            "instructions": states(instructions),
            "files": states(files),
        })
    }

    fn curve(&self, curve: &Distances, role: KnobRole, values: &[u64]) -> Value {
        let current = self.current.iter().filter(|current| current.role == role);
        let [five, one] = MISSES.map(|miss| curve.smallest(miss));
        json!({
            "uses": curve.uses(),
            "curve": values.iter().map(|value| json!({
                "value": value,
                "miss": curve.miss(*value),
            })).collect::<Vec<_>>(),
            "at_most_5_percent_from": five,
            "at_most_1_percent_from": one,
            "current": current.map(|Current { lane, value, miss, .. }| json!({
                "lane": lane,
                "value": value,
                "miss": miss,
            })).collect::<Vec<_>>(),
        })
    }
}

fn fault(names: &Names, fault: &Fault) -> Value {
    json!({
        "step": fault.step + 1,
        "message": fault.message + 1,
        "source": fault.source + 1,
        "name": names.word(fault.name),
        "refetch": fault.refetch,
    })
}

/// Returns the counts of items that are present verbatim, partly, and not at all.
fn states(all: impl Iterator<Item = (Value, Kept)>) -> Value {
    let mut by_state = [Kept::Verbatim, Kept::Partly, Kept::Gone].map(|kept| (kept, Vec::new()));
    for (item, kept) in all {
        by_state[kept as usize].1.push(item);
    }
    let fields = by_state.map(|(kept, items)| (kept.name().to_owned(), Value::Array(items)));
    Value::Object(fields.into_iter().collect())
}
