//! A first look at a file: whether it is text, JSON or JSON Lines, and, where no format takes it, what it looks like.

mod other;
mod refusal;
mod telling;

pub(super) use other::binary;

use super::json;
use super::jsonl::{self, Head, Record};
use crate::progress::{Cancelled, Progress};
use crate::session::FileBytes;
use memchr::{memchr, memchr_iter};
use serde_json::Value;
use std::borrow::Cow;

/// So many records of JSON Lines mostly tell a format.
pub(super) const FEW: usize = 4;

/// So many are looked at where those do not.
pub(super) const MANY: usize = 400;

/// So many elements of a document's lists mostly tell a format.
const FEW_LISTED: usize = 10_000;

/// JSON Lines may have this share of bad lines, as one in so many.
const ONE_BAD_LINE_IN: usize = 4;

/// So much of other text is kept for a look.
const HEAD_TEXT: usize = 64 << 10;

/// A first look at a file.
#[derive(Debug)]
pub struct Probe {
    kind: Kind,
    /// The first records, where it is JSON Lines.
    records: Vec<Record>,
    /// The value, where the whole file is one and takes more than one line.
    document: Option<Value>,
    /// The document's lists may have more elements than were parsed.
    is_shortened: bool,
    /// How it begins, where it is other text.
    text: Option<String>,
}

/// What a file is at first sight.
#[derive(Debug)]
enum Kind {
    Empty,
    /// Not text; the words for it.
    Binary(&'static str),
    Json,
    JsonLines,
    /// It has more lines or values than a session can have; the words for it.
    Crowded(String),
    /// It begins like JSON and then breaks off; why.
    BrokenJson(String),
    /// Other text; the words for it.
    Text(&'static str),
}

impl Probe {
    /// Looks at a file, at `most` records of JSON Lines. Costs at most one parse of it, and that only where it is a single value.
    ///
    /// # Errors
    /// [`Cancelled`] when `progress` says so.
    pub fn new(bytes: &FileBytes, most: usize, progress: &Progress) -> Result<Self, Cancelled> {
        let opening = jsonl::opening(bytes, most);
        if let Some(what) = binary(&opening) {
            return Ok(Self::of(Kind::Binary(what)));
        }
        progress.go_on()?;
        let most_listed = if most < MANY { FEW_LISTED } else { usize::MAX };
        if opening.len() == bytes.len()
            && let Some(probe) = Self::of_large(&opening, most_listed, progress)?
        {
            return Ok(probe);
        }
        let head = jsonl::head(&opening, most);
        if opening.len() < bytes.len() && head.records.len() < most {
            // Many lines are blank or damaged: it takes more to tell.
            drop((opening, head));
            let whole = bytes.whole();
            let head = jsonl::head(&whole, most);
            return Self::told(bytes, whole[..].into(), head, progress);
        }
        Self::told(bytes, opening, head, progress)
    }

    /// Tells a file by how it begins, and by the whole of it where that is not enough.
    fn told(
        bytes: &FileBytes,
        opening: Cow<'_, [u8]>,
        head: Head,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let start = opening[jsonl::text_start(&opening)..].trim_ascii_start();
        if start.is_empty() {
            return Ok(Self::of(Kind::Empty));
        }
        let is_json = matches!(start.first(), Some(b'{' | b'['));
        let objects = head.records.iter().filter(|r| r.value.is_object()).count();
        let is_lines = objects > 1 && head.bad * ONE_BAD_LINE_IN <= head.lines;
        if (is_lines || !is_json) && jsonl::has_too_many_lines(bytes) {
            return Ok(Self::of(Kind::Crowded(jsonl::too_many_lines())));
        }
        if is_lines {
            return Ok(Self {
                records: head.records,
                ..Self::of(Kind::JsonLines)
            });
        }
        // Of one long line it is all there is.
        drop(opening);
        let whole = bytes.whole();
        if is_json {
            return Self::of_json(&whole, head, progress);
        }
        Ok(Self::of_text(&whole))
    }

    /// A large file that is one value: parsed in pieces, and never as a line.
    fn of_large(
        bytes: &[u8],
        most_listed: usize,
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let span = json::document_span(bytes);
        let text = &bytes[span.clone()];
        let is_large = text.len() >= json::LARGE && matches!(text[0], b'{' | b'[');
        if !is_large || !json::is_one_value(text) {
            return Ok(None);
        }
        if json::has_too_many_values(text) {
            return Ok(Some(Self::of(Kind::Crowded(json::too_many_values()))));
        }
        let value = match json::parse_document(bytes, &span, most_listed, progress)? {
            Ok(value) => value,
            Err(error) => return Ok(Some(Self::of(Kind::BrokenJson(error.to_string())))),
        };
        let mut probe = Self::of(Kind::Json);
        probe.is_shortened = most_listed < usize::MAX;
        if memchr(b'\n', text).is_some() {
            probe.document = Some(value);
        } else {
            let line = memchr_iter(b'\n', &bytes[..span.start]).count() + 1;
            probe.records = vec![Record { span, line, value }];
        }
        Ok(Some(probe))
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            records: Vec::new(),
            document: None,
            is_shortened: false,
            text: None,
        }
    }

    /// A file that begins like nothing else.
    fn of_text(bytes: &[u8]) -> Self {
        let start = &bytes[jsonl::text_start(bytes)..];
        if let Ok(scalar) = serde_json::from_slice(start.trim_ascii()) {
            return Self {
                document: Some(scalar),
                ..Self::of(Kind::Json)
            };
        }
        let head = String::from_utf8_lossy(&start[..start.len().min(HEAD_TEXT)]);
        Self {
            text: Some(head.into_owned()),
            ..Self::of(Kind::Text(other::text(start)))
        }
    }

    /// A file that begins like JSON and is not obviously JSON Lines.
    fn of_json(bytes: &[u8], head: Head, progress: &Progress) -> Result<Self, Cancelled> {
        let span = json::document_span(bytes);
        Ok(match &head.records[..] {
            [only] if only.span == span => {
                // One line, and the whole file: it may be either.
                Self {
                    records: head.records,
                    ..Self::of(Kind::Json)
                }
            }
            // A first record, and a second one that is torn.
            [only] if only.value.is_object() && head.bad == 0 => Self {
                records: head.records,
                ..Self::of(Kind::JsonLines)
            },
            _ if json::has_too_many_values(&bytes[span.clone()]) => {
                Self::of(Kind::Crowded(json::too_many_values()))
            }
            _ => match json::parse_document(bytes, &span, usize::MAX, progress)? {
                Ok(value) => Self {
                    document: Some(value),
                    ..Self::of(Kind::Json)
                },
                Err(error) => Self::of(Kind::BrokenJson(error.to_string())),
            },
        })
    }

    /// Whether more records or elements may tell what these do not.
    pub(super) fn has_more(&self) -> bool {
        match self.kind {
            Kind::Empty | Kind::Binary(_) => false,
            Kind::Json => self.is_shortened,
            _ => true,
        }
    }

    /// The first records, where the file is JSON Lines or one line of JSON; else none.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// The value, where the whole file is one (a single line may be JSON Lines as well).
    pub(super) fn document(&self) -> Option<&Value> {
        match (&self.kind, &self.records[..]) {
            (Kind::Json, [only]) => Some(&only.value),
            _ => self.document.as_ref(),
        }
    }

    /// How the file begins, where it is text and no JSON.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(bytes: &[u8]) -> Probe {
        Probe::new(&bytes.to_vec().into(), MANY, &Progress::default()).expect("nobody cancels")
    }

    #[test]
    fn one_line_is_a_document_and_a_record() {
        let it = probe(b"{\"a\":1}\n");
        assert_eq!(it.records().len(), 1);
        assert_eq!(it.document(), Some(&serde_json::json!({"a": 1})));
    }

    #[test]
    fn a_long_list_is_first_told_by_its_first_elements_and_then_by_all() {
        let element = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
        let n = FEW_LISTED + 1;
        for (comma, n_records) in [(",", 1), (",\n", 0)] {
            let bytes: FileBytes = format!("[{}]", vec![&element[..]; n].join(comma))
                .into_bytes()
                .into();
            for (most, n_listed) in [(FEW, FEW_LISTED), (MANY, n)] {
                let it = Probe::new(&bytes, most, &Progress::default()).expect("nobody cancels");
                let listed = it.document().and_then(Value::as_array).map(Vec::len);
                assert_eq!(listed, Some(n_listed));
                assert_eq!(it.records().len(), n_records);
                assert_eq!(it.has_more(), most == FEW);
            }
        }
    }

    #[test]
    fn a_pretty_document_is_no_json_lines_and_lines_are_no_document() {
        let pretty = probe(b"[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n]");
        assert!(pretty.records().is_empty());
        assert!(pretty.document().is_some_and(Value::is_array));
        let lines = probe(b"{\"a\":1}\n{\"a\":2}\noops\n{\"a\":3}\n{\"a\":4}\n{\"torn");
        assert_eq!(lines.records().len(), 4);
        assert_eq!(lines.document(), None);
        let torn = probe(b"{\"a\":1}\n{\"torn");
        assert_eq!(torn.records().len(), 1);
    }
}
