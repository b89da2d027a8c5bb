//! Standing instructions: what a person said is always, never or not to be done, and whether each stands word for word in
//! the context of every call.

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
            for sentence in sentences(text).filter(|sentence| is_instruction(sentence)) {
                let Some(phrase) = phrases.note(sentence) else {
                    continue;
                };
                if found.len() < MOST && found.iter().all(|known| known.phrase != phrase) {
                    let text = sentence.into();
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
    let mut visible = Visible::new(case, names, &outcome.seen);
    let mut found = vec![Standing::default(); names.instructions().len()];
    for sample in &outcome.samples {
        visible.advance(sample.step);
        if !visible.is_touched() {
            continue;
        }
        let end = case.session.steps[sample.step].context_end;
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

/// The sentences of a person's text, without what programs put between tags and what stands in code blocks.
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
        !is_code
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

/// Whether a sentence tells what always, never or not to do. A question does not, nor does "I don't know".
fn is_instruction(sentence: &str) -> bool {
    if !LENGTHS.contains(&sentence.chars().count()) || sentence.ends_with('?') {
        return false;
    }
    let words: Vec<String> = sentence
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    (0..words.len()).any(|at| {
        let before = at.checked_sub(1).map_or("", word);
        let is_order = !PRONOUNS.contains(&before);
        match (word(at), word(at + 1)) {
            ("always" | "must", _) => true,
            ("never", next) => next != "mind",
            ("don't" | "dont", _) | ("do", "not") => is_order,
            _ => false,
        }
    })
}

/// Before `don't` these make a statement.
const PRONOUNS: [&str; 14] = [
    "he", "i", "it", "she", "that", "these", "they", "this", "those", "we", "which", "who", "why",
    "you",
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
        ] {
            assert!(!is_instruction(no), "{no}");
        }
    }

    #[test]
    fn what_programs_and_code_blocks_say_is_left_out() {
        let text = "- Keep it short. Never guess!\n<system-reminder>\nYou must obey.\n</system-reminder>\n<note>must</note>\n```\nmust();\n```\nlast one";
        let found: Vec<_> = sentences(text).collect();
        assert_eq!(found, ["Keep it short.", "Never guess!", "last one"]);
    }
}
