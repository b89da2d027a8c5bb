//! Sessions that a program stores as a folder or archive of files. They are combined into the document that the program itself
//! would export, so that the formats only need to read that one. File names decide which files belong together.

use super::byte_order_mark::text_start;
use super::{FORMATS, json};

/// A file of such a folder or archive.
#[derive(Clone, Debug)]
pub struct FolderFile {
    /// Path within the folder, with `/` between names.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Combines the files of a session into one document. Returns `None` if they are not a supported session folder.
pub fn combined_document(files: &[FolderFile]) -> Option<Vec<u8>> {
    FORMATS.iter().find_map(|format| (format.combine_files?)(files))
}

/// Combines the files of an archive into one document. Returns `None` if they are not a supported session.
pub fn archived_document(files: &[FolderFile]) -> Option<Vec<u8>> {
    FORMATS.iter().find_map(|format| (format.combine_archive?)(files))
}

impl FolderFile {
    /// Returns the file's own name.
    pub(super) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns the name of its folder; empty if it is not in one.
    pub(super) fn folder_name(&self) -> &str {
        self.name.rsplit('/').nth(1).unwrap_or_default()
    }

    /// Returns the content as one JSON value: its own value, or a list of its lines' values for JSON Lines. Invalid
    /// lines become strings, so that their text is not lost.
    pub(super) fn value(&self) -> Vec<u8> {
        let whole = json::document_span(&self.bytes);
        let text = &self.bytes[whole];
        if json::is_one_value(text) {
            return text.to_vec();
        }
        self.lines()
    }

    /// Returns the values of JSON Lines as a list, also for a single line.
    pub(super) fn lines(&self) -> Vec<u8> {
        let start = text_start(&self.bytes);
        let lines = self.bytes[start..].split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        json_list(lines.filter(|line| !line.is_empty()).map(|line| {
            if json::is_one_value(line) {
                line.to_vec()
            } else {
                crate::json::Value::from(String::from_utf8_lossy(line)).to_string().into_bytes()
            }
        }))
    }
}

/// Returns a JSON list with one value per line.
pub(super) fn json_list(values: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let values: Vec<Vec<u8>> = values.collect();
    [b"[\n", &values.join(&b",\n"[..])[..], b"\n]"].concat()
}

/// Returns a JSON object with one member per line.
pub(super) fn json_object<'a>(members: impl Iterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let member = |(key, value): (&str, Vec<u8>)| {
        let key = crate::json::Value::from(key).to_string();
        [key.as_bytes(), b": ", &value[..]].concat()
    };
    let members: Vec<Vec<u8>> = members.map(member).collect();
    [b"{\n", &members.join(&b",\n"[..])[..], b"\n}\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> FolderFile {
        FolderFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    fn combined(files: &[FolderFile]) -> Option<crate::json::Value> {
        serde_json::from_slice(&combined_document(files)?).ok()
    }

    #[test]
    fn combines_opencode_files_into_its_export() {
        let files = [
            file("part/msg_2/prt_3.json", r#"{"type":"text","text":"b"}"#),
            file("message/ses_1/msg_2.json", r#"{"id":"msg_2","role":"assistant"}"#),
            file("message/ses_1/msg_1.json", "\u{feff}{\"id\":\"msg_1\",\n\"role\":\"user\"}\n"),
            file("part/msg_1/prt_2.json", r#"{"type":"text","text":"a2"}"#),
            file("part/msg_1/prt_1.json", r#"{"type":"text","text":"a1"}"#),
            file("session/p/ses_1.json", r#"{"id":"ses_1"}"#),
        ];
        let expected = crate::json::json!({"info": {"id": "ses_1"}, "messages": [
            {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": "a1"}, {"type": "text", "text": "a2"}]},
            {"info": {"id": "msg_2", "role": "assistant"}, "parts": [{"type": "text", "text": "b"}]}]});
        assert_eq!(combined(&files), Some(expected));
    }

    #[test]
    fn orders_events_by_number_and_keeps_invalid_lines() {
        let files = [file("events/10.json", "{\"id\":10}"), file("events/9.json", "{\"id\":9}")];
        assert_eq!(combined(&files), Some(crate::json::json!([{"id": 9}, {"id": 10}])));
        let files = [
            file("k.meta.json", "{\"key\":\"k\",\"skip\":1}"),
            file("k.jsonl", "{\"role\":\"user\"}\nno json\n"),
        ];
        let expected =
            crate::json::json!({"key": "k", "skip": 1, "messages": [{"role": "user"}, "no json"]});
        assert_eq!(combined(&files), Some(expected));
        assert_eq!(combined(&[file("a.txt", "b")]), None);
        assert_eq!(combined(&[file("12.meta.json", "{}")]), None);
    }
}
