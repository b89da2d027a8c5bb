//! The result of `plimsoll sweep` as CSV.

use super::SweepFindings;
use crate::analysis::tune::{cost_unit, front};
use crate::cli::output::clean;
use crate::report::quoted;
use std::fmt::Write as _;

impl SweepFindings {
    /// Returns CSV with one line per session and setting.
    pub(super) fn csv(&self) -> String {
        let mut text = "file,lane,set,usd,tokens_sent,tokens_total,expected_rereads,expected_rereads_low,expected_rereads_high,reread_tokens,reread_usd,cost_with_rereads,user_rules_lost,user_rules_stated,peak_tokens,peak_share,compactions,overflows,into_reserve,current,on_front,recommended,ruled_out\n".to_owned();
        for swept in &self.sessions {
            let (front, unit) = (front(&swept.points), cost_unit(&swept.points));
            let picked = swept.recommended.as_ref().ok().map(|found| found.point);
            for (idx, point) in swept.points.iter().enumerate() {
                let or_empty = |n: Option<String>| n.unwrap_or_default();
                let score = point.score;
                let rereads = score.map(|score| score.rereads);
                let rules = score.and_then(|score| score.user_rules);
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                    quoted(&clean(&swept.id.to_string())),
                    quoted(&clean(&self.subjects[point.subject].lane)),
                    quoted(&self.set(point).join(" ")),
                    or_empty(score.and_then(|s| s.cost).map(|usd| usd.0.to_string())),
                    or_empty(score.map(|s| s.sent.0.to_string())),
                    or_empty(score.map(|s| s.total.0.to_string())),
                    or_empty(rereads.map(|all| all.files.value.to_string())),
                    or_empty(rereads.map(|all| all.files.low.to_string())),
                    or_empty(rereads.map(|all| all.files.high.to_string())),
                    or_empty(rereads.map(|all| (all.tokens.value as u64).to_string())),
                    or_empty(rereads.and_then(|all| Some(all.usd?.value.to_string()))),
                    or_empty(score.map(|s| unit.of(&s).to_string())),
                    or_empty(rules.map(|rules| rules.lost.to_string())),
                    or_empty(rules.map(|rules| rules.stated.to_string())),
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
