//! What to call a conversation that nobody named.

/// Titles are cut after this many characters.
const CHARS: usize = 80;

/// The first line of a text that says anything.
pub(super) fn of(text: &str) -> Option<String> {
    // A tag around what is said is no title of it.
    let is_tag = |line: &str| line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
    let is_words = |line: &&str| !line.is_empty() && !is_tag(line);
    let line = text.lines().map(str::trim).find(is_words)?;
    let mut title: String = line.chars().take(CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}
