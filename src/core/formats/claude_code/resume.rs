//! Converts a session file to a new session of Claude Code: sets the id on every record and the path in the store.
//!
//! Records keep their own ids and name the session and the record that they were copied from, as in the program's own
//! forks.

use super::handoff;
use crate::formats::editing::{Patch, json_string, patched};
use crate::formats::json::{member, str_at};
use crate::formats::jsonl::{Record, map_records};
use crate::formats::resume::NO_SESSION;
use crate::formats::{CannotExport, NewSession, Resumable, Resume};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::Span;

/// Session store of Claude Code.
pub(super) const RESUME: Resume = Resume {
    program: "Claude Code",
    names: &["claude", "claude-code"],
    variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    write: handoff::write,
    to_new_session,
    ..Resume::DEFAULT
};

/// Maximum length of a folder name in the store. Longer names are cut and get a hash.
// As in Claude Code, which would not find a session in a folder with another name.
const MAX_LENGTH: usize = 200;

/// A parsed record.
struct ResumedRecord {
    span: Span,
    session: Option<String>,
    uuid: Option<String>,
    cwd: Option<String>,
}

fn to_new_session(bytes: &[u8], new_session: &NewSession) -> Result<Resumable, CannotExport> {
    let lines = map_records(bytes, &Progress::default(), 1, &mut Vec::new(), ResumedRecord::read);
    let lines = lines.unwrap_or_default();
    if lines.is_empty() {
        let reason = "the file holds no records".to_owned();
        return Err(CannotExport { reason });
    }
    let id = new_session.random_id();
    let mut folders = lines.iter().filter_map(|line| line.cwd.as_deref());
    let cwd = new_session.project(folders.find(|folder| !folder.trim().is_empty()));
    let patches: Vec<_> = lines.iter().flat_map(|line| line.patches(bytes, &id, &cwd)).collect();
    Ok(Resumable {
        relative_path: vec!["projects".to_owned(), folder(&cwd), format!("{id}.jsonl")],
        project: Some(cwd),
        command: format!("claude --resume {id}"),
        bytes: patched(bytes, &(0..bytes.len()), patches),
        id,
    })
}

impl ResumedRecord {
    fn read(record: Record) -> Self {
        let text = |key: &str| str_at(&record.value, &[key]).map(ToOwned::to_owned);
        Self { session: text("sessionId"), uuid: text("uuid"), cwd: text("cwd"), span: record.span }
    }

    fn patches(&self, bytes: &[u8], id: &str, cwd: &str) -> Vec<Patch> {
        let id_span = member(bytes, &self.span, "sessionId");
        let (Some(session), Some(id_span)) = (&self.session, id_span) else {
            return Vec::new();
        };
        let mut new = Value::from(id).to_string();
        let mut patches = Vec::new();
        if let Some(uuid) = self.uuid.as_ref().filter(|_| session != NO_SESSION) {
            let origin = json!({"sessionId": session, "messageUuid": uuid}).to_string();
            match member(bytes, &self.span, "forkedFrom") {
                Some(old) => patches.push((old, origin.into_bytes())),
                None => new.extend([",\"forkedFrom\":", &origin]),
            }
        }
        // The records of a fork name the folders in which they were written.
        let cwd_span = member(bytes, &self.span, "cwd").filter(|_| session == NO_SESSION);
        patches.extend(cwd_span.map(|span| (span, json_string(cwd))));
        patches.push((id_span, new.into_bytes()));
        patches
    }
}

/// Returns the store's folder for sessions with this working folder, named as the program names it.
fn folder(cwd: &str) -> String {
    let name: String = cwd
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    if name.len() <= MAX_LENGTH {
        return name;
    }
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    let hash = cwd.encode_utf16().fold(0, add).unsigned_abs();
    format!("{}-{}", &name[..MAX_LENGTH], base36(hash))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_store_folders_like_the_program() {
        assert_eq!(folder("/home/dev/my_app.v2"), "-home-dev-my-app-v2");
        assert_eq!(folder("/tmp/é𝄞"), "-tmp----");
        let long = format!("/{}", "a".repeat(300));
        assert_eq!(folder(&long), format!("-{}-vtkmfl", "a".repeat(199)));
    }
}
