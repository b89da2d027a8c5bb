//! Makes text of servers safe to show: one line of bounded length without control characters and keys.

/// Replacement of a key.
const HIDDEN: &str = "[key]";
/// Minimum number of characters of a key that is hidden inside of words. Shorter keys are placeholders ("x").
const MIN_KEY_CHARS: usize = 4;

/// Returns a text as one line of at most `most` characters. White space becomes one space, and control characters are
/// removed.
pub fn plain_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut n_chars = 0;
    for word in text.split(char::is_whitespace) {
        let mut letters = word.chars().filter(|c| !is_control(*c)).peekable();
        if letters.peek().is_none() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
            n_chars += 1;
        }
        for c in letters {
            if n_chars >= most {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(c);
            n_chars += 1;
        }
    }
    line
}

/// Replaces every occurrence of the key in a text.
pub fn hide(text: &str, key: Option<&str>) -> String {
    let Some(key) = key.map(str::trim).filter(|key| !key.is_empty()) else {
        return text.to_owned();
    };
    if key.chars().count() >= MIN_KEY_CHARS {
        // Some servers escape slashes in JSON.
        let text = text.replace(key, HIDDEN);
        return text.replace(&key.replace('/', "\\/"), HIDDEN);
    }
    let is_part_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(key) {
        let (before, after) = (&rest[..at], &rest[at + key.len()..]);
        hidden.push_str(before);
        let is_inside =
            is_part_of_word(hidden.chars().next_back()) || is_part_of_word(after.chars().next());
        hidden.push_str(if is_inside { key } else { HIDDEN });
        rest = after;
    }
    hidden + rest
}

/// Returns true for control characters, line separators, and marks that reorder text.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters_and_a_bounded_length() {
        assert_eq!(plain_line(" a\x1b[31m\r\n\tb\u{202e}c ", 80), "a[31m bc");
        assert_eq!(plain_line("äöü äöü", 5), "äöü ä…");
        assert_eq!(plain_line("äöü äöü", 4), "äöü…");
        assert_eq!(plain_line("äöü", 3), "äöü");
        assert_eq!(plain_line("\n\n", 3), "");
    }

    #[test]
    fn every_occurrence_of_a_key_is_hidden() {
        let key = Some("sk-secret");
        assert_eq!(hide("bad sk-secret, really xsk-secrets", key), "bad [key], really x[key]s");
        assert_eq!(hide(r#"{"a":"b\/c+d"}"#, Some("b/c+d")), r#"{"a":"[key]"}"#);
        assert_eq!(hide("a banana is a", Some("a")), "[key] banana is [key]");
        assert_eq!(hide("text", None), "text");
        assert_eq!(hide("text", Some(" ")), "text");
    }
}
