//! Resuming a written session: the steps that the program needs to list it.

use super::CannotExport;
use crate::units::Millis;
use std::time::{Duration, UNIX_EPOCH};

/// A program's session store, in which a written session can be resumed.
#[derive(Debug)]
pub struct Resume {
    /// Display name of the program.
    pub program: &'static str,
    /// Environment variable that names the program's folder.
    pub variable: &'static str,
    /// The folder within the user's home if the variable is not set.
    pub folder: &'static str,
    /// Converts a session file to a new session of the program.
    pub to_new_session: NewSessionWriter,
}

/// Converts a session file to a new session of the program that keeps such files.
pub type NewSessionWriter = fn(&[u8], &NewSession) -> Result<Resumable, CannotExport>;

/// Values for a new session that a pure function cannot compute.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Current time.
    pub now: Millis,
    /// Sixteen random bytes.
    pub random: [u8; 16],
    /// Working folder, if the session records none.
    pub folder: String,
}

/// A session file with an id of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumable {
    /// The new session's id.
    pub id: String,
    /// Path of the file within the program's folder: folder names and the file name.
    pub relative_path: Vec<String>,
    /// Working folder of the session.
    pub project: Option<String>,
    /// Shell command that resumes the session in that folder.
    pub command: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl NewSession {
    /// Returns the new session's working folder: the recorded one unless it is empty.
    pub(super) fn project(&self, recorded: Option<&str>) -> String {
        recorded.filter(|folder| !folder.trim().is_empty()).unwrap_or(&self.folder).to_owned()
    }

    /// Returns a random UUID (version 4).
    pub(super) fn random_id(&self) -> String {
        uuid(self.random, 4)
    }

    /// Returns a UUID that begins with its time (version 7), so that ids sort by age.
    pub(super) fn timed_id(&self) -> String {
        let mut bytes = self.random;
        bytes[..6].copy_from_slice(&self.now.0.to_be_bytes()[2..]);
        uuid(bytes, 7)
    }

    /// Returns the current time in RFC 3339 format with milliseconds, in UTC.
    pub(super) fn time(&self) -> String {
        let time = Duration::from_millis(u64::try_from(self.now.0).unwrap_or(0));
        humantime::format_rfc3339_millis(UNIX_EPOCH + time).to_string()
    }
}

/// Sets a UUID's version and variant bits, see <https://www.rfc-editor.org/rfc/rfc9562#section-4>.
fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_version_and_timed_ids_sort_by_age() {
        let new_session =
            |now, byte| NewSession { now: Millis(now), random: [byte; 16], folder: String::new() };
        assert_eq!(new_session(0, 0xff).random_id(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(
            new_session(1_645_557_742_000, 0).timed_id(),
            "017f22e2-79b0-7000-8000-000000000000"
        );
        assert!(new_session(2, 0).timed_id() > new_session(1, 0xff).timed_id());
        assert_eq!(new_session(1_645_557_742_007, 0).time(), "2022-02-22T19:22:22.007Z");
    }
}
