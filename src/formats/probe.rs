//! A first look at a file: whether it is text, JSON or JSON Lines, and, where no format takes it, what it looks like.

use super::json;
use super::jsonl::{self, Head, Record};
use serde_json::{Map, Value};

/// How many records of JSON Lines are looked at.
const HEAD_RECORDS: usize = 400;
/// JSON Lines may have this share of bad lines, as one in so many.
const ONE_BAD_LINE_IN: usize = 4;
/// How many objects are searched for telling keys.
const TELLING_OBJECTS: usize = 20;
/// How many keys are named of a file that is refused.
const KEYS_NAMED: usize = 6;

/// A first look at a file.
#[derive(Debug)]
pub struct Probe {
    kind: Kind,
    /// The first records, where it is JSON Lines.
    records: Vec<Record>,
    /// The value, where the whole file is one.
    document: Option<Value>,
}

/// What a file is at first sight.
#[derive(Debug)]
enum Kind {
    Empty,
    /// Not text; the words for it.
    Binary(&'static str),
    Json,
    JsonLines,
    /// It begins like JSON and then breaks off; why.
    BrokenJson(String),
    /// Other text; the words for it.
    Text(&'static str),
}

impl Probe {
    /// Looks at a file. Costs at most one parse of it, and that only where it is a single value.
    pub fn new(bytes: &[u8]) -> Self {
        let start = &bytes[jsonl::text_start(bytes)..];
        if start.trim_ascii().is_empty() {
            return Self::of(Kind::Empty);
        }
        if let Some(what) = binary(bytes) {
            return Self::of(Kind::Binary(what));
        }
        let head = jsonl::head(bytes, HEAD_RECORDS);
        let objects = head.records.iter().filter(|r| r.value.is_object()).count();
        if objects > 1 && head.bad * ONE_BAD_LINE_IN <= head.lines {
            return Self {
                records: head.records,
                ..Self::of(Kind::JsonLines)
            };
        }
        if matches!(start.trim_ascii_start().first(), Some(b'{' | b'[')) {
            Self::of_json(bytes, head)
        } else {
            Self::of(Kind::Text(text(start)))
        }
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            records: Vec::new(),
            document: None,
        }
    }

    /// A file that begins like JSON and is not obviously JSON Lines.
    fn of_json(bytes: &[u8], head: Head) -> Self {
        let span = json::document_span(bytes);
        match &head.records[..] {
            [only] if only.span == span => {
                // One line, and the whole file: it may be either.
                let document = Some(only.value.clone());
                Self {
                    kind: Kind::Json,
                    records: head.records,
                    document,
                }
            }
            // A first record, and a second one that is torn.
            [only] if only.value.is_object() && head.bad == 0 => Self {
                records: head.records,
                ..Self::of(Kind::JsonLines)
            },
            _ => match json::parse_lenient(&bytes[span]) {
                Ok(value) => Self {
                    document: Some(value),
                    ..Self::of(Kind::Json)
                },
                Err(error) => Self::of(Kind::BrokenJson(error.to_string())),
            },
        }
    }

    /// The first records (a few hundred), where the file is JSON Lines or one line of JSON; else none.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// The value, where the whole file is one (a single line may be JSON Lines as well).
    pub(super) fn document(&self) -> Option<&Value> {
        self.document.as_ref()
    }

    /// What agent's session this obviously is, of those that are not supported.
    pub(super) fn unsupported(&self) -> Option<&'static str> {
        self.telling().filter(|t| t.is_session).map(|t| t.label)
    }

    /// What the file looks like, as a sentence without a final period.
    pub fn looks_like(&self) -> String {
        match &self.kind {
            Kind::Empty => "this is an empty file".to_owned(),
            Kind::Binary(what) | Kind::Text(what) => format!("this looks like {what}"),
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
        let name = match self.kind {
            Kind::JsonLines => "JSON Lines without a conversation",
            _ => "JSON without a conversation",
        };
        let what = telling.map_or_else(String::new, |t| format!(": {}", t.label));
        format!("this looks like {name} ({}{what})", self.keys())
    }

    /// The objects that tell what this is: the first records, or the document or what it lists.
    fn objects(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let listed = self
            .document
            .as_ref()
            .and_then(Value::as_array)
            .map_or(&[][..], |l| &l[..]);
        let values = self
            .document
            .iter()
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
        match keys.len() {
            0 => "it has no keys".to_owned(),
            n if n > KEYS_NAMED => {
                format!(
                    "its keys are {} and {} more",
                    keys[..KEYS_NAMED].join(", "),
                    n - KEYS_NAMED
                )
            }
            _ => format!("its keys are {}", keys.join(", ")),
        }
    }
}

/// Keys by which a kind of JSON is told.
#[derive(Debug)]
struct Telling {
    label: &'static str,
    /// An agent's session, rather than something of no interest to us.
    is_session: bool,
    /// One object has all of these.
    keys: &'static [&'static str],
    /// And its `type` is this, if anything.
    kind: &'static str,
}

impl Telling {
    fn fits(&self, object: &Map<String, Value>) -> bool {
        let kind = object.get("type").and_then(Value::as_str);
        (self.kind.is_empty() || kind == Some(self.kind))
            && self.keys.iter().all(|key| object.contains_key(*key))
    }
}

const fn session(
    label: &'static str,
    keys: &'static [&'static str],
    kind: &'static str,
) -> Telling {
    Telling {
        label,
        is_session: true,
        keys,
        kind,
    }
}

const fn other(label: &'static str, keys: &'static [&'static str]) -> Telling {
    Telling {
        label,
        is_session: false,
        keys,
        kind: "",
    }
}

/// The first that fits counts.
static TELLING: &[Telling] = &[
    session("a Gemini CLI session", &["sessionId", "projectHash"], ""),
    session(
        "a Cline session",
        &["version", "sessionId", "agent", "messages"],
        "",
    ),
    session(
        "a Cline task's screen messages",
        &["ts", "type", "say"],
        "say",
    ),
    session("a Pi session", &["id", "cwd", "timestamp"], "session"),
    session(
        "an OpenHands event log",
        &["kind", "source", "timestamp"],
        "",
    ),
    session(
        "an OpenHands event log",
        &["id", "source", "observation", "extras"],
        "",
    ),
    session(
        "an OpenHands event log",
        &["id", "source", "action", "args"],
        "",
    ),
    session(
        "an OpenHands evaluation file",
        &["instance_id", "instruction", "history"],
        "",
    ),
    session("a SWE-agent trajectory", &["trajectory", "history"], ""),
    session(
        "a mini-SWE-agent trajectory",
        &["messages", "trajectory_format"],
        "",
    ),
    session(
        "a Trae agent trajectory",
        &["llm_interactions", "agent_steps"],
        "",
    ),
    session(
        "a tau-bench results file",
        &["task_id", "traj", "reward"],
        "",
    ),
    session("a ShareGPT data set", &["conversations"], ""),
    session("a Kimi CLI session", &["protocol_version"], "metadata"),
    session(
        "a Copilot CLI session",
        &["data", "parentId"],
        "session.start",
    ),
    session("a Copilot chat", &["requests", "responderUsername"], ""),
    session("a LangChain dump", &["lc", "kwargs"], ""),
    session("an ATIF trajectory", &["schema_version", "steps"], ""),
    other("an OpenTelemetry trace", &["resourceSpans"]),
    other("an OpenTelemetry trace", &["batches"]),
    other("records of `go test -json`", &["Time", "Action", "Package"]),
    other("a Jupyter notebook", &["cells", "nbformat"]),
];

/// The words for a file that is no text, by its first bytes.
fn binary(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"SQLite format 3\0", "a SQLite database"),
        (b"\x1f\x8b", "a compressed file (gzip)"),
        (b"\x28\xb5\x2f\xfd", "a compressed file (zstd)"),
        (b"\xfd7zXZ\0", "a compressed file (xz)"),
        (b"PK\x03\x04", "a compressed file (zip)"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"\x7fELF", "a program"),
        (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    ];
    let known = MAGIC
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic))
        .map(|(_, what)| *what);
    // Crashes leave blocks of NUL in logs, but hardly at the start.
    let has_nul = || bytes[..bytes.len().min(512)].contains(&0);
    known.or_else(|| has_nul().then_some("binary data"))
}

/// The words for other text.
fn text(start: &[u8]) -> &'static str {
    const STARTS: &[(&[u8], &str)] = &[
        (
            b"# aider chat started",
            "an Aider chat history, which is not supported yet",
        ),
        (
            b"<!-- Generated by SpecStory",
            "a SpecStory history, which is not supported yet",
        ),
        (b"<!DOCTYPE", "an HTML page"),
        (b"<html", "an HTML page"),
        (b"<?xml", "XML"),
    ];
    let start = start.trim_ascii_start();
    let known = STARTS
        .iter()
        .find(|(begin, _)| start.starts_with(begin))
        .map(|(_, what)| *what);
    let block = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    // The block's end may split a character, and text may be damaged here and there.
    let is_text = block.matches(char::REPLACEMENT_CHARACTER).count() < 16;
    known.unwrap_or(if is_text {
        "Markdown or plain text"
    } else {
        "binary data"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(bytes: &[u8]) -> String {
        Probe::new(bytes).looks_like()
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
        assert_eq!(
            look("# Ä title\n".as_bytes()),
            "this looks like Markdown or plain text"
        );
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
        let probe = Probe::new(b"{\"sessionId\":\"x\",\n\"projectHash\":\"y\"}");
        assert_eq!(
            probe.looks_like(),
            "this looks like a Gemini CLI session, which is not supported yet"
        );
        assert_eq!(probe.unsupported(), Some("a Gemini CLI session"));
        assert_eq!(Probe::new(b"{\"type\":\"metadata\"}").unsupported(), None);
    }

    #[test]
    fn one_line_is_a_document_and_a_record() {
        let probe = Probe::new(b"{\"a\":1}\n");
        assert_eq!(probe.records().len(), 1);
        assert_eq!(probe.document(), Some(&serde_json::json!({"a": 1})));
    }

    #[test]
    fn a_pretty_document_is_no_json_lines_and_lines_are_no_document() {
        let pretty = Probe::new(b"[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n]");
        assert!(pretty.records().is_empty());
        assert!(pretty.document().is_some_and(Value::is_array));
        let lines = Probe::new(b"{\"a\":1}\n{\"a\":2}\noops\n{\"a\":3}\n{\"a\":4}\n{\"torn");
        assert_eq!(lines.records().len(), 4);
        assert_eq!(lines.document(), None);
        let torn = Probe::new(b"{\"a\":1}\n{\"torn");
        assert_eq!(torn.records().len(), 1);
    }
}
