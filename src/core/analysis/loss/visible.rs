//! The context of each call, to look up single names and lines.

use super::names::Names;
use super::parts::TextPosition;
use crate::engine::{Case, PartVisibility, Received, TextKind, Visibility};
use std::collections::HashMap;
use std::sync::Arc;

/// The context of one call, updated from call to call.
pub(super) struct Visible<'a> {
    case: &'a Case,
    names: &'a Names,
    received: &'a Received,
    visibility: Vec<Visibility>,
    next_change: usize,
    next_text: usize,
    /// Texts of the policy in the context.
    texts: Vec<u32>,
    /// Number of these that contain each name.
    held: HashMap<u32, u32>,
    /// Names of texts, by address: many texts are shared.
    known: HashMap<*const u8, Arc<[u32]>>,
    /// Names that predicted texts are assumed to contain, by text.
    supposed: HashMap<u32, Vec<u32>>,
    /// Last message up to which a message counts as fetched again; 0 if it was not fetched.
    fetched: Vec<u32>,
}

impl<'a> Visible<'a> {
    pub(super) fn new(case: &'a Case, names: &'a Names, received: &'a Received) -> Self {
        Self {
            case,
            names,
            received,
            visibility: Visibility::at_start(&case.session),
            next_change: 0,
            next_text: 0,
            texts: Vec::new(),
            held: HashMap::new(),
            known: HashMap::new(),
            supposed: HashMap::new(),
            fetched: vec![0; case.session.messages.len()],
        }
    }

    /// Assumes that predicted texts contain these names.
    pub(super) fn supposing(self, supposed: HashMap<u32, Vec<u32>>) -> Self {
        Self { supposed, ..self }
    }

    /// Returns the indices of the predicted texts in the context.
    pub(super) fn predicted(&self) -> impl Iterator<Item = u32> {
        let is_predicted = |text: &u32| self.received.texts[*text as usize].is_predicted;
        self.texts.iter().copied().filter(is_predicted)
    }

    /// Returns whether any message was ever changed or removed.
    pub(super) fn is_touched(&self) -> bool {
        self.next_change > 0
    }

    /// Advances to a call.
    pub(super) fn advance(&mut self, call: usize) {
        let call = call as u32;
        let changes = &self.received.changes[self.next_change..];
        for change in changes.iter().take_while(|change| change.call <= call) {
            let messages = change.messages.start as usize..change.messages.end as usize;
            self.visibility[messages].fill(change.now);
            self.next_change += 1;
        }
        while let Some(change) = self.received.text_changes.get(self.next_text)
            && change.call <= call
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
        let text = &self.received.texts[text as usize];
        if text.is_predicted {
            // Its text is unknown.
            return Arc::default();
        }
        let text = &text.text;
        let known = self.known.entry(text.as_ptr());
        let names = known.or_insert_with(|| self.names.in_text(text).into());
        Arc::clone(names)
    }

    /// Returns whether the context contains a name that a message uses.
    pub(super) fn shows_name(&self, name: u32, used_in: u32, copies: &[TextPosition]) -> bool {
        let is_there = |place: &TextPosition| match self.part(*place, used_in) {
            VisibleText::Whole => true,
            VisibleText::Nothing => false,
            VisibleText::Rest(rest) => rest.contains(self.names.word(name)),
        };
        copies.iter().rev().any(is_there) || self.held.get(&name).is_some_and(|n| *n > 0)
    }

    /// Returns whether the context contains a phrase, among the messages before `context_end` and the policy's texts.
    pub(super) fn shows_phrase(&self, phrase: u32, context_end: u32) -> bool {
        let text = self.names.phrases.text(phrase);
        let copies = self.names.phrases.copies_before(phrase, context_end);
        let is_there = |place: &TextPosition| match self.part(*place, context_end) {
            VisibleText::Whole => true,
            VisibleText::Nothing => false,
            VisibleText::Rest(rest) => rest.contains(text),
        };
        copies.iter().rev().any(is_there) || self.written().any(|written| written.contains(text))
    }

    /// Marks a message as fetched again: it counts as present until that message.
    pub(super) fn fetch(&mut self, message: u32, until: u32) {
        self.fetched[message as usize] = until;
    }

    /// Returns the policy's own texts in the context, without markers and predicted texts.
    pub(super) fn written(&self) -> impl Iterator<Item = &'a str> {
        let texts = self.texts.iter().map(|idx| &self.received.texts[*idx as usize]);
        let written = texts.filter(|text| text.kind != TextKind::Marker && !text.is_predicted);
        written.map(|text| &*text.text)
    }

    /// Returns whether a message is present verbatim.
    pub(super) fn is_whole(&self, message: usize) -> bool {
        self.visibility[message] == Visibility::Whole
    }

    /// Returns the visible text of a part, for a use in a message.
    pub(super) fn part(&self, place: TextPosition, used_in: u32) -> VisibleText<'a> {
        let first = match self.visibility[place.message as usize] {
            Visibility::Whole => return VisibleText::Whole,
            _ if self.is_fetched(place.message, used_in) => return VisibleText::Whole,
            Visibility::Gone => return VisibleText::Nothing,
            Visibility::Partly(first) => first,
        };
        let parts = &self.case.session.messages[place.message as usize].parts;
        let states = self.received.parts_from(first, parts.len());
        match states[place.part as usize - parts.start] {
            PartVisibility::Kept => VisibleText::Whole,
            PartVisibility::Gone => VisibleText::Nothing,
            PartVisibility::Text(text) => {
                let text = &self.received.texts[text as usize];
                if text.kind == TextKind::Remainder {
                    VisibleText::Rest(&text.text)
                } else {
                    VisibleText::Nothing
                }
            }
        }
    }

    fn is_fetched(&self, message: u32, used_in: u32) -> bool {
        // A use comes after the first message, so 0 is never in range.
        used_in <= self.fetched[message as usize]
    }
}

/// The visible text of a part.
pub(super) enum VisibleText<'a> {
    Whole,
    Nothing,
    /// A remainder of its text.
    Rest(&'a str),
}
