//! The only place that prints: results to standard output, the rest to standard error.
//!
//! Text that comes from files cannot move the cursor, recolor or reorder the terminal: control and bidirectional
//! characters are shown as their codes.

pub(super) use crate::figure::{counted, grouped, percent, tokens};
pub(super) use crate::safe_text::clean;

use super::wrap::wrapped;
use crate::progress::Progress;
use crate::safe_text::{head, is_interpreted};
use anyhow::Context as _;
use serde::Serialize;
use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use terminal_size::{Width, terminal_size_of};

/// Maximum number of bytes of an error or a note, enough for the longest path.
const MAX_LINE_BYTES: usize = 4 << 10;

/// Minimum width that lines are wrapped to. In a narrower terminal, options of the help would be wrapped into columns
/// of a few letters; there the terminal breaks the lines instead.
const NARROWEST: usize = 40;

/// Time between two updates of the progress. More often is only flicker.
const TICK: Duration = Duration::from_millis(100);

/// Size of the buffer for JSON, in bytes. Larger than a pipe (64 KiB on Linux), so that each write fills it.
const PART: usize = 256 << 10;

/// Prints a formatted result, whose texts went through [`clean`].
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("standard output cannot be written")
}

/// Prints a result for people, wrapped to the width of the terminal.
pub(super) fn print_wrapped(text: &str) -> anyhow::Result<()> {
    match width() {
        Some(width) => print(&wrapped(text, width)),
        None => print(text),
    }
}

/// Returns the width of standard output in characters: `COLUMNS`, or that of the terminal.
pub(super) fn width() -> Option<usize> {
    let set = env::var("COLUMNS").ok().and_then(|set| set.parse().ok());
    let out = io::stdout();
    let of_terminal = || {
        let (Width(width), _) = terminal_size_of(&out).filter(|_| out.is_terminal())?;
        Some(usize::from(width))
    };
    set.or_else(of_terminal).map(|width: usize| width.max(NARROWEST))
}

/// Prints a result as JSON. Terminal control characters are escaped; the values stay the same.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = Escaped(BufWriter::with_capacity(PART, io::stdout().lock()));
    serde_json::to_writer_pretty(&mut out, value)
        .map_err(io::Error::from)
        .and_then(|()| writeln!(out.0))
        .and_then(|()| out.0.flush())
        .context("standard output cannot be written")
}

/// Returns a result as JSON on one line, with the same escapes as [`json`].
pub(super) fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    let mut out = Escaped(Vec::new());
    serde_json::to_writer(&mut out, value)?;
    Ok(String::from_utf8(out.0)?)
}

/// Writer that escapes terminal control characters in JSON. They occur only in strings, where an escape has the same
/// meaning.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    /// Writes a text. The serializer never splits a character.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        let text = str::from_utf8(bytes).map_err(io::Error::other)?;
        let is_escaped = |c: char| c != '\n' && is_interpreted(c);
        let mut from = 0;
        for (at, c) in text.match_indices(is_escaped) {
            // All of them are in the basic plane: one escape each.
            let code = c.chars().next().map_or(0, u32::from);
            write!(self.0, "{}\\u{code:04x}", &text[from..at])?;
            from = at + c.len();
        }
        self.0.write_all(&bytes[from..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints an error as one line on standard error.
pub(super) fn error(message: &str) {
    to_stderr(&format!("plimsoll: {}\n", shortened(&clean(message))));
}

/// Prints an error that needs several lines on standard error.
pub(super) fn explain(message: &str) {
    to_stderr(&format!("plimsoll: {}\n", message.trim_end()));
}

/// Prints a note as one line on standard error, in place of progress.
pub(super) fn note(message: &str) {
    progress("");
    to_stderr(&format!("plimsoll: note: {}\n", shortened(&clean(message))));
}

/// Cuts the middle of a long line. Its start quotes the input and its end gives the remedy.
fn shortened(line: &str) -> Cow<'_, str> {
    if line.len() <= MAX_LINE_BYTES {
        return Cow::Borrowed(line);
    }
    let head = head(line, MAX_LINE_BYTES * 3 / 4);
    let tail = &line[line.ceil_char_boundary(line.len() - MAX_LINE_BYTES / 4)..];
    Cow::Owned(format!("{head} […] {tail}"))
}

/// Returns whether standard error is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Prints progress as a line, unless it is empty or standard error is a terminal, which shows it all the time.
pub(super) fn progress_line(text: &str) {
    if !text.is_empty() && !is_terminal() {
        to_stderr(&format!("plimsoll: {}\n", clean(text)));
    }
}

/// Shows progress on a terminal. Each call replaces the line; an empty text removes it.
pub(super) fn progress(text: &str) {
    if is_terminal() {
        to_stderr(&format!("\r{}\u{1b}[K", clean(text)));
    }
}

/// Does long work and shows its progress on a terminal.
pub(super) fn waiting<T: Send>(name: &str, at: &Progress, work: impl FnOnce() -> T + Send) -> T {
    if !is_terminal() {
        return work();
    }
    let is_done = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let share = at.share().map(percent).unwrap_or_default();
                progress(&format!("{name} {share}"));
                thread::sleep(TICK);
            }
        });
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        result
    });
    progress("");
    result
}

fn to_stderr(line: &str) {
    // If standard error is closed, the message is lost.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_start_and_its_end() {
        let line = format!("no file is named {}; check the path", "ä".repeat(100_000));
        let short = shortened(&line);
        assert!(short.len() < MAX_LINE_BYTES + 10);
        assert!(short.starts_with("no file is named ää") && short.ends_with("ä; check the path"));
        assert_eq!(shortened("as it is"), "as it is");
    }

    #[test]
    fn control_characters_are_escaped_without_a_change_of_the_value() {
        let value = crate::json::json!({"a": "x\u{7f}y\u{202e}\u{85}ü\n", "b": ["\u{1b}[2J"]});
        let mut out = Escaped(Vec::new());
        serde_json::to_writer_pretty(&mut out, &value).expect("writes to memory");
        let text = String::from_utf8(out.0).expect("a text");
        assert!(!text.contains(|c| c != '\n' && is_interpreted(c)), "{text}");
        assert_eq!(crate::json::from_str(&text).expect("JSON"), value);
    }
}
