//! The facts in a conversation or text that anything else wrote.

use super::text::StatedFact;
use super::{FactState, Facts};
use crate::analysis::loss::part_text;
use crate::session::{Body, Session};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A text of a scored conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredText<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Id of the tool call that it belongs to.
    pub call: Option<&'a str>,
}

impl<'a> ScoredText<'a> {
    /// Returns the text of a part of a session.
    pub fn of_part(body: &'a Body) -> Self {
        let call = match body {
            Body::ToolCall { call, .. } | Body::ToolResult { call, .. } => Some(&**call),
            _ => None,
        };
        Self { text: part_text(body), call }
    }

    /// Creates a text that belongs to no tool call.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), call: None }
    }

    fn key(&self) -> (Option<&str>, &str) {
        (self.call, self.text.trim())
    }
}

impl Facts {
    /// Returns the states of all facts in these texts. A text of the session states the same as in the session. Other
    /// texts are searched.
    pub(super) fn in_texts(&self, session: &Session, texts: &[ScoredText<'_>]) -> Vec<FactState> {
        let parts = original_parts(session);
        let by_key: HashMap<_, Vec<usize>> = parts.iter().fold(
            HashMap::new(),
            |mut by_key: HashMap<_, Vec<usize>>, (part, text)| {
                by_key.entry(text.key()).or_default().push(*part);
                by_key
            },
        );
        let found: Vec<Vec<StatedFact>> = texts
            .par_iter()
            .map(|text| match by_key.get(&text.key()) {
                Some(parts) => {
                    let parts = parts.iter();
                    let stated = parts.flat_map(|part| self.places.in_part(*part));
                    stated.copied().collect()
                }
                None => self.finder.states(&self.searches, &text.text, true),
            })
            .collect();
        let mut states = vec![FactState::Gone; self.all.len()];
        for StatedFact { fact, is_verbatim } in found.into_iter().flatten() {
            let state = if is_verbatim { FactState::Verbatim } else { FactState::Partial };
            let known = &mut states[fact as usize];
            *known = (*known).min(state);
        }
        let calls: HashSet<_> = parts.iter().filter_map(|(_, text)| text.call).collect();
        if !texts.iter().any(|text| text.call.is_some_and(|call| calls.contains(call))) {
            self.note_results(session, texts, &mut states);
        }
        states
    }

    /// Finds the outcomes of commands in texts without the ids of the session's calls. A command that is named is
    /// stated verbatim if its result is a text.
    fn note_results(&self, session: &Session, texts: &[ScoredText<'_>], states: &mut [FactState]) {
        let whole: HashSet<&str> = texts.iter().map(|text| text.text.trim()).collect();
        for (state, part) in states.iter_mut().zip(&self.evidence) {
            let result = part.map(|part| session.parts[part as usize].body.text().trim());
            let is_named = *state != FactState::Gone;
            let is_there = |result: &str| !result.is_empty() && whole.contains(result);
            if is_named && result.is_some_and(is_there) {
                *state = FactState::Verbatim;
            }
        }
    }
}

/// Returns the parts of the history, without summaries, which the search reads as such.
fn original_parts(session: &Session) -> Vec<(usize, ScoredText<'_>)> {
    let messages = session.messages.iter();
    let original = messages.filter(|message| message.in_history && !message.is_summary);
    let parts = original.flat_map(|message| message.parts.clone());
    let texts = parts.map(|part| (part, ScoredText::of_part(&session.parts[part].body)));
    texts.filter(|(_, text)| !text.text.trim().is_empty()).collect()
}
