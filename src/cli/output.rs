//! The only place that prints: results to standard output, the rest to standard error.
//!
//! Text that comes from files cannot move the cursor, recolor or reorder the terminal: control and bidirectional
//! characters are shown as their codes. Shares become percent here.

use crate::units::{Share, Tokens};
use anyhow::Context as _;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Prints a result that is already laid out (its texts went through [`clean`]).
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("standard output cannot be written")
}

/// Prints a result as JSON. What a terminal could obey is escaped; the values stay the same.
pub(super) fn json(value: &Value) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    if text.chars().any(|c| c != '\n' && is_obeyed(c)) {
        // Such characters stand in strings only, where an escape means the same.
        text = text
            .chars()
            .fold(String::with_capacity(text.len()), |mut safe, c| {
                if c != '\n' && is_obeyed(c) {
                    // All of them lie in the basic plane: one escape each.
                    let _ = write!(safe, "\\u{:04x}", u32::from(c));
                } else {
                    safe.push(c);
                }
                safe
            });
    }
    text.push('\n');
    print(&text)
}

/// One line on standard error: what went wrong and what to do.
pub(super) fn error(message: &str) {
    to_stderr(&format!("plimsoll: {}\n", clean(message)));
}

/// One line on standard error that is no failure.
pub(super) fn note(message: &str) {
    to_stderr(&format!("plimsoll: note: {}\n", clean(message)));
}

fn to_stderr(line: &str) {
    // Where standard error is closed there is nobody left to tell.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// A text on one line, with everything that a terminal would obey shown as its code.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' | '\r' | '\t' => safe.push(' '),
            c if is_obeyed(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Control characters, line separators, and marks that reorder text.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A number with its thousands apart.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Tokens with their thousands apart.
pub(super) fn tokens(tokens: Tokens) -> String {
    grouped(tokens.0)
}

/// A share as percent.
pub(super) fn percent(share: Share) -> String {
    format!("{:.1} %", share.0 * 100.0)
}

/// "1 step", "2 steps".
pub(super) fn counted(n: usize, what: &str) -> String {
    format!(
        "{} {what}{}",
        grouped(n as u64),
        if n == 1 { "" } else { "s" }
    )
}

/// A number for JSON and for people: whole numbers without a fraction.
pub(super) fn plain(n: f64) -> Value {
    // Below 2^53 every whole f64 is exact.
    if n.fract() == 0.0 && n.abs() < 9e15 {
        Value::from(n as i64)
    } else {
        Value::from(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_file_cannot_command_the_terminal() {
        assert_eq!(
            clean("a\u{1b}[31mred\u{202e}x\ny\n"),
            "a\\u{1b}[31mred\\u{202e}x y"
        );
        assert_eq!(clean("plain é 漢字 👩‍👩‍👧"), "plain é 漢字 👩‍👩‍👧");
    }

    #[test]
    fn numbers_are_grouped_and_whole_where_they_are_whole() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(plain(10.0).to_string(), "10");
        assert_eq!(plain(0.75).to_string(), "0.75");
    }
}
