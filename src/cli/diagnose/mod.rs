//! `plimsoll diagnose`: problems of a session, its cost and losses, and those of each policy.

mod call_range;
mod json_output;
mod lane_cost;
mod losses;
mod losses_json;
mod losses_text;
mod recorded_cost;
mod rereads_json;
mod rereads_text;
mod text;

use super::args::{FileArg, GlobalOptions, calls};
use super::billing::{BillingArgs, ModelPrice, model_prices};
use super::lanes::{self, LaneArgs};
use super::output::{json, print_wrapped};
use super::played::play;
use super::status::Status;
use crate::analysis::attribution::Attribution;
use crate::analysis::cost::{Audit, Bills, audit, price_recorded};
use crate::analysis::insight::{Insight, InsightInput, Lane, card, insights, lane_insights, sort};
use crate::analysis::rereads::{FileReads, RereadMeasure, RereadPrices};
use crate::analysis::resent::{Growth, ResentMessage, growth, share_of_largest};
use crate::analysis::{CallRange, Clause, Trigger};
use crate::engine::Case;
use crate::exec::Loaded;
use crate::presets::prices::Prices;
use crate::units::{Share, Tokens};
pub(super) use call_range::CallRangeOutput;
pub(super) use json_output::DiagnosisOutput;
use lane_cost::LaneCost;
use losses::Losses;
use rayon::prelude::*;
pub(super) use recorded_cost::RecordedCost;
use std::cmp::Reverse;

/// List problems of a session, its cost and losses, and those of each policy
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always shown. Prices are list prices; calls of a model without a price have no cost.\n\nExamples:\n  plimsoll diagnose sample_sessions/compacted.jsonl --policy prune\n  plimsoll diagnose sample_sessions/compacted.jsonl --calls 20-34"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// List all insights and compactions, not only the first
    #[arg(long)]
    all: bool,
    /// Print growth, messages, cost and cache misses of these calls only, such as 20-34
    #[arg(long, value_name = "CALLS", value_parser = calls)]
    calls: Option<CallRange>,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    billing: BillingArgs,
}

/// Maximum number of messages in the list of the most resent.
const MAX_RESENT: usize = 10;
/// Maximum number of calls in the list of the largest growth.
const MAX_GROWTH: usize = 5;

/// The result of the command, for text and JSON.
struct Diagnosis<'a> {
    loaded: &'a Loaded,
    reserve: Tokens,
    /// The trigger that the summary refers to, as a share of the usable window.
    trigger: Share,
    /// The summary of the session, in clauses.
    card: Vec<Clause>,
    insights: Vec<Insight>,
    prices: Vec<ModelPrice<'a>>,
    lanes: Vec<LaneCost<'a>>,
    files: &'a FileReads,
    losses: Losses,
    audit: Option<&'a Audit>,
    /// Tokens of the contexts of all calls.
    sent: Tokens,
    most_resent: Vec<MostResent>,
    growth: LargestGrowth,
}

/// A resent message and its last use.
struct MostResent {
    resent: ResentMessage,
    /// Last call that mentions a name from the message.
    last_use: Option<usize>,
}

/// The calls at which the context grew most.
struct LargestGrowth {
    /// Largest growth first.
    calls: Vec<Growth>,
    /// Share of the total growth that the largest 5 % of calls account for.
    share: Share,
}

impl Diagnosis<'_> {
    fn case(&self) -> &Case {
        &self.loaded.case
    }

    /// Returns the summary of the session.
    fn summary(&self) -> String {
        let clauses = self.card.iter();
        clauses.map(|clause| clause.text.as_str()).collect()
    }
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        // Check the options before reading a large file.
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let prices = Prices::in_use();
        let billing = self.billing.billing(prices)?;
        let loaded = shared.load(&self.file.file)?;
        let reserve = none.checked_reserve(&loaded.case, shared)?;
        lanes::note_without_effect(&loaded.case, &lanes);
        let played = play(&loaded.case, none, lanes);
        let bills = Bills::new(&loaded.case, billing);
        let audit = audit(&loaded.case, &bills, &played[0].outcome);
        if let Some(calls) = self.calls {
            let audit = audit.as_ref();
            call_range::print(&loaded.case, calls, &bills, audit, &played, shared)?;
            return Ok(Status::Done);
        }
        let lanes = played.par_iter().map(|played| {
            let mut lane = LaneCost::new(&bills, played);
            if !shared.json {
                lane.drop_calls();
            }
            lane
        });
        let prices = model_prices(&loaded.case.session, billing);
        let lanes: Vec<LaneCost<'_>> = lanes.collect();
        let compared = lanes.iter().map(|lane| lane.played);
        let compared = compared.filter(|played| !lanes::ALWAYS.contains(&&*played.lane));
        let compared = compared.map(|played| &played.outcome);
        let preset = lanes::working_preset(&loaded.case, "No compared policy", compared, shared);
        let measure = RereadMeasure {
            model: shared.reread_model(),
            files: &FileReads::new(&loaded.case),
            prices: &RereadPrices::new(&bills, loaded.case.session.calls.len()),
        };
        let recorded = &played[0].outcome;
        let attribution =
            Attribution::new(&loaded.case, recorded, &bills, &price_recorded(&bills, recorded));
        let mut diagnosis =
            diagnose(&loaded, reserve, lanes, measure, prices, audit.as_ref(), &attribution);
        diagnosis.card.extend(preset);
        if shared.json {
            json(&diagnosis.json_output())?;
        } else {
            print_wrapped(&diagnosis.text(self.all))?;
        }
        Ok(Status::Done)
    }
}

/// Computes a diagnosis. The first lane must be `recorded`.
fn diagnose<'a>(
    loaded: &'a Loaded,
    reserve: Tokens,
    lanes: Vec<LaneCost<'a>>,
    measure: RereadMeasure<'a>,
    prices: Vec<ModelPrice<'a>>,
    audit: Option<&'a Audit>,
    attribution: &'a Attribution,
) -> Diagnosis<'a> {
    let (case, recorded) = (&loaded.case, &lanes[0].played.outcome);
    let played = lanes.iter().filter_map(|lane| lane.played.lane());
    let trigger = Trigger::of_lanes(case, reserve, played);
    let session_insights = || {
        let input = InsightInput::new(case, recorded, reserve, trigger, audit)
            .with_attribution(attribution);
        let found = insights(&input);
        (input, found)
    };
    let lane_losses = || losses::losses(case, measure, &lanes);
    let ((input, mut found), losses) = rayon::join(session_insights, lane_losses);
    found.extend(lanes.iter().flat_map(|lane| policy_insights(case, lane)));
    found.extend(losses::insights(case, measure.files, &losses));
    sort(&mut found);
    let heaviest = input.resent.heaviest(&case.session, MAX_RESENT).into_iter();
    let most_resent = heaviest.map(|resent| {
        let used_by = input.uses.of_message(resent.message);
        MostResent {
            resent,
            last_use: used_by.and_then(|message| case.session.messages[message].call),
        }
    });
    Diagnosis {
        loaded,
        reserve,
        trigger: input.trigger.share,
        card: card(&input),
        insights: found,
        prices,
        sent: input.resent.sent,
        most_resent: most_resent.collect(),
        growth: largest_growth(&growth(case, recorded)),
        lanes,
        files: measure.files,
        losses,
        audit,
    }
}

/// Returns the insights about a policy's run; none about the recorded run.
fn policy_insights(case: &Case, lane: &LaneCost<'_>) -> Vec<Insight> {
    let played = lane.played;
    let Some(policy) = &played.policy else {
        return Vec::new();
    };
    let lane = Lane {
        name: &played.lane,
        policy,
        knobs: &played.knobs,
        outcome: &played.outcome,
        findings: &played.findings,
        break_even: &lane.break_even,
    };
    lane_insights(case, lane)
}

fn largest_growth(growth: &[Growth]) -> LargestGrowth {
    let mut calls = growth.to_vec();
    calls.sort_by_key(|growth| (Reverse(growth.grown), growth.call));
    calls.truncate(MAX_GROWTH);
    LargestGrowth { calls, share: share_of_largest(growth, Share(0.05)) }
}
