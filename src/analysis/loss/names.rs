//! The names of a session, indexed once for all lanes: where each stands, and where the model used it again. Beside them
//! the lines of edits and a person's instructions.

use super::edit::Edits;
use super::instruction::{Instruction, instructions};
use super::phrase::Phrases;
use super::said::said;
use crate::session::{Body, Message, Session, identifiers};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Names in more messages than this, or than one in [`COMMON`], tell nothing.
const RARE: usize = 12;
const COMMON: usize = 25;

/// Names that the model used after they had been said, with all their copies. Shared by all runs over the session.
#[derive(Debug, Default)]
pub struct Names {
    words: Vec<Box<str>>,
    ids: HashMap<Box<str>, u32>,
    /// Where names stand: by name, then in order.
    copies: Vec<Place>,
    /// Where the copies of each name begin; one more for the end.
    copies_of: Vec<u32>,
    /// By step, then by name.
    uses: Vec<Use>,
    /// Where the uses of each step begin; one more for the end.
    uses_at: Vec<u32>,
    pub(super) phrases: Phrases,
    pub(super) edits: Edits,
    instructions: Vec<Instruction>,
}

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Index of the message.
    pub(super) message: u32,
    /// Index of the part.
    pub(super) part: u32,
}

/// A name in an answer that had been said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The name.
    pub(super) name: u32,
    /// Index of the message that uses it.
    pub(super) message: u32,
    /// Where its copies before the call end.
    copies_end: u32,
}

impl Names {
    /// Looks through all messages once.
    pub fn new(session: &Session) -> Self {
        let texts: Vec<Cow<'_, str>> = session.parts.par_iter().map(|p| said(&p.body)).collect();
        let most = most_messages(session);
        let mut names = Self::gathered(session, &texts, most);
        names.edits = Edits::new(session, &mut names.phrases);
        names.instructions = instructions(session, &mut names.phrases);
        names.phrases.locate(session, &texts);
        names.edits.keep_known(session, &names.phrases, most);
        names
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether the model never came back to anything by name.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The name with this index, as [`super::Fault`] has it.
    pub fn word(&self, name: u32) -> &str {
        &self.words[name as usize]
    }

    /// What people said is always, never or not to be done, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Names that a text holds, ascending.
    pub(super) fn in_text(&self, text: &str) -> Vec<u32> {
        let said = identifiers(text).flat_map(with_pieces);
        let known = said.filter_map(|word| self.ids.get(word));
        let mut found: Vec<u32> = known.copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What a step's answer names that had been said before.
    pub(super) fn uses_at(&self, step: usize) -> &[Use] {
        let ends = self.uses_at.get(step).zip(self.uses_at.get(step + 1));
        ends.map_or(&[], |(from, to)| &self.uses[*from as usize..*to as usize])
    }

    /// Every use, with its step.
    pub(super) fn uses(&self) -> impl Iterator<Item = (usize, &Use)> {
        let steps = 0..self.uses_at.len().saturating_sub(1);
        steps.flat_map(|step| self.uses_at(step).iter().map(move |used| (step, used)))
    }

    /// Where a name stands before a message.
    pub(super) fn copies_until(&self, name: u32, message: u32) -> &[Place] {
        let (from, to) = (
            self.copies_of[name as usize],
            self.copies_of[name as usize + 1],
        );
        let copies = &self.copies[from as usize..to as usize];
        &copies[..copies.partition_point(|place| place.message < message)]
    }

    /// Where a name stood before it was used.
    pub(super) fn copies_before(&self, used: &Use) -> &[Place] {
        &self.copies[self.copies_of[used.name as usize] as usize..used.copies_end as usize]
    }

    fn gathered(session: &Session, texts: &[Cow<'_, str>], most: usize) -> Self {
        let own = session.parts.par_iter().zip(texts);
        let own = own.map(|(part, text)| is_own(&part.body).then(|| distinct(text)));
        let own: Vec<Vec<&str>> = own.map(Option::unwrap_or_default).collect();
        let mut words = words_of_model(session, &own);
        let mut copies = copies_of(session, texts, &words);
        drop_common(session, &mut words, &mut copies, most);
        let mut names = Self::default();
        let mut new_ids = HashMap::new();
        let uses = uses(session, &own, &words, &copies);
        for word in uses.iter().flatten().map(|(word, ..)| *word) {
            if new_ids.contains_key(word) {
                continue;
            }
            let id = names.words.len() as u32;
            new_ids.insert(word, id);
            names.words.push(word.into());
            names.ids.insert(word.into(), id);
            names.copies_of.push(names.copies.len() as u32);
            names.copies.extend(&copies[words[word] as usize]);
        }
        names.copies_of.push(names.copies.len() as u32);
        for of_step in uses {
            names.uses_at.push(names.uses.len() as u32);
            names
                .uses
                .extend(of_step.into_iter().map(|(word, message, n)| {
                    let name = new_ids[word];
                    Use {
                        name,
                        message,
                        copies_end: names.copies_of[name as usize] + n,
                    }
                }));
        }
        names.uses_at.push(names.uses.len() as u32);
        names
    }
}

/// How many messages may hold a name that tells something.
fn most_messages(session: &Session) -> usize {
    let history = session.messages.iter().filter(|m| m.in_history).count();
    RARE.max(history / COMMON)
}

/// The names of a text that point at something, each once, in order.
fn distinct(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = identifiers(text).filter(|word| points(word));
    names.filter(|word| seen.insert(*word)).collect()
}

/// Whether a name can only mean one thing: a round number is a setting, and plain words with a slash between them are
/// prose.
fn points(word: &str) -> bool {
    if word.contains('/') {
        return word.bytes().any(|b| !(b.is_ascii_lowercase() || b == b'/'));
    }
    !word.ends_with("000") || word.bytes().any(|b| !b.is_ascii_digit())
}

/// A name with what it also says: a path the name of its file, a dotted name its pieces.
fn with_pieces(word: &str) -> impl Iterator<Item = &str> {
    let file = word.rsplit_once('/').map(|(_, file)| file);
    let last = file.unwrap_or(word);
    let pieces = last
        .split('.')
        .filter(move |piece| piece.len() < last.len());
    [Some(word), file].into_iter().flatten().chain(pieces)
}

/// Whether a part of an answer is the model's own words.
pub(super) fn is_own(body: &Body) -> bool {
    matches!(
        body,
        Body::Text(_) | Body::Thinking { .. } | Body::ToolCall { .. }
    )
}

/// The messages of each step's answer.
pub(super) fn answers(session: &Session) -> Vec<Range<usize>> {
    let mut answers = vec![0..0; session.calls.len()];
    for (idx, message) in session.messages.iter().enumerate() {
        let Some(answer) = message.call.and_then(|step| answers.get_mut(step)) else {
            continue;
        };
        let start = if answer.end == 0 { idx } else { answer.start };
        *answer = start..idx + 1;
    }
    answers
}

/// The parts of a step's answer that are the model's own words, with the index of their message.
pub(super) fn own_parts(
    session: &Session,
    step: usize,
    answer: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let messages = answer.filter(move |idx| {
        let message: &Message = &session.messages[*idx];
        message.in_history && message.call == Some(step)
    });
    messages.flat_map(move |idx| {
        let parts = session.messages[idx].parts.clone();
        let own = parts.filter(move |part| is_own(&session.parts[*part].body));
        own.map(move |part| (idx, part))
    })
}

/// Everything that the model names in its answers, numbered; `own` is what its own parts name.
fn words_of_model<'a>(session: &Session, own: &[Vec<&'a str>]) -> HashMap<&'a str, u32> {
    let mut words = HashMap::new();
    for (step, answer) in answers(session).into_iter().enumerate() {
        for (_, part) in own_parts(session, step, answer) {
            for word in &own[part] {
                let id = words.len() as u32;
                words.entry(*word).or_insert(id);
            }
        }
    }
    words
}

/// Where each of these names stands.
fn copies_of(
    session: &Session,
    texts: &[Cow<'_, str>],
    words: &HashMap<&str, u32>,
) -> Vec<Vec<Place>> {
    // Texts name far more than the model ever comes back to: only this is kept of each.
    let known = |text: &Cow<'_, str>| -> Box<[u32]> {
        let said = distinct(text).into_iter().flat_map(with_pieces);
        said.filter_map(|word| words.get(word).copied()).collect()
    };
    let known: Vec<Box<[u32]>> = texts.par_iter().map(known).collect();
    let mut copies = vec![Vec::new(); words.len()];
    for (idx, message) in session.messages.iter().enumerate() {
        for part in message.parts.clone() {
            let place = Place {
                message: idx as u32,
                part: part as u32,
            };
            for id in &known[part] {
                let copies = &mut copies[*id as usize];
                if copies.last() != Some(&place) {
                    copies.push(place);
                }
            }
        }
    }
    copies
}

/// Takes out the names that stand in too many messages.
fn drop_common(
    session: &Session,
    words: &mut HashMap<&str, u32>,
    copies: &mut [Vec<Place>],
    most: usize,
) {
    words.retain(|_, id| {
        let copies = &mut copies[*id as usize];
        let mut last = None;
        let is_new = |place: &&Place| {
            session.messages[place.message as usize].in_history
                && last.replace(place.message) != Some(place.message)
        };
        let stays = copies.iter().filter(is_new).count() <= most;
        if !stays {
            copies.clear();
        }
        stays
    });
}

/// By step, what its answer names that the history had before: the name, the message that uses it, and how many copies
/// stand before the call.
fn uses<'a>(
    session: &Session,
    own: &[Vec<&'a str>],
    words: &HashMap<&'a str, u32>,
    copies: &[Vec<Place>],
) -> Vec<Vec<(&'a str, u32, u32)>> {
    let answers = answers(session).into_iter().enumerate();
    let of_step = answers.map(|(step, answer)| {
        let end = session.calls[step].context_end as u32;
        let mut named = HashSet::new();
        let mut uses = Vec::new();
        for (message, part) in own_parts(session, step, answer) {
            for word in &own[part] {
                let Some(id) = words.get(word).filter(|_| named.insert(*word)) else {
                    continue;
                };
                let copies = &copies[*id as usize];
                let n = copies.partition_point(|place| place.message < end);
                let is_history =
                    |place: &Place| session.messages[place.message as usize].in_history;
                if copies[..n].iter().any(is_history) {
                    uses.push((*word, message as u32, n as u32));
                }
            }
        }
        uses
    });
    of_step.collect()
}
