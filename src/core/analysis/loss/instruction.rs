//! Standing instructions: sentences of the user that say what to do always, never or not at all.
//!
//! Only orders count: "never tested" in a pasted review is a statement. A sentence or a part of it must begin with
//! "never", "always" or "don't", or contain "must". Code blocks, quotes, tables, logs, findings with positions in
//! files, and very long messages are skipped.

use super::phrase::Phrases;
use crate::session::{Body, Message, Role, Session};
use std::ops::Range;

/// A standing instruction of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Index of the first message with it.
    pub message: usize,
    /// The sentence.
    pub text: Box<str>,
    /// Its number in [`Phrases`].
    pub(super) phrase: u32,
}

/// Length of a sentence in characters. Shorter ones ("Never mind.") are no rules, longer ones are usually pasted.
const LENGTHS: Range<usize> = 12..400;
/// Maximum length of a message in characters; longer ones are usually pasted documents. The same limit as for
/// constraints (`facts/extract/constraints.rs`).
const MAX_MESSAGE_CHARS: usize = 30_000;
/// Maximum number of instructions. Each one is searched in every text of the session. Chosen: far more than a person
/// states, so that a session with more contains pasted rules.
const MAX_INSTRUCTIONS: usize = 200;

/// Returns the instructions of a session, in order, and adds each to the phrases.
pub(super) fn instructions(session: &Session, phrases: &mut Phrases) -> Vec<Instruction> {
    let mut found: Vec<Instruction> = Vec::new();
    let messages = session.messages.iter().enumerate();
    for (message, said) in messages.filter(|(_, message)| is_own_word(message)) {
        for part in session.parts_of(said) {
            let Body::Text(text) = &part.body else {
                continue;
            };
            if text.len() > MAX_MESSAGE_CHARS {
                continue;
            }
            for sentence in sentences(text).filter(|sentence| is_instruction(sentence)) {
                let Some(phrase) = phrases.note(sentence) else {
                    continue;
                };
                if found.len() < MAX_INSTRUCTIONS
                    && found.iter().all(|known| known.phrase != phrase)
                {
                    let text = sentence.replace("**", "").replace("__", "").into();
                    found.push(Instruction { message, text, phrase });
                }
            }
        }
    }
    found
}

/// Returns whether the user wrote a message, not a program.
fn is_own_word(message: &Message) -> bool {
    message.role == Role::User && message.in_history && !message.is_injected && !message.is_summary
}

/// Returns a text without the quotation marks around all of it: `opencode run` puts its arguments into them.
fn without_quotes(text: &str) -> &str {
    let inner = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(text)
}

/// Returns the sentences of a user's text, without tagged blocks of programs, quotes and pasted text.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = None::<&str>;
    let mut is_code = false;
    let lines = without_quotes(text).lines().filter(move |line| {
        let line = line.trim();
        if let Some(tag) = inside {
            if line.ends_with(&format!("</{tag}>")) {
                inside = None;
            }
            return false;
        }
        if line.starts_with("```") {
            is_code = !is_code;
            return false;
        }
        if let Some(tag) = tag_of(line) {
            if !line.contains(&format!("</{tag}>")) {
                inside = Some(tag);
            }
            return false;
        }
        // The user did not write quotes, tables, or findings with positions in files.
        !is_code && !line.starts_with(['>', '|']) && !has_file_position(line) && !is_log(line)
    });
    lines.flat_map(|line| {
        let ends = line.split_inclusive(". ").flat_map(|s| s.split_inclusive("! "));
        let ends = ends.flat_map(|s| s.split_inclusive("? "));
        ends.map(|sentence| {
            let is_mark = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '>' | '#');
            sentence.trim_start_matches(is_mark).trim_end()
        })
    })
}

/// Returns the name of the tag at the start of a line: `<system-reminder>`, `<user_instructions>`.
fn tag_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix('<')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    (end > 0 && name[end..].contains('>')).then_some(&name[..end])
}

/// Returns whether a line contains a position in a file (`main.rs:12`), as reviews and errors do.
fn has_file_position(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`' | ',')).any(|word| {
        let place = word.split_once(':');
        place.is_some_and(|(file, line)| {
            let end = file.rsplit_once('.').map_or("", |(_, end)| end);
            let is_end = (1..=4).contains(&end.len()) && end.chars().all(char::is_alphanumeric);
            is_end && !word.contains("//") && begins_with_digit(line)
        })
    })
}

/// Returns whether a line begins with a time, as in a log.
fn is_log(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    begins_with_digit(first) && first.matches([':', '-']).count() >= 2
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// A word of a sentence.
struct SentenceWord<'a> {
    /// As written.
    raw: &'a str,
    /// In lower case.
    low: String,
    /// Text between the previous word and this one.
    gap: &'a str,
}

fn words(sentence: &str) -> Vec<SentenceWord<'_>> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut words = Vec::new();
    let mut rest = sentence;
    while let Some(start) = rest.find(is_inside) {
        let (gap, word) = rest.split_at(start);
        let (raw, behind) = word.split_at(word.find(|c| !is_inside(c)).unwrap_or(word.len()));
        let low = raw.to_lowercase().replace('’', "'");
        words.push(SentenceWord { raw, low, gap });
        rest = behind;
    }
    words
}

/// Returns whether a sentence is an instruction. Questions, statements such as "I don't know" or "is never tested", and
/// text in quotation marks are not.
pub(crate) fn is_instruction(sentence: &str) -> bool {
    if !LENGTHS.contains(&sentence.chars().count()) || sentence.ends_with('?') {
        return false;
    }
    let words = words(sentence);
    let mut marks = 0;
    (0..words.len()).any(|at| {
        marks += words[at].gap.matches(['"', '“', '”']).count();
        marks.is_multiple_of(2) && orders(&words, at)
    })
}

/// Returns whether the word at this position makes the sentence an order.
fn orders(words: &[SentenceWord<'_>], at: usize) -> bool {
    let low = |at: usize| words.get(at).map_or("", |word| &word.low);
    let before = at.checked_sub(1).map_or("", low);
    // A part of a longer word (`must-revalidate`).
    if words.get(at + 1).is_some_and(|next| next.gap == "-") {
        return false;
    }
    let raw = words[at].raw;
    let is_shouted = raw.chars().count() > 1 && raw.to_uppercase() == raw;
    match (low(at), low(at + 1)) {
        ("must", next) => next != "have" && !TELLING.contains(&before),
        ("never", "mind") => false,
        ("always" | "never", _) => {
            let subject = at.checked_sub(2).map_or("", low);
            let is_asked = MODALS.contains(&before) && !TELLING.contains(&subject);
            is_shouted || is_asked || begins(words, at)
        }
        ("don't" | "dont", _) | ("do", "not") => {
            let goes_on = ["and", "but"].contains(&before) && !SUBJECTS.contains(&low(0));
            let is_order = is_shouted || goes_on && !PRONOUNS.contains(&low(0));
            !PRONOUNS.contains(&before) && (is_order || begins(words, at))
        }
        _ => false,
    }
}

/// Returns whether a clause begins with this word, or with words of [`LEADS`] before it.
fn begins(words: &[SentenceWord<'_>], at: usize) -> bool {
    let is_start =
        |at: usize| at == 0 || words[at].gap.contains([',', ';', ':', '—', '–', '(', '.', '!']);
    let mut first = at;
    while !is_start(first) && LEADS.contains(&&*words[first - 1].low) {
        first -= 1;
    }
    let tells_of = |word: &SentenceWord<'_>| ["they", "which"].contains(&&*word.low);
    is_start(first) && !words[..first].iter().any(tells_of)
}

/// Words before `don't` that make a statement.
const PRONOUNS: [&str; 15] = [
    "he", "i", "it", "she", "that", "there", "these", "they", "this", "those", "we", "which",
    "who", "why", "you",
];

/// Words before `must` and `should never` that make a guess or a wish.
const TELLING: [&str; 8] = ["he", "i", "it", "she", "that", "there", "they", "this"];

/// First words of a statement.
const SUBJECTS: [&str; 12] =
    ["a", "all", "an", "both", "each", "every", "its", "my", "our", "some", "the", "your"];

/// Words before `always` and `never` that make an order.
const MODALS: [&str; 5] = ["must", "please", "shall", "should", "to"];

/// Words that may come before the verb of an order.
const LEADS: [&str; 10] =
    ["also", "and", "but", "important", "just", "please", "remember", "so", "then", "therefore"];

#[cfg(test)]
mod tests {
    use super::{is_instruction, sentences};

    #[test]
    fn orders_are_instructions_and_statements_and_questions_are_not() {
        for yes in [
            "Never push to main.",
            "please don’t touch the tests",
            "You must ask first.",
            "Do not use unwrap here.",
            "ALWAYS run the linter!",
            "Also, never guess a name.",
            "Make it dimmer, don't modify the theme",
            "Fix the tests but don't touch the fixtures.",
            "You should always wait for feedback.",
            "Invalid themes must never explode.",
            "When asked about memory ALWAYS use the query tool",
            "All checks must pass",
        ] {
            assert!(is_instruction(yes), "{yes}");
        }
        for no in [
            "I don't know what happened.",
            "Why do we always fail here?",
            "Never mind, it works.",
            "The mustache template is broken.",
            "they do not match",
            "don't",
            "Tag force-retarget** never tested.",
            "Session data is never condensed.",
            "each iteration fetches a reader but never closes it",
            "Commits from the tool don't receive trailers",
            "when merged the videos dont show up",
            "The factor is always 2 there.",
            "like there should always be a commit",
            "We also don't test other people's code.",
            "They won't be flaky, don't rely on state, and don't lie.",
            "Cache-Control: no-cache, must-revalidate",
            "It must be the cache again.",
            "The sign says \"never touch this\" in red.",
        ] {
            assert!(!is_instruction(no), "{no}");
        }
    }

    #[test]
    fn text_of_programs_and_code_blocks_is_skipped() {
        let text = "- Keep it short. Never guess!\n<system-reminder>\nYou must obey.\n</system-reminder>\n<note>must</note>\n```\nmust();\n```\n> Never quote.\n| must | never |\n20:38:37.6 http.c: never\n- Leak (`sync.go:12-14`): never closed\nlast one";
        let found: Vec<_> = sentences(text).collect();
        assert_eq!(found, ["Keep it short.", "Never guess!", "last one"]);
    }
}
