//! The table `facts`.

use super::conversation::Conversation;
use super::lane::PlayedLane;
use crate::analysis::facts::{FactKind, FactState, Facts, LaneSurvival};
use crate::exec::tables::column::{ContentHash, Name, SessionTexts};
use crate::exec::tables::schema::row;

row! {
    /// The facts of a kind at the last call of a lane. Kinds without a fact have no row.
    FactRow in "facts" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Name of the lane; `recorded` for the recorded run.
        lane: Name,
        /// Kind of the facts, such as `constraint` or `file`.
        kind: Name,
        /// Number of facts that were stated and not replaced.
        stated: usize,
        /// Number of these whose message was removed or shortened at some call.
        removed: usize,
        /// Number that the context holds verbatim.
        verbatim: usize,
        /// Number that it holds partly.
        partial: usize,
        /// Number that it lacks.
        gone: usize,
        /// Number that only a predicted or encrypted summary may hold.
        unknown: usize,
        /// Texts of the facts that it lacks.
        gone_texts: Option<SessionTexts>,
    }
}

/// Returns a row for each kind of facts of a lane.
pub(super) fn rows(
    of: &Conversation<'_>,
    facts: &Facts,
    lane: &PlayedLane<'_>,
    with_text: bool,
) -> Vec<FactRow> {
    let survival = LaneSurvival::new(facts, of.case, &lane.outcome);
    let gone: Vec<usize> = match survival.history.last_call.filter(|_| with_text) {
        Some(call) => {
            let states = survival.states_at(facts, of.case, call);
            states.filter(|(_, state)| *state == FactState::Gone).map(|(fact, _)| fact).collect()
        }
        None => Vec::new(),
    };
    let row = |kind: FactKind| {
        let (content_sha256, conversation) = of.key();
        let counted = survival.of(Some(kind));
        let texts = || {
            let gone = gone.iter().map(|fact| &facts.all()[*fact]);
            let texts = gone.filter(|fact| fact.kind == kind);
            SessionTexts(texts.map(|fact| Name::Owned(fact.text.to_string())).collect())
        };
        (counted.stated > 0).then(|| FactRow {
            content_sha256,
            conversation,
            lane: lane.name.clone(),
            kind: kind.name().into(),
            stated: counted.stated,
            removed: counted.removed,
            verbatim: counted.verbatim,
            partial: counted.partial,
            gone: counted.gone,
            unknown: counted.unknown,
            gone_texts: with_text.then(texts),
        })
    };
    FactKind::ALL.into_iter().filter_map(row).collect()
}
