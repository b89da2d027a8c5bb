//! `plimsoll diagnose`: what went wrong in a session, what it cost, what was lost, and what each policy would have done.

mod lost;
mod lost_shape;
mod lost_text;
mod shape;
mod text;

use super::Status;
use super::args::{FileArg, Shared};
use super::billing::BillingArgs;
use super::lanes::{self, LaneArgs};
use super::output::{json, note, print};
use super::played::play;
use crate::analysis::cost::{
    Audit, Billing, Bills, BreakEven, Cost, audit, break_even, price_lane, price_recorded,
};
use crate::analysis::insight::{Facts, Insight, Lane, card, insights, lane_insights, sort};
use crate::analysis::resent::{Growth, ResentMessage, growth};
use crate::analysis::{Clause, Trigger};
use crate::engine::Case;
use crate::exec::Loaded;
use crate::presets::prices::Price;
use crate::report::Played;
use crate::units::{Share, Tokens};
use lost::Lost;

/// Explain what went wrong in a session, what it cost and lost, and what each policy would have changed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always shown.\nPrices are list prices; calls of a model without a price have no cost."
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// List all insights and compactions, not only the first
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    lanes: LaneArgs,
    #[command(flatten)]
    billing: BillingArgs,
}

/// Number of messages in the list of the most resent.
const CARRIED: usize = 10;
/// Number of calls in the list of the largest growth.
const GROWN: usize = 5;

/// The result of the command, for text and JSON.
struct Diagnosis<'a> {
    loaded: &'a Loaded,
    reserve: Tokens,
    /// The trigger that the verdict refers to, as a share of the usable window.
    trigger: Share,
    card: Vec<Clause>,
    insights: Vec<Insight>,
    /// Models, each with its price if known.
    prices: Vec<(String, Option<Price>)>,
    lanes: Vec<LaneCost<'a>>,
    lost: Lost,
    audit: Option<&'a Audit>,
    sent: Tokens,
    carried: Vec<(ResentMessage, Option<usize>)>,
    growth: Vec<Growth>,
}

/// One lane with its cost.
struct LaneCost<'a> {
    played: &'a Played,
    cost: Cost,
    break_even: Vec<BreakEven>,
}

impl Diagnosis<'_> {
    fn case(&self) -> &Case {
        &self.loaded.case
    }
}

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        // Options are checked before a large file is read.
        let (lanes, none) = (self.lanes.lanes(shared)?, lanes::none(shared)?);
        let prices = self.billing.prices()?;
        let billing = self.billing.billing(&prices)?;
        let loaded = shared.load(&self.file.file)?;
        let reserve = lanes.first().unwrap_or(&none).output_reserve(&loaded.case);
        if let Some(text) = lanes::check_reserve(&loaded.case, reserve, shared)? {
            note(&text);
        }
        let played = play(&loaded.case, none, lanes, reserve);
        let bills = Bills::new(&loaded.case, billing);
        let audit = audit(&loaded.case, &bills, &played[0].outcome);
        let diagnosis = diagnose(&loaded, reserve, &played, (billing, &bills), audit.as_ref());
        if shared.json {
            json(&diagnosis.shape())?;
        } else {
            print(&diagnosis.text(self.all))?;
        }
        Ok(Status::Done)
    }
}

fn diagnose<'a>(
    loaded: &'a Loaded,
    reserve: Tokens,
    played: &'a [Played],
    (billing, bills): (Billing<'_>, &Bills<'_>),
    audit: Option<&'a Audit>,
) -> Diagnosis<'a> {
    let (case, really) = (&loaded.case, &played[0].outcome);
    let trigger = Trigger::of_lanes(case, reserve, played.iter().filter_map(Played::lane));
    let facts = Facts::new(case, really, (reserve, trigger), audit);
    let lanes: Vec<LaneCost<'_>> = played
        .iter()
        .map(|played| priced(case, bills, played))
        .collect();
    let mut found = insights(&facts);
    found.extend(lanes.iter().flat_map(|lane| of_lane(case, lane)));
    let lost = lost::lost(case, bills, &lanes, reserve);
    found.extend(lost::insights(case, &lost));
    sort(&mut found);
    let heaviest = facts.resent.heaviest(&case.session, CARRIED).into_iter();
    let carried = heaviest.map(|carried| {
        let user = facts.uses.of_message(carried.message);
        (
            carried,
            user.and_then(|message| case.session.messages[message].call),
        )
    });
    let first_call = |model: usize| {
        let mut steps = case.session.calls.iter();
        steps
            .find(|step| step.model == Some(model))
            .and_then(|step| step.time)
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
        trigger: facts.trigger.share,
        card: card(&facts),
        insights: found,
        prices: models.collect(),
        sent: facts.resent.sent,
        carried: carried.collect(),
        growth: growth(case, really),
        lanes,
        lost,
        audit,
    }
}

fn priced<'a>(case: &Case, bills: &Bills<'_>, played: &'a Played) -> LaneCost<'a> {
    let cost = if played.policy.is_none() {
        price_recorded(case, bills, &played.outcome)
    } else {
        price_lane(bills, &played.outcome)
    };
    LaneCost {
        cost,
        break_even: break_even(bills, &played.outcome),
        played,
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
    largest.sort_by_key(|grown| (std::cmp::Reverse(grown.grown), grown.step));
    largest.truncate(GROWN);
    (
        largest,
        crate::analysis::resent::share_of_largest(growth, Share(0.05)),
    )
}
