//! First inspection of a file: whether it is text, JSON or JSON Lines, and a description for files that no format
//! accepts.

mod file_kind;
mod refusal;
mod signature;

pub(super) use file_kind::binary;

use super::byte_order_mark::text_start;
use super::json;
use super::jsonl::{self, Record, RecordsHead};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::FileBytes;
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

/// Number of JSON Lines records that usually identify a format.
// Chosen: the first records of every format but a few are its head and a first message.
pub(super) const FEW_RECORDS: usize = 4;

/// Number of records to inspect if the first few are not enough.
// Chosen: some programs write hundreds of records about their start before a message. More would slow down lists of
// files that are no sessions.
pub(super) const MANY_RECORDS: usize = 400;

/// Number of elements of a document's lists that usually identify a format.
// Chosen: parsing as many takes a few hundredths of a second, and leaves most of the memory of a large list unused.
const FEW_ELEMENTS: usize = 10_000;

/// Accepted share of bad lines in JSON Lines: one in this many.
// Chosen: crashes and full disks leave a few bad lines. Text with some lines of JSON, such as a log, has more.
const LINES_PER_BAD_LINE: usize = 4;

/// Bytes of other text that are kept for detection.
// Chosen: transcripts identify themselves in their first lines, after a system prompt at most.
const TEXT_HEAD_BYTES: usize = 64 << 10;

/// Result of the first inspection of a file.
#[derive(Debug)]
pub struct Probe {
    kind: FileKind,
    /// The first records of JSON Lines.
    records: Vec<Record>,
    /// The value, if the whole file is one value on several lines.
    document: Option<Value>,
    /// Whether lists in the document may have more elements than were parsed.
    is_truncated: bool,
    /// The beginning of other text.
    text: Option<String>,
}

/// Kind of a file.
#[derive(Debug)]
enum FileKind {
    Empty,
    /// Not text; a description.
    Binary(&'static str),
    Json,
    JsonLines,
    /// More lines or values than a session can have; a description.
    TooLarge(String),
    /// Begins like JSON but is truncated or damaged; the error.
    BrokenJson(String),
    /// Other text; a description.
    Text(&'static str),
}

impl Probe {
    /// Inspects a file and up to `most` records of JSON Lines. Parses the whole file only if it is a single value, and
    /// at most once.
    ///
    /// # Errors
    /// [`Cancelled`] if `progress` is cancelled.
    pub fn new(bytes: &FileBytes, most: usize, progress: &Progress) -> Result<Self, Cancelled> {
        let opening = jsonl::opening(bytes, most);
        if let Some(what) = binary(&opening) {
            return Ok(Self::of(FileKind::Binary(what)));
        }
        progress.check_cancelled()?;
        let most_listed = if most < MANY_RECORDS { FEW_ELEMENTS } else { usize::MAX };
        if opening.len() == bytes.len()
            && let Some(probe) = Self::of_large(&opening, most_listed, progress)?
        {
            return Ok(probe);
        }
        let head = jsonl::head(&opening, most);
        if opening.len() < bytes.len() && head.records.len() < most {
            // Many lines are blank or damaged, so that the opening is not enough.
            drop((opening, head));
            let whole = bytes.whole();
            let head = jsonl::head(&whole, most);
            return Self::from_opening(bytes, whole[..].into(), head, progress);
        }
        Self::from_opening(bytes, opening, head, progress)
    }

    /// Determines the kind from the beginning of a file, or from the whole file if that is not enough.
    fn from_opening(
        bytes: &FileBytes,
        opening: Cow<'_, [u8]>,
        head: RecordsHead,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let start = opening[text_start(&opening)..].trim_ascii_start();
        if start.is_empty() {
            return Ok(Self::of(FileKind::Empty));
        }
        let is_json = matches!(start.first(), Some(b'{' | b'['));
        let objects = head.records.iter().filter(|r| r.value.is_object()).count();
        // One bad line is accepted in any file, which may be short.
        let is_bad = head.bad > 1 && head.bad * LINES_PER_BAD_LINE > head.lines;
        let is_lines = objects > 1 && !is_bad;
        if (is_lines || !is_json) && jsonl::has_too_many_lines(bytes) {
            return Ok(Self::of(FileKind::TooLarge(jsonl::too_many_lines())));
        }
        if is_lines {
            return Ok(Self { records: head.records, ..Self::of(FileKind::JsonLines) });
        }
        // If the file is one long line, the opening is the whole file.
        drop(opening);
        let whole = bytes.whole();
        if is_json {
            return Self::of_json(&whole, head, progress);
        }
        Ok(Self::of_text(&whole))
    }

    /// Inspects a large file that is a single value. Parses it in pieces and never as a line.
    fn of_large(
        bytes: &[u8],
        most_listed: usize,
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let span = json::document_span(bytes);
        let text = &bytes[span.clone()];
        let is_large = text.len() >= json::LARGE && matches!(text[0], b'{' | b'[');
        if !is_large {
            return Ok(None);
        }
        let is_line = memchr(b'\n', text).is_none();
        let has_too_many_values = json::has_too_many_values(text);
        // A line with too many values is rejected whether it is one value or several.
        let is_rejected_line = is_line && has_too_many_values;
        if !is_rejected_line && !json::is_one_value(text) {
            return Ok(None);
        }
        if has_too_many_values {
            return Ok(Some(Self::of(FileKind::TooLarge(json::too_many_values()))));
        }
        let value = match json::parse_document(bytes, &span, most_listed, progress)? {
            Ok(value) => value,
            Err(error) => return Ok(Some(Self::of(FileKind::BrokenJson(error.to_string())))),
        };
        let mut probe = Self::of(FileKind::Json);
        probe.is_truncated = most_listed < usize::MAX;
        if is_line {
            let line = memchr_iter(b'\n', &bytes[..span.start]).count() + 1;
            probe.records = vec![Record { span, line, value }];
        } else {
            probe.document = Some(value);
        }
        Ok(Some(probe))
    }

    fn of(kind: FileKind) -> Self {
        Self { kind, records: Vec::new(), document: None, is_truncated: false, text: None }
    }

    /// Inspects a file that does not begin like JSON.
    fn of_text(bytes: &[u8]) -> Self {
        let start = &bytes[text_start(bytes)..];
        if let Ok(scalar) = crate::json::from_slice(start.trim_ascii()) {
            return Self { document: Some(scalar), ..Self::of(FileKind::Json) };
        }
        let head = String::from_utf8_lossy(&start[..start.len().min(TEXT_HEAD_BYTES)]);
        Self {
            text: Some(head.into_owned()),
            ..Self::of(FileKind::Text(file_kind::text_kind(start)))
        }
    }

    /// Inspects a file that begins like JSON and is not obviously JSON Lines.
    fn of_json(bytes: &[u8], head: RecordsHead, progress: &Progress) -> Result<Self, Cancelled> {
        let span = json::document_span(bytes);
        Ok(match &head.records[..] {
            [only] if only.span == span => {
                // A single line that is the whole file may be a document or JSON Lines.
                Self { records: head.records, ..Self::of(FileKind::Json) }
            }
            // A first record followed by a truncated one.
            [only] if only.value.is_object() && head.bad == 0 => {
                Self { records: head.records, ..Self::of(FileKind::JsonLines) }
            }
            _ if json::has_too_many_values(&bytes[span.clone()]) => {
                Self::of(FileKind::TooLarge(json::too_many_values()))
            }
            _ => match json::parse_document(bytes, &span, usize::MAX, progress)? {
                Ok(value) => Self { document: Some(value), ..Self::of(FileKind::Json) },
                Err(error) => Self::of(FileKind::BrokenJson(error.to_string())),
            },
        })
    }

    /// Returns whether more records or elements could identify a format that these do not.
    pub(super) fn has_more(&self) -> bool {
        match self.kind {
            FileKind::Empty | FileKind::Binary(_) => false,
            FileKind::Json => self.is_truncated,
            _ => true,
        }
    }

    /// Returns the first records if the file is JSON Lines or one line of JSON; otherwise an empty slice.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the value if the whole file is one value. A single line may be JSON Lines as well.
    pub(super) fn document(&self) -> Option<&Value> {
        match (&self.kind, &self.records[..]) {
            (FileKind::Json, [only]) => Some(&only.value),
            _ => self.document.as_ref(),
        }
    }

    /// Returns the beginning of a file that is text but not JSON.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(bytes: &[u8]) -> Probe {
        Probe::new(&bytes.to_vec().into(), MANY_RECORDS, &Progress::default())
            .expect("not cancelled")
    }

    #[test]
    fn one_line_is_a_document_and_a_record() {
        let it = probe(b"{\"a\":1}\n");
        assert_eq!(it.records().len(), 1);
        assert_eq!(it.document(), Some(&crate::json::json!({"a": 1})));
    }

    #[test]
    fn parses_the_first_elements_of_a_long_list_and_then_all() {
        let element = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
        let n = FEW_ELEMENTS + 1;
        for (comma, n_records) in [(",", 1), (",\n", 0)] {
            let bytes: FileBytes =
                format!("[{}]", vec![&element[..]; n].join(comma)).into_bytes().into();
            for (most, n_listed) in [(FEW_RECORDS, FEW_ELEMENTS), (MANY_RECORDS, n)] {
                let it = Probe::new(&bytes, most, &Progress::default()).expect("not cancelled");
                let listed = it.document().and_then(Value::as_array).map(Vec::len);
                assert_eq!(listed, Some(n_listed));
                assert_eq!(it.records().len(), n_records);
                assert_eq!(it.has_more(), most == FEW_RECORDS);
            }
        }
    }

    #[test]
    fn distinguishes_multi_line_documents_from_json_lines() {
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
