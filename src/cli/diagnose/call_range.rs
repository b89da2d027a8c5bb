//! `plimsoll diagnose --calls`: figures of consecutive calls.

use super::lane_cost::LaneCost;
use crate::analysis::CallRange;
use crate::analysis::cost::{Audit, Bills, CostSource};
use crate::cli::args::GlobalOptions;
use crate::cli::output::{clean, counted, json, print_wrapped, tokens};
use crate::cli::recorded_call::RecordedCall;
use crate::engine::Case;
use crate::figure::usd;
use crate::report::Played;
use crate::session::Session;
use crate::units::{Tokens, Usd};
use anyhow::bail;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// Figures of consecutive calls.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallRangeOutput<'a> {
    /// First call.
    first_call: usize,
    /// Last call.
    last_call: usize,
    /// Number of messages that these calls wrote or included first.
    messages: usize,
    /// Number of these calls with a recorded cache miss; null if the file records no cache counts.
    cache_misses: Option<usize>,
    /// These calls as recorded.
    calls: Vec<CallEntry<'a>>,
    /// Figures by lane: `recorded`, `none`, then the policies.
    lanes: Vec<LaneEntry<'a>>,
}

/// A call as recorded.
#[derive(Serialize, JsonSchema)]
struct CallEntry<'a> {
    /// Call, from 1.
    call: usize,
    #[serde(flatten)]
    recorded: RecordedCall<'a>,
}

/// Figures of a lane.
#[derive(Serialize, JsonSchema)]
struct LaneEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Context before the first of these calls in tokens, 0 at the start; null if the run has no such call.
    tokens_before: Option<Tokens>,
    /// Context at the last of these calls in tokens; null if the run has no such call.
    tokens_after: Option<Tokens>,
    /// Cost of these calls in USD, with the summary requests and rejected calls before them; null if a price is unknown,
    /// or if none of these calls was answered.
    usd: Option<Usd>,
    /// Source of the cost.
    cost_source: CostSource,
}

/// Prints the figures of these calls.
pub(super) fn print(
    case: &Case,
    calls: CallRange,
    bills: &Bills<'_>,
    audit: Option<&Audit>,
    played: &[Played],
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    let n = case.session.calls.len();
    if calls.last >= n {
        let n = counted(n, "call");
        bail!("--calls {}: the session has {n}", calls_text(calls));
    }
    let lanes: Vec<LaneCost<'_>> =
        played.par_iter().map(|played| LaneCost::new(bills, played)).collect();
    let output = CallRangeOutput {
        first_call: calls.first + 1,
        last_call: calls.last + 1,
        messages: calls.n_messages(&case.session),
        cache_misses: audit.map(|audit| calls.n_misses(audit)),
        calls: (calls.first..=calls.last).map(|idx| call_entry(&case.session, idx)).collect(),
        lanes: lanes.iter().map(|lane| entry(lane, calls)).collect(),
    };
    if shared.json { json(&output) } else { print_wrapped(&call_range_text(&output, calls)) }
}

fn call_entry(session: &Session, idx: usize) -> CallEntry<'_> {
    CallEntry { call: idx + 1, recorded: RecordedCall::new(session, idx) }
}

fn entry<'a>(lane: &LaneCost<'a>, calls: CallRange) -> LaneEntry<'a> {
    let growth = calls.growth(&lane.played.outcome.samples);
    LaneEntry {
        lane: &lane.played.lane,
        tokens_before: growth.map(|(before, _)| before),
        tokens_after: growth.map(|(_, after)| after),
        usd: calls.cost(&lane.cost),
        cost_source: lane.cost.source_of_calls(),
    }
}

fn call_range_text(output: &CallRangeOutput<'_>, calls: CallRange) -> String {
    let noun = if calls.first == calls.last { "call" } else { "calls" };
    let mut text = format!("{noun} {}: {}", calls_text(calls), counted(output.messages, "message"));
    if let Some(n) = output.cache_misses {
        let _ = write!(text, ", {}", counted(n, "cache miss"));
    }
    text.push('\n');
    for lane in &output.lanes {
        let mark = lane.cost_source.mark();
        let sum = lane.usd.map(|sum| format!("{mark}{}", usd(sum)));
        let growth = lane.tokens_before.zip(lane.tokens_after);
        let growth = growth.map(|(before, after)| {
            let sign = if after < before { "-" } else { "+" };
            let by = tokens(Tokens(after.0.abs_diff(before.0)));
            format!("{sign}{by} tokens ({} to {})", tokens(before), tokens(after))
        });
        let _ = writeln!(
            text,
            "  {:<14} {:>8}  {}",
            clean(lane.lane),
            sum.unwrap_or_else(|| "–".to_owned()),
            growth.unwrap_or_else(|| "–".to_owned())
        );
    }
    text
}

fn calls_text(calls: CallRange) -> String {
    if calls.first == calls.last {
        (calls.first + 1).to_string()
    } else {
        format!("{}-{}", calls.first + 1, calls.last + 1)
    }
}
