//! JSON Lines as programs that crash leave them: every record that can be read, each with its place in the file.

mod lines;
mod problem;
mod record;

pub(super) use lines::{crowded, is_crowded, text_start};

use super::{Warning, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{FileBytes, Pieces, Span, Stretch};
use lines::{Line, lines};
use problem::{Problem, Said};
use rayon::prelude::*;
use record::read_line;
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
/// So many stretches are read before what was read is put in order, so that it does not stand in memory twice.
const AT_ONCE: usize = 64;
/// Room is made at once for lines of so many bytes; shorter ones are mostly blank.
const USUAL_LINE: usize = 256;

/// All records of the file in order, each handed on at once, on all cores, so that a large file's values need not
/// all be held; what is wrong with the file goes to `warnings`. Advances `progress` by the file's bytes, shared
/// among so many `passes` over them.
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

/// The same where a record's text alone is enough for most: `quick` gets it with its place and line, and whatever it
/// declines is read for `each`. It must decline what is no record, or not UTF-8.
pub(super) fn map_texts<T: Send>(
    bytes: &(impl Pieces + ?Sized),
    progress: &Progress,
    passes: u64,
    warnings: &mut Vec<Warning>,
    quick: impl Fn(&[u8], &Span, usize) -> Option<T> + Sync,
    each: impl Fn(&[u8], Record) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let read_line = |line: Line<'_>| {
        progress.go_on()?;
        progress.advance(line.span.len() as u64 / passes);
        if !json::is_crowded(line.text)
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
    let read_stretch = |stretch: &Stretch| {
        let mut read = Vec::with_capacity(stretch.n_lines.min(stretch.span.len() / USUAL_LINE));
        let text = bytes.piece(&stretch.span);
        for line in lines(&text, stretch.span.start, stretch.lines_before) {
            read.push(read_line(line)?);
        }
        Ok(read)
    };
    let mut all = Vec::new();
    let mut said = Said::default();
    for stretches in bytes.stretches().chunks(AT_ONCE) {
        let read: Vec<Vec<Read<T>>> = stretches
            .par_iter()
            .with_max_len(1)
            .map(read_stretch)
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

/// How a file begins: so many lines, or more bytes than a head has. All of it, where it is not packed.
pub(super) fn opening(bytes: &FileBytes, max: usize) -> Cow<'_, [u8]> {
    if !bytes.is_packed() {
        return bytes.piece(&(0..bytes.len()));
    }
    let is_enough = |stretch: &Stretch| {
        stretch.lines_before + stretch.n_lines >= max || stretch.span.end > HEAD_BYTES
    };
    let last = bytes.stretches().into_iter().find(is_enough);
    bytes.piece(&(0..last.map_or(bytes.len(), |last| last.span.end)))
}

/// The first records, at most `max`.
pub(super) fn head(bytes: &[u8], max: usize) -> Head {
    let mut head = Head::default();
    for line in lines(bytes, 0, 0).take(max) {
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

/// What a line gave.
enum Read<T> {
    /// One record, read from its text alone.
    Quick(T),
    /// Any records, and what is wrong with the line of this number.
    Whole(usize, Vec<T>, Vec<Problem>),
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
