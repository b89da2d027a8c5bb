//! Text of files made safe to show: invisible characters and those that reorder a line become visible.
//!
//! Session files hold whatever tools printed: escape sequences, NUL bytes, bidirectional overrides. Window, terminal and
//! reports show such text through this file only.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Shown with control characters and bidirectional overrides made visible; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

/// The first `max_chars` characters on one line: white space is folded, the rest is cut with `…`.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut n_chars = 0;
    let mut is_after_space = true;
    for c in text.chars() {
        if c.is_whitespace() {
            if !is_after_space {
                out.push(' ');
                n_chars += 1;
            }
            is_after_space = true;
        } else {
            push_visible(&mut out, c);
            n_chars += 1;
            is_after_space = false;
        }
        if n_chars >= max_chars {
            out.push('…');
            return out;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// The longest start of `text` of at most `max_bytes` bytes that ends between two characters.
pub fn head(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// A text on one line, with everything that a terminal would obey shown as its code.
pub fn clean(text: &str) -> Cow<'_, str> {
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

/// Control characters, and characters that break a line or change the order or the joining of what follows
/// (<https://www.unicode.org/reports/tr9/>).
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_hidden(c: char) -> bool {
    is_obeyed(c) && !matches!(c, '\n' | '\t')
}

fn push_visible(out: &mut String, c: char) {
    match c {
        // A carriage return before a line feed is how half the world ends lines.
        '\r' => {}
        '\u{1b}' => out.push_str("\\e"),
        c if is_hidden(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_reorder_or_hide_text_becomes_visible() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[31mc\0\r\n\td"),
            "a\\u{202e}b\\e[31mc\\u{0}\n\td"
        );
        assert!(matches!(visible("plain\n\ttext ✓"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_of_a_file_cannot_command_the_terminal() {
        assert_eq!(
            clean("a\u{1b}[31mred\u{202e}x\ny\n"),
            "a\\u{1b}[31mred\\u{202e}x y"
        );
        assert_eq!(clean("plain é 漢字 👩‍👩‍👧"), "plain é 漢字 👩‍👩‍👧");
    }

    #[test]
    fn a_preview_is_one_line_with_folded_spaces() {
        assert_eq!(one_line("  a\n\n  b\tc  ", 20), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("", 3), "");
    }

    #[test]
    fn a_head_never_splits_a_character() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 99), "aé");
    }
}
