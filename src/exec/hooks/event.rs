//! Events of agents: JSON on standard input.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::PathBuf;

/// Maximum size of an event in bytes. Events contain results of tools, and those of `OpenCode` the conversation.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum size of what an agent adds to a session file between two events of a compaction, in bytes. Seen: a few hundred.
const MAX_ADDED: u64 = 1 << 20;

/// An event with the fields that hooks read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    /// Name of the event.
    pub(super) hook_event_name: String,
    /// Id of the session.
    pub(super) session_id: String,
    /// File that the agent writes the session to.
    pub(super) transcript_path: Option<PathBuf>,
    /// Reason of a session's start: `compact` after a compaction.
    pub(super) source: Option<String>,
    /// The summary of a finished compaction.
    pub(super) compact_summary: Option<String>,
    /// The session itself, in the agent's form.
    pub(super) session: Option<Box<RawValue>>,
}

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// Returns one line if the stream cannot be read or contains no event.
    pub(super) fn read(stream: impl Read) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let read = stream.take(MAX_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| format!("cannot read the event ({error})"))?;
        let event: Self = serde_json::from_slice(&bytes)
            .map_err(|error| format!("the event is not a JSON object ({error})"))?;
        if event.hook_event_name.is_empty() || event.session_id.is_empty() {
            return Err("the event has no hook_event_name or no session_id".to_owned());
        }
        Ok(event)
    }

    /// Returns the length of the session file in bytes; 0 without one.
    pub(super) fn session_len(&self) -> u64 {
        let metadata = self.transcript_path.as_ref().and_then(|path| path.metadata().ok());
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// Returns the text of the session file after this many bytes; `None` if it is long, or the file became shorter.
    pub(super) fn session_since(&self, start: u64) -> Option<String> {
        let added = self.session_len().checked_sub(start)?;
        if added == 0 {
            return Some(String::new());
        }
        let mut file = File::open(self.transcript_path.as_ref()?).ok()?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_ADDED + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= MAX_ADDED).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}
