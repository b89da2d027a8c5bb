//! Converts a session file to a new session of Gemini CLI: sets the id, the project and the time in its head, and the
//! path in the store.

use super::handoff;
use crate::formats::byte_order_mark::text_start;
use crate::formats::editing::{Patch, json_string, patched};
use crate::formats::json::{document_span, is_one_value, member, parse_span, str_at};
use crate::formats::jsonl::{Record, map_records};
use crate::formats::{CannotExport, NewSession, ProjectFolders, Resumable, Resume};
use crate::progress::Progress;
use crate::session::Span;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Session store of Gemini CLI.
pub(super) const RESUME: Resume = Resume {
    program: "Gemini CLI",
    names: &["gemini", "gemini-cli"],
    variable: "GEMINI_CLI_HOME",
    folder: ".gemini",
    variable_names_home: true,
    projects: Some(ProjectFolders {
        registry: "projects.json",
        folder: "tmp",
        marker: ".project_root",
        hashes,
        hash,
    }),
    is_left_out: handoff::is_left_out,
    write: handoff::write,
    to_new_session,
    ..Resume::DEFAULT
};

fn to_new_session(bytes: &[u8], new_session: &NewSession) -> Result<Resumable, CannotExport> {
    let bytes = &bytes[text_start(bytes)..];
    let heads = heads(bytes);
    if heads.is_empty() {
        let reason = "nothing records the id of the session".to_owned();
        return Err(CannotExport { reason });
    }
    let (id, time) = (new_session.random_id(), new_session.time());
    let project = new_session.folder.clone();
    let values =
        [("sessionId", id.clone()), ("projectHash", hash(&project)), ("lastUpdated", time.clone())];
    let patches = heads.iter().flat_map(|head| {
        let patch = |(key, text): &(&str, String)| -> Option<Patch> {
            Some((member(bytes, head, key)?, json_string(text)))
        };
        values.iter().filter_map(patch).collect::<Vec<_>>()
    });
    let bytes = patched(bytes, &(0..bytes.len()), patches.collect());
    let extension = if is_document(&bytes) { "json" } else { "jsonl" };
    let minute = time[..16.min(time.len())].replace(':', "-");
    let name = format!("session-{minute}-{}.{extension}", &id[..8]);
    let slug = new_session.project_folder.clone().unwrap_or_else(|| hash(&project));
    Ok(Resumable {
        relative_path: vec!["tmp".to_owned(), slug, "chats".to_owned(), name],
        project: Some(project),
        command: format!("gemini --resume {id}"),
        bytes,
        id,
    })
}

/// Returns the objects that hold the session's id: the document, or the heads and changes of heads among the lines.
fn heads(bytes: &[u8]) -> Vec<Span> {
    if is_document(bytes) {
        return vec![document_span(bytes)];
    }
    let read = |record: Record| {
        let has_id = |path: &[&str]| str_at(&record.value, path).is_some();
        if has_id(&["$set", "sessionId"]) {
            return member(bytes, &record.span, "$set");
        }
        has_id(&["sessionId"]).then_some(record.span)
    };
    let heads = map_records(bytes, &Progress::default(), 1, &mut Vec::new(), read);
    heads.unwrap_or_default().into_iter().flatten().collect()
}

/// Returns whether the file is a document of older versions.
fn is_document(bytes: &[u8]) -> bool {
    let whole = document_span(bytes);
    member(bytes, &whole, "messages").is_some() && is_one_value(&bytes[whole])
}

/// Returns the hashes of projects that the file records.
fn hashes(bytes: &[u8]) -> Vec<String> {
    let bytes = &bytes[text_start(bytes)..];
    let of = |head: &Span| {
        let hash = parse_span(bytes, &member(bytes, head, "projectHash")?)?;
        Some(hash.as_str()?.to_owned())
    };
    heads(bytes).iter().filter_map(of).collect()
}

/// Returns the hash by which the program names a project folder (`getProjectHash`).
fn hash(project: &str) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(project) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_projects_like_the_program() {
        let found = hash("/home/user/project");
        assert_eq!(found, "9dad1e4e08b0b11cbcd860257e8bdfa6b8e5f01790e10a6a0b1f4870c13e686b");
        let file = format!(r#"{{"sessionId":"a","projectHash":"{found}"}}"#);
        assert_eq!(hashes(file.as_bytes()), [found]);
        assert!(hashes(b"{}").is_empty());
    }
}
