//! Wraps text to a width.

/// Breaks lines at spaces. Continues them below the last column that starts in the left half. Keeps lines of options,
/// which are for pasting.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("--") {
            out.push_str(line);
        } else {
            wrap_line(&mut out, line, width);
        }
    }
    out
}

fn wrap_line(out: &mut String, line: &str, width: usize) {
    let indent = " ".repeat(hanging(line, width));
    let (mut rest, mut room) = (line, width);
    while rest.trim_end().chars().count() > room {
        // No break within the indentation.
        let start = rest.len() - rest.trim_start().len();
        let within = rest.char_indices().nth(room + 1).map_or(rest.len(), |(at, _)| at).max(start);
        let before = rest[start..within].rfind(' ').map(|at| at + start);
        let after = || rest[within..].find(' ').map(|at| at + within);
        let Some(at) = before.or_else(after) else {
            break;
        };
        out.push_str(rest[..at].trim_end());
        out.push('\n');
        out.push_str(&indent);
        rest = rest[at..].trim_start_matches(' ');
        room = width - indent.len();
    }
    out.push_str(rest);
}

/// Returns the indentation of continued lines.
fn hanging(line: &str, width: usize) -> usize {
    let left = line.char_indices().nth(width / 2).map_or(line, |(at, _)| &line[..at]);
    let start = left.len() - left.trim_start().len();
    let column = left[start..].rfind("  ").map(|at| at + start + 2);
    match column {
        Some(at) => left[..at].chars().count(),
        None => left[..start].chars().count() + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_continue_below_their_column() {
        let text = "kind     some words that are much too long for one narrow line\nshort  line\n";
        let expected = "kind     some words that are much too\n         long for one narrow line\nshort  line\n";
        assert_eq!(wrapped(text, 40), expected);
    }

    #[test]
    fn text_with_a_wide_indentation_is_kept() {
        for indent in [" ".repeat(60), "\u{3000}".repeat(60), "\u{3000}".repeat(25)] {
            let text = format!("{indent}one two three four five six seven eight nine ten\n");
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&wrapped(&text, 40)), words(&text));
        }
    }

    #[test]
    fn text_without_a_column_is_indented_and_options_are_kept() {
        let text = "A sentence with no column that is longer than forty characters.\n  --policy prune --set compression_trigger=0.5\n";
        let expected = "A sentence with no column that is longer\n  than forty characters.\n  --policy prune --set compression_trigger=0.5\n";
        assert_eq!(wrapped(text, 40), expected);
        let word = "ä".repeat(90);
        assert_eq!(wrapped(&word, 40), word);
    }
}
