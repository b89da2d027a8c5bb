//! Checks that compacting the result again with the same settings changes nothing, and reports why it would.

use super::{Check, Promise};
use crate::engine::{
    Answer, Case, Reply, Request, Schedule, WindowPlan, WindowSource, digest, drive,
};
use crate::session::Session;
use std::sync::Arc;

const NAME: &str = "again";

/// Applies the policy once to what was written. A policy whose trigger is met at once again would compact before each
/// call: that is named, and it is wrong where it gains nothing by it.
pub(super) fn check(promise: &Promise<'_>, read: Session) -> Check {
    let ledger = promise.case.ledger.recount(&read);
    let window = promise.case.windows.at(promise.step);
    let windows = WindowPlan::constant(window, read.calls.len().max(1), WindowSource::ByHand);
    let case = Case::new(Arc::new(read), ledger, windows);
    let schedule = Schedule::Now { force: false };
    let outcome = drive(
        &case,
        promise.policy,
        promise.knobs,
        schedule,
        None,
        &mut Digests,
    );
    let Some(event) = outcome
        .events
        .iter()
        .find(|event| event.after < event.before)
    else {
        return match outcome.compactions {
            0 => Check::passed(NAME, "compacting it again changes nothing"),
            _ => Check::failed(NAME, "compacting it again would act and save nothing"),
        };
    };
    let stage = &event.stage;
    let because = match &*event.cause.when {
        "true" => "it looks at each call anew".to_owned(),
        when => format!("`{when}` is met"),
    };
    let (before, after) = (event.before.0, event.after.0);
    Check::passed(
        NAME,
        format!("compacting it again, `{stage}` goes on ({before} to {after} tokens): {because}"),
    )
}

/// Every request is answered by the digest.
struct Digests;

impl Answer for Digests {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Summary(Arc::from(digest(case, request)))
    }
}
