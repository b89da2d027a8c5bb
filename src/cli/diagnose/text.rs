//! The result of `plimsoll diagnose` as text.

use super::lane_cost::LaneCost;
use super::{Diagnosis, MostResent};
use crate::analysis::MessageName;
use crate::analysis::cost::{Audit, BreakEven, Cost, CostSource};
use crate::analysis::insight::Insight;
use crate::cli::output::{clean, counted, percent, tokens};
use crate::figure::usd;
use crate::presets::prices::Price;
use crate::units::{Tokens, Usd};
use std::fmt::Write as _;

/// Maximum number of insights and of compactions that are listed without `--all`.
const MAX_ROWS: usize = 12;

impl Diagnosis<'_> {
    /// Returns the text; `all` lists every insight and compaction.
    pub(super) fn text(&self, all: bool) -> String {
        let shown = if all { usize::MAX } else { MAX_ROWS };
        let mut text =
            format!("{}\n{}\n", clean(&self.case().session.title), clean(&self.summary()));
        self.insights(&mut text, shown);
        self.costs(&mut text);
        for lane in &self.lanes {
            compactions(&mut text, lane, shown);
        }
        if let Some(audit) = self.audit {
            audited(&mut text, audit);
        }
        self.rereads_text(&mut text);
        self.losses_text(&mut text);
        self.most_resent(&mut text);
        text
    }

    fn insights(&self, text: &mut String, shown: usize) {
        let _ = writeln!(text, "\n{}", counted(self.insights.len(), "insight"));
        for found in self.insights.iter().take(shown) {
            insight(text, found);
        }
        if self.insights.len() > shown {
            let more = self.insights.len() - shown;
            let _ = writeln!(text, "  and {more} more (--all lists them)");
        }
    }

    fn costs(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n{:<16} {:>8} {:>7} {:>8} {:>8} {:>8} {:>9} {:>8}",
            "cost", "total", "read", "written", "uncached", "output", "summaries", "rejected"
        );
        for lane in &self.lanes {
            cost(text, &clean(&lane.played.lane), &lane.cost);
            if let Some(modelled) = &lane.modelled {
                cost(text, "  modelled", modelled);
            }
        }
        let recorded = &self.lanes[0].cost;
        if recorded.source == CostSource::Modelled {
            let _ = writeln!(
                text,
                "  The file records no cache counts: the cost of `recorded` is modelled, as for the other lanes."
            );
        }
        if self.lanes[0].modelled.is_some() {
            text.push_str("  `modelled` is the recorded run with the cache model of the other lanes: compare them with it.\n");
        }
        let rejected = self.lanes.iter().filter(|lane| {
            let rejected = lane.cost.rejected;
            rejected.tokens > Tokens::ZERO && rejected.usd == Usd::ZERO
        });
        let rejected: Vec<_> = rejected
            .map(|lane| {
                let sum = tokens(lane.cost.rejected.tokens);
                format!("{} {sum}", clean(&lane.played.lane))
            })
            .collect();
        if !rejected.is_empty() {
            let _ = writeln!(
                text,
                "  Tokens of rejected attempts, not billed: {}. Retries are priced where the recorded call succeeded.",
                rejected.join(", ")
            );
        }
        for note in recorded.notes() {
            let _ = writeln!(text, "  recorded: {note}");
        }
        if recorded.estimated_outputs > 0 {
            let (n, them) = match recorded.estimated_outputs {
                1 => ("1 answer has".to_owned(), "it"),
                n => (format!("{n} answers have"), "them"),
            };
            let _ = writeln!(
                text,
                "  {n} no final token count in the file: the recorded text of {them} is priced instead."
            );
        }
        for known in &self.prices {
            price(text, known.model, known.price);
        }
        if self.prices.is_empty() {
            let _ = writeln!(text, "  The file names no model: --price-as MODEL prices its calls.");
        }
    }

    fn most_resent(&self, text: &mut String) {
        if self.most_resent.is_empty() {
            return;
        }
        let _ = writeln!(text, "\nmost resent (of {} tokens sent)", tokens(self.sent));
        for MostResent { resent, last_use } in &self.most_resent {
            let name = MessageName::of(self.case(), resent.message).to_string();
            let used = last_use.map_or("never named later".to_owned(), |idx| {
                format!("last named at call {}", idx + 1)
            });
            let _ = writeln!(
                text,
                "  message {:>6}  {:>9} × {:<5} {:>7}  {used}  {}",
                resent.message + 1,
                tokens(resent.tokens),
                resent.calls,
                percent(resent.cumulative().share_of(self.sent)),
                clean(&name)
            );
        }
        let _ = writeln!(
            text,
            "growth: the largest 5 % of calls account for {} of it",
            percent(self.growth.share)
        );
        for grown in &self.growth.calls {
            let name = grown.message.map(|m| MessageName::of(self.case(), m).to_string());
            let name = name.unwrap_or_default();
            let (call, by) = (grown.call + 1, tokens(grown.grown));
            let _ = writeln!(text, "  call {call:>6}  +{by:<9} {}", clean(&name));
        }
    }
}

fn insight(text: &mut String, found: &Insight) {
    let place = match (found.call, found.message) {
        (Some(idx), _) => format!("call {}", idx + 1),
        (None, Some(message)) => format!("message {}", message + 1),
        (None, None) => "file".to_owned(),
    };
    let lane = found.lane.as_ref().map_or(String::new(), |lane| format!("{}: ", clean(lane)));
    let (level, sure) = (found.level.name(), found.certainty.name());
    let _ = writeln!(text, "  {level:<8} {place:<13} {lane}{}", clean(&found.text));
    if !found.evidence.is_empty() {
        let (evidence, advice) = (clean(&found.evidence), found.advice);
        let _ = writeln!(text, "  {:<22} {evidence} ({sure}). {advice}", "");
    }
}

fn cost(text: &mut String, name: &str, cost: &Cost) {
    let total = cost.total();
    let cell = |sum: Usd| total.map_or("–".to_owned(), |_| usd(sum));
    let summaries =
        if cost.knows_summaries() { cell(cost.summaries.usd) } else { "–".to_owned() };
    let _ = writeln!(
        text,
        "  {:<14} {:>8} {:>7} {:>8} {:>8} {:>8} {:>9} {:>8}",
        name,
        total.map_or("–".to_owned(), usd),
        cell(cost.read.usd),
        cell(cost.written.usd),
        cell(cost.uncached.usd),
        cell(cost.output.usd),
        summaries,
        cell(cost.rejected.usd),
    );
}

fn price(text: &mut String, model: &str, price: Option<&Price>) {
    let model = clean(model);
    let Some(price) = price else {
        let _ = writeln!(text, "  {model}: no price known (--prices FILE gives one)");
        return;
    };
    let write = price.cache_write.map_or(String::new(), |rate| format!(", written {}", rate.0));
    let hour = price.cache_write_hour.map_or(String::new(), |rate| format!(" or {}", rate.0));
    let seen = if price.verified { "the vendor's page" } else { "not the vendor's page" };
    let _ = writeln!(
        text,
        "  {model}: ${} in, {} out, {} read{write}{hour} a million; {} ({seen}), read {}",
        price.input.0,
        price.output.0,
        price.cache_read.0,
        clean(&price.source),
        price.read
    );
}

fn compactions(text: &mut String, lane: &LaneCost<'_>, shown: usize) {
    if lane.break_even.is_empty() {
        return;
    }
    let _ = writeln!(text, "\ncompactions of {}", clean(&lane.played.lane));
    for even in lane.break_even.iter().take(shown) {
        let _ = writeln!(text, "  call {:>6}  {}", even.call + 1, outcome(even));
    }
    if lane.break_even.len() > shown {
        let _ = writeln!(text, "  and {} more (--all lists them)", lane.break_even.len() - shown);
    }
}

/// Formats the costs and savings of a compaction.
fn outcome(even: &BreakEven) -> String {
    let what = format!(
        "removed {}, {} written to the cache again",
        tokens(even.removed),
        tokens(even.rewritten)
    );
    let cold = if even.is_cold { " (the cache had expired)" } else { "" };
    let left = counted(even.left, "call");
    let calls = |n: u64| counted(usize::try_from(n).unwrap_or(usize::MAX), "call");
    let paid = match (even.needed, even.has_paid()) {
        (Some(0), _) => format!("paid at once, {left} left"),
        (Some(needed), Some(true)) => format!("paid after {}, {left} left", calls(needed)),
        (Some(_), _) => format!(
            "did not pay: it breaks even after {:.1} calls, {left} were left",
            even.calls.unwrap_or_default()
        ),
        (None, _) => "unknown whether it paid".to_owned(),
    };
    let summary = if even.knows_summary { "" } else { "; its summary's price is not recorded" };
    format!("{what}{cold}: {paid}{summary}")
}

fn audited(text: &mut String, audit: &Audit) {
    let ideal = if audit.predicted == Tokens::ZERO && audit.recorded > Tokens::ZERO {
        // The cache rules of this model's provider are unknown.
        "; the expected cache reads are unknown".to_owned()
    } else {
        let share = percent(audit.recorded.share_of(audit.predicted));
        let predicted = tokens(audit.predicted);
        format!(", {predicted} expected with these pauses and compactions ({share})")
    };
    let _ = writeln!(
        text,
        "\ncache over {}: {} tokens read{ideal}",
        counted(audit.calls.len(), "call"),
        tokens(audit.recorded),
    );
    for found in &audit.breaks {
        let money = found.usd.map_or(String::new(), |sum| format!(", {} more", usd(sum)));
        let _ = writeln!(
            text,
            "  {:<22} {:>9}, first at call {}: {} tokens sent again{money}",
            found.cause.text(),
            counted(found.calls, "call"),
            found.first + 1,
            tokens(found.tokens),
        );
    }
}
