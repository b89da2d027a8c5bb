//! JSON Lines, also as left by crashed programs: every readable record with its byte range in the file.

mod lines;
mod problem;
mod record;

pub(super) use lines::{has_too_many_lines, too_many_lines};

use super::{Warning, json};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{FileBytes, LineRange, Pieces, Span};
use lines::{NumberedLine, numbered_lines};
use problem::{Problem, ProblemCount};
use rayon::prelude::*;
use record::read_line;
use std::borrow::Cow;

/// A record of the file.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Byte range in the file, without the line break.
    pub span: Span,
    /// Line number from 1. Records concatenated on one line share it.
    pub line: usize,
    /// The parsed value.
    pub value: Value,
}

/// The first records of a file, for detection.
#[derive(Debug, Default)]
pub(super) struct RecordsHead {
    /// Readable records.
    pub records: Vec<Record>,
    /// Number of non-blank lines read, without a truncated last line.
    pub lines: usize,
    /// Number of these lines with unreadable content.
    pub bad: usize,
}

/// Maximum size in bytes of a head, which may have few but long lines.
// Chosen: 400 records with a few images. Reading it takes less than a tenth of a second.
const HEAD_BYTES: usize = 32 << 20;
/// Number of line ranges that are read in parallel before their results are merged, which limits memory.
// Chosen: ranges have a megabyte, so that 64 MB are in memory twice. Machines with more cores than this would need
// more.
const AT_ONCE: usize = 64;
/// Assumed minimum length of lines in bytes when memory is reserved. Shorter lines are mostly blank.
// Chosen: a record with its ids and time is longer. A wrong value only makes the list grow.
const USUAL_LINE: usize = 256;

/// Maps all records of the file in order, on all cores. Each record is passed to `each` at once, so that the values of
/// a large file are not held all together. Problems are added to `warnings`. Advances `progress` by the file's size,
/// divided by `passes`.
pub(super) fn map_records<T: Send>(
    bytes: &(impl Pieces + ?Sized),
    progress: &Progress,
    passes: u64,
    warnings: &mut Vec<Warning>,
    each: impl Fn(Record) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let each = |_: &[u8], record| each(record);
    map_texts(bytes, progress, passes, warnings, |_, _, _| None, each)
}

/// Maps all records like [`map_records`], for readers that need only the text of most records. `quick` gets the text,
/// its byte range and its line. Texts for which it returns `None` are parsed for `each`. It must return `None` for
/// invalid records and text that is not UTF-8.
pub(super) fn map_texts<T: Send>(
    bytes: &(impl Pieces + ?Sized),
    progress: &Progress,
    passes: u64,
    warnings: &mut Vec<Warning>,
    quick: impl Fn(&[u8], &Span, usize) -> Option<T> + Sync,
    each: impl Fn(&[u8], Record) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let read_line = |line: NumberedLine<'_>| {
        progress.check_cancelled()?;
        progress.advance(line.span.len() as u64 / passes);
        if !json::has_too_many_values(line.text)
            && let Some(found) = quick(line.text, &line.span, line.number)
        {
            return Ok(Read::Quick(found));
        }
        let (records, problems) = read_line(&line);
        let each = |record: Record| {
            let place = line.place_of(&record.span);
            each(&line.text[place], record)
        };
        let records = records.into_iter().map(each).collect();
        Ok(Read::Whole(line.number, records, problems))
    };
    let read_range = |range: &LineRange| {
        let mut read = Vec::with_capacity(range.n_lines.min(range.span.len() / USUAL_LINE));
        let text = bytes.piece(&range.span);
        for line in numbered_lines(&text, range.span.start, range.lines_before) {
            read.push(read_line(line)?);
        }
        Ok(read)
    };
    let mut all = Vec::new();
    let mut problem_count = ProblemCount::default();
    for line_ranges in bytes.line_ranges().chunks(AT_ONCE) {
        let read: Vec<Vec<Read<T>>> = line_ranges
            .par_iter()
            .with_max_len(1)
            .map(read_range)
            .collect::<Result<_, Cancelled>>()?;
        all.reserve(read.iter().map(Vec::len).sum());
        for read in read.into_iter().flatten() {
            match read {
                Read::Quick(found) => all.push(found),
                Read::Whole(line, records, problems) => {
                    all.extend(records);
                    problem_count.note(line, &problems, warnings);
                }
            }
        }
    }
    problem_count.sum_up(warnings);
    Ok(all)
}

/// Returns the beginning of a file: `max` lines, or as many bytes as a head has. Returns the whole file if it is not
/// compressed in memory.
pub(super) fn opening(bytes: &FileBytes, max: usize) -> Cow<'_, [u8]> {
    if !bytes.is_packed() {
        return bytes.piece(&(0..bytes.len()));
    }
    let is_enough = |range: &LineRange| {
        range.lines_before + range.n_lines >= max || range.span.end > HEAD_BYTES
    };
    let last = bytes.line_ranges().into_iter().find(is_enough);
    bytes.piece(&(0..last.map_or(bytes.len(), |last| last.span.end)))
}

/// Returns the first records, at most `max`.
pub(super) fn head(bytes: &[u8], max: usize) -> RecordsHead {
    let mut head = RecordsHead::default();
    for line in numbered_lines(bytes, 0, 0).take(max) {
        if head.records.len() >= max || (line.span.start > HEAD_BYTES && !head.records.is_empty()) {
            break;
        }
        let (records, problems) = read_line(&line);
        head.records.extend(records);
        if !problems.iter().any(|p| matches!(p, Problem::Torn(_))) {
            head.lines += 1;
            head.bad += usize::from(problems.iter().any(Problem::is_bad));
        }
    }
    head
}

/// Result of reading a line.
enum Read<T> {
    /// A record, read from its text without parsing it.
    Quick(T),
    /// The line's number, its records and its problems.
    Whole(usize, Vec<T>, Vec<Problem>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Record>, Vec<String>) {
        let mut warnings = Vec::new();
        let records = map_records(bytes, &Progress::default(), 1, &mut warnings, |record| record)
            .expect("the progress is not cancelled");
        (records, warnings.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn reads_blank_lines_crlf_and_a_byte_order_mark() {
        let bytes = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n  {\"b\":2}\r\n";
        let (records, warnings) = read(bytes);
        let texts: Vec<_> = records.iter().map(|r| &bytes[r.span.clone()]).collect();
        assert_eq!(texts, [b"{\"a\":1}", b"{\"b\":2}"]);
        assert_eq!(records[1].line, 3);
        assert_eq!(warnings, Vec::<String>::new());
    }

    #[test]
    fn reads_concatenated_records_with_separate_spans() {
        let bytes = b"{\"a\":1}{\"b\":\"}{\"} {\"c\":3}\n{\"d\":4}";
        let (records, warnings) = read(bytes);
        let texts: Vec<_> =
            records.iter().map(|r| String::from_utf8_lossy(&bytes[r.span.clone()])).collect();
        assert_eq!(texts, ["{\"a\":1}", "{\"b\":\"}{\"}", "{\"c\":3}", "{\"d\":4}"]);
        assert_eq!(warnings, ["line 1: 3 records are on one line"]);
    }

    #[test]
    fn warns_of_a_truncated_tail_and_an_invalid_line() {
        let (records, warnings) = read(b"{\"a\":1}\nno json\n{\"b\":2}\n{\"c\":\"torn");
        assert_eq!(records.len(), 2);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].starts_with("line 2: this line could not be read"), "{warnings:?}");
        assert_eq!(warnings[1], "line 4: the last line is truncated; its 10 bytes were left out");
    }

    #[test]
    fn finds_a_record_after_a_truncated_one() {
        let (records, warnings) = read(b"{\"a\":{\"x\":1},\"t{\"b\":2}\n{\"c\":3}\n");
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!(records[0].value["b"], 2);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn finds_every_whole_record_after_one_truncated_anywhere() {
        let cut = r#"{"type":"user","n":[1.5e3,true],"m":{"content":[{"text":"a \u00e9\n{\"x\": 1}","of":"text"}]}}"#;
        let whole = r#"{"type":"next","n":{"type":"inner"}}"#;
        for end in 1..cut.len() {
            // The next record would be a value of the truncated one: it is found alone on the line.
            let may_continue = [":", ",", "["].iter().any(|at| cut[..end].ends_with(at));
            for (after, found) in [("", 1), (whole, 2), (&cut[..end], 1)] {
                if may_continue && !after.is_empty() {
                    continue;
                }
                let bytes = format!("{}{whole}{after}\n{whole}\n", &cut[..end]);
                let (records, warnings) = read(bytes.as_bytes());
                assert!(records.iter().all(|r| r.value["type"] == "next"), "{bytes}");
                assert_eq!(records.len(), found + 1, "{bytes}: {records:?}");
                assert!(!warnings.is_empty(), "{bytes}");
            }
        }
    }

    #[test]
    fn a_line_of_many_broken_records_takes_linear_time() {
        for line in [r#"{"a":[{"b":"{"#, r#"{"a":"#, r#"x{"a":"#] {
            let line = line.repeat(20_000);
            let (records, _) = read(format!("{line}\n{{\"c\":1}}\n").as_bytes());
            assert_eq!(records.len(), 1);
        }
    }

    #[test]
    fn replaces_text_that_no_string_can_hold() {
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
    fn warns_of_deep_nesting() {
        let deep =
            format!("{{\"a\":{}{}}}\n{{\"b\":1}}\n", "[".repeat(100_000), "]".repeat(100_000));
        let (records, warnings) = read(deep.as_bytes());
        assert_eq!(records.len(), 1);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn sums_up_many_invalid_lines() {
        let (_, warnings) = read("bad\n".repeat(60).as_bytes());
        assert_eq!(warnings.len(), 51);
        assert_eq!(warnings[50], "10 more lines could not be read");
        let (records, warnings) = read("{\"a\":1}{\"a\":2}\n".repeat(51).as_bytes());
        assert_eq!((records.len(), warnings.len()), (102, 51));
        assert_eq!(warnings[50], "1 more line like these");
    }
}
