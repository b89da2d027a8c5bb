//! Survival: names, user instructions and changed files from before a recorded compaction that the first call after it
//! still has. Computed for the recorded summary and for every lane at the same call.

use super::names::Names;
use super::parts::part_text;
use super::visible::{Visible, VisibleText};
use crate::engine::{Case, Outcome};
use crate::session::identifiers;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// Degree to which a name, instruction or file survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// Present verbatim.
    Verbatim,
    /// The last piece of a path or of a dotted name; most words of an instruction.
    Partly,
    /// Missing.
    Gone,
}

impl Kept {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Partly => "partly",
            Self::Gone => "gone",
        }
    }
}

/// Content from before a recorded compaction that a call still has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survival {
    /// Index of the first call after the compaction.
    pub call: usize,
    /// Names that the agent used from this call on, by their index for [`Names::word`].
    pub names: Vec<(u32, Kept)>,
    /// Instructions, by their index in [`Names::instructions`].
    pub instructions: Vec<(usize, Kept)>,
    /// Files changed before the compaction, by the last two components of their paths.
    pub files: Vec<(Box<str>, Kept)>,
    /// True if the context has a predicted summary, which may contain what counts as missing.
    pub is_predicted: bool,
}

/// Computes the survival after the recorded compaction with this index in a run; none without a later call.
pub fn survival(
    names: &Names,
    case: &Case,
    outcome: &Outcome,
    compaction: usize,
) -> Option<Survival> {
    let session = &case.session;
    let compaction = session.compactions.get(compaction)?;
    let call = compaction.call;
    let end = session.calls.get(call)?.context_end;
    let before = compaction.before_message;
    let mut visible = Visible::new(case, names, &outcome.received);
    visible.advance(call);
    let context = texts(case, &visible, end);
    let words = ContextWords::of(&context);
    let name = |name: u32| {
        let copies = names.copies_until(name, end as u32);
        let is_verbatim = visible.shows_name(name, end as u32, copies);
        (name, state(is_verbatim, || words.has_last(names.word(name))))
    };
    let instructions = names.instructions().iter().enumerate();
    let given = instructions.filter(|(_, instruction)| instruction.message < before);
    let instructions = given.map(|(idx, instruction)| {
        let is_verbatim = visible.shows_phrase(instruction.phrase, end as u32);
        let partly = || {
            let mut summaries = summaries(case, &visible, end).into_iter();
            summaries.any(|text| has_most_words(&instruction.text, text))
        };
        (idx, state(is_verbatim, partly))
    });
    Some(Survival {
        call,
        names: used_later(names, before as u32, call).map(name).collect(),
        instructions: instructions.collect(),
        files: changed(names, before)
            .into_iter()
            .map(|file| (file.into(), words.has(file)))
            .collect(),
        is_predicted: visible.predicted().next().is_some(),
    })
}

fn state(is_verbatim: bool, partly: impl FnOnce() -> bool) -> Kept {
    match is_verbatim {
        true => Kept::Verbatim,
        false if partly() => Kept::Partly,
        false => Kept::Gone,
    }
}

/// Returns the names that occur before a message and are used from a call on, each once.
fn used_later(names: &Names, before: u32, from: usize) -> impl Iterator<Item = u32> {
    let later = names.uses().filter(move |(call, _)| *call >= from);
    let occurs = move |used: &super::names::Use| {
        let copies = names.copies_before(used);
        copies.first().is_some_and(|place| place.message < before)
    };
    let used: std::collections::BTreeSet<u32> =
        later.filter(|(_, used)| occurs(used)).map(|(_, used)| used.name).collect();
    used.into_iter()
}

/// Returns the files changed before a message, in order of their last change.
fn changed(names: &Names, before: usize) -> Vec<&str> {
    let changes = names.edits.changes.iter().filter(|change| change.message < before);
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, change) in changes.enumerate() {
        last.insert(tail(&change.path), idx);
    }
    let mut files: Vec<_> = last.into_iter().collect();
    files.sort_unstable_by_key(|(_, idx)| *idx);
    files.into_iter().map(|(file, _)| file).collect()
}

/// Returns the last two components of a path.
fn tail(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
    slashes.nth(1).map_or(path, |at| &path[at + 1..])
}

/// Returns all texts in the context: of messages before `end`, and of the policy.
fn texts<'a>(case: &'a Case, visible: &Visible<'a>, end: usize) -> Vec<Cow<'a, str>> {
    let mut texts = Vec::new();
    for (idx, message) in case.session.messages[..end].iter().enumerate() {
        for part in message.parts.clone() {
            let place = super::parts::TextPosition { message: idx as u32, part: part as u32 };
            match visible.part(place, u32::MAX) {
                VisibleText::Whole => texts.push(part_text(&case.session.parts[part].body)),
                VisibleText::Rest(rest) => texts.push(Cow::Borrowed(rest)),
                VisibleText::Nothing => {}
            }
        }
    }
    texts.extend(visible.written().map(Cow::Borrowed));
    texts
}

/// Returns the summaries in the context, the recorded one and the policy's own.
fn summaries<'a>(case: &'a Case, visible: &Visible<'a>, end: usize) -> Vec<&'a str> {
    let session = &case.session;
    let is_one = |idx: &usize| session.messages[*idx].is_summary && visible.is_whole(*idx);
    let recorded = (0..end).filter(is_one).flat_map(|idx| {
        let parts = session.parts_of(&session.messages[idx]);
        parts.iter().map(|part| part.body.text())
    });
    recorded.chain(visible.written()).collect()
}

/// The names and words of a context.
struct ContextWords<'a> {
    names: HashSet<&'a str>,
    plain: HashSet<&'a str>,
}

impl<'a> ContextWords<'a> {
    fn of(texts: &'a [Cow<'_, str>]) -> Self {
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let plain = texts.iter().flat_map(|text| {
            let words = text.split(move |c| !is_inside(c));
            words.map(|word| word.trim_matches(['.', '-']))
        });
        Self {
            names: texts.iter().flat_map(|text| identifiers(text)).collect(),
            plain: plain.collect(),
        }
    }

    fn has(&self, file: &str) -> Kept {
        let is_verbatim = self.names.contains(file) || self.plain.contains(file);
        state(is_verbatim, || self.has_last(file))
    }

    /// Returns whether the last piece of a path or of a dotted name occurs.
    fn has_last(&self, name: &str) -> bool {
        // Shorter last pieces (`mod`, `new`) occur in every text.
        const MIN_BYTES: usize = 5;
        let (path, dotted) = (name.rsplit_once('/'), name.rsplit_once('.'));
        let last = path.or(dotted).map(|(_, last)| last);
        last.is_some_and(|last| last.len() >= MIN_BYTES && self.plain.contains(last))
    }
}

/// Returns whether a text has most of the longer words of a sentence.
fn has_most_words(sentence: &str, text: &str) -> bool {
    // Shorter words are mostly articles and prepositions, which any text contains.
    const LONG: usize = 4;
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let long = words.filter(|word| word.chars().count() >= LONG);
        long.map(str::to_lowercase).collect()
    };
    let (own, all) = (words(sentence), words(text));
    !own.is_empty() && 3 * own.intersection(&all).count() >= 2 * own.len()
}
