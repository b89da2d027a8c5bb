//! Plays the lanes of `plimsoll gate` over one session.

use super::baseline::{BaselineLane, BaselineSession};
use crate::analysis::cost::{Billing, Bills};
use crate::analysis::facts::{Facts, LaneSurvival};
use crate::analysis::loss::Names;
use crate::analysis::rereads::{FileReads, RereadModel};
use crate::analysis::tune::{Check, Figures, Gauge, MinSurvival};
use crate::cli::billing::{ModelPrice, model_prices};
use crate::cli::figures::FiguresEntry;
use crate::cli::lanes::{ALWAYS, Lane};
use crate::cli::targets::SessionId;
use crate::engine::{Case, KnobValues, Outcome, recorded, simulate};
use crate::exec::fingerprint;
use crate::session::Session;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The lanes to check.
pub(super) struct GatedLanes {
    pub(super) policies: Vec<Lane>,
    /// SHA-256 of the text of each policy.
    pub(super) hashes: Vec<String>,
    /// The lane whose output reserve the recorded run uses; `None` if the recorded run is not checked.
    pub(super) recorded_as: Option<Lane>,
}

/// Plays the lanes and returns their figures.
pub(super) fn session(
    case: &Case,
    lanes: &GatedLanes,
    billing: Billing<'_>,
    model: &RereadModel,
    id: &SessionId,
) -> BaselineSession {
    let (names, files) = (Names::new(&case.session), FileReads::new(case));
    let gauge = Gauge::new(case, Bills::new(case, billing), &names, (&files, model));
    let policies = lanes.policies.par_iter().zip(&lanes.hashes);
    let played = policies.map(|(lane, sha256)| {
        let figures = Figures::new(&gauge.assess(&lane.policy, &lane.knobs));
        let played = BaselineLane {
            policy: lane.policy.name.clone(),
            policy_sha256: sha256.clone(),
            settings: by_name(&lane.knobs),
            figures: FiguresEntry::from(figures.score),
            thrash: figures.flaw,
        };
        (lane.name.clone(), played)
    });
    let mut played: BTreeMap<String, BaselineLane> = played.collect();
    if let Some(none) = &lanes.recorded_as {
        let score = gauge.recorded_score(&recorded(case, none.output_reserve(case), None));
        let lane = BaselineLane {
            policy: ALWAYS[0].to_owned(),
            policy_sha256: String::new(),
            settings: BTreeMap::new(),
            figures: FiguresEntry::from(score),
            thrash: None,
        };
        played.insert(ALWAYS[0].to_owned(), lane);
    }
    BaselineSession {
        sha256: content(&case.session, id),
        file: id.file.clone(),
        conversation: id.number().unwrap_or(1),
        counter: case.ledger.counter.name.to_owned(),
        window: case.windows.largest().0,
        prices: prices(&case.session, billing),
        reread_model: fingerprint(model.to_toml().as_bytes()),
        lanes: played,
    }
}

/// Checks the survival of facts in every lane.
pub(super) fn survival(
    case: &Case,
    lanes: &GatedLanes,
    limits: &[MinSurvival],
) -> BTreeMap<String, Vec<Check>> {
    if limits.is_empty() {
        return BTreeMap::new();
    }
    let facts = Facts::new(&case.session);
    let check = |outcome: &Outcome| -> Vec<Check> {
        let survival = LaneSurvival::new(&facts, case, outcome);
        limits.iter().map(|limit| limit.check(&survival)).collect()
    };
    let played = lanes.policies.par_iter().map(|lane| {
        let outcome = simulate(case, &lane.policy, &lane.knobs, None);
        (lane.name.clone(), check(&outcome))
    });
    let mut checks: BTreeMap<_, _> = played.collect();
    if let Some(none) = &lanes.recorded_as {
        let outcome = recorded(case, none.output_reserve(case), None);
        checks.insert(ALWAYS[0].to_owned(), check(&outcome));
    }
    checks
}

/// Returns the SHA-256 of the file, or of the session's messages if the file holds several sessions.
fn content(session: &Session, id: &SessionId) -> String {
    let bytes = session.source.bytes.whole();
    let messages = session.messages.iter().flat_map(|message| &message.raw);
    let own: Vec<&[u8]> = messages.map(|span| &bytes[span.clone()]).collect();
    match id.number() {
        None => fingerprint(&bytes),
        // Nothing else tells the sessions of the file apart.
        Some(number) if own.is_empty() => {
            fingerprint(&[&bytes[..], number.to_string().as_bytes()].concat())
        }
        Some(_) => fingerprint(&own.join(&b'\n')),
    }
}

fn by_name(knobs: &KnobValues) -> BTreeMap<String, f64> {
    knobs.iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the prices and billing rules as text.
fn prices(session: &Session, billing: Billing<'_>) -> Vec<String> {
    let models = model_prices(session, billing).into_iter();
    let texts = models.map(|ModelPrice { model, price }| {
        let Some(price) = price else {
            return format!("{model}: unknown");
        };
        let write = price.cache_write.unwrap_or(price.input);
        format!(
            "{model}: {} input, {} output, {} cache read, {} cache write",
            price.input.0, price.output.0, price.cache_read.0, write.0
        )
    });
    let mut all: Vec<String> = texts.collect();
    if billing.bills_rejected {
        all.push("rejected calls are billed".to_owned());
    }
    if let Some(lifetime) = billing.lifetime {
        all.push(format!("cache time {lifetime:?}").to_lowercase());
    }
    all
}
