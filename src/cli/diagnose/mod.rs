//! `plimsoll diagnose`: problems of a session, its cost and losses, and those of each policy.

mod call_range;
mod json_output;
mod lane_cost;
mod losses;
mod losses_json;
mod losses_text;
mod text;

use super::args::{FileArg, GlobalOptions, calls};
use super::billing::BillingArgs;
use super::lanes::{self, LaneArgs};
use super::output::{json, note, print_wrapped};
use super::played::play;
use super::status::Status;
use crate::analysis::cost::{Audit, Billing, Bills, audit};
use crate::analysis::insight::{Insight, InsightInput, Lane, card, insights, lane_insights, sort};
use crate::analysis::resent::{Growth, ResentMessage, growth};
use crate::analysis::{CallRange, Clause, Trigger};
use crate::engine::Case;
use crate::exec::Loaded;
use crate::presets::prices::Price;
use crate::report::Played;
use crate::units::{Share, Tokens};
pub(super) use call_range::CallRangeOutput;
pub(super) use json_output::DiagnosisOutput;
use lane_cost::LaneCost;
use losses::Losses;
use rayon::prelude::*;

/// List problems of a session, its cost and losses, and those of each policy
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always shown. Prices are list prices; calls of a model without a price have no cost."
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
    card: Vec<Clause>,
    insights: Vec<Insight>,
    /// Models, each with its price if known.
    prices: Vec<(String, Option<Price>)>,
    lanes: Vec<LaneCost<'a>>,
    losses: Losses,
    audit: Option<&'a Audit>,
    sent: Tokens,
    /// The most resent messages, each with the last call that used it.
    most_resent: Vec<(ResentMessage, Option<usize>)>,
    growth: Vec<Growth>,
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
        // Options are checked before a large file is read.
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let prices = self.billing.prices()?;
        let billing = self.billing.billing(&prices)?;
        let loaded = shared.load(&self.file.file)?;
        let reserve = none.output_reserve(&loaded.case);
        if let Some(text) = lanes::check_reserve(&loaded.case, reserve, shared)? {
            note(&text);
        }
        lanes::note_without_effect(&loaded.case, &lanes);
        let played = play(&loaded.case, none, lanes);
        let bills = Bills::new(&loaded.case, billing);
        let audit = audit(&loaded.case, &bills, &played[0].outcome);
        if let Some(calls) = self.calls {
            call_range::print(
                &loaded.case,
                calls,
                (&bills, audit.as_ref()),
                &played,
                shared,
            )?;
            return Ok(Status::Done);
        }
        let billed = (billing, &bills, shared.json);
        let diagnosis = diagnose(&loaded, reserve, &played, billed, audit.as_ref());
        if shared.json {
            json(&diagnosis.json_output())?;
        } else {
            print_wrapped(&diagnosis.text(self.all))?;
        }
        Ok(Status::Done)
    }
}

/// Computes a diagnosis. `is_by_call` keeps the cost of each call for JSON output.
fn diagnose<'a>(
    loaded: &'a Loaded,
    reserve: Tokens,
    played: &'a [Played],
    (billing, bills, is_by_call): (Billing<'_>, &Bills<'_>, bool),
    audit: Option<&'a Audit>,
) -> Diagnosis<'a> {
    let (case, recorded) = (&loaded.case, &played[0].outcome);
    let trigger = Trigger::of_lanes(case, reserve, played.iter().filter_map(Played::lane));
    let lanes: Vec<LaneCost<'_>> = played
        .par_iter()
        .map(|played| {
            let mut lane = LaneCost::new(case, bills, played);
            if !is_by_call {
                lane.cost.drop_calls();
            }
            lane
        })
        .collect();
    let of_session = || {
        let input = InsightInput::new(case, recorded, reserve, trigger, audit);
        let found = insights(&input);
        (input, found)
    };
    let of_lanes = || losses::losses(case, bills, &lanes, reserve);
    let ((input, mut found), losses) = rayon::join(of_session, of_lanes);
    found.extend(lanes.iter().flat_map(|lane| of_lane(case, lane)));
    found.extend(losses::insights(case, &losses));
    sort(&mut found);
    let heaviest = input.resent.heaviest(&case.session, MAX_RESENT).into_iter();
    let most_resent = heaviest.map(|resent| {
        let user = input.uses.of_message(resent.message);
        (
            resent,
            user.and_then(|message| case.session.messages[message].call),
        )
    });
    let first_call = |model: usize| {
        let mut calls = case.session.calls.iter();
        calls
            .find(|call| call.model == Some(model))
            .and_then(|call| call.time)
    };
    let models = case.session.models.iter().enumerate().map(|(idx, name)| {
        let price = billing
            .prices
            .lookup(billing.model.unwrap_or(name), first_call(idx));
        (name.clone(), price.cloned())
    });
    Diagnosis {
        loaded,
        reserve,
        trigger: input.trigger.share,
        card: card(&input),
        insights: found,
        prices: models.collect(),
        sent: input.resent.sent,
        most_resent: most_resent.collect(),
        growth: growth(case, recorded),
        lanes,
        losses,
        audit,
    }
}

fn of_lane(case: &Case, lane: &LaneCost<'_>) -> Vec<Insight> {
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

/// Returns the calls with the largest growth, and the share of the largest 5 % in the total growth.
fn largest_growth(growth: &[Growth]) -> (Vec<Growth>, Share) {
    let mut largest = growth.to_vec();
    largest.sort_by_key(|grown| (std::cmp::Reverse(grown.grown), grown.call));
    largest.truncate(MAX_GROWTH);
    (
        largest,
        crate::analysis::resent::share_of_largest(growth, Share(0.05)),
    )
}
