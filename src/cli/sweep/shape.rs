//! The result of `plimsoll sweep` as JSON and as CSV.

use super::{Findings, Swept};
use crate::analysis::tune::{Point, Price, front, price_unit};
use crate::cli::output::clean;
use crate::cli::replay::knobs_shape;
use crate::report::quoted;
use serde_json::{Value, json};
use std::fmt::Write as _;

impl Findings {
    /// Returns the JSON value.
    pub(super) fn shape(&self) -> Value {
        let plan = self.sessions.first().map_or(0, |s| s.points.len());
        json!({
            "tried": plan,
            "weight": self.weight,
            "sessions": self.sessions.iter().map(|s| self.session_shape(s)).collect::<Vec<_>>(),
            "robust": self.robust_shape(),
            "left_out": self.left_out.shape(),
        })
    }

    fn session_shape(&self, swept: &Swept) -> Value {
        let front = front(&swept.points);
        let points = swept.points.iter().enumerate();
        json!({
            "file": swept.place.file,
            "conversation": swept.place.number(),
            "format": swept.format,
            "title": swept.title,
            "calls": swept.calls,
            "window": swept.window,
            "output_reserve": swept.reserve,
            "basis": swept.basis,
            "cost_in": unit(&swept.points),
            "noise_floor": swept.noise.0,
            "points": points.map(|(idx, point)| {
                let mut shape = self.point(point, front.contains(&idx));
                if let Some(fewest) = swept.fewest.get(&idx) {
                    shape["fewest_at_risk"] = (*fewest).into();
                }
                shape
            }).collect::<Vec<_>>(),
            "recommended": swept.recommended.as_ref().ok().map(|found| json!({
                "point": found.point,
                "cheapest": found.cheapest,
                "safest": found.safest,
                "set": self.set(&swept.points[found.point]),
                "text": found.text,
                "others": found.others,
                "saved": swept.saved,
            })),
            "no_recommendation": swept.recommended.as_ref().err(),
        })
    }

    fn point(&self, point: &Point, is_on_front: bool) -> Value {
        let subject = &self.subjects[point.subject];
        let score = point.score;
        let risk = score.map(|s| s.risk);
        json!({
            "lane": subject.lane,
            "policy": subject.policy.name,
            "knobs": knobs_shape(&point.knobs),
            "set": self.set(point),
            "now": point.is_now,
            "front": is_on_front,
            "usd": score.and_then(|s| s.cost),
            "tokens_sent": score.map(|s| s.sent),
            "tokens_total": score.map(|s| s.total),
            "at_risk": risk.map(|r| r.references),
            "fewest_at_risk": risk.map(|r| r.references),
            "blind_edits": risk.map(|r| r.blind_edits),
            "refetch": risk.map(|r| r.refetch),
            "peak": score.map(|s| s.peak),
            "peak_share": score.map(|s| s.peak_share),
            "compactions": score.map(|s| s.compactions),
            "overflows": score.map(|s| s.overflows),
            "rejected": point.rejected.map(|why| json!({
                "reason": why.name(),
                "step": why.step() + 1,
                "text": why.to_string(),
            })),
        })
    }

    fn robust_shape(&self) -> Option<Value> {
        let (robust, first) = (self.robust.as_ref()?, self.sessions.first()?);
        let point = &first.points[robust.setting];
        let subject = &self.subjects[point.subject];
        let place = |session: usize| &self.sessions[session].place;
        Some(json!({
            "lane": subject.lane,
            "policy": subject.policy.name,
            "knobs": knobs_shape(&point.knobs),
            "set": self.set(point),
            "sessions": robust.regrets.iter().map(|r| json!({
                "file": place(r.session).file, "conversation": place(r.session).number(), "best": r.best, "regret": r.regret,
            })).collect::<Vec<_>>(),
            "left_out": robust.left_out.iter().map(|l| json!({
                "file": place(l.session).file, "conversation": place(l.session).number(), "set": self.set(&first.points[l.setting]), "regret": l.regret,
            })).collect::<Vec<_>>(),
        }))
    }

    /// Returns CSV with one line per session and setting.
    pub(super) fn csv(&self) -> String {
        let mut text = "file,lane,set,usd,tokens_sent,tokens_total,at_risk,peak,peak_share,compactions,overflows,now,front,recommended,rejected\n".to_owned();
        for swept in &self.sessions {
            let front = front(&swept.points);
            let picked = swept.recommended.as_ref().ok().map(|found| found.point);
            for (idx, point) in swept.points.iter().enumerate() {
                let told = |n: Option<String>| n.unwrap_or_default();
                let score = point.score;
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                    quoted(&clean(&swept.place.to_string())),
                    quoted(&clean(&self.subjects[point.subject].lane)),
                    quoted(&self.set(point).join(" ")),
                    told(score.and_then(|s| s.cost).map(|usd| usd.0.to_string())),
                    told(score.map(|s| s.sent.0.to_string())),
                    told(score.map(|s| s.total.0.to_string())),
                    told(score.map(|s| s.risk.references.to_string())),
                    told(score.map(|s| s.peak.0.to_string())),
                    told(score.map(|s| s.peak_share.0.to_string())),
                    told(score.map(|s| s.compactions.to_string())),
                    told(score.map(|s| s.overflows.to_string())),
                    point.is_now,
                    front.contains(&idx),
                    picked == Some(idx),
                    point.rejected.map_or("", |why| why.name()),
                );
            }
        }
        text
    }
}

fn unit(points: &[Point]) -> &'static str {
    match price_unit(points) {
        Price::Usd => "usd",
        Price::Sent => "tokens",
    }
}
