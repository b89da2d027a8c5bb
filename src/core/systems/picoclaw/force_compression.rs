//! Forced compression: drops the older half of the history without asking a model.

use super::boundary::{before_group, find_safe_boundary, turn_starts};
use super::event::{Event, Reason};
use super::message::with_more_text;
use super::{Edition, Stored};

/// Before, a history of this many messages or fewer is unchanged.
// As in picoclaw 021aa7d6, `pkg/agent/loop.go`.
const MAX_UNCHANGED_BEFORE: usize = 4;

/// As built, a history of this many messages or fewer is unchanged.
// As in picoclaw cf67dd38, `pkg/agent/context_legacy.go`.
const MAX_UNCHANGED_AFTER: usize = 2;

/// Log line after a compression.
pub const EXECUTED: &str = "Forced compression executed";

/// The result of a compression.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed {
    /// The session afterwards.
    pub stored: Stored,
    /// Number of removed messages.
    pub dropped: usize,
}

impl Compressed {
    /// Returns the event that reports it.
    pub fn event(&self, reason: Reason) -> Event {
        Event::Compressed { reason, dropped: self.dropped, remaining: self.stored.history.len() }
    }
}

/// Compresses a session; `None` if it is too short, which is not reported.
pub fn force_compression(stored: &Stored, edition: Edition) -> Option<Compressed> {
    match edition {
        Edition::Before | Edition::Proposed => drop_half_of_messages(stored, edition),
        Edition::After => drop_half_of_turns(stored),
    }
}

/// Keeps the first message, which is treated as the system prompt and gets a note, the second half of the following
/// messages, and the last message. As proposed, the cut moves before the group of calls and results that contains it.
fn drop_half_of_messages(stored: &Stored, edition: Edition) -> Option<Compressed> {
    let history = &stored.history;
    if history.len() <= MAX_UNCHANGED_BEFORE {
        return None;
    }
    let cut = 1 + (history.len() - 2) / 2;
    let cut = match edition {
        Edition::Proposed => before_group(history, cut),
        _ => cut,
    };
    let dropped = cut.checked_sub(1).filter(|n| *n > 0)?;
    let note = format!(
        "\n\n[System Note: Emergency compression dropped {dropped} oldest messages due to context limit]"
    );
    let mut kept = vec![with_more_text(&history[0], &note)];
    kept.extend_from_slice(&history[cut..]);
    Some(Compressed { stored: Stored::new(kept, stored.summary.clone()), dropped })
}

/// Drops the older half of the turns; of a single turn, everything except the last user message. Adds the note to the
/// summary, where notes accumulate.
fn drop_half_of_turns(stored: &Stored) -> Option<Compressed> {
    let history = &stored.history;
    if history.len() <= MAX_UNCHANGED_AFTER {
        return None;
    }
    let starts = turn_starts(history);
    let cut = if starts.len() >= 2 {
        starts[starts.len() / 2]
    } else {
        find_safe_boundary(history, (history.len() / 2).cast_signed())
    };
    let kept = if cut == 0 {
        let last_user = history.iter().rfind(|m| m.is("user"));
        last_user.cloned().into_iter().collect()
    } else {
        history[cut..].to_vec()
    };
    let dropped = history.len() - kept.len();
    let note =
        format!("[Emergency compression dropped {dropped} oldest messages due to context limit]");
    let summary = match &*stored.summary {
        "" => note,
        existing => format!("{existing}\n\n{note}"),
    };
    Some(Compressed { stored: Stored::new(kept, summary), dropped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{ChatMessage, message_from_json};
    use crate::json::json;

    fn chain(n_calls: usize) -> Vec<ChatMessage> {
        let mut history = vec![ChatMessage::new("user", "q")];
        for id in 0..n_calls {
            let id = id.to_string();
            let call = json!({"role": "assistant", "tool_calls": [{"id": id}]});
            let result = json!({"role": "tool", "content": "r", "tool_call_id": id});
            history.extend([&call, &result].map(message_from_json));
        }
        history
    }

    #[test]
    fn the_proposal_never_separates_a_result_from_its_call() {
        let stored = Stored::new(chain(4), "");
        let roles = |edition| {
            let done = force_compression(&stored, edition).unwrap();
            let roles = done.stored.history.iter().map(|m| m.role.to_string());
            (done.dropped, roles.take(2).collect::<Vec<_>>())
        };
        let owned = |roles: [&str; 2]| roles.map(str::to_owned).to_vec();
        // Nine messages: the cut is before the fifth, which is a call; with one call fewer, before a result.
        assert_eq!(roles(Edition::Before), (3, owned(["user", "tool"])));
        assert_eq!(roles(Edition::Proposed), (2, owned(["user", "assistant"])));
    }

    #[test]
    fn before_the_note_is_appended_to_the_first_message() {
        let stored = Stored::new(chain(3), "earlier");
        let done = force_compression(&stored, Edition::Before).unwrap();
        let note = "q\n\n[System Note: Emergency compression dropped 2 oldest messages due to context limit]";
        assert_eq!(done.stored.history[0].text(), Some(note));
        assert_eq!(done.stored.summary, "earlier");
    }
}
