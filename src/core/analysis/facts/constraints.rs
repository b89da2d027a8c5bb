//! Constraints of the user that a compaction must not lose, and those that a text lacks.

use super::text::{FactFinder, FactSearch};
use super::{Fact, FactKind, Facts};
use crate::analysis::loss::{part_text, sentences};
use crate::session::Session;
use std::collections::HashSet;

/// A text that a model receives after a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedText<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether it is a summary. Most words of a sentence state it in a summary, but not in a message.
    pub is_summary: bool,
}

/// Returns the constraints of the user that are true at the end of a session, as whole sentences, oldest first.
pub fn user_constraints(session: &Session) -> Vec<String> {
    let facts = Facts::stated(session, &[FactKind::Constraint]);
    facts.at_end().map(|fact| whole_sentence(session, fact)).collect()
}

/// Returns the indices of the constraints that no text states, neither verbatim nor, in a summary, by most words.
pub fn missing_constraints(constraints: &[String], texts: &[ReceivedText<'_>]) -> Vec<usize> {
    let searches = constraints.iter().map(|constraint| FactSearch::new(constraint).or_words());
    let searches: Vec<FactSearch> = searches.collect();
    let finder = FactFinder::new(&searches);
    let stated = texts.iter().flat_map(|received| {
        let stated = finder.states(&searches, received.text, received.is_summary);
        stated.into_iter().map(|stated| stated.fact as usize)
    });
    let stated: HashSet<usize> = stated.collect();
    (0..constraints.len()).filter(|idx| !stated.contains(idx)).collect()
}

/// Returns the constraints of the user that the context after the last recorded compaction lacks, oldest first; `None`
/// if the session records no compaction.
pub fn constraints_lost_by_compaction(session: &Session) -> Option<Vec<String>> {
    let compaction = session.compactions.last()?;
    let since = compaction.before_message..session.messages.len();
    let since = since.filter(|idx| session.messages[*idx].in_history);
    let messages = compaction.kept.iter().copied().chain(since);
    let messages = messages.filter_map(|idx| session.messages.get(idx));
    let texts: Vec<_> = messages
        .flat_map(|message| {
            let parts = session.parts_of(message).iter();
            parts.map(move |part| (part_text(&part.body), message.is_summary))
        })
        .collect();
    let texts: Vec<ReceivedText<'_>> = texts
        .iter()
        .map(|(text, is_summary)| ReceivedText { text: text.as_ref(), is_summary: *is_summary })
        .collect();
    let mut constraints = user_constraints(session);
    let missing: HashSet<usize> = missing_constraints(&constraints, &texts).into_iter().collect();
    let mut idx = 0..;
    constraints.retain(|_| idx.next().is_some_and(|idx| missing.contains(&idx)));
    Some(constraints)
}

/// Returns the sentence of a fact, of which the fact has a limited start only.
fn whole_sentence(session: &Session, fact: &Fact) -> String {
    let text = session.parts[fact.part as usize].body.text();
    let whole = sentences(text).find(|sentence| sentence.starts_with(&*fact.text));
    whole.unwrap_or(&fact.text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{ReceivedText, missing_constraints};

    #[test]
    fn a_summary_states_a_constraint_by_most_of_its_words_and_a_message_only_verbatim() {
        let constraints = ["Never push to the main branch.", "Always run the linter."];
        let constraints = constraints.map(str::to_owned);
        let missing = |text, is_summary| {
            missing_constraints(&constraints, &[ReceivedText { text, is_summary }])
        };
        assert_eq!(missing("must never push anything to main branch", true), [1]);
        assert_eq!(missing("must never push anything to main branch", false), [0, 1]);
        assert_eq!(missing("Always run the linter.", false), [0]);
        assert_eq!(missing_constraints(&constraints, &[]), [0, 1]);
        assert_eq!(missing_constraints(&[], &[]), [0; 0]);
    }
}
