//! Reads the user's constraints from a session that an agent records, and writes the texts that agents receive.

use super::event::Event;
use super::keys::without_keys;
use crate::analysis::facts::{constraints_lost_by_compaction, user_constraints};
use crate::exec::load::{parse_bytes, parse_file};
use crate::progress::Progress;
use crate::session::{Session, Track};

/// Maximum length of the constraints in a text, in bytes. Claude Code accepts 10,000 characters from a hook.
const MAX_TEXT: usize = 8_000;

/// Text before the constraints in a summary request.
const FOR_SUMMARY: &str =
    "The user gave these instructions. They still apply. Repeat them word for word in the summary:";

/// Text before the constraints in the context.
const FOR_CONTEXT: &str =
    "The conversation was compacted. The user gave these instructions before; they still apply:";

/// Reads the session of an event.
///
/// # Errors
/// Returns one line if the agent records no session or it cannot be read.
pub(super) fn session_of(event: &Event) -> Result<Session, String> {
    let progress = Progress::default();
    let parsed = match (&event.session, &event.transcript_path) {
        (Some(session), _) => parse_bytes("session", session.get().as_bytes().to_vec(), &progress),
        (None, Some(path)) => parse_file(path, &progress),
        (None, None) => return Err("the agent records no session".to_owned()),
    };
    let sessions = parsed.map_err(|error| error.to_string())?.sessions;
    let main = sessions.into_iter().find(|session| session.track == Track::Main);
    main.ok_or_else(|| "the session file contains no conversation".to_owned())
}

/// Returns the constraints that are true at the end of a session, without keys, oldest first.
pub fn constraints_of(session: &Session) -> Vec<String> {
    all_without_keys(&user_constraints(session))
}

/// Returns the constraints of an event's session, as [`constraints_of`] does.
///
/// # Errors
/// The error of [`session_of`].
pub(super) fn current(event: &Event) -> Result<Vec<String>, String> {
    Ok(constraints_of(&session_of(event)?))
}

/// Constraints that the last recorded compaction of a session lost.
#[derive(Debug)]
pub(super) struct Losses {
    /// The constraints, without keys, oldest first.
    pub(super) lost: Vec<String>,
    /// Number of recorded compactions.
    pub(super) compactions: usize,
}

/// Returns the constraints that the last recorded compaction lost.
///
/// # Errors
/// The error of [`session_of`], or one line if no compaction is recorded.
pub(super) fn losses(event: &Event) -> Result<Losses, String> {
    let session = session_of(event)?;
    let lost = constraints_lost_by_compaction(&session)
        .ok_or("the session file does not contain the compaction yet")?;
    Ok(Losses { lost: all_without_keys(&lost), compactions: session.compactions.len() })
}

/// Replaces keys: the constraints are printed into requests and written to the disk.
fn all_without_keys(constraints: &[String]) -> Vec<String> {
    constraints.iter().map(|text| without_keys(text).into_owned()).collect()
}

/// Returns the indices of the newest constraints that fit into a text, ascending.
pub(super) fn fitting(constraints: &[String], mut indices: Vec<usize>) -> Vec<usize> {
    let mut left = MAX_TEXT;
    let n_left_out = indices
        .iter()
        .rposition(|idx| {
            let len = constraints[*idx].len() + 3;
            let is_too_long = len > left;
            left = left.saturating_sub(len);
            is_too_long
        })
        .map_or(0, |at| at + 1);
    indices.drain(..n_left_out);
    indices
}

/// Returns the text for a summary request; empty without constraints.
pub(super) fn for_summary(constraints: &[String]) -> String {
    let all = fitting(constraints, (0..constraints.len()).collect());
    list(FOR_SUMMARY, constraints, &all)
}

/// Returns the text for the context; empty without constraints.
pub(super) fn for_context(constraints: &[String], indices: &[usize]) -> String {
    list(FOR_CONTEXT, constraints, indices)
}

fn list(head: &str, constraints: &[String], indices: &[usize]) -> String {
    if indices.is_empty() {
        return String::new();
    }
    let lines = indices.iter().map(|idx| format!("\n- {}", constraints[*idx]));
    format!("{head}{}\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_constraints_fit() {
        let constraints: Vec<String> = (0..100).map(|n| format!("{n:0200}")).collect();
        let fitting = fitting(&constraints, (0..100).collect());
        assert_eq!(fitting, (100 - MAX_TEXT / 203..100).collect::<Vec<_>>());
        assert_eq!(super::fitting(&constraints, vec![3, 7]), [3, 7]);
        assert!(for_summary(&constraints).len() < 10_000);
        assert_eq!(for_summary(&[]), "");
    }
}
