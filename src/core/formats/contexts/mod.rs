//! Rebuilds conversations from logs in which every call repeats its whole context. New messages were added since the
//! previous call, and missing ones were removed by the program's own context management.
//!
//! Calls of one group (a trace, a conversation) may belong to several agents. A call continues the conversation whose
//! messages it repeats and begins a new one if it repeats none. A sub-agent's call must repeat more messages, because
//! short results and prompts occur in both conversations.

mod matching;
mod nesting;

pub(super) use nesting::{Enclosing, Nesting, SpanKind};

use super::transcript::Transcript;
use super::{Input, Warning};
use crate::session::{CallDraft, Draft, Role, Session, SubAgent, Track as SessionTrack};
use matching::{TOOLS, context_keys, message_key};
use std::collections::HashSet;

/// A model call with its whole context.
#[derive(Debug)]
pub(super) struct LoggedCall {
    /// Key shared by all calls of one conversation, or empty if the file records none.
    pub(super) group: Box<str>,
    /// The sub-agent that made the call, if recorded.
    pub(super) agent: Option<SubAgent>,
    /// Context in order.
    pub(super) context: Vec<Draft>,
    /// The file does not record the call's context: `context` holds the messages added since the previous call.
    pub(super) continues: bool,
    /// Recorded data of the call.
    pub(super) recorded: CallDraft,
    /// The model's answer.
    pub(super) answer: Option<Draft>,
}

/// Conversations of the calls added so far.
#[derive(Debug)]
pub(super) struct Contexts<'a> {
    input: &'a Input,
    format: &'static str,
    tracks: Vec<Track>,
    /// Index of the conversation of the last added call.
    latest: usize,
    /// Instructions differ between the calls of one conversation. Only the first version is shown.
    instructions_change: bool,
    /// Number of calls added.
    n_calls: usize,
    /// Number of calls whose context the file does not record.
    n_unrecorded: usize,
}

#[derive(Debug)]
struct Track {
    group: Box<str>,
    /// The sub-agent that held the conversation.
    agent: Option<SubAgent>,
    /// Id of the sub-agent that made the latest call.
    caller: Option<Box<str>>,
    transcript: Transcript,
    current: Vec<ContextEntry>,
    /// Hashes of its instructions.
    instructions: Option<Vec<u64>>,
}

/// A message in the context.
#[derive(Clone, Copy, Debug)]
struct ContextEntry {
    message: usize,
    key: u64,
    is_system: bool,
}

impl<'a> Contexts<'a> {
    /// Creates an empty set of conversations.
    pub(super) fn new(input: &'a Input, format: &'static str) -> Self {
        Self {
            input,
            format,
            tracks: Vec::new(),
            latest: 0,
            instructions_change: false,
            n_calls: 0,
            n_unrecorded: 0,
        }
    }

    /// Adds a call. Calls must be added in chronological order.
    pub(super) fn add(&mut self, call: LoggedCall) {
        self.n_calls += 1;
        self.n_unrecorded += usize::from(call.continues);
        let (texts, keys) = context_keys(&call.context);
        let track_of = self.track_of(&call, &keys);
        self.latest = track_of;
        let track = &mut self.tracks[track_of];
        track.caller = caller(&call);
        if call.continues {
            track.continue_with(call);
            return;
        }
        self.instructions_change |=
            track.instructions.as_ref().is_some_and(|entry| *entry != texts);
        track.instructions.get_or_insert(texts);
        track.add(call, &keys);
    }

    /// Adds a message that follows the last call.
    pub(super) fn add_after(&mut self, draft: Draft) {
        if let Some(track) = self.tracks.get_mut(self.latest) {
            track.transcript.add_message(draft);
        }
    }

    /// Returns the warnings about all calls.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut texts = Vec::new();
        if self.instructions_change {
            texts.push("the instructions differ from call to call; the first are shown".to_owned());
        }
        if self.n_unrecorded > 0 {
            texts.push(format!(
                "{} of {} model calls record no input messages; their context is assumed to be the whole conversation before them",
                self.n_unrecorded, self.n_calls
            ));
        }
        let warning = |text| Warning { line: None, text };
        texts.into_iter().map(warning).collect()
    }

    /// Returns the conversations: sub-agents last, the others by number of calls in descending order.
    pub(super) fn finish(self) -> Vec<Session> {
        let main_groups: HashSet<Box<str>> = self
            .tracks
            .iter()
            .filter(|track| track.agent.is_none())
            .map(|track| track.group.clone())
            .collect();
        let session = |track: Track| {
            let mut session = track.transcript.finish()?;
            if let Some(agent) = track.agent.filter(|_| main_groups.contains(&track.group)) {
                session.track = SessionTrack::SubAgent(agent);
            }
            Some(session)
        };
        let mut sessions: Vec<Session> = self.tracks.into_iter().filter_map(session).collect();
        sessions.sort_by_key(|session| {
            let is_main = session.track == SessionTrack::Main;
            (!is_main, std::cmp::Reverse(session.calls.len()))
        });
        sessions
    }

    /// Returns the index of the conversation that a call continues, adding one if needed.
    fn track_of(&mut self, call: &LoggedCall, keys: &[u64]) -> usize {
        let caller = caller(call);
        let own: HashSet<u64> = keys
            .iter()
            .zip(&call.context)
            .filter(|(_, draft)| draft.role != Role::System)
            .map(|(key, _)| *key)
            .collect();
        let repeated = |track: &Track| {
            let others = track.current.iter().filter(|entry| !entry.is_system);
            let (mut total, mut n, mut is_last) = (0, 0, false);
            for entry in others {
                is_last = own.contains(&entry.key);
                n += usize::from(is_last);
                total += 1;
            }
            let is_same = track.caller == caller;
            // Half of a conversation may be gone after a compaction. Less than that can be texts that two agents share.
            let is_continued = n > 0 && (is_same || is_last || 2 * n > total);
            is_continued.then_some((is_same, n))
        };
        let tracks = self.tracks.iter().enumerate();
        let mut tracks = tracks.filter(|(_, track)| track.group == call.group);
        let best = if call.continues {
            tracks.rfind(|(_, track)| track.caller == caller)
        } else {
            tracks
                .filter(|(_, track)| repeated(track).is_some())
                .max_by_key(|(at, track)| (repeated(track), std::cmp::Reverse(*at)))
        };
        if let Some((at, _)) = best {
            return at;
        }
        let number = self.tracks.len();
        self.tracks.push(Track {
            group: call.group.clone(),
            agent: call.agent.clone(),
            caller,
            transcript: Transcript::new(
                self.input,
                self.format,
                (number > 0).then_some(number + 1),
            ),
            current: Vec::new(),
            instructions: None,
        });
        number
    }
}

/// Returns the id of the sub-agent that made a call.
fn caller(call: &LoggedCall) -> Option<Box<str>> {
    call.agent.as_ref().map(|agent| agent.id.clone().unwrap_or_default())
}

impl Track {
    fn add(&mut self, call: LoggedCall, keys: &[u64]) {
        // A call without tool definitions uses those of the previous call.
        let tools =
            self.current.first().filter(|entry| entry.key == TOOLS && keys.first() != Some(&TOOLS));
        let tools = tools.copied();
        self.current.drain(..usize::from(tools.is_some()));
        let mut rebuilt = self.rebuilt(call.context, keys);
        rebuilt.context.splice(0..0, tools);
        self.current = rebuilt.context;
        if rebuilt.is_managed {
            let kept = self.current.iter().map(|entry| entry.message).collect();
            self.transcript.builder.compaction("", None, None, kept);
        }
        self.answer(call.recorded, call.answer);
    }

    /// Adds a call whose context is the whole conversation so far and the messages added since.
    fn continue_with(&mut self, call: LoggedCall) {
        let has_setup = self.current.iter().any(|entry| entry.is_system);
        let is_new = |draft: &Draft| draft.role != Role::System || !has_setup;
        for draft in call.context.into_iter().filter(is_new) {
            let entry = ContextEntry {
                key: message_key(&draft),
                is_system: draft.role == Role::System,
                message: self.transcript.add_message(draft),
            };
            self.current.push(entry);
        }
        self.answer(call.recorded, call.answer);
    }

    fn answer(&mut self, recorded: CallDraft, answer: Option<Draft>) {
        match answer.filter(|answer| !answer.parts.is_empty()) {
            Some(answer) => {
                let key = message_key(&answer);
                let message = self.transcript.add_answer(recorded, answer);
                self.current.push(ContextEntry { message, key, is_system: false });
            }
            None => {
                self.transcript.builder.call(recorded);
            }
        }
    }
}
