//! Planted facts: canaries of known types in a copy of a session, to follow what successive compactions keep.

use super::statistics::{ClusteredValue, Estimate, Generator, mean};
use crate::engine::{Context, EntryBody};
use crate::session::{Body, Message, Part, Role, Session};
use serde::Serialize;
use std::collections::HashSet;

/// A fact that is planted into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// Its type.
    pub kind: CanaryKind,
    /// The text.
    pub text: String,
    /// A word of the text that occurs nowhere else.
    pub word: String,
}

/// Types of planted facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CanaryKind {
    /// An instruction of the user.
    Constraint,
    /// A number with its label.
    Value,
    /// The path of a file.
    Path,
    /// An error message.
    Error,
}

impl CanaryKind {
    /// All types.
    pub const ALL: [Self; 4] = [Self::Constraint, Self::Value, Self::Path, Self::Error];
}

/// The state of a planted fact in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanaryState {
    /// The whole text is there.
    Verbatim,
    /// Only its unique word is there.
    Partial,
    /// No trace is left.
    Gone,
}

/// Creates canaries, one type after the other. The same seed gives the same ones.
pub fn canaries(n: usize, seed: u64) -> Vec<Canary> {
    let mut generator = Generator::new(seed);
    let kinds = CanaryKind::ALL.iter().copied().cycle().take(n);
    kinds
        .map(|kind| {
            let word = format!("k{:07x}", generator.number() >> 36);
            let number = 10_000 + generator.index(90_000);
            let text = match kind {
                CanaryKind::Constraint => format!("Never delete the table orders_{word}."),
                CanaryKind::Value => format!("The quota of the tenant {word} is {number}."),
                CanaryKind::Path => format!("The template is in config/templates/{word}.yaml."),
                CanaryKind::Error => format!("ConnectionError: cannot reach {word}:{number}"),
            };
            Canary { kind, text, word }
        })
        .collect()
}

/// A copy of a session with planted facts.
#[derive(Clone, Debug)]
pub struct PlantedSession {
    /// The session, without its recorded compactions and revisions.
    pub session: Session,
    /// Indices of the messages that contain the canaries, in order.
    pub messages: Vec<u32>,
}

/// Plants canaries as messages of the user, evenly over the messages before `end`. Returns `None` if there is no position, which
/// is between the end of a call's results and the next message.
pub fn plant(session: &Session, canaries: &[Canary], end: usize) -> Option<PlantedSession> {
    let positions = positions(session, end);
    if positions.is_empty() {
        return None;
    }
    let nth = |idx: usize| positions[idx * positions.len() / canaries.len()];
    let mut planted = PlantedSession {
        session: Session {
            messages: Vec::new(),
            parts: Vec::new(),
            compactions: Vec::new(),
            revisions: Vec::new(),
            ..session.clone()
        },
        messages: Vec::new(),
    };
    let mut next = 0;
    for (idx, message) in session.messages.iter().enumerate() {
        while next < canaries.len() && nth(next) == idx {
            planted.add(message, &canaries[next]);
            next += 1;
        }
        let start = planted.session.parts.len();
        planted.session.parts.extend_from_slice(session.parts_of(message));
        planted
            .session
            .messages
            .push(Message { parts: start..planted.session.parts.len(), ..message.clone() });
    }
    // A canary directly before an answer belongs to the context of its call.
    let n_before = |end: usize| (0..canaries.len()).filter(|idx| nth(*idx) <= end).count();
    for call in &mut planted.session.calls {
        call.context_end += n_before(call.context_end);
    }
    Some(planted)
}

impl PlantedSession {
    fn add(&mut self, next: &Message, canary: &Canary) {
        let start = self.session.parts.len();
        self.session.parts.push(Part {
            body: Body::Text(format!("Note: {}", canary.text).into()),
            record: 0,
            block: 0,
        });
        self.messages.push(self.session.messages.len() as u32);
        self.session.messages.push(Message {
            id: None,
            role: Role::User,
            turn: next.turn,
            time: next.time,
            is_injected: false,
            is_summary: false,
            in_history: true,
            call: None,
            parts: start..start + 1,
            empty: None,
            raw: Vec::new(),
        });
    }
}

/// Returns the messages before which nothing is open.
fn positions(session: &Session, end: usize) -> Vec<usize> {
    let mut open = HashSet::new();
    let mut positions = Vec::new();
    let mut has_begun = false;
    for (idx, message) in session.messages.iter().enumerate().take(end) {
        let is_answer_going_on =
            idx > 0 && message.call.is_some() && session.messages[idx - 1].call == message.call;
        if has_begun && open.is_empty() && message.in_history && !is_answer_going_on {
            positions.push(idx);
        }
        has_begun |= message.role == Role::User && message.in_history;
        for part in session.parts_of(message) {
            match &part.body {
                Body::ToolCall { call, .. } => _ = open.insert(&**call),
                Body::ToolResult { call, .. } => _ = open.remove(&**call),
                _ => {}
            }
        }
    }
    positions
}

/// Returns the state of a canary, planted as this message, in a context.
pub fn state(context: &Context, canary: &Canary, message: u32) -> CanaryState {
    let is_kept = context
        .entries
        .iter()
        .any(|entry| matches!(&entry.body, EntryBody::Original(original) if *original == message));
    let has = |text: &str| context.written().any(|(written, _)| written.text.contains(text));
    if is_kept || has(&canary.text) {
        CanaryState::Verbatim
    } else if has(&canary.word) {
        CanaryState::Partial
    } else {
        CanaryState::Gone
    }
}

/// A canary after a compaction.
#[derive(Clone, Copy, Debug)]
pub struct FollowedCanary {
    /// Number of compactions so far, from 1.
    pub round: usize,
    /// Index of the lane.
    pub lane: usize,
    /// The run of the lane that it belongs to, unique over all sessions.
    pub run: usize,
    /// Its type.
    pub kind: CanaryKind,
    /// Its state.
    pub state: CanaryState,
}

/// Survival of planted facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedOutcome {
    /// Number of facts planted into each session.
    pub canaries: usize,
    /// Number of sessions without a position for them.
    pub sessions_left_out: usize,
    /// Results by lane.
    pub lanes: Vec<PlantedLane>,
}

/// Survival in a lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedLane {
    /// Name of the lane.
    pub lane: String,
    /// Results by number of compactions.
    pub rounds: Vec<PlantedRound>,
}

/// Survival after a number of compactions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedRound {
    /// Number of compactions.
    pub round: usize,
    /// Share of the facts that the context has verbatim. A cluster is a run of the lane.
    pub survival: Estimate,
    /// Numbers by type.
    pub kinds: Vec<PlantedKind>,
}

/// Survival of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedKind {
    /// The type.
    pub kind: CanaryKind,
    /// Number of facts that the context has verbatim.
    pub verbatim: usize,
    /// Number of facts of which the context has only the unique word.
    pub partial: usize,
    /// Number of facts that are gone.
    pub gone: usize,
}

impl PlantedOutcome {
    /// Computes the survival of the canaries of all runs.
    pub fn new(
        canaries: usize,
        sessions_left_out: usize,
        followed: &[FollowedCanary],
        lanes: &[String],
    ) -> Self {
        let lanes = lanes.iter().enumerate().map(|(lane, name)| {
            let own: Vec<_> = followed.iter().filter(|f| f.lane == lane).collect();
            let last = own.iter().map(|f| f.round).max().unwrap_or(0);
            PlantedLane {
                lane: name.clone(),
                rounds: (1..=last).map(|round| planted_round(round, &own)).collect(),
            }
        });
        Self { canaries, sessions_left_out, lanes: lanes.collect() }
    }
}

fn planted_round(round: usize, followed: &[&FollowedCanary]) -> PlantedRound {
    let own: Vec<_> = followed.iter().filter(|f| f.round == round).collect();
    let is_verbatim = |f: &&&FollowedCanary| f.state == CanaryState::Verbatim;
    let values: Vec<_> = own
        .iter()
        .map(|f| ClusteredValue { cluster: f.run, value: f64::from(is_verbatim(f)) })
        .collect();
    let kinds = CanaryKind::ALL.iter().map(|kind| {
        let count = |state| own.iter().filter(|f| f.kind == *kind && f.state == state).count();
        PlantedKind {
            kind: *kind,
            verbatim: count(CanaryState::Verbatim),
            partial: count(CanaryState::Partial),
            gone: count(CanaryState::Gone),
        }
    });
    PlantedRound { round, survival: mean(&values), kinds: kinds.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_unique_typed_and_the_same_for_a_seed() {
        let all = canaries(9, 5);
        assert_eq!(all, canaries(9, 5));
        let words: HashSet<_> = all.iter().map(|canary| &canary.word).collect();
        assert_eq!(words.len(), 9);
        assert!(all.iter().all(|canary| canary.text.contains(&canary.word)));
        assert_eq!(all[4].kind, CanaryKind::Constraint);
    }

    #[test]
    fn survival_is_counted_by_round() {
        let followed = |round, run, state| FollowedCanary {
            round,
            lane: 0,
            run,
            kind: CanaryKind::Value,
            state,
        };
        let mut all = Vec::new();
        for run in 0..10 {
            all.push(followed(1, run, CanaryState::Verbatim));
            all.push(followed(1, run, CanaryState::Partial));
            all.push(followed(2, run, CanaryState::Gone));
        }
        let outcome = PlantedOutcome::new(2, 0, &all, &["a".to_owned(), "b".to_owned()]);
        let [first, second] = &outcome.lanes[0].rounds[..] else {
            panic!("two rounds");
        };
        assert_eq!((first.survival.value, first.survival.clusters), (Some(0.5), 10));
        assert_eq!(second.survival.value, Some(0.0));
        assert_eq!((first.kinds[1].partial, second.kinds[1].gone), (10, 10));
        assert_eq!(outcome.lanes[1].rounds, []);
    }
}
