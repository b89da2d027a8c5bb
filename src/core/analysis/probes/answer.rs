//! Answers of a model to a probe.

use serde::Serialize;

/// Choice of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Option A.
    A,
    /// Option B.
    B,
    /// Neither option, or no option that can be recognized.
    Neither,
    /// Both options.
    Both,
    /// The model refused to answer.
    Refused,
    /// There is no text: it is empty, cut off, or a tool was called instead.
    Empty,
}

/// Words of a refusal.
const REFUSALS: [&str; 6] = [
    "i can't help",
    "i cannot help",
    "i can't assist",
    "i cannot assist",
    "i'm sorry",
    "i am unable",
];

/// Words that follow the letter A, but no article.
const NOT_AFTER_ARTICLE: [&str; 8] = ["and", "because", "has", "is", "nor", "or", "since", "was"];

/// Words after which a letter is the answer.
const LEADS: [&str; 6] = ["answer", "option", "choice", "letter", "choose", "is"];

impl Choice {
    /// Parses an answer.
    pub fn parse(text: &str, options: [&str; 2]) -> Self {
        let plain = text.replace(['*', '`', '_', '#', '"', '“', '”'], "");
        let plain = plain.trim();
        if plain.is_empty() {
            return Self::Empty;
        }
        let whole = plain.trim_matches(|c: char| !c.is_alphanumeric());
        match whole {
            "a" => return Self::A,
            "b" => return Self::B,
            _ => {}
        }
        let letters = letters(plain);
        let lower = plain.to_lowercase();
        let has_word = |word: &str| words(&lower).any(|other| other == word);
        match (letters.has_a, letters.has_b) {
            (true, false) => return Self::A,
            (false, true) => return Self::B,
            (true, true) if has_word("neither") || has_word("nor") => return Self::Neither,
            (true, true) => return letters.decided.unwrap_or(Self::Both),
            (false, false) if has_word("both") => return Self::Both,
            (false, false) => {}
        }
        let quotes = |option: &str| lower.contains(&option.to_lowercase());
        match options.map(quotes) {
            [true, false] => Self::A,
            [false, true] => Self::B,
            // One option may contain the other.
            [true, true]
                if options[0].len() > options[1].len() && options[0].contains(options[1]) =>
            {
                Self::A
            }
            [true, true] if options[1].contains(options[0]) => Self::B,
            [true, true] => Self::Both,
            _ if REFUSALS.iter().any(|words| lower.replace('’', "'").contains(words)) => {
                Self::Refused
            }
            _ => Self::Neither,
        }
    }
}

/// The letters A and B in an answer.
#[derive(Default)]
struct Letters {
    has_a: bool,
    has_b: bool,
    /// The one that the answer begins with or names as the answer.
    decided: Option<Choice>,
}

fn letters(text: &str) -> Letters {
    let mut found = Letters::default();
    let (mut before, mut rest) = ("", text);
    let mut is_first = true;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let word = &rest[start..];
        let (word, after) =
            word.split_at(word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len()));
        let next = words(after).next().unwrap_or_default();
        // "A file", but not "A" or "A, because": an article precedes a word in lower case.
        let is_article = word == "A"
            && after.starts_with(' ')
            && after[1..].starts_with(char::is_lowercase)
            && !NOT_AFTER_ARTICLE.contains(&next);
        let lead = before.to_lowercase();
        let is_led = LEADS.contains(&&*lead);
        if let Some(letter) = letter(word).filter(|_| !is_article || is_led && lead != "is") {
            match letter {
                Choice::A => found.has_a = true,
                _ => found.has_b = true,
            }
            let joins = ["or", "and"].contains(&next) || after.starts_with('/');
            if (is_first || is_led) && !joins {
                found.decided.get_or_insert(letter);
            }
        }
        (before, rest, is_first) = (word, after, false);
    }
    found
}

/// Returns the option of a letter: Latin, full-width, Cyrillic or Greek, since models answer in the language of the session. Only a
/// whole answer may be in lower case.
fn letter(word: &str) -> Option<Choice> {
    match word {
        "A" | "Ａ" | "А" | "Α" => Some(Choice::A),
        "B" | "Ｂ" | "В" | "Β" => Some(Choice::B),
        _ => None,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns whether an answer is right, or what it is instead, in one or two words.
pub fn result_words(choice: Option<Choice>, truth: Choice) -> &'static str {
    match choice {
        None => "no answer",
        Some(choice) if choice == truth => "right",
        Some(Choice::A | Choice::B) => "wrong",
        Some(Choice::Neither) => "neither",
        Some(Choice::Both) => "both",
        Some(Choice::Refused) => "refused",
        Some(Choice::Empty) => "empty",
    }
}

/// Answers by what they choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerCounts {
    /// Number of answers that choose the truth.
    pub right: usize,
    /// Number of answers that choose the distractor.
    pub wrong: usize,
    /// Number of answers that choose neither option, or no recognizable one.
    pub neither: usize,
    /// Number of answers that choose both options.
    pub both: usize,
    /// Number of refusals.
    pub refused: usize,
    /// Number of answers without text.
    pub empty: usize,
    /// Number of questions without an answer: not sent, or the request failed.
    pub unanswered: usize,
}

impl AnswerCounts {
    /// Returns the number of all answers.
    pub fn answered(&self) -> usize {
        let all = self.by_result().map(|(count, _)| count);
        all.iter().sum::<usize>() - self.unanswered
    }

    /// Returns the numbers of answers by result, each with its name.
    pub fn by_result(&self) -> [(usize, &'static str); 7] {
        [
            (self.right, "right"),
            (self.wrong, "wrong"),
            (self.neither, "neither"),
            (self.both, "both"),
            (self.refused, "refused"),
            (self.empty, "empty"),
            (self.unanswered, "unanswered"),
        ]
    }

    /// Counts an answer; `truth` is the right choice.
    pub(super) fn add(&mut self, choice: Option<Choice>, truth: Choice) {
        let count = match choice {
            None => &mut self.unanswered,
            Some(choice) if choice == truth => &mut self.right,
            Some(Choice::A | Choice::B) => &mut self.wrong,
            Some(Choice::Neither) => &mut self.neither,
            Some(Choice::Both) => &mut self.both,
            Some(Choice::Refused) => &mut self.refused,
            Some(Choice::Empty) => &mut self.empty,
        };
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Choice::{self, A, B, Both, Empty, Neither, Refused};

    fn parse(text: &str) -> Choice {
        Choice::parse(text, ["src/old.rs", "src/new.rs"])
    }

    #[test]
    fn a_letter_is_recognized_in_the_ways_that_models_write_it() {
        for text in [
            "A",
            "a",
            " A.\n",
            "**A**",
            "(A)",
            "A: src/old.rs",
            "Answer: A",
            "The answer is A.",
            "A, because the file was edited",
            "Option A",
            "Ａ",
            "Ответ: А",
            "A is right; B was only read.",
            "src/old.rs",
        ] {
            assert_eq!(parse(text), A, "{text}");
        }
        for text in [
            "B",
            "b)",
            "`B`",
            "Antwort: B",
            "B: src/new.rs",
            "答案是 B。",
            "The answer is B, not A.",
            "It was src/new.rs.",
            "A file was edited, so the answer is B",
        ] {
            assert_eq!(parse(text), B, "{text}");
        }
    }

    #[test]
    fn other_answers_are_told_apart() {
        for text in ["Neither A nor B", "neither", "I do not know.", "A file was edited", "42"] {
            assert_eq!(parse(text), Neither, "{text}");
        }
        for text in ["A and B", "Both", "A/B", "A or B", "src/old.rs and src/new.rs"] {
            assert_eq!(parse(text), Both, "{text}");
        }
        assert_eq!(parse("I’m sorry, but I can't help with that."), Refused);
        assert_eq!([parse(""), parse(" ** ")], [Empty, Empty]);
    }

    #[test]
    fn an_option_that_contains_the_other_is_chosen_by_the_longer_text() {
        let parse = |text| {
            Choice::parse(text, ["All names must be short", "All names must be short or long"])
        };
        assert_eq!(parse("All names must be short."), A);
        assert_eq!(parse("All names must be short or long."), B);
    }
}
