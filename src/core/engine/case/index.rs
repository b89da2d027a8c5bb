//! Precomputed facts about a session that runs need besides its weights, shared by all lanes.

use crate::session::{Body, Kind, Message, Role, Session, kind_of};
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
    /// Number of the id that a call and its results share, by part.
    pub pair: Vec<Option<u32>>,
    /// Number of these ids.
    pub n_pairs: usize,
    /// The earliest message with a call that is answered in a message, by message; the message itself if none.
    pub first_call: Vec<u32>,
    /// Whether a message opens a turn, by message.
    pub opens_turn: Vec<bool>,
    /// The first message that is not instructions or tool definitions. The messages before it are the system prompt.
    pub preamble_end: u32,
    /// The first user message.
    pub first_user: Option<u32>,
    /// The message with the result of the next identical call (tool and arguments), by part. `u32::MAX` for parts that
    /// are not results or are not repeated.
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
            index: Self { turn_start: vec![0], ..Self::default() },
            pairs: HashMap::with_capacity(session.parts.len() / 2),
            called_in: Vec::new(),
            turn: 0,
        };
        for (at, message) in (0..).zip(&session.messages) {
            builder.add(session, message, at);
        }
        let mut index = builder.index;
        let mut messages = session.messages.iter();
        let preamble_end = messages.position(|m| m.role != Role::System);
        index.preamble_end = preamble_end.unwrap_or(session.messages.len()) as u32;
        index.n_pairs = builder.pairs.len();
        index.repeated_in = index.repeated_in(session);
        index.call_in_turn = calls_in_turn(session);
        index
    }

    /// Returns by part the message with the result of the next identical call.
    fn repeated_in(&self, session: &Session) -> Vec<u32> {
        let mut repeated = vec![u32::MAX; session.parts.len()];
        let mut asked: Vec<Option<(&str, &str)>> = vec![None; self.n_pairs];
        let mut last: HashMap<(&str, &str), usize> = HashMap::with_capacity(self.n_pairs);
        for (part, body) in session.parts.iter().map(|part| &part.body).enumerate() {
            match (body, self.pair[part]) {
                (Body::ToolCall { tool, arguments, .. }, Some(pair)) => {
                    asked[pair as usize] = Some((tool, arguments));
                }
                (Body::ToolResult { .. }, Some(pair)) => {
                    let before = asked[pair as usize].and_then(|what| last.insert(what, part));
                    if let Some(before) = before {
                        repeated[before] = self.message_of[part];
                    }
                }
                _ => {}
            }
        }
        repeated
    }

    /// Returns the parts of a message.
    #[inline]
    pub(in crate::engine) fn parts(&self, message: usize) -> Range<usize> {
        let (start, end) = self.facts[message].parts;
        start as usize..end as usize
    }

    /// Returns the turn of a message.
    #[inline]
    pub(in crate::engine) fn turn(&self, message: usize) -> u32 {
        self.facts[message].turn
    }

    /// Returns whether a message is part of the full history.
    #[inline]
    pub(in crate::engine) fn in_history(&self, message: usize) -> bool {
        self.facts[message].in_history
    }

    /// Returns whether a message contains tool results.
    #[inline]
    pub(in crate::engine) fn has_results(&self, message: usize) -> bool {
        self.facts[message].has_results
    }

    /// Returns the number of consecutive messages from `start` that a call wrote.
    #[inline]
    pub(in crate::engine) fn answer_len(&self, start: usize, call: usize) -> usize {
        let is_of_call = |facts: &&Facts| facts.call == call as u32;
        self.facts[start..].iter().take_while(is_of_call).count()
    }
}

/// Builds the columns of an index, message by message.
struct IndexBuilder<'a> {
    index: SessionIndex,
    /// Numbers of the ids that calls and their results share.
    pairs: HashMap<&'a str, u32>,
    /// Message of the latest call, by pair.
    called_in: Vec<Option<u32>>,
    /// Turn of the previous message.
    turn: u32,
}

impl<'a> IndexBuilder<'a> {
    /// Adds the message with this index.
    fn add(&mut self, session: &'a Session, message: &'a Message, at: u32) {
        self.add_turn(message, at);
        let mut first_call = at;
        let mut results: Vec<(&str, u32)> = Vec::new();
        for (part_idx, part) in message.parts.clone().zip(session.parts_of(message)) {
            let pair = self.pair_of(&part.body);
            self.index.kinds.push(kind_of(message, part));
            self.index.message_of.push(at);
            self.index.pair.push(pair);
            self.index.owner.push(owner(&part.body, &results));
            match (&part.body, pair) {
                (Body::ToolCall { .. }, Some(pair)) => self.called_in[pair as usize] = Some(at),
                (Body::ToolResult { call, .. }, Some(pair)) => {
                    results.push((call, part_idx as u32));
                    first_call = first_call.min(self.called_in[pair as usize].unwrap_or(at));
                }
                _ => {}
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

    /// Returns the number of the id of a call or a result. Numbers a new id.
    fn pair_of(&mut self, body: &'a Body) -> Option<u32> {
        let (Body::ToolCall { call, .. } | Body::ToolResult { call, .. }) = body else {
            return None;
        };
        let next = self.pairs.len() as u32;
        let pair = *self.pairs.entry(call).or_insert(next);
        self.called_in.resize(self.pairs.len(), None);
        Some(pair)
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
