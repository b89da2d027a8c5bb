//! The text of a workspace and the session that it belongs to.

use crate::exec::files::{LoadError, file_name, read_bounded, sha256};
use crate::session::{FileBytes, Session};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Maximum size of a workspace, in bytes. It holds settings, marks and notes but no content of the session, so a larger
/// file is damaged or not a workspace.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Maximum size of a session that is compared by its content, in bytes. All of it is hashed while the window waits.
pub(super) const MAX_SESSION: u64 = 256 << 20;

/// The session of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionKey {
    /// File name.
    pub name: String,
    /// Name of the format.
    pub format: String,
    /// Index of the conversation, from 0.
    pub conversation: usize,
    /// Size of the content.
    pub bytes: u64,
    /// Hash of the content.
    pub sha256: String,
}

/// The part of a workspace that identifies its session.
#[derive(Deserialize)]
struct WorkspaceHeader {
    session: SessionKey,
}

impl SessionKey {
    /// Returns the key of a session.
    pub fn of(path: &Path, session: &Session, conversation: usize) -> Self {
        let bytes = &session.source.bytes;
        Self {
            name: file_name(path),
            format: session.source.format.to_owned(),
            conversation,
            bytes: bytes.len() as u64,
            sha256: sha256(&bytes.whole()),
        }
    }

    /// Returns whether the content is that of the session. A main conversation may have grown.
    ///
    /// Programs append to their files, so a grown file begins with the bytes that were hashed. A path is not compared:
    /// the file may have been moved or renamed.
    pub fn is_of(&self, bytes: &FileBytes, conversation: usize) -> bool {
        let (now, then) = (bytes.len() as u64, self.bytes);
        let may_grow = conversation == 0;
        if self.conversation != conversation || now < then || now > MAX_SESSION {
            return false;
        }
        (now == then || may_grow) && sha256(&bytes.whole()[..then as usize]) == self.sha256
    }
}

/// Checks that a workspace is not too large.
pub(super) fn check_size(text: &str) -> Result<(), LoadError> {
    if text.len() > MAX_BYTES {
        return Err(LoadError(format!(
            "cannot keep the workspace: it is larger than {MAX_BYTES} bytes"
        )));
    }
    Ok(())
}

/// Returns the message about a damaged workspace, whatever the error.
fn unreadable<E>(_error: E) -> LoadError {
    LoadError("The saved workspace of this file cannot be read.".to_owned())
}

/// Reads a workspace and its session.
pub(super) fn read_workspace(path: &Path) -> Result<(String, SessionKey), LoadError> {
    let bytes = read_bounded(path, MAX_BYTES as u64).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(unreadable)?;
    let header: WorkspaceHeader = serde_json::from_str(&text).map_err(unreadable)?;
    Ok((text, header.session))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> SessionKey {
        SessionKey {
            name: "a.jsonl".to_owned(),
            format: "f".to_owned(),
            conversation: 0,
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        }
    }

    pub(crate) fn text(bytes: &[u8]) -> String {
        let session = serde_json::to_string(&key(bytes)).unwrap();
        format!("{{\"plimsoll_workspace\":1,\"session\":{session}}}")
    }

    pub(crate) fn content(bytes: &[u8]) -> FileBytes {
        bytes.to_vec().into()
    }
}
