//! Changes to a file by a program, an editor or a crash are kept when the file is written back untouched, in every format
//! that can be written.

use crate::fixtures::{Fixture, all_kept, fixtures, read, said};
use plimsoll::formats::by_name;

/// A change to a file that keeps its content.
struct Change {
    name: &'static str,
    /// Files to which the change applies.
    of: Of,
    make: fn(&str) -> String,
}

/// Files to which a change applies.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Any,
    /// All files; the change adds members, which parts kept as JSON contain.
    Members,
    /// Files with one record per line.
    Lines,
    /// Files with one record per line whose format is detected by their start.
    LongLines,
}

const fn change(of: Of, name: &'static str, make: fn(&str) -> String) -> Change {
    Change { name, of, make }
}

static CHANGES: &[Change] = &[
    change(Of::Any, "as it is", str::to_owned),
    change(Of::Any, "byte order mark", |text| format!("\u{feff}{text}")),
    change(Of::Any, "carriage returns", |text| text.replace('\n', "\r\n")),
    change(Of::Any, "no final newline", |text| text.trim_end().to_owned()),
    change(Of::Any, "final newline", |text| format!("{}\n", text.trim_end())),
    change(Of::Any, "blank end", |text| format!("{text}\n \n\n")),
    change(Of::Any, "mark, carriage returns, no final newline", |text| {
        format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"))
    }),
    change(Of::Members, "key written twice", |text| with(text, r#""zz":"first","zz":"second","#)),
    change(Of::Members, "huge integers", |text| {
        with(
            text,
            r#""zz":[123456789012345678901234567890,-9223372036854775809,18446744073709551616],"#,
        )
    }),
    change(Of::Members, "odd numbers", |text| with(text, r#""zz":[1.50,-0.0,1E5,1e400,1e-400],"#)),
    change(Of::Members, "lone surrogates", |text| {
        with(text, r#""zz":"\ud83d and \udc00","z\ud800":0,"#)
    }),
    change(Of::Members, "escapes that need not be", |text| {
        with(text, r#""z\u007a":"\u0041\/\u0000\ud83d\ude00","#)
    }),
    change(Of::Lines, "blank lines", |text| text.replace('\n', "\n\n \t\n")),
    change(Of::Lines, "glued lines", |text| text.replacen('\n', "", 1)),
    change(Of::Lines, "all on one line", |text| text.replace('\n', " ")),
    change(Of::LongLines, "a line that is no record", |text| behind_last(text, "not a record\n")),
    change(Of::LongLines, "NUL bytes", |text| behind_last(text, "\0\0\0\0\n")),
    change(Of::LongLines, "NUL bytes before a record", |text| behind_last(text, "\0\0\0\0")),
];

/// Inserts a text before the last line.
fn behind_last(text: &str, this: &str) -> String {
    let last = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    format!("{}{this}{}", &text[..last], &text[last..])
}

/// Adds members to every object of a text.
fn with(text: &str, members: &str) -> String {
    let mut changed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{\"") {
        // Strings are skipped.
        let is_whole = rest[at + 2..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        changed.push_str(&rest[..=at]);
        if is_whole {
            changed.push_str(members);
        }
        rest = &rest[at + 1..];
    }
    changed + rest
}

/// Returns the fixtures with one session that can be written.
fn writable() -> Vec<(Fixture, String, Vec<String>)> {
    let mut found = Vec::new();
    for fixture in fixtures() {
        let text = String::from_utf8_lossy(&fixture.bytes).into_owned();
        let sessions = read(&fixture.name, &fixture.bytes).map(|parsed| parsed.sessions);
        if let (Some(_), Ok([only])) = (fixture.writer(), sessions.as_deref()) {
            let said = said(only);
            found.push((fixture, text, said));
        }
    }
    found
}

/// Writes a changed file back untouched and returns the fault, if any. `expected` are its texts, if known.
fn wrong(fixture: &Fixture, text: &str, expected: Option<&[String]>) -> Option<String> {
    let parsed = match read(&fixture.name, text.as_bytes()) {
        Ok(parsed) => parsed,
        // The rest of a torn file may contain no conversation.
        Err(_) if expected.is_none() => return None,
        Err(refused) => return Some(format!("refused: {refused}")),
    };
    let [only] = &parsed.sessions[..] else {
        return Some(format!("{} sessions", parsed.sessions.len()));
    };
    let Some(format) = by_name(only.source.format).filter(|format| format.is_writable()) else {
        return Some(format!("read as {}", only.source.format));
    };
    match format.write(only, &all_kept(only)) {
        Err(error) => return Some(format!("not written: {error}")),
        Ok(out) if out != text.as_bytes() => {
            return Some(format!(
                "written as\n{}\ninstead of\n{text}",
                String::from_utf8_lossy(&out)
            ));
        }
        Ok(_) => {}
    }
    let said = said(only);
    let differs = expected.is_some_and(|expected| expected != said);
    differs.then(|| format!("says {said:#?}\ninstead of {expected:#?}"))
}

#[test]
fn changes_to_a_file_are_kept_when_it_is_written_untouched() {
    let (mut tried, mut all) = (0, Vec::new());
    for (fixture, text, said) in writable() {
        for change in CHANGES {
            let is_for = match change.of {
                Of::Any | Of::Members => true,
                Of::Lines => fixture.is_lines(),
                Of::LongLines => fixture.is_lines() && text.lines().count() > 4,
            };
            if !is_for {
                continue;
            }
            tried += 1;
            let said = (change.of != Of::Members).then_some(&said[..]);
            if let Some(what) = wrong(&fixture, &(change.make)(&text), said) {
                all.push(format!("{}, {}: {what}", fixture.name, change.name));
            }
        }
    }
    assert!(tried > 250, "only {tried} were tried");
    assert!(all.is_empty(), "{} of {tried}:\n{}", all.len(), all.join("\n\n"));
}

#[test]
fn a_file_torn_in_its_last_or_first_lines_is_written_unchanged() {
    let (mut tried, mut all) = (0, Vec::new());
    for (fixture, text, _) in writable() {
        if !fixture.is_lines() {
            continue;
        }
        let last = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let second = text.find('\n').map_or(0, |at| at + 1);
        for share in 1..8 {
            let end = text.floor_char_boundary(last + (text.len() - last) * share / 8);
            let torn_end = text[..end].to_owned();
            // A program crashed within a line, and the next one continued after it.
            let start = text.floor_char_boundary(second * share / 8);
            let torn_start = format!("{}{}", &text[..start], &text[second..]);
            let torn_twice = format!("{torn_end}{text}");
            for torn in [torn_end, torn_start, torn_twice] {
                tried += 1;
                if let Some(what) = wrong(&fixture, &torn, None) {
                    all.push(format!("{}, {share}/8: {what}", fixture.name));
                }
            }
        }
    }
    assert!(tried > 100, "only {tried} were tried");
    assert!(all.is_empty(), "{} of {tried}:\n{}", all.len(), all.join("\n\n"));
}

#[test]
fn the_only_conversation_of_a_torn_data_set_is_written_with_the_rest() {
    let all = fixtures();
    let set = all.iter().find(|f| f.name == "sharegpt/many.jsonl").unwrap();
    let text = String::from_utf8_lossy(&set.bytes);
    let (first, second) = text.split_once('\n').unwrap();
    let torn = format!("{first}\n{}", &second[..second.len() / 2]);
    assert_eq!(read(&set.name, torn.as_bytes()).unwrap().sessions.len(), 1);
    assert_eq!(wrong(set, &torn, None), None);
}
