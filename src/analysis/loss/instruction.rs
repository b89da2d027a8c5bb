//! Standing instructions: what a person said is always, never or not to be done, and whether each stands word for word in
//! the context of every call.
//!
//! Only a person's own orders count: "never tested" in a pasted review says what is, not what is to be. So a sentence must
//! order (it, or a part of it, begins with "never", "always" or "don't", or something "must" be so), and what stands in
//! fences, quotes, tables, logs, lists of findings with their places in files, or very long messages is left out.

use super::names::Names;
use super::phrase::Phrases;
use super::visible::Visible;
use crate::engine::{Case, Outcome};
use crate::session::{Body, Message, Role, Session};
use std::ops::Range;

/// A sentence that says how something is to be done, whatever comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Index of the message that says it first.
    pub message: usize,
    /// The sentence.
    pub text: Box<str>,
    /// The same as a phrase.
    pub(super) phrase: u32,
}

/// Where in a run an instruction did not stand in the context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Indices of the steps whose calls lacked it, as ascending ranges; a range ends where it came back.
    pub gone: Vec<Range<usize>>,
}

/// Sentences of these lengths, in characters: shorter ones say nothing, longer ones are pasted.
const LENGTHS: Range<usize> = 12..400;
/// Messages with more characters than this hold a document rather than a person's words.
const LONGEST: usize = 30_000;
/// More sentences than this are a document rather than instructions.
const MOST: usize = 200;

/// The instructions of a session, in order; each is noted as a phrase.
pub(super) fn instructions(session: &Session, phrases: &mut Phrases) -> Vec<Instruction> {
    let mut found: Vec<Instruction> = Vec::new();
    let messages = session.messages.iter().enumerate();
    for (message, said) in messages.filter(|(_, message)| is_own_word(message)) {
        for part in session.parts_of(said) {
            let Body::Text(text) = &part.body else {
                continue;
            };
            if text.len() > LONGEST {
                continue;
            }
            for sentence in sentences(text).filter(|sentence| is_instruction(sentence)) {
                let Some(phrase) = phrases.note(sentence) else {
                    continue;
                };
                if found.len() < MOST && found.iter().all(|known| known.phrase != phrase) {
                    let text = sentence.replace("**", "").replace("__", "").into();
                    found.push(Instruction {
                        message,
                        text,
                        phrase,
                    });
                }
            }
        }
    }
    found
}

/// Whether each of the session's instructions ([`Names::instructions`]) stood in the context of every call of a run
/// since it was said; one each, in their order.
pub fn standing(names: &Names, case: &Case, outcome: &Outcome) -> Vec<Standing> {
    let mut visible = Visible::new(case, names, &outcome.received);
    let mut found = vec![Standing::default(); names.instructions().len()];
    for sample in &outcome.samples {
        visible.advance(sample.step);
        if !visible.is_touched() {
            continue;
        }
        let end = case.session.calls[sample.step].context_end;
        for (instruction, standing) in names.instructions().iter().zip(&mut found) {
            let is_said = instruction.message < end;
            if !is_said || visible.shows_phrase(instruction.phrase, end as u32) {
                continue;
            }
            match standing.gone.last_mut() {
                Some(last) if last.end == sample.step => last.end += 1,
                _ => standing.gone.push(sample.step..sample.step + 1),
            }
        }
    }
    found
}

/// Whether a person wrote a message, and no program in their place.
fn is_own_word(message: &Message) -> bool {
    message.role == Role::User && message.in_history && !message.is_injected && !message.is_summary
}

/// The sentences of a person's text, without what programs put between tags and what is quoted or pasted.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = None::<&str>;
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
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
        // Quotes, tables, and findings with their places in files are somebody else's words.
        !is_code && !line.starts_with(['>', '|']) && !names_a_place(line) && !is_log(line)
    });
    lines.flat_map(|line| {
        let ends = line
            .split_inclusive(". ")
            .flat_map(|s| s.split_inclusive("! "));
        let ends = ends.flat_map(|s| s.split_inclusive("? "));
        ends.map(|sentence| {
            let is_mark = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '>' | '#');
            sentence.trim_start_matches(is_mark).trim_end()
        })
    })
}

/// The name of the tag that a line begins with, if programs write such: `<system-reminder>`, `<user_instructions>`.
fn tag_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix('<')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    (end > 0 && name[end..].contains('>')).then_some(&name[..end])
}

/// Whether a line names a line of a file (`main.rs:12`), as reviews and errors do.
fn names_a_place(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '`' | ','))
        .any(|word| {
            let place = word.split_once(':');
            place.is_some_and(|(file, line)| {
                let end = file.rsplit_once('.').map_or("", |(_, end)| end);
                let is_end = (1..=4).contains(&end.len()) && end.chars().all(char::is_alphanumeric);
                is_end && !word.contains("//") && begins_with_digit(line)
            })
        })
}

/// Whether a line begins with a time, as those of logs do.
fn is_log(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    begins_with_digit(first) && first.matches([':', '-']).count() >= 2
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// A word of a sentence.
struct Word<'a> {
    /// As it is written.
    raw: &'a str,
    /// In small letters.
    low: String,
    /// What stands between it and the word before.
    gap: &'a str,
}

fn words(sentence: &str) -> Vec<Word<'_>> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut words = Vec::new();
    let mut rest = sentence;
    while let Some(start) = rest.find(is_inside) {
        let (gap, word) = rest.split_at(start);
        let (raw, behind) = word.split_at(word.find(|c| !is_inside(c)).unwrap_or(word.len()));
        let low = raw.to_lowercase().replace('’', "'");
        words.push(Word { raw, low, gap });
        rest = behind;
    }
    words
}

/// Whether a sentence orders what always, never or not to do. A question does not, nor does "I don't know", nor "is never
/// tested", nor what stands in quotation marks.
fn is_instruction(sentence: &str) -> bool {
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

/// Whether a sentence orders something with this word.
fn orders(words: &[Word<'_>], at: usize) -> bool {
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

/// Whether a part of a sentence begins with this word, or with small words before it.
fn begins(words: &[Word<'_>], at: usize) -> bool {
    let is_start = |at: usize| {
        at == 0
            || words[at]
                .gap
                .contains([',', ';', ':', '—', '–', '(', '.', '!'])
    };
    let mut first = at;
    while !is_start(first) && LEADS.contains(&&*words[first - 1].low) {
        first -= 1;
    }
    let tells_of = |word: &Word<'_>| ["they", "which"].contains(&&*word.low);
    is_start(first) && !words[..first].iter().any(tells_of)
}

/// Before `don't` these make a statement.
const PRONOUNS: [&str; 15] = [
    "he", "i", "it", "she", "that", "there", "these", "they", "this", "those", "we", "which",
    "who", "why", "you",
];

/// Before `must` and `should never` these tell what is guessed or wished.
const TELLING: [&str; 8] = ["he", "i", "it", "she", "that", "there", "they", "this"];

/// A sentence that begins with one of these tells of something.
const SUBJECTS: [&str; 12] = [
    "a", "all", "an", "both", "each", "every", "its", "my", "our", "some", "the", "your",
];

/// Before `always` and `never` these make an order.
const MODALS: [&str; 5] = ["must", "please", "shall", "should", "to"];

/// An order may begin with these.
const LEADS: [&str; 10] = [
    "also",
    "and",
    "but",
    "important",
    "just",
    "please",
    "remember",
    "so",
    "then",
    "therefore",
];

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
    fn what_programs_and_code_blocks_say_is_left_out() {
        let text = "- Keep it short. Never guess!\n<system-reminder>\nYou must obey.\n</system-reminder>\n<note>must</note>\n```\nmust();\n```\n> Never quote.\n| must | never |\n20:38:37.6 http.c: never\n- Leak (`sync.go:12-14`): never closed\nlast one";
        let found: Vec<_> = sentences(text).collect();
        assert_eq!(found, ["Keep it short.", "Never guess!", "last one"]);
    }
}
