//! The result of `plimsoll diagnose` as JSON.

use super::{Diagnosis, LaneCost, largest_growth};
use crate::analysis::MessageName;
use crate::analysis::cost::{Audit, AuditedCall, BreakEven, CallCost, Cause, Charge, Cost};
use crate::analysis::insight::Insight;
use crate::cli::streamed::Streamed;
use crate::presets::prices::Price;
use crate::report::basis;
use crate::units::Usd;
use serde_json::{Value, json};

impl Diagnosis<'_> {
    /// Returns the JSON value.
    pub(super) fn shape(&self) -> Streamed<'_> {
        let session = &self.case().session;
        let (largest, share) = largest_growth(&self.growth);
        let card: String = self
            .card
            .iter()
            .map(|clause| clause.text.as_str())
            .collect();
        let head = json!({
            "format": session.source.format,
            "title": session.title,
            "window": self.case().windows.largest(),
            "output_reserve": self.reserve,
            "trigger": self.trigger,
            "basis": basis(self.case()),
            "card": card,
            "insights": self.insights.iter().map(insight).collect::<Vec<_>>(),
            "prices": self.prices.iter().map(|(model, price)| price_of(model, price.as_ref())).collect::<Vec<_>>(),
        });
        let audit = self.audit.map_or(Value::Null.into(), audit);
        let carried = json!(
            self.carried
                .iter()
                .map(|(carried, user)| json!({
                    "message": carried.message + 1,
                    "name": MessageName::of(self.case(), carried.message).to_string(),
                    "tokens": carried.tokens,
                    "calls": carried.calls,
                    "token_calls": carried.cumulative(),
                    "last_used_by": user.map(|step| step + 1),
                }))
                .collect::<Vec<_>>()
        );
        let growth = json!({
                "share_of_largest_5_percent": share,
                "largest": largest.iter().map(|grown| json!({
                    "step": grown.step + 1,
                    "tokens": grown.grown,
                    "message": grown.message.map(|message| message + 1),
                })).collect::<Vec<_>>(),
        });
        Streamed::from(head)
            .with("lanes", Streamed::list(self.lanes.iter().map(lane)))
            .with("cache_audit", audit)
            .with("loss", self.lost.shape())
            .with("sent", json!(self.sent))
            .with("carried", carried)
            .with("growth", growth)
    }
}

fn insight(found: &Insight) -> Value {
    json!({
        "kind": found.kind.name(),
        "level": found.level.name(),
        "certainty": found.certainty.name(),
        "lane": found.lane,
        "step": found.step.map(|step| step + 1),
        "message": found.message.map(|message| message + 1),
        "text": found.text,
        "evidence": found.evidence,
        "advice": found.advice,
        "token_calls": found.stake,
    })
}

fn price_of(model: &str, price: Option<&Price>) -> Value {
    json!({
        "model": model,
        "match": price.map(|p| &p.name),
        "input": price.map(|p| p.input),
        "output": price.map(|p| p.output),
        "cache_read": price.map(|p| p.cache_read),
        "cache_write": price.and_then(|p| p.cache_write),
        "cache_write_hour": price.and_then(|p| p.cache_write_hour),
        "caching": price.map(|p| &p.caching),
        "source": price.map(|p| &p.source),
        "read": price.map(|p| p.read.to_string()),
        "verified": price.map(|p| p.verified),
    })
}

fn lane<'a>(lane: &'a LaneCost<'_>) -> Streamed<'a> {
    let policy = lane.played.policy.as_ref();
    let head = json!({
        "lane": lane.played.lane,
        "policy": policy.map_or("recorded", |policy| &policy.name),
    });
    Streamed::from(head).with("cost", cost(&lane.cost)).with(
        "break_even",
        Streamed::list(lane.break_even.iter().map(even)),
    )
}

pub(super) fn cost(cost: &Cost) -> Streamed<'_> {
    let is_known = cost.total().is_some();
    // A sum with an unknown part is unknown.
    let usd = |usd: Usd| is_known.then_some(usd);
    let charge = |charge: Charge| json!({ "tokens": charge.tokens, "usd": usd(charge.usd) });
    let head = json!({
        "source": cost.source.name(),
        "usd": cost.total(),
        "unpriced_calls": cost.unpriced,
        "estimated_outputs": cost.estimated_outputs,
        "read": charge(cost.read),
        "written": charge(cost.written),
        "uncached": charge(cost.uncached),
        "output": charge(cost.output),
        "rejected": charge(cost.rejected),
        "summaries": charge(cost.summaries),
    });
    let call = |call: &CallCost| {
        json!({
            "step": call.step + 1,
            "read": call.read,
            "written": call.written,
            "uncached": call.uncached,
            "output": call.output,
            "usd": call.usd,
        })
    };
    Streamed::from(head).with("calls", Streamed::list(cost.calls.iter().map(call)))
}

fn even(even: &BreakEven) -> Value {
    json!({
        "step": even.step + 1,
        "stages": even.stages,
        "removed": even.removed,
        "rewritten": even.rewritten,
        "cold": even.is_cold,
        "usd_once": even.once,
        "usd_per_call": even.per_call,
        "calls_needed": even.needed,
        "calls_left": even.left,
        "paid": even.has_paid(),
        "knows_summary": even.knows_summary,
    })
}

fn audit(audit: &Audit) -> Streamed<'_> {
    let head = json!({
        "predicted": audit.predicted,
        "recorded": audit.recorded,
        "breaks": audit.breaks.iter().map(|found| json!({
            "cause": found.cause.name(),
            "calls": found.calls,
            "step": found.first + 1,
            "tokens": found.tokens,
            "usd": found.usd,
        })).collect::<Vec<_>>(),
    });
    let call = |call: &AuditedCall| {
        json!({
            "step": call.step + 1,
            "predicted": call.predicted,
            "recorded": call.recorded,
            "most": call.most,
            "cause": call.cause.map(Cause::name),
        })
    };
    Streamed::from(head).with("calls", Streamed::list(audit.calls.iter().map(call)))
}
