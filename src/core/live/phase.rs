//! What a manager waits for, and how its run gets there.

use super::LiveError;
use super::asking::Asking;
use super::conversation::Conversation;
use super::step::{Entry, EventReport, Ready, Step};
use crate::engine::{ExecutedContext, Poll, Run};
use crate::formats::live::parse_message;
use crate::tokens::Accuracy;

/// What a manager waits for.
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
) -> Result<(Phase, Step), LiveError> {
    match run.poll() {
        Poll::NeedsSummary(request) => {
            let asking = Asking::new(conversation.case(), request, window);
            let ask = asking.ask(|message| conversation.number(message));
            Ok((Phase::Asked(Box::new(asking)), Step::Summarize(ask)))
        }
        Poll::Ready | Poll::Done(_) => {
            let ready = ready(conversation, run)?;
            Ok((Phase::Ready(Box::new(ready.clone())), Step::Ready(ready)))
        }
    }
}

/// Returns the request of the call that waits.
fn ready(conversation: &Conversation, run: &mut Run<'_>) -> Result<Ready, LiveError> {
    let case = conversation.case();
    let context = run.context().clone();
    let tokens = context.tokens();
    let executed =
        ExecutedContext::new(context).map_err(|error| LiveError::Write(error.to_string()))?;
    let written = conversation.write(&executed.managed(&case.session))?;
    let mut entries = Vec::with_capacity(written.len());
    for message in written {
        let number = message.of.and_then(|of| conversation.number(of));
        let value = || parse_message(&message.text).map_err(LiveError::Write);
        entries.push(match number {
            Some(keep) if message.is_untouched => Entry::Keep { keep },
            Some(edit) => Entry::Edit { edit, message: value()? },
            None => Entry::Add { add: value()? },
        });
    }
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
