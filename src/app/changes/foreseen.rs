//! A summary that is only predicted, as the offline digest would write it: something to read before a model is asked.

use crate::app::runs::LaneRun;
use crate::engine::{
    Answer, Case, Estimator, Event, Reply, Request, Schedule, Written, digest, drive,
};
use std::ops::Range;

/// Answers like the estimator, so that the run stays the one that is shown, and remembers what was asked.
struct Listening(Vec<Request>);

impl Answer for Listening {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        self.0.push(request.clone());
        Estimator.answer(case, request)
    }
}

/// The text that the digest writes in the place of a predicted one, as a run up to a step asks for it; none where no
/// request of that event can be told.
pub(super) fn foreseen(
    case: &Case,
    run: &LaneRun,
    until: Option<usize>,
    (written, event): (&Written, &Event),
) -> Option<String> {
    let mut listening = Listening(Vec::new());
    let (policy, knobs) = (&run.policy, &run.knobs);
    drive(case, policy, knobs, Schedule::Replay, until, &mut listening);
    let is_it = |request: &&Request| {
        request.step == event.step && request.stage == event.stage && overlap(request, written)
    };
    let request = listening.0.iter().rfind(is_it)?;
    let text = digest(case, request);
    // Where a system writes its own request it also words its own message.
    Some(match &request.ask {
        Some(_) => text,
        None => request.message(&text).as_ref().to_owned(),
    })
}

/// Whether what was asked for is to stand for what the text stands for.
fn overlap(request: &Request, written: &Written) -> bool {
    let shares =
        |a: &Range<usize>, b: &Range<u32>| a.start < b.end as usize && (b.start as usize) < a.end;
    let covers = || request.covers.iter().chain(&request.messages);
    written
        .covers
        .iter()
        .any(|b| covers().any(|a| shares(a, b)))
}
