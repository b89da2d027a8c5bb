//! What a file looks like that no format takes, in words.

use super::telling::{TELLING, Telling};
use super::{Kind, Probe};
use crate::formats::{json, openai_chat};
use serde_json::{Map, Value};

/// How many objects are searched for telling keys.
const TELLING_OBJECTS: usize = 20;

/// How many keys are named of a file that is refused.
const KEYS_NAMED: usize = 6;

impl Probe {
    /// What agent's session this obviously is, of those that are not supported.
    pub(in crate::formats) fn unsupported(&self) -> Option<&'static str> {
        self.telling().filter(|t| t.is_session).map(|t| t.label)
    }

    /// What the file looks like, as a sentence without a final period.
    pub fn looks_like(&self) -> String {
        match &self.kind {
            Kind::Empty => "this is an empty file".to_owned(),
            Kind::Binary(what) | Kind::Text(what) => format!("this looks like {what}"),
            Kind::Crowded(why) => format!("this file cannot be read: {why}"),
            Kind::BrokenJson(why) => {
                format!("this looks like JSON that breaks off or is damaged ({why})")
            }
            Kind::Json | Kind::JsonLines => self.json_looks_like(),
        }
    }

    fn json_looks_like(&self) -> String {
        let telling = self.telling();
        if let Some(Telling {
            label,
            is_session: true,
            ..
        }) = telling
        {
            return format!("this looks like {label}, which is not supported yet");
        }
        if let Some(lacking) = self.lacking() {
            return lacking;
        }
        let name = match self.kind {
            Kind::JsonLines => "JSON Lines without a conversation",
            _ => "JSON without a conversation",
        };
        let what = telling.map_or_else(String::new, |t| format!(": {}", t.label));
        format!("this looks like {name} ({}{what})", self.keys())
    }

    /// What a document lacks to be a conversation, where that can be said.
    fn lacking(&self) -> Option<String> {
        let document = self.document()?;
        let scalar = match document {
            Value::Null => Some("null"),
            Value::Bool(_) => Some("a truth value"),
            Value::Number(_) => Some("a number"),
            Value::String(_) => Some("a string"),
            Value::Array(_) | Value::Object(_) => None,
        };
        if let Some(scalar) = scalar {
            return Some(format!(
                "this looks like JSON without a conversation ({scalar})"
            ));
        }
        let list = document
            .as_array()
            .or_else(|| document.get("messages")?.as_array())?;
        if list.is_empty() {
            return Some("this looks like a conversation, but it holds no messages".to_owned());
        }
        let roles = list.iter().filter_map(|m| json::str_at(m, &["role"]));
        let unknown = roles
            .into_iter()
            .find(|role| !openai_chat::ROLES.contains(role))?;
        Some(format!(
            "this looks like a list of messages, but of the unknown role `{}`",
            json::quoted(unknown)
        ))
    }

    /// The objects that tell what this is: the first records, or the document or what it lists.
    fn objects(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let listed = self
            .document()
            .and_then(Value::as_array)
            .map_or(&[][..], |l| &l[..]);
        let values = self
            .document()
            .into_iter()
            .chain(listed)
            .chain(self.records.iter().map(|r| &r.value));
        values.filter_map(Value::as_object).take(TELLING_OBJECTS)
    }

    fn telling(&self) -> Option<&'static Telling> {
        TELLING
            .iter()
            .find(|telling| self.objects().any(|object| telling.fits(object)))
    }

    /// The keys to be found, for a sentence.
    fn keys(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.objects().flat_map(Map::keys) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let named: Vec<String> = keys
            .iter()
            .take(KEYS_NAMED)
            .map(|k| json::quoted(k))
            .collect();
        let named = named.join(", ");
        match keys.len() {
            0 => "it has no keys".to_owned(),
            n if n > KEYS_NAMED => {
                format!("its keys are {named} and {} more", n - KEYS_NAMED)
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
            super::super::MANY,
            &Progress::default(),
        )
        .expect("nobody cancels")
    }

    fn look(bytes: &[u8]) -> String {
        probe(bytes).looks_like()
    }

    #[test]
    fn what_is_no_json_is_named() {
        assert_eq!(look(b""), "this is an empty file");
        assert_eq!(look(b"\xef\xbb\xbf \n"), "this is an empty file");
        assert_eq!(
            look(b"SQLite format 3\0abc"),
            "this looks like a SQLite database"
        );
        assert_eq!(
            look(b"\x1f\x8b\x08"),
            "this looks like a compressed file (gzip)"
        );
        assert_eq!(look(b"a\0b"), "this looks like binary data");
        assert_eq!(look(&[0xc3; 300]), "this looks like binary data");
        let nuls_at_the_end = ["# Notes\n".repeat(1_000).as_bytes(), &[0; 9]].concat();
        assert_eq!(look(&nuls_at_the_end), "this looks like binary data");
        assert_eq!(
            look("# Ä title\n".as_bytes()),
            "this looks like Markdown or plain text"
        );
    }

    #[test]
    fn utf_16_is_named_whichever_half_comes_first_and_with_or_without_a_mark() {
        let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"Grüße\"}]}";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
        for bytes in [
            marked(b"\xff\xfe", &little),
            marked(b"\xfe\xff", &big),
            little,
            big,
        ] {
            assert_eq!(
                look(&bytes),
                "this looks like UTF-16 text: save it as UTF-8"
            );
        }
    }

    #[test]
    fn a_document_says_what_it_lacks_to_be_a_conversation() {
        for (json, what) in [
            ("null", "null"),
            (" 3\n", "a number"),
            ("\"hello\"", "a string"),
            ("true", "a truth value"),
        ] {
            let expected = format!("this looks like JSON without a conversation ({what})");
            assert_eq!(look(json.as_bytes()), expected);
        }
        for empty in [
            "[]",
            "{\"messages\":[]}",
            "{\"model\":\"m\",\n\"messages\":[ ]}",
        ] {
            let expected = "this looks like a conversation, but it holds no messages";
            assert_eq!(look(empty.as_bytes()), expected);
        }
        let expected = "this looks like a list of messages, but of the unknown role `wizard`";
        assert_eq!(
            look(b"[{\"role\":\"wizard\",\"content\":\"hi\"}]"),
            expected
        );
        let long = format!("[{{\"role\":\"{}\"}}]", "w".repeat(1 << 20));
        assert!(look(long.as_bytes()).len() < 200);
    }

    #[test]
    fn torn_json_says_where_it_breaks() {
        let expected = "this looks like JSON that breaks off or is damaged (EOF while parsing a list at line 2 column 2)";
        assert_eq!(look(b"{\"a\":\n[1"), expected);
    }

    #[test]
    fn json_of_another_kind_names_its_keys() {
        assert_eq!(
            look(b"{\"a\": 1,\n\"b\": 2}"),
            "this looks like JSON without a conversation (its keys are a, b)"
        );
        assert_eq!(
            look(b"{\"resourceSpans\": []}"),
            "this looks like JSON without a conversation (its keys are resourceSpans: an OpenTelemetry trace)"
        );
        assert_eq!(
            look(b"[1, 2]"),
            "this looks like JSON without a conversation (it has no keys)"
        );
        let lines = b"{\"a\":1,\"b\":1,\"c\":1,\"d\":1}\n{\"e\":1,\"f\":1,\"g\":1,\"h\":1}\n";
        assert_eq!(
            look(lines),
            "this looks like JSON Lines without a conversation (its keys are a, b, c, d, e, f and 2 more)"
        );
    }

    #[test]
    fn sessions_of_other_agents_are_known_by_name() {
        let it = probe(b"[{\"ts\":1,\n\"type\":\"say\",\"say\":\"text\"}]");
        assert_eq!(
            it.looks_like(),
            "this looks like a Cline task's screen messages, which is not supported yet"
        );
        assert_eq!(it.unsupported(), Some("a Cline task's screen messages"));
        assert_eq!(probe(b"{\"type\":\"metadata\"}").unsupported(), None);
    }
}
