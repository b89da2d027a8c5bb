//! JSON Lines as programs that crash leave them: every record that can be read, each with its place in the file.

use super::{Warning, json};
use crate::progress::{Cancelled, Progress};
use crate::session::Span;
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// One record of the file.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its bytes in the file, without the line's end.
    pub span: Span,
    /// Its line, from 1; records glued on one line share it.
    pub line: usize,
    /// What it says.
    pub value: Value,
}

/// The first records of a file, for a look that must stay cheap.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// What could be read.
    pub records: Vec<Record>,
    /// Lines looked at that are not blank; a torn last line is not among them.
    pub lines: usize,
    /// Of these, lines that hold something unreadable.
    pub bad: usize,
}

/// A head stops here even if it has few records: lines may be long.
const HEAD_BYTES: usize = 32 << 20;
/// No session has more lines: each is kept as more than the few bytes that it may take in a file.
const MOST_LINES: usize = 5_000_000;
/// Lines that begin within so many bytes are found and read on one core.
const PIECE: usize = 1 << 20;
/// So many pieces are read before what was read is put in order, so that it does not stand in memory twice.
const AT_ONCE: usize = 64;
/// Room is made at once for so many of a piece's lines; more of them are mostly blank.
const USUAL_LINES: usize = PIECE / 256;
/// A file with more bad lines than this is summed up rather than listed; so is one with more odd ones.
const MAX_LINES_LISTED: usize = 50;
/// How often a broken line is searched for a record that was glued behind the break.
const MAX_RESYNCS: usize = 8;

/// All records of the file in order, each handed on at once, on all cores, so that a large file's values need not
/// all be held; what is wrong with the file goes to `warnings`. Advances `progress` by the file's bytes, shared
/// among so many `passes` over them.
pub(super) fn map_records<T: Send>(
    bytes: &[u8],
    progress: &Progress,
    passes: u64,
    warnings: &mut Vec<Warning>,
    each: impl Fn(Record) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    map_texts(bytes, progress, passes, warnings, |_, _, _| None, each)
}

/// The same where a record's text alone is enough for most: `quick` gets it with its place and line, and whatever it
/// declines is read for `each`. It must decline what is no record, or not UTF-8.
pub(super) fn map_texts<T: Send>(
    bytes: &[u8],
    progress: &Progress,
    passes: u64,
    warnings: &mut Vec<Warning>,
    quick: impl Fn(&[u8], &Span, usize) -> Option<T> + Sync,
    each: impl Fn(Record) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let read_line = |line: Line| {
        progress.go_on()?;
        progress.advance(line.span.len() as u64 / passes);
        let text = &bytes[line.span.clone()];
        if !json::is_crowded(text)
            && let Some(found) = quick(text, &line.span, line.number)
        {
            return Ok(Read::Quick(found));
        }
        let (records, problems) = read_line(bytes, &line);
        let records = records.into_iter().map(&each).collect();
        Ok(Read::Whole(line.number, records, problems))
    };
    let read_piece = |piece: &Piece| {
        let mut read = Vec::with_capacity(piece.n_lines.min(USUAL_LINES));
        for line in lines(bytes, piece.span.clone(), piece.lines_before) {
            read.push(read_line(line)?);
        }
        Ok(read)
    };
    let mut all = Vec::new();
    let mut said = Said::default();
    for pieces in pieces(bytes).chunks(AT_ONCE) {
        let read: Vec<Vec<Read<T>>> = pieces
            .par_iter()
            .with_max_len(1)
            .map(read_piece)
            .collect::<Result<_, Cancelled>>()?;
        all.reserve(read.iter().map(Vec::len).sum());
        for read in read.into_iter().flatten() {
            match read {
                Read::Quick(found) => all.push(found),
                Read::Whole(line, records, problems) => {
                    all.extend(records);
                    said.note(line, &problems, warnings);
                }
            }
        }
    }
    said.sum_up(warnings);
    Ok(all)
}

/// The first records, at most `max`.
pub(super) fn head(bytes: &[u8], max: usize) -> Head {
    let mut head = Head::default();
    let whole = text_start(bytes)..bytes.len();
    for line in lines(bytes, whole, 0).take(max) {
        if head.records.len() >= max || (line.span.start > HEAD_BYTES && !head.records.is_empty()) {
            break;
        }
        let (records, problems) = read_line(bytes, &line);
        head.records.extend(records);
        if !problems.iter().any(|p| matches!(p, Problem::Torn(_))) {
            head.lines += 1;
            head.bad += usize::from(problems.iter().any(Problem::is_bad));
        }
    }
    head
}

/// Whether there are more lines than any session has, however little stands in them.
pub(super) fn is_crowded(bytes: &[u8]) -> bool {
    let ends = |piece: &[u8]| memchr_iter(b'\n', piece).count();
    bytes.len() > MOST_LINES && bytes.par_chunks(PIECE).map(ends).sum::<usize>() >= MOST_LINES
}

/// What is said of such a file.
pub(super) fn crowded() -> String {
    let most = MOST_LINES / 1_000_000;
    format!("it has more than {most} million lines, which no session has")
}

/// Where the text starts: behind a byte order mark, if there is one.
pub(super) fn text_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// Whole lines that stand near each other.
struct Piece {
    span: Span,
    n_lines: usize,
    lines_before: usize,
}

/// All lines, in pieces for one core each.
fn pieces(bytes: &[u8]) -> Vec<Piece> {
    let mut spans = Vec::new();
    let mut start = text_start(bytes);
    while start < bytes.len() {
        let rest = bytes.get(start + PIECE..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(bytes.len(), |n| start + PIECE + n + 1);
        spans.push(start..end);
        start = end;
    }
    let n_lines = |span: &Span| {
        let text = &bytes[span.clone()];
        memchr_iter(b'\n', text).count() + usize::from(!text.ends_with(b"\n"))
    };
    let n_lines: Vec<usize> = spans.par_iter().map(n_lines).collect();
    let mut lines_before = 0;
    let piece = |(span, n_lines)| {
        lines_before += n_lines;
        Piece {
            span,
            n_lines,
            lines_before: lines_before - n_lines,
        }
    };
    spans.into_iter().zip(n_lines).map(piece).collect()
}

/// A line that is not blank, trimmed.
struct Line {
    number: usize,
    span: Span,
    /// The file ends in it, without a line's end.
    is_open: bool,
}

/// What a line gave.
enum Read<T> {
    /// One record, read from its text alone.
    Quick(T),
    /// Any records, and what is wrong with the line of this number.
    Whole(usize, Vec<T>, Vec<Problem>),
}

/// What is wrong with a line.
enum Problem {
    Torn(usize),
    Glued(usize),
    Bad(String),
    Nul,
    NotUtf8,
}

impl Problem {
    fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }

    fn sentence(&self) -> String {
        match self {
            Self::Torn(bytes) => {
                format!("the last line is cut off, its {bytes} bytes were left out")
            }
            Self::Glued(n) => format!("{n} records are glued on one line"),
            Self::Bad(why) => format!("this line could not be read: {why}"),
            Self::Nul => "NUL bytes were passed over".to_owned(),
            Self::NotUtf8 => "some bytes are not UTF-8".to_owned(),
        }
    }
}

/// How many problems were met.
#[derive(Default)]
struct Said {
    bad: usize,
    odd: usize,
}

impl Said {
    /// Warns of the first.
    fn note(&mut self, line: usize, problems: &[Problem], warnings: &mut Vec<Warning>) {
        for problem in problems {
            let before = if problem.is_bad() {
                &mut self.bad
            } else {
                &mut self.odd
            };
            *before += 1;
            if *before <= MAX_LINES_LISTED || matches!(problem, Problem::Torn(_)) {
                warnings.push(Warning {
                    line: Some(line),
                    text: problem.sentence(),
                });
            }
        }
    }

    /// Warns of how many more there were.
    fn sum_up(self, warnings: &mut Vec<Warning>) {
        for (n, what) in [(self.bad, "could not be read"), (self.odd, "like these")] {
            let more = n.saturating_sub(MAX_LINES_LISTED);
            if more > 0 {
                let text = format!(
                    "{more} more line{} {what}",
                    if more == 1 { "" } else { "s" }
                );
                warnings.push(Warning { line: None, text });
            }
        }
    }
}

/// The lines of a piece before which there are so many.
fn lines(bytes: &[u8], piece: Span, lines_before: usize) -> impl Iterator<Item = Line> {
    let bytes = &bytes[..piece.end];
    let (mut next, mut number) = (piece.start, lines_before);
    std::iter::from_fn(move || {
        while next < bytes.len() {
            let rest = &bytes[next..];
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            let start = next + line.len() - line.trim_ascii_start().len();
            let span = start..start + line.trim_ascii().len();
            next += line.len() + 1;
            number += 1;
            if !line.trim_ascii().is_empty() {
                return Some(Line {
                    number,
                    span,
                    is_open: end.is_none(),
                });
            }
        }
        None
    })
}

fn read_line(bytes: &[u8], line: &Line) -> (Vec<Record>, Vec<Problem>) {
    let text = &bytes[line.span.clone()];
    if json::is_crowded(text) {
        return (Vec::new(), vec![Problem::Bad(json::crowded())]);
    }
    if let Ok(value) = serde_json::from_slice(text) {
        return (
            vec![Record {
                span: line.span.clone(),
                line: line.number,
                value,
            }],
            Vec::new(),
        );
    }
    read_odd_line(text, line)
}

/// A line that is not simply one record: glued, torn, damaged or of no JSON at all.
fn read_odd_line(text: &[u8], line: &Line) -> (Vec<Record>, Vec<Problem>) {
    let mut problems = Vec::new();
    let text = without_nul(text);
    if matches!(text, Cow::Owned(_)) {
        problems.push(Problem::Nul);
        if text.trim_ascii().is_empty() {
            return (Vec::new(), problems);
        }
    }
    if std::str::from_utf8(&text).is_err() {
        problems.push(Problem::NotUtf8);
    }
    let (spans, broken) = split(&text, !line.is_open);
    let mut records = Vec::new();
    for span in spans {
        match json::parse_lenient(&text[span.clone()]) {
            Ok(value) => {
                let span = line.span.start + span.start..line.span.start + span.end;
                records.push(Record {
                    span,
                    line: line.number,
                    value,
                });
            }
            Err(error) => problems.push(Problem::Bad(error.to_string())),
        }
    }
    if records.len() > 1 {
        problems.push(Problem::Glued(records.len()));
    }
    match broken {
        Some((at, error)) if line.is_open && error.is_eof() => {
            problems.push(Problem::Torn(text.len() - at));
        }
        Some((_, error)) => problems.push(Problem::Bad(error.to_string())),
        None => {}
    }
    (records, problems)
}

/// Spaces for NUL bytes: they do no harm inside a string or outside of it, and every offset stays.
fn without_nul(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    text.iter()
        .map(|b| if *b == 0 { b' ' } else { *b })
        .collect::<Vec<_>>()
        .into()
}

/// The values of a line, and where and why it breaks if it does.
fn split(text: &[u8], resync: bool) -> (Vec<Span>, Option<(usize, serde_json::Error)>) {
    let (mut spans, broken) = values(text, 0);
    let Some((at, error)) = broken else {
        return (spans, None);
    };
    if resync {
        // A program died while it wrote and the next one went on in the same line.
        let starts = text[at..]
            .windows(2)
            .enumerate()
            .skip(1)
            .filter(|(_, w)| *w == b"{\"");
        for (offset, _) in starts.take(MAX_RESYNCS) {
            let (found, rest) = values(text, at + offset);
            if rest.is_none() {
                spans.extend(found);
                break;
            }
        }
    }
    (spans, Some((at, error)))
}

/// The values that follow one another from `start`. Strings are not looked into, so that what no `String`
/// can hold still has a place.
fn values(text: &[u8], start: usize) -> (Vec<Span>, Option<(usize, serde_json::Error)>) {
    let mut spans = Vec::new();
    let mut stream = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<IgnoredAny>();
    loop {
        let from = start + stream.byte_offset();
        let from = from + text[from..].len() - text[from..].trim_ascii_start().len();
        match stream.next() {
            None => return (spans, None),
            Some(Ok(_)) => spans.push(from..start + stream.byte_offset()),
            Some(Err(error)) => return (spans, Some((from, error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Record>, Vec<String>) {
        let mut warnings = Vec::new();
        let records = map_records(bytes, &Progress::default(), 1, &mut warnings, |record| {
            record
        })
        .expect("nobody cancels");
        (records, warnings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn lines_blank_or_ended_by_crlf_behind_a_byte_order_mark_read_without_a_warning() {
        let bytes = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n  {\"b\":2}\r\n";
        let (records, warnings) = read(bytes);
        let texts: Vec<_> = records.iter().map(|r| &bytes[r.span.clone()]).collect();
        assert_eq!(texts, [b"{\"a\":1}", b"{\"b\":2}"]);
        assert_eq!(records[1].line, 3);
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn glued_records_keep_a_span_each() {
        let bytes = b"{\"a\":1}{\"b\":\"}{\"} {\"c\":3}\n{\"d\":4}";
        let (records, warnings) = read(bytes);
        let texts: Vec<_> = records
            .iter()
            .map(|r| String::from_utf8_lossy(&bytes[r.span.clone()]))
            .collect();
        assert_eq!(
            texts,
            ["{\"a\":1}", "{\"b\":\"}{\"}", "{\"c\":3}", "{\"d\":4}"]
        );
        assert_eq!(warnings, ["line 1: 3 records are glued on one line"]);
    }

    #[test]
    fn a_torn_tail_and_a_bad_line_are_warnings_and_the_rest_loads() {
        let (records, warnings) = read(b"{\"a\":1}\nno json\n{\"b\":2}\n{\"c\":\"torn");
        assert_eq!(records.len(), 2);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[0].starts_with("line 2: this line could not be read"),
            "{warnings:?}"
        );
        assert_eq!(
            warnings[1],
            "line 4: the last line is cut off, its 10 bytes were left out"
        );
    }

    #[test]
    fn a_record_written_behind_a_torn_one_is_found() {
        let (records, warnings) = read(b"{\"a\":{\"x\":1},\"t{\"b\":2}\n{\"c\":3}\n");
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!(records[0].value["b"], 2);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn text_that_no_string_can_hold_is_replaced_and_keeps_its_place() {
        let bytes = b"{\"a\":\"x\\ud83d\"}{\"b\":\"\\ud83d\\ude00\\\\ud83d\"}\n{\"c\":\"\xff\"}\n\0\0{\"d\":\"\0\"}\n";
        let (records, warnings) = read(bytes);
        let values: Vec<_> = records.iter().map(|r| r.value.to_string()).collect();
        assert_eq!(
            values,
            [
                "{\"a\":\"x\u{fffd}\"}",
                "{\"b\":\"😀\\\\ud83d\"}",
                "{\"c\":\"\u{fffd}\"}",
                "{\"d\":\" \"}"
            ]
        );
        assert_eq!(&bytes[records[0].span.clone()], b"{\"a\":\"x\\ud83d\"}");
        assert_eq!(warnings.len(), 3, "{warnings:?}");
    }

    #[test]
    fn nesting_too_deep_to_read_is_a_warning() {
        let deep = format!(
            "{{\"a\":{}{}}}\n{{\"b\":1}}\n",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let (records, warnings) = read(deep.as_bytes());
        assert_eq!(records.len(), 1);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn many_bad_lines_are_summed_up() {
        let (_, warnings) = read("bad\n".repeat(60).as_bytes());
        assert_eq!(warnings.len(), 51);
        assert_eq!(warnings[50], "10 more lines could not be read");
        let (records, warnings) = read("{\"a\":1}{\"a\":2}\n".repeat(51).as_bytes());
        assert_eq!((records.len(), warnings.len()), (102, 51));
        assert_eq!(warnings[50], "1 more line like these");
    }
}
