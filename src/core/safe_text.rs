//! Makes text of files safe to display: characters that are invisible or reorder a line become visible.
//!
//! Session files contain the raw output of tools: escape sequences, NUL bytes, bidirectional overrides. The window, the
//! terminal and reports display text of files only through these functions.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns a text with visible control characters and bidirectional overrides. Keeps line breaks and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    // Room for a few escapes. Most texts of a file contain one or none.
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

/// Returns the first `max_chars` characters on one line. Folds white space, and marks an omitted rest with `…`.
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

/// Returns the longest start of `text` of at most `max_bytes` bytes that ends between two characters.
pub fn head(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns a text on one line, with the code of each character that a terminal would interpret.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_interpreted) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' | '\r' | '\t' => safe.push(' '),
            c if is_interpreted(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Returns whether a terminal interprets a character: a control character, or one that breaks a line or changes the order
/// or the joining of the following text (<https://www.unicode.org/reports/tr9/>).
pub fn is_interpreted(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_hidden(c: char) -> bool {
    is_interpreted(c) && !matches!(c, '\n' | '\t')
}

fn push_visible(out: &mut String, c: char) {
    match c {
        // Part of a Windows line ending.
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
    fn characters_that_reorder_or_hide_text_become_visible() {
        assert_eq!(visible("a\u{202e}b\u{1b}[31mc\0\r\n\td"), "a\\u{202e}b\\e[31mc\\u{0}\n\td");
        assert!(matches!(visible("plain\n\ttext ✓"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_of_a_file_cannot_control_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\u{202e}x\ny\n"), "a\\u{1b}[31mred\\u{202e}x y");
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
