//! Truncation of tool results on arrival (`tool/truncate`).

/// Returns the first lines of a text within both limits, with a note on what was removed; `None` if it is within them.
pub(super) fn truncate(
    text: &str,
    max_lines: usize,
    max_bytes: usize,
    path: &str,
) -> Option<String> {
    let n_lines = text.split('\n').count();
    if n_lines <= max_lines && text.len() <= max_bytes {
        return None;
    }
    let (mut kept, mut bytes, mut exceeds_bytes) = (Vec::new(), 0, false);
    for line in text.split('\n').take(max_lines) {
        let size = line.len() + usize::from(!kept.is_empty());
        if bytes + size > max_bytes {
            exceeds_bytes = true;
            break;
        }
        kept.push(line);
        bytes += size;
    }
    let removed = if exceeds_bytes {
        format!("{} bytes", text.len() - bytes)
    } else {
        format!("{} lines", n_lines - kept.len())
    };
    let kept = kept.join("\n");
    Some(format!(
        "{kept}\n\n...{removed} truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: {path}\nUse the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_whole_lines_within_both_limits() {
        assert_eq!(truncate("a\nb", 2, 3, "p"), None);
        let start = |text: &str, lines, bytes| {
            let cut = truncate(text, lines, bytes, "p").expect("it is too long");
            cut.split("\n\nThe tool").next().map(str::to_owned)
        };
        assert_eq!(start("a\nb\nc", 2, 99).as_deref(), Some("a\nb\n\n...1 lines truncated..."));
        assert_eq!(start("a\nbb\nc", 9, 4).as_deref(), Some("a\nbb\n\n...2 bytes truncated..."));
        assert_eq!(start("aaaa", 9, 3).as_deref(), Some("\n\n...4 bytes truncated..."));
    }
}
