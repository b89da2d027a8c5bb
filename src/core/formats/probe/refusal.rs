//! Descriptions of files that no format accepts.

use super::signature::{JsonSignature, SIGNATURES};
use super::{FileKind, Probe};
use crate::formats::json;
use crate::formats::openai_roles::ROLES;
use crate::json::{Map, Value};

/// Number of objects that are searched for the keys of known files.
// Chosen: the keys of the known files are in every record or in the first few.
const SEARCHED_OBJECTS: usize = 20;

/// Maximum number of keys that the description of a rejected file names.
// Chosen: the description stays one line.
const MAX_LISTED_KEYS: usize = 6;

impl Probe {
    /// Returns the description of a session of an agent that is not supported.
    pub(crate) fn unsupported(&self) -> Option<&'static str> {
        self.signature().filter(|t| t.is_session).map(|t| t.label)
    }

    /// Describes the file in a sentence without a final period.
    pub fn looks_like(&self) -> String {
        match &self.kind {
            FileKind::Empty => "this is an empty file".to_owned(),
            FileKind::Binary(what) | FileKind::Text(what) => format!("this looks like {what}"),
            FileKind::TooLarge(why) => format!("cannot read this file: {why}"),
            FileKind::BrokenJson(why) => {
                format!("this looks like truncated or damaged JSON ({why})")
            }
            FileKind::Json | FileKind::JsonLines => self.json_looks_like(),
        }
    }

    fn json_looks_like(&self) -> String {
        let signature = self.signature();
        if let Some(JsonSignature { label, is_session: true, .. }) = signature {
            return format!("this looks like {label}, which is not supported yet");
        }
        if let Some(conversation_defect) = self.conversation_defect() {
            return conversation_defect;
        }
        let name = match self.kind {
            FileKind::JsonLines => "JSON Lines without a conversation",
            _ => "JSON without a conversation",
        };
        let what = signature.map_or_else(String::new, |t| format!(": {}", t.label));
        format!("this looks like {name} ({}{what})", self.keys())
    }

    /// Describes why a document is not a conversation, if the reason is known.
    fn conversation_defect(&self) -> Option<String> {
        let document = self.document()?;
        let scalar = match document {
            Value::Null => Some("null"),
            Value::Bool(_) => Some("a boolean"),
            Value::Number(_) => Some("a number"),
            Value::String(_) => Some("a string"),
            Value::Array(_) | Value::Object(_) => None,
        };
        if let Some(scalar) = scalar {
            return Some(format!("this looks like JSON without a conversation ({scalar})"));
        }
        let list = document.as_array().or_else(|| document.get("messages")?.as_array())?;
        if list.is_empty() {
            return Some("this looks like a conversation without messages".to_owned());
        }
        let roles = list.iter().filter_map(|m| json::str_at(m, &["role"]));
        let unknown = roles.into_iter().find(|role| !ROLES.contains(role))?;
        Some(format!(
            "this looks like a list of messages with the unknown role `{}`",
            json::shortened(unknown)
        ))
    }

    /// Returns the objects to search for keys: the first records, or the document and the elements of its list.
    fn objects(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let listed = self.document().and_then(Value::as_array).map_or(&[][..], |l| &l[..]);
        let values =
            self.document().into_iter().chain(listed).chain(self.records.iter().map(|r| &r.value));
        values.filter_map(Value::as_object).take(SEARCHED_OBJECTS)
    }

    fn signature(&self) -> Option<&'static JsonSignature> {
        SIGNATURES.iter().find(|signature| self.objects().any(|object| signature.matches(object)))
    }

    /// Lists the keys of the file, for a sentence.
    fn keys(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.objects().flat_map(Map::keys) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let named: Vec<String> =
            keys.iter().take(MAX_LISTED_KEYS).map(|k| json::shortened(k)).collect();
        let named = named.join(", ");
        match keys.len() {
            0 => "it has no keys".to_owned(),
            n if n > MAX_LISTED_KEYS => {
                format!("its keys are {named} and {} more", n - MAX_LISTED_KEYS)
            }
            _ => format!("its keys are {named}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    fn probe(bytes: &[u8]) -> Probe {
        Probe::new(
            &bytes.to_vec().into(),
            crate::formats::probe::MANY_RECORDS,
            &Progress::default(),
        )
        .expect("not cancelled")
    }

    fn look(bytes: &[u8]) -> String {
        probe(bytes).looks_like()
    }

    #[test]
    fn describes_files_that_are_not_json() {
        assert_eq!(look(b""), "this is an empty file");
        assert_eq!(look(b"\xef\xbb\xbf \n"), "this is an empty file");
        assert_eq!(look(b"SQLite format 3\0abc"), "this looks like a SQLite database");
        assert_eq!(look(b"\x1f\x8b\x08"), "this looks like a compressed file (gzip)");
        assert_eq!(look(b"a\0b"), "this looks like binary data");
        assert_eq!(look(&[0xc3; 300]), "this looks like binary data");
        let nuls_at_the_end = ["# Notes\n".repeat(1_000).as_bytes(), &[0; 9]].concat();
        assert_eq!(look(&nuls_at_the_end), "this looks like binary data");
        assert_eq!(look("# Ä title\n".as_bytes()), "this looks like Markdown or plain text");
    }

    #[test]
    fn recognizes_utf_16_of_either_byte_order_with_and_without_a_mark() {
        let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"Grüße\"}]}";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
        for bytes in [marked(b"\xff\xfe", &little), marked(b"\xfe\xff", &big), little, big] {
            assert_eq!(look(&bytes), "this looks like UTF-16 text: save it as UTF-8");
        }
    }

    #[test]
    fn describes_why_a_document_is_not_a_conversation() {
        for (json, what) in [
            ("null", "null"),
            (" 3\n", "a number"),
            ("\"hello\"", "a string"),
            ("true", "a boolean"),
        ] {
            let expected = format!("this looks like JSON without a conversation ({what})");
            assert_eq!(look(json.as_bytes()), expected);
        }
        for empty in ["[]", "{\"messages\":[]}", "{\"model\":\"m\",\n\"messages\":[ ]}"] {
            let expected = "this looks like a conversation without messages";
            assert_eq!(look(empty.as_bytes()), expected);
        }
        let expected = "this looks like a list of messages with the unknown role `wizard`";
        assert_eq!(look(b"[{\"role\":\"wizard\",\"content\":\"hi\"}]"), expected);
        let long = format!("[{{\"role\":\"{}\"}}]", "w".repeat(1 << 20));
        assert!(look(long.as_bytes()).len() < 200);
    }

    #[test]
    fn truncated_json_reports_the_position_of_the_error() {
        let expected = "this looks like truncated or damaged JSON (EOF while parsing a list at line 2 column 2)";
        assert_eq!(look(b"{\"a\":\n[1"), expected);
    }

    #[test]
    fn lists_the_keys_of_unrelated_json() {
        assert_eq!(
            look(b"{\"a\": 1,\n\"b\": 2}"),
            "this looks like JSON without a conversation (its keys are a, b)"
        );
        assert_eq!(
            look(b"{\"resourceSpans\": []}"),
            "this looks like JSON without a conversation (its keys are resourceSpans: an OpenTelemetry trace)"
        );
        assert_eq!(look(b"[1, 2]"), "this looks like JSON without a conversation (it has no keys)");
        let lines = b"{\"a\":1,\"b\":1,\"c\":1,\"d\":1}\n{\"e\":1,\"f\":1,\"g\":1,\"h\":1}\n";
        assert_eq!(
            look(lines),
            "this looks like JSON Lines without a conversation (its keys are a, b, c, d, e, f and 2 more)"
        );
    }

    #[test]
    fn names_sessions_of_unsupported_agents() {
        let it = probe(b"[{\"ts\":1,\n\"type\":\"say\",\"say\":\"text\"}]");
        assert_eq!(
            it.looks_like(),
            "this looks like a Cline task's screen messages, which is not supported yet"
        );
        assert_eq!(it.unsupported(), Some("a Cline task's screen messages"));
        assert_eq!(probe(b"{\"type\":\"metadata\"}").unsupported(), None);
    }
}
