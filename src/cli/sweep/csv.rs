//! The result of `plimsoll sweep` as CSV.

use super::Findings;
use crate::analysis::tune::front;
use crate::cli::output::clean;
use crate::report::quoted;
use std::fmt::Write as _;

impl Findings {
    /// Returns CSV with one line per session and setting.
    pub(super) fn csv(&self) -> String {
        let mut text = "file,lane,set,usd,tokens_sent,tokens_total,at_risk,lost_facts,peak_tokens,peak_share,compactions,overflows,into_reserve,current,on_front,recommended,ruled_out\n".to_owned();
        for swept in &self.sessions {
            let front = front(&swept.points);
            let picked = swept.recommended.as_ref().ok().map(|found| found.point);
            for (idx, point) in swept.points.iter().enumerate() {
                let or_empty = |n: Option<String>| n.unwrap_or_default();
                let score = point.score;
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                    quoted(&clean(&swept.id.to_string())),
                    quoted(&clean(&self.subjects[point.subject].lane)),
                    quoted(&self.set(point).join(" ")),
                    or_empty(score.and_then(|s| s.cost).map(|usd| usd.0.to_string())),
                    or_empty(score.map(|s| s.sent.0.to_string())),
                    or_empty(score.map(|s| s.total.0.to_string())),
                    or_empty(score.map(|s| s.risk.references.to_string())),
                    or_empty(score.and_then(|s| Some(s.risk.lost?.lost.to_string()))),
                    or_empty(score.map(|s| s.peak.0.to_string())),
                    or_empty(score.map(|s| s.peak_share.0.to_string())),
                    or_empty(score.map(|s| s.compactions.to_string())),
                    or_empty(score.map(|s| s.overflows.to_string())),
                    or_empty(score.map(|s| s.into_reserve.to_string())),
                    point.is_now,
                    front.contains(&idx),
                    picked == Some(idx),
                    point.ruled_out.map_or("", |why| why.reason.name()),
                );
            }
        }
        text
    }
}
