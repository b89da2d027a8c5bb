//! The result of `plimsoll gate` as JSON.

use super::baseline::Lane;
use super::{Judged, JudgedLane, Verdict};
use crate::cli::output::plain;
use serde_json::{Map, Value, json};

impl Verdict {
    /// Returns the JSON value.
    pub(super) fn shape(&self) -> Value {
        json!({
            "passed": self.passed(),
            "baseline": self.baseline.as_ref().map(|(file, baseline)| json!({
                "file": file,
                "other_version": baseline.other_version(),
            })),
            "wrote": self.wrote,
            "sessions": self.sessions.iter().map(session).collect::<Vec<_>>(),
            "not_checked": self.not_checked,
            "left_out": self.left_out.shape(),
        })
    }
}

fn session(judged: &Judged) -> Value {
    json!({
        "file": judged.place.file,
        "conversation": judged.place.number(),
        "title": judged.title,
        "sha256": judged.session.sha256,
        "passed": judged.passed(),
        "content_changed": judged.content_changed,
        "changes": judged.changes,
        "lanes": judged.lanes.iter().map(lane).collect::<Vec<_>>(),
    })
}

fn lane(judged: &JudgedLane) -> Value {
    let knobs = judged.now.knobs.iter();
    json!({
        "lane": judged.name,
        "policy": judged.now.policy,
        "knobs": knobs.map(|(name, value)| (name.clone(), plain(*value))).collect::<Map<_, _>>(),
        "passed": judged.passed(),
        "figures": figures(&judged.now),
        "before": judged.before.as_ref().map(figures),
        "changes": judged.changes,
        "checks": judged.checks.iter().map(|check| json!({
            "measure": check.measure.name(),
            "ok": check.ok,
            "text": check.text,
        })).collect::<Vec<_>>(),
    })
}

fn figures(lane: &Lane) -> Value {
    json!({
        "usd": lane.usd,
        "tokens_sent": lane.tokens_sent,
        "tokens_total": lane.tokens_total,
        "at_risk": lane.at_risk,
        "blind_edits": lane.blind_edits,
        "refetch": lane.refetch,
        "peak": lane.peak,
        "peak_share": lane.peak_share,
        "compactions": lane.compactions,
        "overflows": lane.overflows,
        "flaw": lane.flaw,
    })
}
