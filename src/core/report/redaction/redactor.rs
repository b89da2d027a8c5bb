//! Decides for each text of a session or the user whether a report shows or replaces it.

use super::words::{self, ShownNumber, TextPiece, pieces};
use super::{NameKind, Plain, RedactedPiece, ReportText};
use crate::analysis::MessageName;
use crate::engine::{Cause, Policy};
use crate::figure::quantity;
use crate::presets::{PRESETS, models};
use std::collections::{HashMap, HashSet};

/// Well-known tool names. Any other may belong to a private server whose name reveals an employer.
const TOOLS: &str = "\
Agent AskUserQuestion Bash BashOutput Edit ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit NotebookRead Read \
Skill Task TodoRead TodoWrite WebFetch WebSearch Write apply_patch bash cat create_file edit edit_file exec \
exec_command execute_command fetch find glob grep list_dir list_directory list_files ls patch python read read_file \
read_many_files replace replace_in_file run_command run_shell_command run_terminal_cmd search search_files shell str_replace \
str_replace_based_edit_tool str_replace_editor terminal think todo_write update_plan view view_image web_fetch web_search \
write write_file write_stdin";

/// Converts texts for a report.
#[derive(Debug)]
pub(crate) struct Redactor {
    redacts: bool,
    /// Numbers assigned so far, so that each thing keeps its number.
    numbers: HashMap<(NameKind, String), usize>,
    last: HashMap<NameKind, usize>,
    /// Names that the bundled presets use.
    names: HashSet<&'static str>,
}

impl Redactor {
    /// Creates a converter that shows everything, or that redacts foreign texts.
    pub(crate) fn new(redacts: bool) -> Self {
        Self {
            redacts,
            numbers: HashMap::new(),
            last: HashMap::new(),
            names: if redacts { bundled_names() } else { HashSet::new() },
        }
    }

    /// True if foreign texts are redacted.
    pub(crate) fn redacts(&self) -> bool {
        self.redacts
    }

    /// Converts a text; redacted, only its length remains.
    pub(crate) fn text(&self, text: &str) -> ReportText {
        self.or(text, || length_of(text))
    }

    /// Converts the first characters of a text; redacted, only its length remains.
    pub(crate) fn start_of(&self, text: &str, most: usize) -> ReportText {
        let start: String = text.chars().take(most).collect();
        if self.redacts || start.len() == text.len() {
            self.text(text)
        } else {
            plain(format!("{start}…"))
        }
    }

    /// Converts a name; redacted, it becomes a number.
    pub(crate) fn numbered(&mut self, what: NameKind, text: &str) -> ReportText {
        if !self.redacts {
            return plain(text);
        }
        ReportText::of_words(vec![self.nth(what, text)])
    }

    /// Converts a name, which is kept if a bundled preset uses it.
    pub(crate) fn name(&mut self, what: NameKind, text: &str) -> ReportText {
        if !self.redacts {
            return plain(text);
        }
        ReportText::of_words(vec![self.name_word(what, text)])
    }

    /// Converts the name of a tool.
    pub(crate) fn tool(&mut self, tool: &str) -> ReportText {
        if !self.redacts {
            return plain(tool);
        }
        ReportText::of_words(vec![self.tool_word(tool)])
    }

    /// Converts the name of a model; a listed model gets the name in the table of windows.
    pub(crate) fn model(&mut self, model: &str) -> ReportText {
        if !self.redacts {
            return plain(model);
        }
        let known = public_model(model).map(|known| RedactedPiece::Known(known, false));
        let word = known.unwrap_or_else(|| self.nth(NameKind::Model, model));
        ReportText::of_words(vec![word])
    }

    /// Converts the readable name of a message.
    pub(crate) fn message(&mut self, name: &MessageName<'_>) -> ReportText {
        if !self.redacts {
            return plain(name.to_string());
        }
        let known = |word| RedactedPiece::Known(word, false);
        let in_message = |message: usize| {
            let number = RedactedPiece::Number(ShownNumber::whole(message as u64 + 1));
            [known(" message "), number]
        };
        let words = match name {
            MessageName::Message { role, message, .. } => {
                let mut words = vec![known(role.name())];
                words.extend(in_message(*message));
                words
            }
            MessageName::Call { tool, subject, message } => {
                let mut words = vec![self.tool_word(tool)];
                if let Some(subject) = subject {
                    words.push(RedactedPiece::Mark(' '));
                    if subject.is_path {
                        words.push(self.nth(NameKind::Path, &subject.text));
                    } else {
                        words.extend(length_of(&subject.text));
                    }
                } else {
                    words.push(known(" in"));
                    words.extend(in_message(*message));
                }
                words
            }
        };
        ReportText::of_words(words)
    }

    /// Converts a sentence that may quote foreign text; redacted, numbers and known words remain.
    pub(crate) fn sentence(&self, text: &str) -> ReportText {
        self.or(text, || {
            let words = pieces(text).into_iter().map(|piece| match piece {
                TextPiece::Mark(mark) => RedactedPiece::Mark(mark),
                TextPiece::Word(word) => self.word(word),
            });
            merged(ungrouped(words.collect()))
        })
    }

    /// Converts the cause of an event: the trigger with its values.
    pub(crate) fn cause(&mut self, cause: &Cause) -> ReportText {
        if !self.redacts {
            return plain(cause.filled_in(quantity));
        }
        // Names of an expression stand between operators, not between spaces; what is no expression is a word.
        let apart: String = cause
            .filled_in(quantity)
            .chars()
            .flat_map(|c| match c {
                '/' | '-' => vec![' ', c, ' '],
                c => vec![c],
            })
            .collect();
        let squeezed = apart.split_whitespace().collect::<Vec<_>>().join(" ");
        self.sentence(&squeezed)
    }

    /// Converts a policy; redacted, names that no bundled preset uses become numbers.
    pub(crate) fn policy(&mut self, policy: &Policy) -> ReportText {
        self.name(NameKind::Policy, &policy.label)
    }

    fn or(&self, text: &str, words: impl FnOnce() -> Vec<RedactedPiece>) -> ReportText {
        if self.redacts { ReportText::of_words(words()) } else { plain(text) }
    }

    fn nth(&mut self, what: NameKind, text: &str) -> RedactedPiece {
        let last = self.last.entry(what).or_default();
        let known = self.numbers.entry((what, text.to_owned()));
        let n = *known.or_insert_with(|| {
            *last += 1;
            *last
        });
        RedactedPiece::Nth(what, n)
    }

    fn name_word(&mut self, what: NameKind, text: &str) -> RedactedPiece {
        match self.names.get(text) {
            Some(known) => RedactedPiece::Known(known, false),
            None => self.nth(what, text),
        }
    }

    fn tool_word(&mut self, tool: &str) -> RedactedPiece {
        match TOOLS.split_ascii_whitespace().find(|known| *known == tool) {
            Some(known) => RedactedPiece::Known(known, false),
            None => self.nth(NameKind::Tool, tool),
        }
    }

    /// Converts a word of a free text.
    fn word(&self, word: &str) -> RedactedPiece {
        if let Some(number) = ShownNumber::of(word) {
            return RedactedPiece::Number(number);
        }
        let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
        let known = words::known(word).map(|known| RedactedPiece::Known(known, is_capital));
        known
            .or_else(|| Some(RedactedPiece::Known(self.names.get(word)?, false)))
            .or_else(|| Some(RedactedPiece::Known(public_model(word)?, false)))
            .unwrap_or(match word {
                "-" => RedactedPiece::Mark('-'),
                "/" => RedactedPiece::Mark('/'),
                _ => RedactedPiece::Hidden,
            })
    }
}

/// Returns a verbatim text.
fn plain(text: impl Into<Box<str>>) -> ReportText {
    ReportText::Text(Plain(text.into()))
}

/// Hides numbers separated only by a space: they may be groups of a longer one.
fn ungrouped(mut words: Vec<RedactedPiece>) -> Vec<RedactedPiece> {
    let is_pair = |words: &[RedactedPiece]| {
        matches!(
            words,
            [RedactedPiece::Number(_), RedactedPiece::Mark(' '), RedactedPiece::Number(_)]
        )
    };
    let pairs = words.windows(3).enumerate();
    let starts: Vec<usize> = pairs.filter(|(_, three)| is_pair(three)).map(|(at, _)| at).collect();
    for at in starts {
        (words[at], words[at + 2]) = (RedactedPiece::Hidden, RedactedPiece::Hidden);
    }
    words
}

/// Merges hidden pieces that are separated only by marks.
fn merged(all: Vec<RedactedPiece>) -> Vec<RedactedPiece> {
    let mut words: Vec<RedactedPiece> = Vec::with_capacity(all.len());
    for word in all {
        let before = words.iter().rposition(|w| !matches!(w, RedactedPiece::Mark(_)));
        if let (RedactedPiece::Hidden, Some(before)) = (word, before)
            && words[before] == RedactedPiece::Hidden
        {
            words.truncate(before);
        }
        words.push(word);
    }
    words
}

/// `text (1,234 characters)`.
fn length_of(text: &str) -> Vec<RedactedPiece> {
    let n = text.chars().count();
    let unit = if n == 1 { " character)" } else { " characters)" };
    vec![
        RedactedPiece::Known("text (", false),
        RedactedPiece::Number(ShownNumber::whole(n as u64)),
        RedactedPiece::Known(unit, false),
    ]
}

/// Returns the name of a model in the table of windows, if it is a public one.
fn public_model(name: &str) -> Option<&'static str> {
    let known = models::public_name(name)?;
    let rest = name.strip_prefix(known)?;
    let is_version = rest.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    is_version.then_some(known)
}

/// Returns the names of policies, stages, settings, units and choices in the bundled presets.
fn bundled_names() -> HashSet<&'static str> {
    let mut names = HashSet::new();
    for preset in PRESETS {
        let Ok(policy) = preset.policy() else {
            continue;
        };
        let knobs = policy.knobs.iter();
        let of_knobs = knobs.flat_map(|k| [&k.name, &k.unit].into_iter().chain(&k.choices));
        let all = [&policy.name, &policy.label].into_iter().chain(of_knobs);
        let all = all.chain(policy.stages.iter().map(|stage| &stage.id));
        let all = all.chain(policy.lets.iter().map(|(name, _)| name));
        names.extend(all.filter_map(|name| {
            let at = preset.toml.find(name.as_str())?;
            preset.toml.get(at..at + name.len())
        }));
    }
    names.extend(["recorded", "none"]);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        Redactor::new(true).sentence(text).to_string()
    }

    #[test]
    fn a_line_of_a_log_keeps_its_numbers_and_well_known_words_only() {
        assert_eq!(
            redacted("The conversation history has been compacted from 44979 to 1,200 tokens"),
            "The conversation history has been compacted from 44,979 to 1,200 tokens"
        );
        assert_eq!(
            redacted("Removed the messages about Project Nightjar for bob@acme.example: 3 turns"),
            "Removed the messages about … for …: 3 turns"
        );
        assert_eq!(redacted("writes /tmp/x/call_9.txt (12 bytes)"), "writes … (12 bytes)");
    }

    #[test]
    fn groups_of_digits_are_one_number_that_is_not_told() {
        assert_eq!(redacted("4111 1111 1111 1111"), "…");
        assert_eq!(redacted("kept 4 of 12"), "kept 4 of 12");
    }

    #[test]
    fn one_thing_keeps_one_number() {
        let mut redactor = Redactor::new(true);
        let mut path = |text: &str| redactor.numbered(NameKind::Path, text).to_string();
        assert_eq!([path("a.rs"), path("b.rs"), path("a.rs")], ["path-1", "path-2", "path-1"]);
    }

    #[test]
    fn public_models_keep_their_public_name_and_others_are_numbered() {
        let mut redactor = Redactor::new(true);
        let mut model = |name: &str| redactor.model(name).to_string();
        assert!(model("claude-opus-4-5-20251101").starts_with("claude-opus"));
        assert_eq!(model("claude-opus-4-5-acme"), "model-1");
        assert_eq!(model("ft:gpt-4o:acme-corp::abc"), "model-2");
    }

    #[test]
    fn names_of_bundled_presets_stay_and_others_are_numbered() {
        let mut redactor = Redactor::new(true);
        assert_eq!(redactor.name(NameKind::Lane, "truncate").to_string(), "truncate");
        assert_eq!(redactor.name(NameKind::Lane, "acme").to_string(), "lane-1");
        assert_eq!(redactor.tool("Read").to_string(), "Read");
        assert_eq!(redactor.tool("mcp__acme__deploy").to_string(), "tool-1");
        assert_eq!(redactor.text("secret").to_string(), "text (6 characters)");
    }
}
