//! Reports whether compacting the result again with the same settings changes it, and why.

use super::outcome::Check;
use super::promise::Promise;
use crate::engine::{
    Answer, Case, Reply, Request, Schedule, WindowPlan, WindowSource, digest, drive,
};
use crate::figure::tokens;
use crate::session::Session;
use std::sync::Arc;

const NAME: &str = "again";

/// Applies the policy once to the written file. A policy whose trigger is met again compacts before each call. That is
/// a property of the policy, not a fault of the file: it is reported.
pub(super) fn check(promise: &Promise<'_>, read: Session) -> Check {
    let ledger = promise.case.ledger.recount(&read);
    let window = promise.case.windows.at(promise.call);
    let windows = WindowPlan::constant(window, read.calls.len().max(1), WindowSource::User);
    let case = Case::new(Arc::new(read), ledger, windows);
    let schedule = Schedule::Now { force: false };
    let outcome = drive(&case, promise.policy, promise.knobs, schedule, None, &mut Digests);
    let Some(event) = outcome.events.iter().find(|event| event.after < event.before) else {
        return match outcome.compactions {
            0 => Check::passed(NAME, "compacting it again changes nothing"),
            _ => Check::passed(NAME, "compacting it again acts and saves nothing"),
        };
    };
    let stage = &event.stage;
    let because = match &*event.cause.when {
        "true" => "its stage runs at each call".to_owned(),
        when => format!("`{when}` is met"),
    };
    let (before, after) = (tokens(event.before), tokens(event.after));
    Check::passed(
        NAME,
        format!(
            "compacting it again, `{stage}` removes more ({before} to {after} tokens): {because}"
        ),
    )
}

/// Answers every summary request with the digest.
struct Digests;

impl Answer for Digests {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        Reply::Summary(Arc::from(digest(case, request)))
    }
}
