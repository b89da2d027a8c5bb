//! Plays the lanes of a gate over one session.

use super::baseline::{Lane as Known, Session};
use crate::analysis::cost::{Billing, Bills};
use crate::analysis::loss::Names;
use crate::analysis::tune::{Figures, Gauge};
use crate::cli::lanes::{ALWAYS, Lane};
use crate::engine::{KnobValues, recorded};
use crate::exec::{Loaded, fingerprint};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the lanes come to.
pub(super) fn session(
    loaded: &Loaded,
    (lanes, with_recorded): (&[(&Lane, String)], bool),
    billing: Billing<'_>,
    conversation: usize,
) -> Session {
    let case = &loaded.case;
    let names = Names::new(&case.session);
    let gauge = Gauge::new(case, Bills::new(case, billing), &names);
    let played = lanes.par_iter().map(|(lane, sha256)| {
        let (score, rejections) = gauge.judge(&lane.policy, &lane.knobs);
        let figures = Figures::new(score, &rejections);
        let policy = (lane.policy.name.clone(), sha256.clone());
        (
            lane.name.clone(),
            Known::new(&figures, policy, by_name(&lane.knobs)),
        )
    });
    let mut played: BTreeMap<String, Known> = played.collect();
    if with_recorded {
        let reserve = lanes.first().map_or_else(
            || crate::units::Tokens(32_000),
            |(lane, _)| lane.output_reserve(case),
        );
        let score = gauge.really(&recorded(case, reserve, None));
        let figures = Figures::new(score, &[]);
        let policy = (ALWAYS[0].to_owned(), String::new());
        played.insert(
            ALWAYS[0].to_owned(),
            Known::new(&figures, policy, BTreeMap::new()),
        );
    }
    Session {
        sha256: fingerprint(&case.session.source.bytes),
        conversation: conversation + 1,
        counter: case.ledger.counter.name.to_owned(),
        window: case.windows.largest().0,
        prices: prices(loaded, billing),
        lanes: played,
    }
}

fn by_name(knobs: &KnobValues) -> BTreeMap<String, f64> {
    knobs
        .iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What calls are billed by.
fn prices(loaded: &Loaded, billing: Billing<'_>) -> Vec<String> {
    let session = &loaded.case.session;
    let told = |(idx, name): (usize, &String)| {
        let mut steps = session.steps.iter();
        let first = steps
            .find(|step| step.model == Some(idx))
            .and_then(|step| step.time);
        let price = billing.prices.lookup(billing.model.unwrap_or(name), first);
        let Some(price) = price else {
            return format!("{name}: not known");
        };
        let write = price.cache_write.unwrap_or(price.input);
        format!(
            "{name}: {} input, {} output, {} cache read, {} cache write",
            price.input.0, price.output.0, price.cache_read.0, write.0
        )
    };
    let mut all: Vec<String> = session.models.iter().enumerate().map(told).collect();
    if billing.bills_rejected {
        all.push("rejected calls are billed".to_owned());
    }
    if let Some(lifetime) = billing.lifetime {
        all.push(format!("cache time {lifetime:?}").to_lowercase());
    }
    all
}
