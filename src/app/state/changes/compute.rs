//! Changes of a message in a lane, next to the original: the difference, or the summary that replaces it.

use crate::app::state::changes::changed::{Changes, Target};
use crate::app::state::changes::message_changes::ChangeInputs;
use crate::app::state::lanes::rows::LaneRows;
use crate::app::state::model::document::Document;
use crate::app::state::model::runs::replays::Runs;

/// Maximum bytes of a text that is compared in a frame.
const MAX_BYTES: usize = 32 * 1024;
/// Maximum messages of a session that is replayed in a frame.
const MAX_MESSAGES: usize = 1_000;

impl Changes {
    /// Returns the changes of an item in a lane at the call of the rows.
    pub fn new(
        document: &Document,
        runs: &Runs,
        rows: &LaneRows,
        lane: usize,
        target: Target,
    ) -> Self {
        let Some(run) = runs.lanes.get(lane) else {
            return Self::default();
        };
        let state = rows.states.get(lane).and_then(Option::as_ref);
        let (context, events) = match state {
            Some(state) => (&state.context, &state.events),
            None => (&run.outcome.context, &run.outcome.events),
        };
        let inputs =
            ChangeInputs { document, runs, rows, lane, context, events, is_whole: state.is_none() };
        match target {
            Target::Message(message) => inputs.message(message),
            Target::Written(place) => inputs.written(place),
        }
    }

    /// Returns whether the work may take longer than a frame.
    pub fn is_slow(document: &Document, target: Target) -> bool {
        let session = document.session();
        let bytes = |message: usize| -> usize {
            let message = session.messages.get(message);
            let parts = message.map_or(&[][..], |message| session.parts_of(message));
            parts.iter().map(|part| part.body.text().len()).sum()
        };
        let is_large = match target {
            Target::Message(message) => bytes(message) > MAX_BYTES,
            Target::Written(_) => false,
        };
        // A predicted summary replays the lane once more.
        is_large || session.messages.len() > MAX_MESSAGES
    }
}
