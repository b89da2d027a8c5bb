//! Precomputed facts about a session that runs need besides its weights, shared by all lanes.

use crate::session::{Body, Kind, Message, Repeats, Role, Session, ToolCalls, kind_of};
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
        let mut builder = IndexBuilder {
            index: Self { turn_start: vec![0], calls: ToolCalls::new(session), ..Self::default() },
            turn: 0,
        };
        for (at, message) in (0..).zip(&session.messages) {
            builder.add(session, message, at);
        }
        let mut index = builder.index;
        let mut messages = session.messages.iter();
        let preamble_end = messages.position(|m| m.role != Role::System);
        index.preamble_end = preamble_end.unwrap_or(session.messages.len()) as u32;
        index.repeats = Repeats::new(session, &index.calls);
        index.repeated_in = index.repeated_in();
        index.call_in_turn = calls_in_turn(session);
        index
    }

    /// Returns by part the message with the next result of the same call.
    fn repeated_in(&self) -> Vec<u32> {
        let mut repeated = vec![u32::MAX; self.kinds.len()];
        let mut latest: HashMap<usize, usize> = HashMap::new();
        for part in 0..self.kinds.len() {
            let first = self.repeats.same_call(part);
            if let Some(before) = first.and_then(|first| latest.insert(first, part)) {
                repeated[before] = self.message_of[part];
            }
        }
        repeated
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

/// Builds the columns of an index, message by message.
struct IndexBuilder {
    index: SessionIndex,
    /// Turn of the previous message.
    turn: u32,
}

impl IndexBuilder {
    /// Adds the message with this index.
    fn add(&mut self, session: &Session, message: &Message, at: u32) {
        self.add_turn(message, at);
        let mut first_call = at;
        let mut results: Vec<(&str, u32)> = Vec::new();
        for (part_idx, part) in message.parts.clone().zip(session.parts_of(message)) {
            self.index.kinds.push(kind_of(message, part));
            self.index.message_of.push(at);
            self.index.owner.push(owner(&part.body, &results));
            if let Body::ToolResult { call, .. } = &part.body {
                results.push((call, part_idx as u32));
                // The message of a later part, whose message is unknown yet, is no earlier one.
                let called_in = self.index.calls.call_of(part_idx);
                let called_in = called_in.and_then(|call| self.index.message_of.get(call));
                first_call = first_call.min(called_in.copied().unwrap_or(at));
            }
        }
        self.index.first_call.push(first_call);
        let kinds = &self.index.kinds[message.parts.start..];
        self.index.facts.push(Facts {
            parts: (message.parts.start as u32, message.parts.end as u32),
            turn: message.turn,
            call: message.call.map_or(u32::MAX, |call| call as u32),
            in_history: message.in_history,
            has_results: kinds.contains(&Kind::ToolResult),
        });
    }

    /// Records whether a message opens a turn.
    fn add_turn(&mut self, message: &Message, at: u32) {
        let opens = message.turn != self.turn;
        if opens {
            self.turn = message.turn;
            self.index.turn_start.resize(self.turn as usize + 1, at);
        }
        self.index.opens_turn.push(opens);
        if opens && message.role == Role::User && self.index.first_user.is_none() {
            self.index.first_user = Some(at);
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

fn calls_in_turn(session: &Session) -> Vec<u32> {
    let runs = session.calls.chunk_by(|a, b| a.turn == b.turn);
    runs.flat_map(|run| 0..run.len() as u32).collect()
}
