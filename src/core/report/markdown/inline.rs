//! Escapes text for a line of Markdown, so that it is shown verbatim.

/// Returns a text as a code span that also works in tables.
pub(super) fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return "` `".to_owned();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    // A bar ends a table cell even in a code span; after a backslash, an escape would escape the backslash.
    let text = text.replace("\\|", "\\ |").replace('|', "\\|");
    let touches = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ', '\\']);
    let pad = if touches { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns a sentence in which words that are Markdown syntax, or that a site would link, are code spans. Names in
/// backticks stay code spans.
pub(super) fn prose(text: &str) -> String {
    let words = text.split(' ').enumerate();
    let words = words.map(|(idx, word)| {
        let start = word.len() - word.trim_start_matches(['(', '\u{201c}', '"']).len();
        // A bracket that was opened inside a word stays inside.
        let opens_within = word[start..].contains('(');
        let ends = |c: char| ".,;:!?\u{201d}\"".contains(c) || (c == ')' && !opens_within);
        let end = word.trim_end_matches(ends).len();
        let (before, rest) = word.split_at(start);
        let (core, after) = rest.split_at(end.saturating_sub(start));
        // The first word may start a list or a heading.
        let is_lead = idx == 0 && !word.starts_with(|c: char| c.is_alphabetic());
        let name = core.strip_prefix('`').and_then(|n| n.strip_suffix('`'));
        let name = name.filter(|name| !name.is_empty() && !name.contains('`'));
        if core.is_empty() && !is_lead || is_plain(word, is_lead) {
            word.to_owned()
        } else if is_lead && name.is_none() {
            code(word)
        } else {
            format!("{before}{}{after}", code(name.unwrap_or(core)))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the length of the longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// Whether Markdown shows a word as it is. `is_lead`: it is the first of the line and starts with no letter.
fn is_plain(word: &str, is_lead: bool) -> bool {
    let is_marked = word.contains(|c: char| r"\`*_{}[]<>#|&@~$^".contains(c));
    // Sites link `https://x` and `mailto:x`, but not a word that ends with a colon.
    let is_linked =
        word.trim_end_matches(':').contains(':') || word.to_ascii_lowercase().contains("www.");
    let is_list_marker = is_lead && (matches!(word, "-" | "+") || word.ends_with(['.', ')']));
    !(is_marked || is_linked || is_list_marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_escape_backticks_and_bars() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code("cat x | head"), "`cat x \\| head`");
        assert_eq!(code("a\\|b"), "`a\\ \\|b`");
        assert_eq!(code(""), "` `");
    }

    #[test]
    fn only_words_with_markdown_syntax_or_links_become_code() {
        assert_eq!(
            prose("Peaked at 80 % of 200k (161k) at call 34."),
            "Peaked at 80 % of 200k (161k) at call 34."
        );
        assert_eq!(
            prose("by @bob in #12 see https://x.y <b> *a* [l](x) m: a:b"),
            "by `@bob` in `#12` see `https://x.y` `<b>` `*a*` `[l](x)` m: `a:b`"
        );
        assert_eq!(
            prose("`cut` runs `cut` (with o200k_base), `a``"),
            "`cut` runs `cut` (with `o200k_base`), ``` `a`` ```"
        );
        assert_eq!(prose("1. item"), "`1.` item");
        assert_eq!(prose("WWW.X.Y"), "`WWW.X.Y`");
        assert_eq!(prose("- x"), "`-` x");
    }
}
