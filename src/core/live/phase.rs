//! State of a manager: the input that it waits for, and the run up to there.

use super::LiveError;
use super::asking::Asking;
use super::conversation::Conversation;
use super::last_request::LastRequest;
use super::step::{EventReport, Ready, Step};
use crate::engine::{ExecutedContext, Poll, Run};
use crate::tokens::Accuracy;

/// Input that a manager waits for.
#[derive(Debug)]
pub(super) enum Phase {
    /// The next step continues the run.
    Due,
    /// A summary is being written.
    Asked(Box<Asking>),
    /// A request was built, and nothing has arrived since.
    Ready(Box<Ready>),
    /// The run was lost in a call that did not return.
    Failed,
}

/// Continues a run until it needs something.
pub(super) fn poll(
    conversation: &Conversation,
    run: &mut Run<'_>,
    window: u64,
    last: &mut LastRequest,
) -> Result<(Phase, Step), LiveError> {
    match run.poll() {
        Poll::NeedsSummary(request) => {
            let asking = Asking::new(conversation.case(), request, window);
            let ask = asking.ask(|message| conversation.number(message));
            Ok((Phase::Asked(Box::new(asking)), Step::Summarize(ask)))
        }
        Poll::Ready | Poll::Done(_) => {
            let ready = ready(conversation, run, last)?;
            Ok((Phase::Ready(Box::new(ready.clone())), Step::Ready(ready)))
        }
    }
}

/// Returns the request of the call that waits.
fn ready(
    conversation: &Conversation,
    run: &mut Run<'_>,
    last: &mut LastRequest,
) -> Result<Ready, LiveError> {
    let case = conversation.case();
    let context = run.context().clone();
    let tokens = context.tokens();
    let executed =
        ExecutedContext::new(context).map_err(|error| LiveError::Write(error.to_string()))?;
    let entries = last.replace(conversation, executed.managed(&case.session))?;
    let (accuracy, error) = match (run.has_learned(), case.ledger.accuracy) {
        (true, _) => ("calibrated", run.measured_error().map(|share| share.0)),
        (false, Accuracy::Calibrated(error)) => ("calibrated", Some(error.0)),
        (false, Accuracy::Exact) => ("exact", None),
        (false, _) => ("estimated", None),
    };
    Ok(Ready {
        call: case.session.calls.len(),
        entries,
        tokens: tokens.0,
        accuracy,
        error,
        events: run.take_events().iter().map(EventReport::of).collect(),
        warnings: Vec::new(),
    })
}
