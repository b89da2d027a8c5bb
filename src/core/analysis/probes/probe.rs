//! A question with two options, one of which is true.

use super::answer::Choice;
use std::ops::Range;

/// Maximum length of an option in characters. Chosen: both options together add about 120 tokens to a question, and
/// commands and errors of one session differ within this length.
const MAX_OPTION_CHARS: usize = 240;

/// A question with two options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Name of its template.
    pub template: &'static str,
    /// The question.
    pub question: String,
    /// The true option.
    pub truth: String,
    /// The false option.
    pub distractor: String,
    /// Index of the message that states the truth.
    pub message: u32,
    /// Index of the part.
    pub part: u32,
    /// Bytes in the text of that part.
    pub span: Range<usize>,
    /// Index of the call with whose context it is asked.
    pub call: usize,
}

/// The order of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The truth is option A.
    TruthFirst,
    /// The truth is option B.
    TruthSecond,
}

impl Order {
    /// Both orders.
    pub const BOTH: [Self; 2] = [Self::TruthFirst, Self::TruthSecond];

    /// Returns the right choice.
    pub fn truth(self) -> Choice {
        match self {
            Self::TruthFirst => Choice::A,
            Self::TruthSecond => Choice::B,
        }
    }
}

impl Probe {
    /// Returns options A and B.
    pub fn options(&self, order: Order) -> [&str; 2] {
        match order {
            Order::TruthFirst => [&self.truth, &self.distractor],
            Order::TruthSecond => [&self.distractor, &self.truth],
        }
    }

    /// Returns the text that is sent to a model.
    pub fn text(&self, order: Order) -> String {
        let [a, b] = self.options(order);
        format!(
            "Answer one question about the conversation so far. Do not continue the work.\n\n{}\nA: {a}\nB: {b}\n\nAnswer with the letter A or B only.",
            self.question
        )
    }
}

/// Shortens an option to one line.
pub(super) fn option(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_OPTION_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_swap_with_the_order() {
        let probe = Probe {
            template: "plan",
            question: "Which?".to_owned(),
            truth: "this".to_owned(),
            distractor: "that".to_owned(),
            message: 0,
            part: 0,
            span: 0..4,
            call: 1,
        };
        assert!(probe.text(Order::TruthFirst).contains("A: this\nB: that\n"));
        assert!(probe.text(Order::TruthSecond).contains("A: that\nB: this\n"));
    }

    #[test]
    fn options_are_one_line_of_limited_length() {
        assert_eq!(option(" a\n\tb "), "a b");
        let long = option(&"ü".repeat(300));
        assert_eq!(long.chars().count(), MAX_OPTION_CHARS + 1);
    }
}
