//! Carrying on with a session that we wrote: what the program that keeps such sessions wants of a new one.

use super::CannotExport;
use crate::session::Span;
use crate::units::Millis;
use std::time::{Duration, UNIX_EPOCH};

/// How a program keeps its sessions, where it can carry on with one that we wrote.
#[derive(Debug)]
pub struct Resume {
    /// The program's name for people.
    pub program: &'static str,
    /// The environment variable that names the program's own folder.
    pub variable: &'static str,
    /// That folder within a person's home, where the variable says nothing.
    pub folder: &'static str,
    /// Makes a session file a new session of the program.
    pub adopt: Adopt,
}

/// Makes a session file a new session of the program that keeps such files.
pub type Adopt = fn(&[u8], &Birth) -> Result<Resumable, CannotExport>;

/// What a new session is made of that no pure function can know.
#[derive(Clone, Debug)]
pub struct Birth {
    /// The present.
    pub now: Millis,
    /// Sixteen random bytes.
    pub random: [u8; 16],
    /// The folder to work in, where the session does not name one.
    pub folder: String,
}

/// A session file with an id of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumable {
    /// The new session's id.
    pub id: String,
    /// Where the program looks for it: folders below its own, then the file's name.
    pub place: Vec<String>,
    /// The folder that the session worked in.
    pub project: Option<String>,
    /// What resumes it, to be typed in that folder.
    pub command: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Birth {
    /// The folder that the new session works in: the recorded one, unless it has no name.
    pub(super) fn project(&self, recorded: Option<&str>) -> String {
        recorded
            .filter(|folder| !folder.trim().is_empty())
            .unwrap_or(&self.folder)
            .to_owned()
    }

    /// A UUID that is nothing but random (version 4).
    pub(super) fn random_id(&self) -> String {
        uuid(self.random, 4)
    }

    /// A UUID that begins with its time (version 7): two of them sort by age.
    pub(super) fn timed_id(&self) -> String {
        let mut bytes = self.random;
        bytes[..6].copy_from_slice(&self.now.0.to_be_bytes()[2..]);
        uuid(bytes, 7)
    }

    /// The present as RFC 3339 with milliseconds, in UTC.
    pub(super) fn time(&self) -> String {
        let since = Duration::from_millis(u64::try_from(self.now.0).unwrap_or(0));
        humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
    }
}

/// <https://www.rfc-editor.org/rfc/rfc9562#section-4>: the version and the variant stand in bits of their own.
fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

/// The bytes with some places written anew; these stand in order and do not overlap.
pub(super) fn spliced(bytes: &[u8], edits: &[(Span, String)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (span, text) in edits {
        out.extend_from_slice(&bytes[at..span.start]);
        out.extend_from_slice(text.as_bytes());
        at = span.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_version_and_sort_by_age_where_they_hold_a_time() {
        let birth = |now, byte| Birth {
            now: Millis(now),
            random: [byte; 16],
            folder: String::new(),
        };
        assert_eq!(
            birth(0, 0xff).random_id(),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        assert_eq!(
            birth(1_645_557_742_000, 0).timed_id(),
            "017f22e2-79b0-7000-8000-000000000000"
        );
        assert!(birth(2, 0).timed_id() > birth(1, 0xff).timed_id());
        assert_eq!(
            birth(1_645_557_742_007, 0).time(),
            "2022-02-22T19:22:22.007Z"
        );
    }

    #[test]
    fn only_the_places_named_are_written_anew() {
        let edits = [(0..1, "A".to_owned()), (2..2, "-".to_owned())];
        assert_eq!(spliced(b"abcd", &edits), b"Ab-cd");
    }
}
