//! Searches facts in texts: many at once, at word boundaries.

use aho_corasick::{AhoCorasick, MatchKind};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Texts that show that a fact is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FactSearch {
    /// Text that states the fact verbatim.
    whole: Box<str>,
    /// Form that states it partly.
    partly: Partly,
    /// The outcome that a text must also state in the same line to state the fact verbatim. In the session itself the
    /// result of the call states it.
    outcome: Option<CommandOutcome>,
}

/// Forms that state a fact partly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Partly {
    /// None.
    Nothing,
    /// A shorter text.
    Text(Box<str>),
    /// Most of the longer words, in a summary.
    Words,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    Passed,
    Failed,
}

/// Minimum length of a searched text in bytes. Shorter ones (`main`, `true`) occur by chance in nearly every context
/// and would always count as kept.
const MIN_BYTES: usize = 5;
/// Maximum length of a searched text in bytes. Chosen: enough to tell a sentence from all others. A text of twice this
/// length would count as lost because of one changed character near its end.
const MAX_BYTES: usize = 300;

impl FactSearch {
    pub(super) fn new(whole: &str) -> Self {
        let end = whole.floor_char_boundary(MAX_BYTES);
        Self { whole: whole[..end].trim().into(), partly: Partly::Nothing, outcome: None }
    }

    /// Adds a shorter text, unless it is too short or the same.
    pub(super) fn or(self, shorter: &str) -> Self {
        let is_other = shorter.len() >= MIN_BYTES && *shorter != *self.whole;
        let partly = if is_other { Partly::Text(shorter.into()) } else { self.partly };
        Self { partly, ..self }
    }

    /// Most of the words state it partly.
    pub(super) fn or_words(self) -> Self {
        Self { partly: Partly::Words, ..self }
    }

    pub(super) fn with(self, outcome: Option<CommandOutcome>) -> Self {
        Self { outcome, ..self }
    }

    pub(super) fn text(&self) -> &str {
        &self.whole
    }

    pub(super) fn outcome(&self) -> Option<CommandOutcome> {
        self.outcome
    }

    pub(super) fn is_too_short(&self) -> bool {
        self.whole.len() < MIN_BYTES
    }
}

/// A fact that a text states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatedFact {
    /// Its index in [`super::Facts::all`].
    pub(crate) fact: u32,
    /// True if the text states it verbatim, false if partly.
    pub(crate) is_verbatim: bool,
}

impl StatedFact {
    /// Sorts facts and keeps one statement of each, verbatim if possible.
    pub(super) fn sort(stated: &mut Vec<Self>) {
        stated.sort_unstable_by_key(|stated| (stated.fact, !stated.is_verbatim));
        stated.dedup_by_key(|stated| stated.fact);
    }
}

/// Finds facts in a text.
#[derive(Debug, Default)]
pub(super) struct FactFinder {
    /// None if there is nothing to find.
    automaton: Option<AhoCorasick>,
    /// By pattern: the facts that it states.
    facts: Vec<Vec<StatedFact>>,
    /// Facts that are stated partly by most of their words, with these words.
    by_words: Vec<(u32, Vec<Box<str>>)>,
}

impl FactFinder {
    pub(super) fn new(searches: &[FactSearch]) -> Self {
        let mut patterns: Vec<&str> = Vec::new();
        let mut numbers = HashMap::new();
        let mut facts: Vec<Vec<StatedFact>> = Vec::new();
        let mut by_words = Vec::new();
        for (fact, search) in (0..).zip(searches) {
            let mut note = |text, is_verbatim| {
                let number = *numbers.entry(text).or_insert_with(|| {
                    patterns.push(text);
                    facts.push(Vec::new());
                    patterns.len() - 1
                });
                facts[number].push(StatedFact { fact, is_verbatim });
            };
            note(&*search.whole, true);
            match &search.partly {
                Partly::Nothing => {}
                Partly::Text(text) => note(text, false),
                Partly::Words => by_words.push((
                    fact,
                    long_words(&search.whole).into_iter().map(String::into_boxed_str).collect(),
                )),
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .ok()
            .filter(|_| !patterns.is_empty());
        Self { automaton, facts, by_words }
    }

    /// Returns the patterns in a text, each with its bytes; possibly several times.
    fn hits(&self, text: &str) -> impl Iterator<Item = (usize, Range<usize>)> {
        let hits = self.automaton.iter();
        let hits = hits.flat_map(move |automaton| automaton.find_overlapping_iter(text));
        let words = hits.filter(move |hit| is_word(text, hit.start(), hit.end()));
        words.map(|hit| (hit.pattern().as_usize(), hit.start()..hit.end()))
    }

    /// Returns the facts that a part of the session states; twice if verbatim and partly.
    pub(super) fn in_part(&self, text: &str) -> Vec<StatedFact> {
        let mut seen = HashSet::new();
        let patterns = self.hits(text).map(|(pattern, _)| pattern);
        let new = patterns.filter(|pattern| seen.insert(*pattern));
        new.flat_map(|pattern| &self.facts[pattern]).copied().collect()
    }

    /// Returns the facts that a text of a policy states, each once, ascending. A command needs its outcome in the same
    /// line. `is_summary`: most of the words state a fact partly.
    pub(super) fn states(
        &self,
        searches: &[FactSearch],
        text: &str,
        is_summary: bool,
    ) -> Vec<StatedFact> {
        let mut states = Vec::new();
        for (pattern, hit) in self.hits(text) {
            let outcomes = LazyCell::new(|| StatedOutcomes::around(text, hit));
            for stated in &self.facts[pattern] {
                let outcome = searches[stated.fact as usize].outcome;
                let has_outcome = outcome.is_none_or(|outcome| outcomes.states(outcome));
                states
                    .push(StatedFact { is_verbatim: stated.is_verbatim && has_outcome, ..*stated });
            }
        }
        if is_summary && !self.by_words.is_empty() {
            let words = long_words(text);
            for (fact, own) in &self.by_words {
                let n = own.iter().filter(|word| words.contains(&***word)).count();
                // Two of three words, the same as for the sentences of `loss/survival.rs`: a summary shortens a
                // sentence, but one with half of its words may say the opposite.
                if !own.is_empty() && 3 * n >= 2 * own.len() {
                    states.push(StatedFact { fact: *fact, is_verbatim: false });
                }
            }
        }
        StatedFact::sort(&mut states);
        states
    }
}

/// Returns whether a match is no piece of a longer word.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let joins = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(is_inside) && inner.is_some_and(is_inside)
    };
    let hit = &text[start..end];
    !joins(text[..start].chars().next_back(), hit.chars().next())
        && !joins(text[end..].chars().next(), hit.chars().next_back())
}

/// The outcomes that the line around a match states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StatedOutcomes {
    passed: bool,
    failed: bool,
}

impl StatedOutcomes {
    /// Maximum number of bytes that are read before and after a match. An outcome such as `passed` is next to its
    /// command in a sentence or a row of a table; the limit only matters for texts without line breaks.
    const AROUND: usize = 200;

    /// Reads the line around the bytes of a match. The match itself states no outcome.
    fn around(text: &str, hit: Range<usize>) -> Self {
        let start = text.floor_char_boundary(hit.start.saturating_sub(Self::AROUND));
        let end = text.ceil_char_boundary(hit.end.saturating_add(Self::AROUND).min(text.len()));
        let before = text[start..hit.start].rsplit('\n').next().unwrap_or_default();
        let after = text[hit.end..end].split('\n').next().unwrap_or_default();
        let mut outcomes = Self::of_words(before);
        let after = Self::of_words(after);
        outcomes.passed |= after.passed;
        outcomes.failed |= after.failed;
        outcomes
    }

    fn of_words(text: &str) -> Self {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let mut outcomes = Self::default();
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| words[before]);
            let is_failure =
                ["fail", "error", "crash", "broke"].iter().any(|start| word.starts_with(start));
            let is_success = ["pass", "succe"].iter().any(|start| word.starts_with(start))
                || ["ok", "works", "worked", "clean", "green"].contains(word);
            match words.get(at + 1) {
                Some(&code) if *word == "code" && before == "exit" => {
                    outcomes.passed |= code == "0";
                    outcomes.failed |= code != "0";
                }
                // `0 failed`, `no errors`
                _ if is_failure && ["0", "no", "without"].contains(&before) => {
                    outcomes.passed = true;
                }
                _ => {
                    outcomes.failed |= is_failure;
                    outcomes.passed |= is_success && !["0", "not"].contains(&before);
                }
            }
        }
        outcomes
    }

    fn states(self, outcome: CommandOutcome) -> bool {
        match outcome {
            CommandOutcome::Passed => self.passed,
            CommandOutcome::Failed => self.failed,
        }
    }
}

/// Returns the longer words of a text in lower case. In scripts without spaces, each pair of characters counts as a
/// word.
pub(super) fn long_words(text: &str) -> HashSet<String> {
    // Shorter words are mostly articles and prepositions, which any text contains.
    const LONG: usize = 4;
    let mut words = HashSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let is_dense = word.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{0e00}'..='\u{0e7f}'));
        if is_dense {
            let chars: Vec<char> = word.chars().collect();
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if word.chars().count() >= LONG {
            words.insert(word.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{CommandOutcome, FactFinder, FactSearch, StatedFact};

    /// Returns the facts that a summary states, each with whether verbatim.
    fn stated(searches: &[FactSearch], summary: &str) -> Vec<(u32, bool)> {
        let found = FactFinder::new(searches).states(searches, summary, true);
        let pair = |stated: StatedFact| (stated.fact, stated.is_verbatim);
        found.into_iter().map(pair).collect()
    }

    #[test]
    fn facts_are_found_at_word_boundaries_and_partly_by_a_shorter_text_or_most_words() {
        let searches = [
            FactSearch::new("src/ledger.rs").or("ledger.rs"),
            FactSearch::new("Never push to the main branch.").or_words(),
            FactSearch::new("ledger"),
        ];
        let states = |text| stated(&searches, text);
        assert_eq!(states("see src/ledger.rs:12"), [(0, true), (2, true)]);
        assert_eq!(states("see old/ledger.rs"), [(0, false), (2, true)]);
        assert_eq!(states("ledgers"), []);
        assert_eq!(states("must never be pushed: push main branch"), [(1, false)]);
        assert_eq!(states("Never push to the main branch."), [(1, true)]);
    }

    #[test]
    fn a_summary_states_a_command_verbatim_only_with_its_outcome() {
        let searches = [FactSearch::new("cargo test --lib").with(Some(CommandOutcome::Failed))];
        let states = |text| stated(&searches, text);
        assert_eq!(states("ran cargo test --lib, 2 failed"), [(0, true)]);
        assert_eq!(states("ran cargo test --lib\nfailed"), [(0, false)]);
    }

    #[test]
    fn an_outcome_is_stated_in_words_outside_of_the_command() {
        let is_stated = |command: &str, outcome, text: &str| {
            let searches = [FactSearch::new(command).with(Some(outcome))];
            stated(&searches, text) == [(0, true)]
        };
        let tests = |outcome, text| is_stated("cargo test", outcome, text);
        assert!(tests(CommandOutcome::Passed, "cargo test: exit code 0"));
        assert!(tests(CommandOutcome::Failed, "cargo test: exit code 101"));
        assert!(tests(CommandOutcome::Passed, "cargo test: 12 passed, 0 failed"));
        assert!(!tests(CommandOutcome::Failed, "cargo test: 12 passed, 0 failed"));
        assert!(tests(CommandOutcome::Failed, "cargo test: 10 failed"));
        assert!(!tests(CommandOutcome::Passed, "cargo test took 5 s"));
        assert!(!is_stated("make clean", CommandOutcome::Passed, "ran make clean"));
        let flag = "cargo test --no-fail-fast";
        assert!(!is_stated(flag, CommandOutcome::Failed, "ran cargo test --no-fail-fast"));
    }
}
