//! Numbers with their label, in what the user and the model wrote and in results of commands.

use super::{FactDraft, Material, compile};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::session::Role;
use regex::Regex;
use std::sync::LazyLock;

/// A label, its sign, and a number with its unit.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"([A-Za-z][\w .-]{1,38}[\w)])`?\*{0,2}[ \t]{0,4}(?::|=|:=|\bis\b|\bto\b)[ \t]{0,8}`?\*{0,2}([$€£]?\d[\d,_]*(?:\.\d+)*[ ]?(?:%|ms\b|s\b|[KMGT]i?B\b|px\b|tokens\b)?)",
    )
});

/// A sign before a number. Excludes most lines before the slower [`VALUE`] searches them.
static SIGN: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"(?::|=|\bis\b|\bto\b)[ \t]{0,8}`?\*{0,2}[$€£]?\d"));

/// Maximum number of values of a part. Chosen: a summary of a test run has one to five figures, a log has thousands.
/// With more, the values of a few logs would outweigh all other facts of a session in its survival.
const MAX_PER_PART: usize = 5;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let (Some(value), Some(sign)) = (VALUE.as_ref(), SIGN.as_ref()) else {
        return;
    };
    let texts = material.texts(|message| {
        message.role == Role::Assistant || (message.role == Role::User && !message.is_injected)
    });
    let texts = texts.map(|(located, text)| (located, text, 0));
    let results = material.command_results();
    let results = results.map(|(located, text)| (located, text, output_start(text)));
    for (located, text, start) in texts.chain(results) {
        let lines = lines(text, start).filter(|(_, line)| sign.is_match(line));
        let hits = lines.flat_map(|(line_start, line)| {
            value.captures_iter(line).filter_map(move |hit| {
                let (label, value) = (hit.get(1)?, hit.get(2)?);
                let label_text = label.as_str().trim();
                let value_text = value.as_str().trim();
                let end = value.start() + value_text.len();
                let is_fact =
                    is_specific(value_text) && is_label(label_text) && is_whole(line, end);
                let span = line_start + label.start()..line_start + end;
                is_fact.then_some((span, label_text, value_text))
            })
        });
        for (span, label, value) in hits.take(MAX_PER_PART) {
            let search = FactSearch::new(&text[span.clone()]).or(value);
            let key = label.to_lowercase();
            found.push(located.draft_at(FactKind::Value, search, &key, span).detail(value));
        }
    }
}

/// Returns the lines of a text from an offset on, each with its offset.
fn lines(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut next = start;
    text[start..].split('\n').map(move |line| {
        let start = next;
        next += line.len() + 1;
        (start, line)
    })
}

/// Maximum number of lines of a head before the output of a command. Codex writes up to five; the others are a margin.
/// With many more, a line `Output:` of the command itself would end the head.
const MAX_HEAD_LINES: usize = 8;

/// Returns the start of a command's output. Some agents precede it with a head that ends with the line `Output:` and
/// contains the wall time, and often an exit code and a token count. They are not facts of the command.
fn output_start(text: &str) -> usize {
    let mut end = 0;
    let mut has_time = false;
    for line in text.split_inclusive('\n').take(MAX_HEAD_LINES) {
        end += line.len();
        if line.trim_end() == "Output:" && has_time {
            return end;
        }
        has_time |= line.starts_with("Wall time");
    }
    0
}

/// Returns whether a label is no file in a position such as `main.rs:12`, and no exit code.
fn is_label(label: &str) -> bool {
    let last = label.rsplit(' ').next().unwrap_or(label);
    // Exit codes belong to commands.
    !last.contains('.') && !label.to_lowercase().contains("exit code")
}

/// Returns whether a number ends here, and not within a longer word.
fn is_whole(text: &str, end: usize) -> bool {
    let mut rest = text[end..].chars();
    !rest.next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':'))
}

/// Returns whether a number is specific: at least three digits, a decimal point or a unit. Others (`retries: 3`) are
/// found in every context by chance.
fn is_specific(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has_unit = value.ends_with(|c: char| c.is_alphabetic() || c == '%')
        || !value.starts_with(|c: char| c.is_ascii_digit());
    digits >= 3 || has_unit || (digits >= 2 && value.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::{VALUE, is_specific, output_start};

    #[test]
    fn numbers_are_found_with_their_labels() {
        let pattern = VALUE.as_ref().expect("a valid pattern");
        for (text, label, value) in [
            ("total = 4711", "total", "4711"),
            ("the batch size is 512.", "the batch size", "512"),
            ("- **Coverage**: 87.5%", "Coverage", "87.5%"),
            ("timeout: 30 ms", "timeout", "30 ms"),
        ] {
            let hit = pattern.captures(text).expect(text);
            assert_eq!((hit[1].trim(), hit[2].trim()), (label, value));
            assert!(is_specific(value), "{value}");
        }
        assert!(!is_specific("12"));
    }

    #[test]
    fn the_head_before_the_output_of_a_command_is_skipped() {
        let head = "Chunk ID: f00bad\nWall time: 0.1765 seconds\nProcess exited with code 0\n\
                    Original token count: 4711\nOutput:\n";
        let text = format!("{head}total = 512\n");
        assert_eq!(&text[output_start(&text)..], "total = 512\n");
        assert_eq!(output_start("Script completed\nWall time 1.2 seconds\nOutput:\n"), 47);
        for other in ["Output:\nWall time: 3.5 s\n", "Wall time: 3.5 s\nrows: 400\n", ""] {
            assert_eq!(output_start(other), 0, "{other}");
        }
    }
}
