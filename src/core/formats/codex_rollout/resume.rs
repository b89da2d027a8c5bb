//! Converts a rollout to a new session of Codex: sets the id in its head and in other lines, and the path in the store.
//!
//! The head names the session that it was forked from, as in Codex's own forks.

use super::handoff;
use crate::formats::byte_order_mark::text_start;
use crate::formats::editing::{Patch, json_string, patched};
use crate::formats::handoff::id_patches;
use crate::formats::json::{member, members, str_at};
use crate::formats::jsonl::{Record, map_records};
use crate::formats::resume::NO_SESSION;
use crate::formats::{CannotExport, NewSession, Resumable, Resume};
use crate::progress::Progress;
use crate::session::Span;

/// Session store of Codex.
/// <https://github.com/openai/codex/blob/main/codex-rs/rollout/src/recorder.rs>
pub(super) const RESUME: Resume = Resume {
    program: "Codex",
    names: &["codex"],
    variable: "CODEX_HOME",
    folder: ".codex",
    write: handoff::write,
    to_new_session,
    ..Resume::DEFAULT
};

/// A line of the rollout.
struct ResumedLine {
    span: Span,
    /// The session head, if the line is a `session_meta`.
    head: Option<ResumedHead>,
    /// The content of the line is sent to the model.
    is_context: bool,
}

/// The head of a session: its id and working folder.
struct ResumedHead {
    id: String,
    cwd: Option<String>,
}

fn to_new_session(bytes: &[u8], new_session: &NewSession) -> Result<Resumable, CannotExport> {
    // Codex reads a byte order mark as part of the first line and rejects the line.
    let bytes = &bytes[text_start(bytes)..];
    let lines = map_records(bytes, &Progress::default(), 1, &mut Vec::new(), ResumedLine::read);
    let lines = lines.unwrap_or_default();
    let Some((first, head)) = lines.iter().find_map(|line| Some((&line.span, line.head.as_ref()?)))
    else {
        let reason = "no line records the id of the session".to_owned();
        return Err(CannotExport { reason });
    };
    let (id, time) = (new_session.timed_id(), new_session.time());
    let project = new_session.project(head.cwd.as_deref());
    let mut patches = Vec::new();
    for line in &lines {
        if line.span == *first {
            patches.extend(head_patches(bytes, first, &head.id, [&id, &time, &project]));
        } else if !line.is_context {
            let new_id = |old: &str| (old == head.id).then(|| id.clone());
            patches.extend(id_patches(bytes, &line.span, new_id));
        }
    }
    let (date, clock) = time.split_once('T').unwrap_or_default();
    let clock = clock[..8.min(clock.len())].replace(':', "-");
    let mut relative_path = vec!["sessions".to_owned()];
    relative_path.extend(date.split('-').map(ToOwned::to_owned));
    relative_path.push(format!("rollout-{date}T{clock}-{id}.jsonl"));
    Ok(Resumable {
        relative_path,
        project: Some(project),
        command: format!("codex resume {id}"),
        bytes: patched(bytes, &(0..bytes.len()), patches),
        id,
    })
}

impl ResumedLine {
    fn read(record: Record) -> Self {
        let text = |path: &[&str]| str_at(&record.value, path).map(ToOwned::to_owned);
        let kind = str_at(&record.value, &["type"]);
        let head = (kind == Some("session_meta")).then(|| text(&["payload", "id"])).flatten();
        Self {
            head: head.map(|id| ResumedHead { id, cwd: text(&["payload", "cwd"]) }),
            is_context: matches!(kind, Some("response_item" | "compacted")),
            span: record.span,
        }
    }
}

/// Returns the patches of the session's own head: a new id, the time, the working folder, and the original id.
fn head_patches(
    bytes: &[u8],
    line: &Span,
    old: &str,
    [new, time, project]: [&str; 3],
) -> Vec<Patch> {
    let payload = member(bytes, line, "payload").unwrap_or(0..0);
    let members = members(bytes, &payload).unwrap_or_default();
    let is_fork = members.iter().any(|(key, _)| key == "forked_from_id");
    let has_origin = !is_fork && old != NO_SESSION;
    let patch = |(key, span): (String, Span)| {
        let is_own = || bytes[span.clone()] == *json_string(old);
        let text = match key.as_str() {
            "id" if !has_origin => json_string(new),
            "id" => [&json_string(new)[..], b",\"forked_from_id\":", &json_string(old)].concat(),
            "session_id" if is_own() => json_string(new),
            "forked_from_id" => json_string(old),
            "timestamp" => json_string(time),
            "cwd" => json_string(project),
            _ => return None,
        };
        Some((span, text))
    };
    members.into_iter().filter_map(patch).collect()
}
