//! Sessions that a program keeps as a folder of files. They are combined into the document that the program itself
//! would export, so that the formats only need to read that one. File names decide which files belong combined.

use super::byte_order_mark::text_start;
use super::json;
use std::collections::BTreeMap;

/// A file of such a folder.
#[derive(Clone, Debug)]
pub struct FolderFile {
    /// Path within the folder, with `/` between names.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// File name of Cline's conversation, which identifies a task's folder.
pub const CLINE_HISTORY: &str = "api_conversation_history.json";

/// Combines the files of a session into one document. Returns `None` if they are not a supported session folder.
pub fn combined_document(files: &[FolderFile]) -> Option<Vec<u8>> {
    task(files)
        .or_else(|| opencode(files))
        .or_else(|| picoclaw(files))
        .or_else(|| events(files))
}

/// Combines a task of Cline, Roo or Kilo: one member per file, under its name.
fn task(files: &[FolderFile]) -> Option<Vec<u8>> {
    files.iter().find(|f| f.name == CLINE_HISTORY)?;
    let members = files.iter().map(|f| (base(&f.name), value(&f.bytes)));
    Some(object(members))
}

/// Combines `OpenCode`'s storage: a session, its messages, and their parts, in the order of their ids.
fn opencode(files: &[FolderFile]) -> Option<Vec<u8>> {
    let is_of = |f: &&FolderFile, start: &str| base(&f.name).starts_with(start);
    let session = files.iter().find(|f| is_of(f, "ses_"))?;
    let mut parts: BTreeMap<&str, BTreeMap<&str, &FolderFile>> = BTreeMap::new();
    for part in files.iter().filter(|f| is_of(f, "prt_")) {
        parts
            .entry(folder(&part.name))
            .or_default()
            .insert(base(&part.name), part);
    }
    let mut messages: Vec<&FolderFile> = files.iter().filter(|f| is_of(f, "msg_")).collect();
    messages.sort_by_key(|f| base(&f.name));
    let message = |f: &&FolderFile| {
        let id = base(&f.name).trim_end_matches(".json");
        let own_parts = parts.get(id).into_iter().flat_map(BTreeMap::values);
        let parts = list(own_parts.map(|part| value(&part.bytes)));
        object([("info", value(&f.bytes)), ("parts", parts)].into_iter())
    };
    let messages = list(messages.iter().map(message));
    Some(object(
        [("info", value(&session.bytes)), ("messages", messages)].into_iter(),
    ))
}

/// Combines `PicoClaw`'s JSON Lines with their metadata file, which holds the number of removed messages and their
/// summary.
fn picoclaw(files: &[FolderFile]) -> Option<Vec<u8>> {
    let meta = files.iter().find(|f| f.name.ends_with(".meta.json"))?;
    let stem = meta.name.strip_suffix(".meta.json")?;
    let messages_file = files
        .iter()
        .find(|f| f.name.strip_suffix(".jsonl") == Some(stem))?;
    let whole = json::document_span(&meta.bytes);
    let members = json::members(&meta.bytes, &whole)?;
    let messages = ("messages".to_owned(), lines(&messages_file.bytes));
    let metadata = members
        .into_iter()
        .map(|(key, place)| (key, meta.bytes[place].to_vec()));
    let metadata = metadata.filter(|(key, _)| key != "messages");
    let all: Vec<(String, Vec<u8>)> = metadata.chain([messages]).collect();
    Some(object(
        all.iter().map(|(key, value)| (key.as_str(), value.clone())),
    ))
}

/// Combines events with one file each, in the order of their numbers.
fn events(files: &[FolderFile]) -> Option<Vec<u8>> {
    let number = |f: &FolderFile| {
        let name = base(&f.name).strip_suffix(".json")?;
        let digits = name.strip_prefix("event-").unwrap_or(name);
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let mut events: Vec<(u64, &FolderFile)> =
        files.iter().filter_map(|f| Some((number(f)?, f))).collect();
    if events.is_empty() {
        return None;
    }
    events.sort_by_key(|(number, f)| (*number, base(&f.name)));
    Some(list(events.into_iter().map(|(_, f)| value(&f.bytes))))
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns the name of a file's parent folder.
fn folder(name: &str) -> &str {
    name.rsplit('/').nth(1).unwrap_or_default()
}

/// Returns a file as one JSON value: its own value, or a list of its lines' values for JSON Lines. Invalid lines become
/// strings, so that their text is not lost.
fn value(bytes: &[u8]) -> Vec<u8> {
    let whole = json::document_span(bytes);
    let text = &bytes[whole];
    if json::is_one_value(text) {
        return text.to_vec();
    }
    lines(bytes)
}

/// Returns the values of JSON Lines as a list, also for a single line.
fn lines(bytes: &[u8]) -> Vec<u8> {
    let start = text_start(bytes);
    let lines = bytes[start..]
        .split(|b| *b == b'\n')
        .map(<[u8]>::trim_ascii);
    list(lines.filter(|line| !line.is_empty()).map(|line| {
        if json::is_one_value(line) {
            line.to_vec()
        } else {
            serde_json::Value::from(String::from_utf8_lossy(line))
                .to_string()
                .into_bytes()
        }
    }))
}

/// Returns a JSON list with one value per line.
pub(super) fn list(values: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let values: Vec<Vec<u8>> = values.collect();
    [b"[\n", &values.join(&b",\n"[..])[..], b"\n]"].concat()
}

/// Returns a JSON object with one member per line.
pub(super) fn object<'a>(members: impl Iterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let member = |(key, value): (&str, Vec<u8>)| {
        let key = serde_json::Value::from(key).to_string();
        [key.as_bytes(), b": ", &value[..]].concat()
    };
    let members: Vec<Vec<u8>> = members.map(member).collect();
    [b"{\n", &members.join(&b",\n"[..])[..], b"\n}\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> FolderFile {
        FolderFile {
            name: name.to_owned(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    fn combined(files: &[FolderFile]) -> Option<serde_json::Value> {
        serde_json::from_slice(&combined_document(files)?).ok()
    }

    #[test]
    fn combines_opencode_files_into_its_export() {
        let files = [
            file("part/msg_2/prt_3.json", r#"{"type":"text","text":"b"}"#),
            file(
                "message/ses_1/msg_2.json",
                r#"{"id":"msg_2","role":"assistant"}"#,
            ),
            file(
                "message/ses_1/msg_1.json",
                "\u{feff}{\"id\":\"msg_1\",\n\"role\":\"user\"}\n",
            ),
            file("part/msg_1/prt_2.json", r#"{"type":"text","text":"a2"}"#),
            file("part/msg_1/prt_1.json", r#"{"type":"text","text":"a1"}"#),
            file("session/p/ses_1.json", r#"{"id":"ses_1"}"#),
        ];
        let expected = serde_json::json!({"info": {"id": "ses_1"}, "messages": [
            {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": "a1"}, {"type": "text", "text": "a2"}]},
            {"info": {"id": "msg_2", "role": "assistant"}, "parts": [{"type": "text", "text": "b"}]}]});
        assert_eq!(combined(&files), Some(expected));
    }

    #[test]
    fn orders_events_by_number_and_keeps_invalid_lines() {
        let files = [
            file("events/10.json", "{\"id\":10}"),
            file("events/9.json", "{\"id\":9}"),
        ];
        assert_eq!(
            combined(&files),
            Some(serde_json::json!([{"id": 9}, {"id": 10}]))
        );
        let files = [
            file("k.meta.json", "{\"key\":\"k\",\"skip\":1}"),
            file("k.jsonl", "{\"role\":\"user\"}\nno json\n"),
        ];
        let expected =
            serde_json::json!({"key": "k", "skip": 1, "messages": [{"role": "user"}, "no json"]});
        assert_eq!(combined(&files), Some(expected));
        assert_eq!(combined(&[file("a.txt", "b")]), None);
    }
}
