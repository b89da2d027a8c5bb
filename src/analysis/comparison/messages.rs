//! Matches the messages of two sessions by their content.

use crate::engine::Case;
use crate::session::{Body, Message, Session, kind_of};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The messages of two sessions, matched by their content. Messages that only a recorded compaction copied are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageMatches {
    /// Messages with the same content, in the order of A.
    pub same: Vec<[u32; 2]>,
    /// Messages that have other content but belong to the same tool call, in the order of A.
    pub changed: Vec<[u32; 2]>,
    /// Messages that only A and only B contain, in their order.
    pub only: [Vec<u32>; 2],
    /// Number of messages of A and of B that only a recorded compaction copied. They are not compared.
    pub copied: [usize; 2],
    /// Number of messages at the start of both sessions that are the same.
    pub same_start: usize,
}

impl MessageMatches {
    /// Matches the messages of two sessions. Each message matches at most one. Equal messages match in their order.
    pub fn new(cases: [&Case; 2]) -> Self {
        let sessions = cases.map(|case| &*case.session);
        let [a, b] = sessions.map(compared);
        let [of_a, of_b] = [hashes(sessions[0], &a), hashes(sessions[1], &b)];
        let is_same = |(x, y): &(&u64, &u64)| x == y;
        let same_start = of_a.iter().zip(&of_b).take_while(is_same).count();
        let rest = a.len().min(b.len()) - same_start;
        let ends = of_a.iter().rev().zip(of_b.iter().rev()).take(rest);
        let same_end = ends.take_while(is_same).count();
        let mut of_content: HashMap<u64, VecDeque<usize>> = HashMap::new();
        let middle = same_start..b.len() - same_end;
        for (idx, hash) in middle.clone().zip(&of_b[middle]) {
            of_content.entry(*hash).or_default().push_back(idx);
        }
        let mut partner: Vec<Option<usize>> = vec![None; a.len()];
        for (idx, partner) in partner.iter_mut().enumerate() {
            *partner = if idx < same_start {
                Some(idx)
            } else if idx >= a.len() - same_end {
                Some(idx + b.len() - a.len())
            } else {
                of_content.get_mut(&of_a[idx]).and_then(VecDeque::pop_front)
            };
        }
        let matched: HashSet<usize> = partner.iter().flatten().copied().collect();
        let pairs = a.iter().zip(&partner);
        let same = pairs.filter_map(|(message, partner)| Some([*message, b[(*partner)?]]));
        let others = [
            a.iter()
                .zip(&partner)
                .filter(|(_, partner)| partner.is_none())
                .map(|(m, _)| *m)
                .collect(),
            (0..b.len())
                .filter(|idx| !matched.contains(idx))
                .map(|idx| b[idx])
                .collect(),
        ];
        let (changed, only) = changed(sessions, others);
        Self {
            copied: [0, 1].map(|side| sessions[side].messages.len() - [&of_a, &of_b][side].len()),
            same: same.collect(),
            changed,
            only,
            same_start,
        }
    }

    /// Returns the number of compared messages of A and of B.
    pub fn counts(&self) -> [usize; 2] {
        let matched = self.same.len() + self.changed.len();
        self.only.each_ref().map(|only| only.len() + matched)
    }
}

/// Returns the messages of the history, and summaries.
fn compared(session: &Session) -> Vec<u32> {
    let messages = (0..).zip(&session.messages);
    let compared = messages.filter(|(_, message)| message.in_history || message.is_summary);
    compared.map(|(idx, _)| idx).collect()
}

/// Returns the hash of the content of each message.
fn hashes(session: &Session, messages: &[u32]) -> Vec<u64> {
    let hash = |idx: &u32| content_hash(session, &session.messages[*idx as usize]);
    messages.par_iter().map(hash).collect()
}

/// Returns a hash of what the model reads: kinds and texts, without ids.
fn content_hash(session: &Session, message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in session.parts_of(message) {
        kind_of(message, part).hash(&mut hasher);
        part.body.tool().hash(&mut hasher);
        part.body.text().hash(&mut hasher);
        match &part.body {
            Body::Media {
                mime,
                bytes,
                pixels,
                ..
            } => (mime, bytes, pixels).hash(&mut hasher),
            Body::Thinking { sealed_bytes, .. } => sealed_bytes.hash(&mut hasher),
            _ => {}
        }
    }
    hasher.finish()
}

/// Identifies a message apart from its content: the first of its tool results or calls.
type Identity<'a> = (bool, &'a str);

/// Separates messages that exist in both sessions with other content from those that only one contains.
fn changed(sessions: [&Session; 2], messages: [Vec<u32>; 2]) -> (Vec<[u32; 2]>, [Vec<u32>; 2]) {
    let [in_a, in_b] = [0, 1].map(|side| by_identity(sessions[side], &messages[side]));
    let [a, b] = messages;
    let pair = |idx: &u32| {
        let identity = identity(sessions[0], *idx)?;
        let is_unique = in_a.get(&identity).copied().flatten().is_some();
        let other = in_b.get(&identity).copied().flatten();
        Some([*idx, other.filter(|_| is_unique)?])
    };
    let changed: Vec<[u32; 2]> = a.iter().filter_map(pair).collect();
    let is_changed =
        |side: usize| -> HashSet<u32> { changed.iter().map(|pair| pair[side]).collect() };
    let (changed_a, changed_b) = (is_changed(0), is_changed(1));
    let only = |messages: Vec<u32>, is_changed: &HashSet<u32>| {
        let only = messages.into_iter().filter(|idx| !is_changed.contains(idx));
        only.collect()
    };
    let only = [only(a, &changed_a), only(b, &changed_b)];
    (changed, only)
}

/// Returns messages by their identity; `None` for an identity that several messages have.
fn by_identity<'a>(session: &'a Session, messages: &[u32]) -> HashMap<Identity<'a>, Option<u32>> {
    let mut found = HashMap::new();
    for idx in messages {
        if let Some(identity) = identity(session, *idx) {
            let known = found.entry(identity).or_insert(Some(*idx));
            if *known != Some(*idx) {
                *known = None;
            }
        }
    }
    found
}

fn identity(session: &Session, message: u32) -> Option<Identity<'_>> {
    let parts = session.parts_of(&session.messages[message as usize]).iter();
    let mut identities = parts.filter_map(|part| match &part.body {
        Body::ToolCall { call, .. } => Some((false, &**call)),
        Body::ToolResult { call, .. } => Some((true, &**call)),
        _ => None,
    });
    identities.find(|(_, call)| !call.is_empty())
}
