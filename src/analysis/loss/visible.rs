//! What one call after the other sees of a session, for questions about single names and lines.

use super::names::{Names, Place};
use crate::engine::{Case, PartVisibility, Received, TextKind, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// The context of one call, brought forward call by call.
pub(super) struct Visible<'a> {
    case: &'a Case,
    names: &'a Names,
    seen: &'a Received,
    sights: Vec<Visibility>,
    next_change: usize,
    next_text: usize,
    /// Texts of the policy's own that are there.
    texts: Vec<u32>,
    /// How many of these hold each name.
    held: HashMap<u32, u32>,
    /// Names of texts, by where their letters are: many are the same.
    known: HashMap<*const u8, Arc<[u32]>>,
    /// What predicted texts are taken to hold, by text.
    supposed: HashMap<u32, Vec<u32>>,
    /// The last message that still has what was fetched again, by message; 0 for what was not.
    fetched: Vec<u32>,
}

impl<'a> Visible<'a> {
    pub(super) fn new(case: &'a Case, names: &'a Names, seen: &'a Received) -> Self {
        let messages = case.session.messages.iter();
        let first = |in_history| {
            if in_history {
                Visibility::Whole
            } else {
                Visibility::Gone
            }
        };
        Self {
            case,
            names,
            seen,
            sights: messages.map(|m| first(m.in_history)).collect(),
            next_change: 0,
            next_text: 0,
            texts: Vec::new(),
            held: HashMap::new(),
            known: HashMap::new(),
            supposed: HashMap::new(),
            fetched: vec![0; case.session.messages.len()],
        }
    }

    /// The same, as if texts held these names too.
    pub(super) fn supposing(self, supposed: HashMap<u32, Vec<u32>>) -> Self {
        Self { supposed, ..self }
    }

    /// Predicted texts that are there, by their indices.
    pub(super) fn predicted(&self) -> impl Iterator<Item = u32> {
        let is_predicted = |text: &u32| self.seen.texts[*text as usize].is_predicted;
        self.texts.iter().copied().filter(is_predicted)
    }

    /// Whether anything was ever seen otherwise than as it was said.
    pub(super) fn is_touched(&self) -> bool {
        self.next_change > 0
    }

    /// Goes on to the call of a step.
    pub(super) fn advance(&mut self, step: usize) {
        let step = step as u32;
        let changes = &self.seen.changes[self.next_change..];
        for change in changes.iter().take_while(|change| change.step <= step) {
            let messages = change.messages.start as usize..change.messages.end as usize;
            self.sights[messages].fill(change.now);
            self.next_change += 1;
        }
        while let Some(change) = self.seen.text_changes.get(self.next_text)
            && change.step <= step
        {
            self.next_text += 1;
            let names = self.names_of(change.text);
            let supposed = self.supposed.get(&change.text).into_iter().flatten();
            for name in names.iter().chain(supposed) {
                let n = self.held.entry(*name).or_default();
                *n = if change.is_there { *n + 1 } else { *n - 1 };
            }
            if change.is_there {
                self.texts.push(change.text);
            } else {
                self.texts.retain(|text| *text != change.text);
            }
        }
    }

    fn names_of(&mut self, text: u32) -> Arc<[u32]> {
        let text = &self.seen.texts[text as usize];
        if text.is_predicted {
            // Nobody knows what it will say.
            return Arc::default();
        }
        let text = &text.text;
        let known = self.known.entry(text.as_ptr());
        let names = known.or_insert_with(|| self.names.in_text(text).into());
        Arc::clone(names)
    }

    /// Whether the call sees a name, used in a message, somewhere.
    pub(super) fn shows_name(&self, (name, used_in): (u32, u32), copies: &[Place]) -> bool {
        let is_there = |place: &Place| match self.part(*place, used_in) {
            Shown::Whole => true,
            Shown::Nothing => false,
            Shown::Rest(rest) => rest.contains(self.names.word(name)),
        };
        copies.iter().rev().any(is_there) || self.held.get(&name).is_some_and(|n| *n > 0)
    }

    /// Whether a call that sees what stands before a message sees a phrase.
    pub(super) fn shows_phrase(&self, phrase: u32, context_end: u32) -> bool {
        let text = self.names.phrases.text(phrase);
        let copies = self.names.phrases.copies_before(phrase, context_end);
        let is_there = |place: &Place| match self.part(*place, context_end) {
            Shown::Whole => true,
            Shown::Nothing => false,
            Shown::Rest(rest) => rest.contains(text),
        };
        copies.iter().rev().any(is_there) || self.written().any(|written| written.contains(text))
    }

    /// A message is fetched again and stays until that message.
    pub(super) fn fetch(&mut self, message: u32, until: u32) {
        self.fetched[message as usize] = until;
    }

    /// What the policy itself wrote that is there, markers and what nobody knows yet excepted.
    pub(super) fn written(&self) -> impl Iterator<Item = &'a str> {
        let texts = self.texts.iter().map(|idx| &self.seen.texts[*idx as usize]);
        let written = texts.filter(|text| text.kind != TextKind::Marker && !text.is_predicted);
        written.map(|text| &*text.text)
    }

    /// Whether a message is there as it was said.
    pub(super) fn is_whole(&self, message: usize) -> bool {
        self.sights[message] == Visibility::Whole
    }

    /// What is there of a part, where something is said in a message.
    pub(super) fn part(&self, place: Place, used_in: u32) -> Shown<'a> {
        let first = match self.sights[place.message as usize] {
            Visibility::Whole => return Shown::Whole,
            _ if self.is_fetched(place.message, used_in) => return Shown::Whole,
            Visibility::Gone => return Shown::Nothing,
            Visibility::Partly(first) => first,
        };
        let parts = &self.case.session.messages[place.message as usize].parts;
        let fates = self.seen.parts_from(first, parts.len());
        match fates[place.part as usize - parts.start] {
            PartVisibility::Kept => Shown::Whole,
            PartVisibility::Gone => Shown::Nothing,
            PartVisibility::Text(text) => {
                let text = &self.seen.texts[text as usize];
                if text.kind == TextKind::Remainder {
                    Shown::Rest(&text.text)
                } else {
                    Shown::Nothing
                }
            }
        }
    }

    fn is_fetched(&self, message: u32, used_in: u32) -> bool {
        // What is used stands behind the first message: 0 is never within.
        used_in <= self.fetched[message as usize]
    }
}

/// What is seen of a part.
pub(super) enum Shown<'a> {
    Whole,
    Nothing,
    /// This much of its text.
    Rest(&'a str),
}
