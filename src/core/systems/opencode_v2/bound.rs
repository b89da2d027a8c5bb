//! Limits of tool results on arrival (`ToolOutputStore.bound`).

/// Lines and bytes that the empty lines around the marker take.
// As in opencode-ai 1.18.33, `ToolOutputStore` of `packages/core`.
const AROUND: usize = 4;

/// Returns the two ends of a text within both limits, around the path of the file with the whole text; `None` if the text
/// is within them.
pub(super) fn bounded(
    text: &str,
    max_lines: usize,
    max_bytes: usize,
    path: &str,
) -> Option<String> {
    if text.split('\n').count() <= max_lines && text.len() <= max_bytes {
        return None;
    }
    let marker = format!("... output truncated; full content saved to {path} ...");
    if max_lines <= AROUND || max_bytes <= marker.len() + AROUND {
        let lines: Vec<&str> = first(&marker, max_bytes).split('\n').take(max_lines).collect();
        return Some(lines.join("\n"));
    }
    let (head, tail) = ends(text, max_lines - AROUND, max_bytes - marker.len() - AROUND);
    Some(match &*tail {
        "" => format!("{head}\n\n{marker}"),
        tail => format!("{head}\n\n{marker}\n\n{tail}"),
    })
}

/// Returns the start and the end of a text that are kept: half of the lines each, or else half of the bytes of these lines.
fn ends(text: &str, max_lines: usize, max_bytes: usize) -> (String, String) {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_long = lines.len() > max_lines;
    let (head, tail) = if is_long {
        let n_last = max_lines / 2;
        let n_first = max_lines - n_last;
        (lines[..n_first].join("\n"), lines[lines.len() - n_last..].join("\n"))
    } else {
        (text.to_owned(), String::new())
    };
    let kept = if is_long && max_lines > 1 { format!("{head}\n{tail}") } else { head.clone() };
    if kept.len() <= max_bytes {
        return (head, tail);
    }
    let n_last = max_bytes / 2;
    (first(&kept, max_bytes - n_last).to_owned(), last(&kept, n_last).to_owned())
}

/// Returns the start of a text up to a number of bytes, without a part of a character.
fn first(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns the end of a text up to a number of bytes, without a part of a character.
fn last(text: &str, max_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max_bytes))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_within_both_limits() {
        assert_eq!(bounded("a\nb", 2, 3, "p"), None);
        let cut = |text: &str, lines, bytes| {
            let cut = bounded(text, lines, bytes, "p").expect("it is too long");
            cut.replace("... output truncated; full content saved to p ...", "#")
        };
        assert_eq!(cut("1\n2\n3\n4\n5\n6\n7\n8", 7, 999), "1\n2\n\n#\n\n8");
        assert_eq!(cut("1\n2\n3\n4\n5\n6", 5, 999), "1\n\n#");
        assert_eq!(cut(&"ab".repeat(99), 99, 57), "ab\n\n#\n\nab");
        assert_eq!(cut(&"🚢".repeat(99), 99, 62), "🚢\n\n#\n\n🚢");
        assert_eq!(cut("1\n2\n3\n4\n5\n6", 4, 999), "#");
        assert_eq!(cut(&"x".repeat(99), 99, 20), "... output truncated");
    }
}
