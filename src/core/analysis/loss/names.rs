//! Index of a session's names, shared by all lanes: the positions of each, and its later uses by the model. Includes
//! the lines of edits and the user's instructions.

use super::edit::Edits;
use super::instruction::{Instruction, instructions};
use super::parts::{TextPosition, answers, is_own, own_parts, part_text};
use super::phrase::Phrases;
use crate::session::{Session, identifiers};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Names in more messages than this, and in more than one in [`COMMON`], are ignored as too common.
///
/// Chosen while the measure was tried out on two sessions of about 900 messages, where one in 25 is about 36. The fixed
/// limit is for short sessions, in which one in 25 would exclude names that occur three times.
const RARE: usize = 12;
const COMMON: usize = 25;

/// Names that the model used after they occurred in the session, with all their copies.
#[derive(Debug, Default)]
pub struct Names {
    words: Vec<Box<str>>,
    ids: HashMap<Box<str>, u32>,
    /// Positions of names: by name, then in order.
    copies: Vec<TextPosition>,
    /// Index in `copies` of the first copy of each name; one more for the end.
    copies_of: Vec<u32>,
    /// By call, then by name.
    uses: Vec<Use>,
    /// Index in `uses` of the first use at each call; one more for the end.
    uses_at: Vec<u32>,
    pub(super) phrases: Phrases,
    pub(super) edits: Edits,
    instructions: Vec<Instruction>,
}

/// A name in an answer that occurred before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The name.
    pub(super) name: u32,
    /// Index of the message that uses it.
    pub(super) message: u32,
    /// End of its copies before the call, as an index in `copies`.
    copies_end: u32,
}

impl Names {
    /// Builds the index in one pass over all messages.
    pub fn new(session: &Session) -> Self {
        let texts: Vec<Cow<'_, str>> =
            session.parts.par_iter().map(|p| part_text(&p.body)).collect();
        let most = most_messages(session);
        let mut names = Self::gathered(session, &texts, most);
        names.edits = Edits::new(session, &mut names.phrases);
        names.instructions = instructions(session, &mut names.phrases);
        names.phrases.locate(session, &texts);
        names.edits.keep_known(session, &names.phrases, most);
        names
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns true if the model never used an earlier name again.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the name with this index ([`super::Fault::name`]).
    pub fn word(&self, name: u32) -> &str {
        &self.words[name as usize]
    }

    /// Returns the user's standing instructions, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the names in a text, ascending.
    pub(super) fn in_text(&self, text: &str) -> Vec<u32> {
        let all = identifiers(text).flat_map(with_pieces);
        let known = all.filter_map(|word| self.ids.get(word));
        let mut found: Vec<u32> = known.copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the earlier names that the answer of a call uses.
    pub(super) fn uses_at(&self, call: usize) -> &[Use] {
        let ends = self.uses_at.get(call).zip(self.uses_at.get(call + 1));
        ends.map_or(&[], |(from, to)| &self.uses[*from as usize..*to as usize])
    }

    /// Returns every use with the index of its call.
    pub(super) fn uses(&self) -> impl Iterator<Item = (usize, &Use)> {
        let calls = 0..self.uses_at.len().saturating_sub(1);
        calls.flat_map(|call| self.uses_at(call).iter().map(move |used| (call, used)))
    }

    /// Returns the positions of a name before a message.
    pub(super) fn copies_until(&self, name: u32, message: u32) -> &[TextPosition] {
        let (from, to) = (self.copies_of[name as usize], self.copies_of[name as usize + 1]);
        let copies = &self.copies[from as usize..to as usize];
        &copies[..copies.partition_point(|place| place.message < message)]
    }

    /// Returns the positions of a name before its use.
    pub(super) fn copies_before(&self, used: &Use) -> &[TextPosition] {
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
        for of_call in uses {
            names.uses_at.push(names.uses.len() as u32);
            names.uses.extend(of_call.into_iter().map(|(word, message, n)| {
                let name = new_ids[word];
                Use { name, message, copies_end: names.copies_of[name as usize] + n }
            }));
        }
        names.uses_at.push(names.uses.len() as u32);
        names
    }
}

/// Returns the maximum number of messages with a name that is not too common.
fn most_messages(session: &Session) -> usize {
    let history = session.messages.iter().filter(|m| m.in_history).count();
    RARE.max(history / COMMON)
}

/// Returns the specific names of a text, each once, in order.
fn distinct(text: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = identifiers(text).filter(|word| is_specific(word));
    names.filter(|word| seen.insert(*word)).collect()
}

/// Returns whether a name is specific. A round number may be any setting; plain words joined by a slash are prose.
fn is_specific(word: &str) -> bool {
    if word.contains('/') {
        return word.bytes().any(|b| !(b.is_ascii_lowercase() || b == b'/'));
    }
    !word.ends_with("000") || word.bytes().any(|b| !b.is_ascii_digit())
}

/// Returns a name and the names it contains: the file name of a path, the pieces of a dotted name.
fn with_pieces(word: &str) -> impl Iterator<Item = &str> {
    let file = word.rsplit_once('/').map(|(_, file)| file);
    let last = file.unwrap_or(word);
    let pieces = last.split('.').filter(move |piece| piece.len() < last.len());
    [Some(word), file].into_iter().flatten().chain(pieces)
}

/// Numbers all names in the model's answers; `own` has the names of its own parts.
fn words_of_model<'a>(session: &Session, own: &[Vec<&'a str>]) -> HashMap<&'a str, u32> {
    let mut words = HashMap::new();
    for (call, answer) in answers(session).into_iter().enumerate() {
        for (_, part) in own_parts(session, call, answer) {
            for word in &own[part] {
                let id = words.len() as u32;
                words.entry(*word).or_insert(id);
            }
        }
    }
    words
}

/// Returns the positions of each of these names.
fn copies_of(
    session: &Session,
    texts: &[Cow<'_, str>],
    words: &HashMap<&str, u32>,
) -> Vec<Vec<TextPosition>> {
    // Most names of a text are never used again; only those of the model are kept.
    let known = |text: &Cow<'_, str>| -> Box<[u32]> {
        let all = distinct(text).into_iter().flat_map(with_pieces);
        all.filter_map(|word| words.get(word).copied()).collect()
    };
    let known: Vec<Box<[u32]>> = texts.par_iter().map(known).collect();
    let mut copies = vec![Vec::new(); words.len()];
    for (idx, message) in session.messages.iter().enumerate() {
        for part in message.parts.clone() {
            let place = TextPosition { message: idx as u32, part: part as u32 };
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

/// Removes the names that occur in too many messages.
fn drop_common(
    session: &Session,
    words: &mut HashMap<&str, u32>,
    copies: &mut [Vec<TextPosition>],
    most: usize,
) {
    words.retain(|_, id| {
        let copies = &mut copies[*id as usize];
        let mut last = None;
        let is_new = |place: &&TextPosition| {
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

/// Returns by call the earlier names that its answer uses: the name, the message that uses it, and the number of copies
/// before the call.
fn uses<'a>(
    session: &Session,
    own: &[Vec<&'a str>],
    words: &HashMap<&'a str, u32>,
    copies: &[Vec<TextPosition>],
) -> Vec<Vec<(&'a str, u32, u32)>> {
    let answers = answers(session).into_iter().enumerate();
    let of_call = answers.map(|(call, answer)| {
        let end = session.calls[call].context_end as u32;
        let mut named = HashSet::new();
        let mut uses = Vec::new();
        for (message, part) in own_parts(session, call, answer) {
            for word in &own[part] {
                let Some(id) = words.get(word).filter(|_| named.insert(*word)) else {
                    continue;
                };
                let copies = &copies[*id as usize];
                let n = copies.partition_point(|place| place.message < end);
                let is_history =
                    |place: &TextPosition| session.messages[place.message as usize].in_history;
                if copies[..n].iter().any(is_history) {
                    uses.push((*word, message as u32, n as u32));
                }
            }
        }
        uses
    });
    of_call.collect()
}
