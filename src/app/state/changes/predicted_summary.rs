//! Preview of a predicted summary: the offline digest's text for its request, before any model is called.

use crate::app::state::model::runs::replays::LaneRun;
use crate::engine::{
    Answer, Case, Estimator, Event, Reply, Request, Schedule, Written, digest, drive,
};
use std::ops::Range;

/// A summarizer that answers like the estimator, so that the run stays the same, and records the requests.
struct RequestRecorder(Vec<Request>);

impl Answer for RequestRecorder {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        self.0.push(request.clone());
        Estimator.answer(case, request)
    }
}

/// Returns the digest's text for a predicted summary of a run up to a call; `None` if the event has no identifiable
/// request.
pub(crate) fn predicted(
    case: &Case,
    run: &LaneRun,
    until: Option<usize>,
    written: &Written,
    event: &Event,
) -> Option<String> {
    let mut recorder = RequestRecorder(Vec::new());
    let (policy, knobs) = (&run.policy, &run.knobs);
    drive(case, policy, knobs, Schedule::Replay, until, &mut recorder);
    let is_it = |request: &&Request| {
        request.call == event.call && request.stage == event.stage && overlap(request, written)
    };
    let request = recorder.0.iter().rfind(is_it)?;
    let text = digest(case, request);
    // A system that writes its own request also formats its own message.
    Some(match &request.verbatim {
        Some(_) => text,
        None => request.message(&text).as_ref().to_owned(),
    })
}

/// Returns whether the request and the text cover common messages.
fn overlap(request: &Request, written: &Written) -> bool {
    let shares =
        |a: &Range<usize>, b: &Range<u32>| a.start < b.end as usize && (b.start as usize) < a.end;
    let covers = || request.covers.iter().chain(&request.messages);
    written.covers.iter().any(|b| covers().any(|a| shares(a, b)))
}
