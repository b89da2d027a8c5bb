//! Texts by which agents mark memory files, skills, hooks and reminders in what they send.

use super::source::{Source, SourceKind};
use regex::{Regex, RegexSet};
use serde::Deserialize;
use std::ops::Range;
use std::sync::LazyLock;

/// A row of `context_marks.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkRow {
    kind: String,
    start: String,
    #[serde(default)]
    end: Option<String>,
    #[serde(default)]
    includes_end: bool,
    #[expect(dead_code, reason = "for readers of the table")]
    agents: String,
}

#[derive(Deserialize)]
struct MarkTable {
    mark: Vec<MarkRow>,
}

/// A text that begins a piece, and the one that ends it.
struct Mark {
    kind: SourceKind,
    start: Regex,
    /// Without it, the piece ends with the text.
    end: Option<Regex>,
    includes_end: bool,
}

/// All marks, with a set of their beginnings, since most texts have none.
struct Marks {
    starts: RegexSet,
    all: Vec<Mark>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let table = include_str!("../../assets/context_marks.toml");
    let table: MarkTable = toml::from_str(table).expect("the bundled table is read by a test");
    let regex = |text: &str| Regex::new(text).expect("the bundled table is read by a test");
    let mark = |row: &MarkRow| Mark {
        kind: SourceKind::of_name(&row.kind).expect("a kind that can be named"),
        start: regex(&row.start),
        end: row.end.as_deref().map(regex),
        includes_end: row.includes_end,
    };
    Marks {
        starts: RegexSet::new(table.mark.iter().map(|row| &row.start))
            .expect("the bundled table is read by a test"),
        all: table.mark.iter().map(mark).collect(),
    }
});

/// Returns the marked pieces of a text with their bytes. Pieces may contain each other.
pub(super) fn marked(text: &str) -> Vec<(Range<usize>, Source)> {
    let mut found = Vec::new();
    for at in MARKS.starts.matches(text) {
        let mark = &MARKS.all[at];
        let mut from = 0;
        while let Some(start) = mark.start.captures_at(text, from) {
            let whole = start.get_match();
            let end = mark.end.as_ref().and_then(|end| end.find_at(text, whole.end()));
            let end = match end {
                Some(end) if mark.includes_end => end.end(),
                Some(end) => end.start(),
                None => text.len(),
            };
            let name = start.name("name").map_or("", |name| name.as_str().trim());
            found.push((whole.start()..end, Source::new(mark.kind, name)));
            // The next piece may begin where this one ends.
            from = end.max(whole.end());
            if from >= text.len() {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(String, String)> {
        let found = marked(text).into_iter();
        found.map(|(range, source)| (source.to_string(), text[range].to_owned())).collect()
    }

    #[test]
    fn finds_memory_files_within_a_reminder() {
        let text = "<system-reminder>\n# claudeMd\nContents of /p/CLAUDE.md (project instructions):\n\nUse tabs.\n\nContents of /h/CLAUDE.md (user's private):\n\nBe brief.\n\n# currentDate\nToday.\n</system-reminder>\nHi";
        let found = pieces(text);
        let memory: Vec<_> = found.iter().filter(|(name, _)| name.starts_with("memory")).collect();
        assert_eq!(memory[0].0, "memory:/p/CLAUDE.md");
        assert!(memory[0].1.ends_with("Use tabs.\n\n"), "{:?}", memory[0].1);
        assert_eq!(memory[1].0, "memory:/h/CLAUDE.md");
        assert!(memory[1].1.ends_with("Be brief.\n\n"), "{:?}", memory[1].1);
        let reminder = found.iter().find(|(name, _)| name == "reminder").expect("a reminder");
        assert!(reminder.1.ends_with("</system-reminder>"));
    }

    #[test]
    fn finds_the_memory_files_of_other_agents() {
        let codex =
            "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>\nmore";
        assert_eq!(pieces(codex)[0].0, "memory:/p");
        assert!(pieces(codex)[0].1.ends_with("</INSTRUCTIONS>"));
        let gemini = "a\n--- Context from: GEMINI.md ---\nUse it.\n--- End of Context from: GEMINI.md ---\nb";
        assert_eq!(pieces(gemini)[0].0, "memory:GEMINI.md");
        assert!(pieces(gemini)[0].1.ends_with("GEMINI.md ---"));
        assert!(pieces("a text without marks").is_empty());
    }
}
