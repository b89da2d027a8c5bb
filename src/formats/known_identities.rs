//! Reads the identity of a session in each format that records one.

use super::identity::SessionIdentity;
use super::{codex_rollout, gemini_cli, jsonl, opencode};
use crate::session::Source;

/// Returns the identity recorded at the beginning of a file, or `None` if there is no session head or the format
/// records none. For JSON Lines the first line suffices.
pub fn identity(format: &str, start: &[u8]) -> Option<SessionIdentity> {
    reader_of(format)?(start)
}

/// Returns the identity of a session whose file was read.
pub fn identity_of(source: &Source) -> Option<SessionIdentity> {
    let read = reader_of(source.format)?;
    if source.format == codex_rollout::FORMAT.name {
        return read(&jsonl::opening(&source.bytes, 1));
    }
    read(&source.bytes.whole())
}

/// Reads an identity from the beginning of a file.
type ReadIdentity = fn(&[u8]) -> Option<SessionIdentity>;

fn reader_of(format: &str) -> Option<ReadIdentity> {
    match format {
        "codex_rollout" => Some(codex_rollout::identity),
        "gemini_cli" => Some(gemini_cli::identity),
        "opencode" => Some(opencode::identity),
        _ => None,
    }
}
