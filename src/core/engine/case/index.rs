//! Precomputed facts about a session that runs need besides its weights, shared by all lanes.

use crate::session::{
    Body, GrowingRepeats, GrowingToolCalls, Kind, Message, Repeats, Role, Session, ToolCalls,
    kind_of,
};
use std::collections::HashMap;
use std::ops::Range;

/// Columns over the parts and messages of a session.
#[derive(Debug, Default)]
pub struct SessionIndex {
    /// Kind of each part, by part.
    pub kinds: Vec<Kind>,
    /// The tool result that a part belongs to (an image inside it), by part.
    pub owner: Vec<Option<u32>>,
    /// The message that each part belongs to, by part.
    pub message_of: Vec<u32>,
    /// The tool calls with their results.
    pub calls: ToolCalls,
    /// The results that repeat an earlier one.
    pub repeats: Repeats,
    /// The earliest message with a call that is answered in a message, by message; the message itself if none.
    pub first_call: Vec<u32>,
    /// Whether a message opens a turn, by message.
    pub opens_turn: Vec<bool>,
    /// The first message that is not instructions or tool definitions. The messages before it are the system prompt.
    pub preamble_end: u32,
    /// The first user message.
    pub first_user: Option<u32>,
    /// The message with the next result of the same call (see [`Repeats`]), by part. `u32::MAX` for parts that are not
    /// results or are not repeated.
    pub repeated_in: Vec<u32>,
    /// The call within its turn, from 0, by call.
    pub call_in_turn: Vec<u32>,
    /// The first message of each turn, by turn (0: messages before the first turn).
    pub turn_start: Vec<u32>,
    /// Frequently used facts of each message, by message.
    facts: Vec<Facts>,
}

/// Frequently used facts of a message, stored compactly because messages are large.
#[derive(Clone, Copy, Debug)]
struct Facts {
    parts: (u32, u32),
    turn: u32,
    /// The call that wrote it; the maximum value if none did.
    call: u32,
    in_history: bool,
    has_results: bool,
}

impl SessionIndex {
    /// Computes the index of a session.
    pub fn new(session: &Session) -> Self {
        let mut index =
            Self { turn_start: vec![0], calls: ToolCalls::new(session), ..Self::default() };
        index.add_messages(session);
        index.repeats = Repeats::new(session, &index.calls);
        index.repeated_in = vec![u32::MAX; index.kinds.len()];
        let mut latest = HashMap::new();
        index.note_repeated(0, &mut latest);
        index
    }

    /// Adds the messages and calls that are new in a growing session.
    pub(super) fn grow(&mut self, session: &Session, growing: &mut GrowingIndex) {
        let (messages, parts) = (self.facts.len(), self.kinds.len());
        growing.calls.grow(&mut self.calls, session, messages);
        self.add_messages(session);
        growing.repeats.grow(&mut self.repeats, (session, &self.calls), messages);
        self.repeated_in.resize(self.kinds.len(), u32::MAX);
        self.note_repeated(parts, &mut growing.latest);
    }

    /// Adds the messages that have no facts yet, and the calls.
    fn add_messages(&mut self, session: &Session) {
        let known = self.facts.len();
        for (at, message) in (0..).zip(&session.messages).skip(known) {
            self.add(session, message, at);
        }
        if self.preamble_end as usize >= known {
            let mut new = session.messages[known..].iter();
            let first = new.position(|m| m.role != Role::System).map(|first| known + first);
            self.preamble_end = first.unwrap_or(session.messages.len()) as u32;
        }
        for call in self.call_in_turn.len()..session.calls.len() {
            let before = call.checked_sub(1);
            let is_same = |before: &usize| session.calls[*before].turn == session.calls[call].turn;
            let nth = before.filter(is_same).map_or(0, |before| self.call_in_turn[before] + 1);
            self.call_in_turn.push(nth);
        }
    }

    /// Records for the results from `from` on the message with the next result of the same call. `latest` has the last
    /// result by the first of the same call.
    fn note_repeated(&mut self, from: usize, latest: &mut HashMap<usize, usize>) {
        for part in from..self.kinds.len() {
            let first = self.repeats.same_call(part);
            if let Some(before) = first.and_then(|first| latest.insert(first, part)) {
                self.repeated_in[before] = self.message_of[part];
            }
        }
    }

    /// Returns the parts of a message.
    #[inline]
    pub(crate) fn parts(&self, message: usize) -> Range<usize> {
        let (start, end) = self.facts[message].parts;
        start as usize..end as usize
    }

    /// Returns the turn of a message.
    #[inline]
    pub(crate) fn turn(&self, message: usize) -> u32 {
        self.facts[message].turn
    }

    /// Returns whether a message is part of the full history.
    #[inline]
    pub(crate) fn in_history(&self, message: usize) -> bool {
        self.facts[message].in_history
    }

    /// Returns whether a message contains tool results.
    #[inline]
    pub(crate) fn has_results(&self, message: usize) -> bool {
        self.facts[message].has_results
    }

    /// Returns the number of consecutive messages from `start` that a call wrote.
    #[inline]
    pub(crate) fn answer_len(&self, start: usize, call: usize) -> usize {
        let is_of_call = |facts: &&Facts| facts.call == call as u32;
        self.facts[start..].iter().take_while(is_of_call).count()
    }
}

/// State that is needed to add messages to an index.
#[derive(Debug, Default)]
pub(crate) struct GrowingIndex {
    calls: GrowingToolCalls,
    repeats: GrowingRepeats,
    /// The last result by the first of the same call, as parts.
    latest: HashMap<usize, usize>,
}

impl SessionIndex {
    /// Adds the message with this index.
    fn add(&mut self, session: &Session, message: &Message, at: u32) {
        self.add_turn(message, at);
        let mut first_call = at;
        let mut results: Vec<(&str, u32)> = Vec::new();
        for (part_idx, part) in message.parts.clone().zip(session.parts_of(message)) {
            self.kinds.push(kind_of(message, part));
            self.message_of.push(at);
            self.owner.push(owner(&part.body, &results));
            if let Body::ToolResult { call, .. } = &part.body {
                results.push((call, part_idx as u32));
                // The message of a later part, whose message is unknown yet, is no earlier one.
                let called_in = self.calls.call_of(part_idx);
                let called_in = called_in.and_then(|call| self.message_of.get(call));
                first_call = first_call.min(called_in.copied().unwrap_or(at));
            }
        }
        self.first_call.push(first_call);
        let kinds = &self.kinds[message.parts.start..];
        self.facts.push(Facts {
            parts: (message.parts.start as u32, message.parts.end as u32),
            turn: message.turn,
            call: message.call.map_or(u32::MAX, |call| call as u32),
            in_history: message.in_history,
            has_results: kinds.contains(&Kind::ToolResult),
        });
    }

    /// Records whether a message opens a turn.
    fn add_turn(&mut self, message: &Message, at: u32) {
        let before = self.facts.last().map_or(0, |facts| facts.turn);
        let opens = message.turn != before;
        if opens {
            self.turn_start.resize(message.turn as usize + 1, at);
        }
        self.opens_turn.push(opens);
        if opens && message.role == Role::User && self.first_user.is_none() {
            self.first_user = Some(at);
        }
    }
}

/// Returns the tool result that contains a part, given the results of its message before it by the ids of their calls.
fn owner(body: &Body, results: &[(&str, u32)]) -> Option<u32> {
    let Body::Media { within: Some(call), .. } = body else {
        return None;
    };
    let mut newest_first = results.iter().rev();
    let found = newest_first.find(|(id, _)| *id == &**call);
    found.map(|(_, result)| *result)
}
