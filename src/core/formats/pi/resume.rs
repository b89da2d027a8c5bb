//! Converts a session file to a new session of Pi: sets the id, the time and the folder in its head, and the path in the
//! store.

use super::handoff;
use crate::formats::byte_order_mark::text_start;
use crate::formats::editing::{Patch, json_string, patched, with_member};
use crate::formats::json::{member, str_at};
use crate::formats::jsonl::{Record, map_records};
use crate::formats::{CannotExport, NewSession, Resumable, Resume};
use crate::progress::Progress;

/// Session store of Pi.
pub(super) const RESUME: Resume = Resume {
    program: "Pi",
    names: &["pi"],
    variable: "PI_CODING_AGENT_DIR",
    folder: ".pi/agent",
    write: handoff::write,
    to_new_session,
    ..Resume::DEFAULT
};

fn to_new_session(bytes: &[u8], new_session: &NewSession) -> Result<Resumable, CannotExport> {
    // Pi reads a byte order mark as part of the first line and rejects the line.
    let bytes = &bytes[text_start(bytes)..];
    let read = |record: Record| {
        let is_head = str_at(&record.value, &["type"]) == Some("session");
        is_head.then(|| (record.span, str_at(&record.value, &["cwd"]).map(str::to_owned)))
    };
    let heads = map_records(bytes, &Progress::default(), 1, &mut Vec::new(), read);
    let Some((span, cwd)) = heads.unwrap_or_default().into_iter().flatten().next() else {
        let reason = "no line records the id of the session".to_owned();
        return Err(CannotExport { reason });
    };
    let (id, time) = (new_session.timed_id(), new_session.time());
    let project = new_session.project(cwd.as_deref());
    let members = [("id", id.as_str()), ("timestamp", &time), ("cwd", &project)];
    let patch = |(key, text): (&str, &str)| -> Patch {
        match member(bytes, &span, key) {
            Some(old) => (old, json_string(text)),
            None => with_member(bytes, &span, key, &json_string(text)),
        }
    };
    let file_time = time.replace([':', '.'], "-");
    Ok(Resumable {
        relative_path: vec![
            "sessions".to_owned(),
            folder(&project),
            format!("{file_time}_{id}.jsonl"),
        ],
        command: format!("pi --session {id}"),
        bytes: patched(bytes, &(0..bytes.len()), members.into_iter().map(patch).collect()),
        project: Some(project),
        id,
    })
}

/// Returns the store's folder for sessions with this working folder, named as the program names it
/// (`getDefaultSessionDir`).
fn folder(cwd: &str) -> String {
    let name = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", name.replace(['/', '\\', ':'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_store_folders_like_the_program() {
        assert_eq!(folder("/home/dev/my_app.v2"), "--home-dev-my_app.v2--");
        assert_eq!(folder("C:\\dev"), "--C--dev--");
    }
}
