//! Titles for conversations without one.

/// Maximum length of a title in characters.
// Chosen: the list of sessions and the window's title show about as many.
const CHARS: usize = 80;

/// Returns the first line with content, shortened.
pub(super) fn first_line(text: &str) -> Option<String> {
    // A tag around the text is no title.
    let is_tag = |line: &str| line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
    let is_words = |line: &&str| !line.is_empty() && !is_tag(line);
    let line = text.lines().map(str::trim).find(is_words)?;
    let mut title: String = line.chars().take(CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}
