//! Python's cutting and trimming of texts: by characters, with its own set of blanks.

/// Returns whether `str.isspace` is true: for four separators more than in Rust.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// `str.rstrip()`.
pub(super) fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_blank)
}

/// `text[:n]`.
pub(super) fn head(text: &str, n_chars: usize) -> &str {
    let end = text.char_indices().nth(n_chars);
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_counted_in_characters() {
        assert_eq!(head("a\u{e9}\u{1f600}b", 3), "a\u{e9}\u{1f600}");
        assert_eq!(head("ab", 3), "ab");
        assert_eq!(strip("\u{1f} x\n"), "x");
    }
}
