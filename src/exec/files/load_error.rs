//! The error of everything that reads or writes a file of the user's.

use super::limits::MAX_SESSION_BYTES;
use crate::progress::Cancelled;
use std::io;

/// One line that names the file, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

impl LoadError {
    /// A file or stream that cannot be read to its end.
    pub(crate) fn unreadable(name: &str, error: &io::Error) -> Self {
        Self(format!("cannot read {name} ({error})"))
    }

    /// A file or stream beyond [`MAX_SESSION_BYTES`].
    pub(crate) fn too_large(name: &str) -> Self {
        Self(format!(
            "{name} is larger than the limit of {} GiB; give a smaller session file",
            MAX_SESSION_BYTES >> 30
        ))
    }

    /// Loading that the user cancelled.
    pub(crate) fn cancelled(name: &str, cancelled: Cancelled) -> Self {
        Self(format!("{name}: {cancelled}"))
    }

    /// A conversation number that the file does not have.
    pub(crate) fn no_such_conversation(name: &str, count: usize) -> Self {
        Self(match count {
            1 => format!("{name} contains one conversation; choose 1"),
            _ => format!("{name} contains {count} conversations; choose one from 1 to {count}"),
        })
    }
}
