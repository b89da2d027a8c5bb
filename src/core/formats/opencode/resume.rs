//! Converts a session document to a new one that `opencode import` adds to the database: new ids for the session, its
//! messages and their parts.

use super::handoff;
use crate::formats::byte_order_mark::text_start;
use crate::formats::editing::{json_string, patched, with_member};
use crate::formats::handoff::id_patches;
use crate::formats::json::{document_span, elements, member, parse_span, str_at};
use crate::formats::{CannotExport, NewSession, Resumable, Resume};
use crate::json::{Value, json};
use crate::session::Span;
use std::collections::{BTreeSet, HashMap};

/// Session store of `OpenCode`: a database, to which its own program adds the session.
pub(super) const RESUME: Resume = Resume {
    program: "OpenCode",
    names: &["opencode"],
    import: Some("opencode import"),
    advice: Some(
        "OpenCode continues with the model that the session names; if it does not offer that one, choose another in its window or with -m PROVIDER/MODEL",
    ),
    write: handoff::write,
    to_new_session,
    ..Resume::DEFAULT
};

fn to_new_session(bytes: &[u8], new_session: &NewSession) -> Result<Resumable, CannotExport> {
    let bytes = &bytes[text_start(bytes)..];
    let whole = document_span(bytes);
    let refused = |reason: &str| CannotExport { reason: reason.to_owned() };
    let is_list = elements(bytes, &whole).is_some();
    let list = if is_list { Some(whole.clone()) } else { member(bytes, &whole, "messages") };
    let messages = list.as_ref().and_then(|list| elements(bytes, list));
    let messages = messages.ok_or_else(|| refused("the file holds no messages"))?;
    let info = member(bytes, &whole, "info").and_then(|span| parse_span(bytes, &span));
    let old = info.as_ref().and_then(|info| str_at(info, &["id"]).map(str::to_owned));
    let mut ids = NewIds::new(new_session);
    let id = ids.session();
    let (mut of_messages, mut of_parts) = (BTreeSet::new(), BTreeSet::new());
    for message in messages.iter().filter_map(|span| parse_span(bytes, span)) {
        of_messages.extend(str_at(&message, &["info", "id"]).map(str::to_owned));
        let parts = message.get("parts").and_then(Value::as_array).into_iter().flatten();
        of_parts.extend(parts.filter_map(|part| str_at(part, &["id"]).map(str::to_owned)));
    }
    let mut new: HashMap<String, String> = HashMap::new();
    new.extend(old.map(|old| (old, id.clone())));
    // The program orders messages and parts by their ids.
    for (prefix, old) in [("msg", of_messages), ("prt", of_parts)] {
        for old in old {
            let id = ids.ascending(prefix);
            new.insert(old, id);
        }
    }
    let mut patches = id_patches(bytes, &whole, |old| new.get(old).cloned());
    let directory = info.as_ref().and_then(|info| str_at(info, &["directory"]));
    let project = new_session.project(directory);
    let folders = folders(bytes, &whole, &messages);
    patches.extend(folders.filter_map(|span| {
        let recorded = parse_span(bytes, &span)?;
        let is_replaced = recorded.as_str()?.is_empty() || recorded.as_str() == directory;
        is_replaced.then(|| (span, json_string(&project)))
    }));
    patches.sort_by_key(|(span, _)| span.start);
    let mut bytes = patched(bytes, &whole, patches);
    if info.is_none() {
        bytes = with_info(&bytes, is_list, &id, &project, new_session);
    }
    Ok(Resumable {
        relative_path: Vec::new(),
        project: Some(project),
        command: format!("opencode --session {id}"),
        bytes,
        id,
    })
}

/// Iterates over the working folders that the document records: those of the session and of its answers.
fn folders(bytes: &[u8], whole: &Span, messages: &[Span]) -> impl Iterator<Item = Span> {
    let info = member(bytes, whole, "info").and_then(|info| member(bytes, &info, "directory"));
    let of_message = |message: &Span| {
        let path = member(bytes, &member(bytes, message, "info")?, "path")?;
        Some(["cwd", "root"].map(|key| member(bytes, &path, key)))
    };
    let of_messages = messages.iter().filter_map(of_message).flatten().flatten();
    info.into_iter().chain(of_messages)
}

/// Adds the record of the session to a document that has only messages.
fn with_info(
    bytes: &[u8],
    is_list: bool,
    id: &str,
    project: &str,
    new_session: &NewSession,
) -> Vec<u8> {
    let now = new_session.now.0;
    let info = json!({
        "id": id, "slug": "handoff", "projectID": "global", "directory": project,
        "title": "Session", "version": handoff::VERSION, "time": {"created": now, "updated": now},
    });
    if is_list {
        return [format!("{{\"info\":{info},\"messages\":").as_bytes(), bytes, b"}"].concat();
    }
    let whole = document_span(bytes);
    let patch = with_member(bytes, &whole, "info", info.to_string().as_bytes());
    patched(bytes, &(0..bytes.len()), vec![patch])
}

/// New ids as the program creates them: a prefix, the time with a counter, and random characters.
struct NewIds {
    time: u64,
    count: u64,
    random: String,
}

impl NewIds {
    fn new(new_session: &NewSession) -> Self {
        const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let digit = |byte: &u8| char::from(DIGITS[usize::from(*byte) % DIGITS.len()]);
        Self {
            time: u64::try_from(new_session.now.0).unwrap_or(0),
            count: 0,
            random: new_session.random[..14].iter().map(digit).collect(),
        }
    }

    /// Returns the id of the session. Newer sessions have smaller ids.
    fn session(&mut self) -> String {
        self.count += 1;
        format!("ses_{:012x}{}", !self.number() & MASK, self.random)
    }

    /// Returns an id of a message or a part, larger than those before.
    fn ascending(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}_{:012x}{}", self.number() & MASK, self.random)
    }

    fn number(&self) -> u64 {
        // Each millisecond has 4096 ids.
        (self.time << 12).wrapping_add(self.count)
    }
}

/// An id holds the lower 48 bits of its number.
const MASK: u64 = (1 << 48) - 1;
