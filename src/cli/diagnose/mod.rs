//! `plimsoll diagnose`: what went wrong in a session, what it cost, what was lost, and what each policy would have done.

mod lost;
mod lost_shape;
mod lost_text;
mod shape;
mod text;

use super::args::{Shared, Words, one_file};
use super::billing::BillingArgs;
use super::lanes::{self, LaneArgs};
use super::output::{json, note, print};
use super::played::play;
use super::{Status, Verb};
use crate::analysis::cost::{
    Audit, Billing, Bills, BreakEven, Cost, audit, break_even, price_lane, price_recorded,
};
use crate::analysis::insight::{Facts, Insight, Lane, card, insights, lane_insights, sort};
use crate::analysis::retained::{Carried, Growth, growth};
use crate::analysis::{Clause, Trigger};
use crate::engine::Case;
use crate::exec::Loaded;
use crate::presets::prices::Price;
use crate::report::Played;
use crate::units::{Share, Tokens};
use lost::Lost;

pub(super) const VERB: Verb = Verb {
    name: "diagnose",
    summary: "Say what went wrong in a session, what it cost and lost, and what each policy would have.",
    help: "\
plimsoll diagnose FILE [--policy NAME|FILE.toml]... [--set KNOB=VALUE]... [--prices FILE.toml] [--json]

The verdict, what is worth knowing (worst first), the price of every lane with the provider's prompt cache modelled, what
each compaction cost and saved, the cache as modelled against the file's own counts, what the agent used again after it
had left each lane's context, how far back it reached, and the messages that were carried longest. Without --policy: truncate, prune and summarize. The lanes `recorded` and `none` are always there.

  --policy NAME[@LANE] a preset, or a FILE.toml; again for more lanes; LANE tells two of one preset apart
  --set KNOB=VALUE     sets a knob of every policy that has it; LANE.KNOB=VALUE of one lane only;
                       strategy=NAME plays another preset
  --prices FILE.toml   prices of your own before ours: [[price]] rows with match, caching, input, output, cache_read,
                       source, read and verified as in assets/prices.toml (USD for a million tokens)
  --price-as MODEL     prices all calls as this model's, whatever the file says
  --cache-time T       usual or long: how long the provider keeps a prefix; else as the file's own writes show
  --bill-rejected      the provider bills calls that it rejects as too long
  --all                lists all insights and compactions in the text, not only the first

Prices are list prices. A model that no row names leaves the cost blank.

JSON: format, title, window, output_reserve, trigger, basis, card, insights[{kind, level (bad, warning or note), certainty
(certain, likely or inferred), lane (null: the session itself), step, message, text, evidence, advice, token_calls}],
prices[{model, match, input, output, cache_read, cache_write, cache_write_hour, caching, source, read, verified}],
lanes[{lane, policy, cost{source (recorded or modelled), usd|null, unpriced_calls, estimated_outputs, read{tokens, usd},
written{}, uncached{}, output{}, rejected{}, summaries{}, calls[{step, read, written, uncached, output, usd}]},
break_even[{step, stages[], removed, rewritten, cold, usd_once, usd_per_call, calls_needed, calls_left, paid,
knows_summary}]}], cache_audit|null {predicted, recorded, breaks[{cause, calls, step, tokens, usd}], calls[{step,
predicted, recorded, most, cause}]}, loss{fetched_for_messages, lanes[{lane, uses, at_risk, at_risk_at_best, refetch,
horizon|null, edits, saved_of_lossless|null, knows_summaries, faults[{step, message, source, name, refetch}],
blind_edits[{step, message, lines, lines_there}], instructions_gone[{instruction, calls[[from, to]]}]}],
instructions[{message, text}], compactions[{step, lanes[{lane, knows_summary, names{verbatim[], partly[], gone[]},
instructions{}, files{}}]}], hindsight{tokens_sent, peak, clearings, cost}, reuse{keep_recent{uses, curve[{value, miss}],
at_most_5_percent_from, at_most_1_percent_from, current[{lane, value, miss}]}, prune_protect{}}}, sent, carried[{message, name, tokens, calls, token_calls, last_used_by}],
growth{share_of_largest_5_percent, largest[{step, tokens, message}]}.
usd is null where a price is not known. Steps, messages and instructions are numbered from 1.
",
    run,
};

/// Messages that are listed as the most carried.
const CARRIED: usize = 10;
/// Steps that are listed as the largest.
const GROWN: usize = 5;

/// Everything there is to say, once for both forms.
struct Diagnosis<'a> {
    loaded: &'a Loaded,
    reserve: Tokens,
    /// The trigger that the verdict speaks of, as a share of usable.
    trigger: Share,
    card: Vec<Clause>,
    insights: Vec<Insight>,
    /// The models with their prices, if known.
    prices: Vec<(String, Option<Price>)>,
    lanes: Vec<LaneCost<'a>>,
    lost: Lost,
    audit: Option<&'a Audit>,
    sent: Tokens,
    carried: Vec<(Carried, Option<usize>)>,
    growth: Vec<Growth>,
}

/// One lane with its price.
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

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let (mut wanted, mut priced_by, mut all) = <(LaneArgs, BillingArgs, bool)>::default();
    let files = words.read(VERB.name, &mut shared, |option, words| {
        all |= option == "--all";
        Ok(option == "--all" || wanted.take(option, words)? || priced_by.take(option, words)?)
    })?;
    let file = one_file(VERB.name, files)?;
    // What was typed is checked before a long file is read.
    let (lanes, none) = (wanted.lanes(&shared)?, lanes::none(&shared)?);
    let prices = priced_by.prices()?;
    let billing = priced_by.billing(&prices)?;
    let loaded = shared.load(&file)?;
    let reserve = lanes.first().unwrap_or(&none).output_reserve(&loaded.case);
    if let Some(text) = lanes::check_reserve(&loaded.case, reserve, &shared)? {
        note(&text);
    }
    let played = play(&loaded.case, none, lanes, reserve);
    let bills = Bills::new(&loaded.case, billing);
    let audit = audit(&loaded.case, &bills, &played[0].outcome);
    let diagnosis = diagnose(&loaded, reserve, &played, (billing, &bills), audit.as_ref());
    if shared.json {
        json(&diagnosis.shape())?;
    } else {
        print(&diagnosis.text(all))?;
    }
    Ok(Status::Done)
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
    let heaviest = facts.retained.heaviest(&case.session, CARRIED).into_iter();
    let carried = heaviest.map(|carried| {
        let user = facts.uses.of_message(carried.message);
        (
            carried,
            user.and_then(|message| case.session.messages[message].step),
        )
    });
    let first_call = |model: usize| {
        let mut steps = case.session.steps.iter();
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
        sent: facts.retained.sent,
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

/// The largest steps, and what share of all growth the largest twentieth is.
fn largest_growth(growth: &[Growth]) -> (Vec<Growth>, Share) {
    let mut largest = growth.to_vec();
    largest.sort_by_key(|grown| (std::cmp::Reverse(grown.grown), grown.step));
    largest.truncate(GROWN);
    (
        largest,
        crate::analysis::retained::share_of_largest(growth, Share(0.05)),
    )
}
