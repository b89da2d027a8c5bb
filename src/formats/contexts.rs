//! Logs of which every call repeats its whole context: what is new in it is what was said since, and what is missing is
//! what the program's own context management took.
//!
//! Calls of one group (a trace, a conversation) may belong to several agents: a call goes on with the conversation whose
//! messages it repeats, and begins another one where it repeats nothing.

use super::Input;
use super::talk::Talk;
use crate::session::{Body, Draft, Role, Session, StepDraft};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// One model call with all that it saw.
#[derive(Debug)]
pub(super) struct Call {
    /// What the calls of one conversation have in common; empty where nothing says.
    pub(super) group: Box<str>,
    /// What it saw, in order.
    pub(super) context: Vec<Draft>,
    /// What is recorded of it.
    pub(super) step: StepDraft,
    /// What the model said.
    pub(super) answer: Option<Draft>,
}

/// The conversations of the calls so far.
#[derive(Debug)]
pub(super) struct Contexts<'a> {
    input: &'a Input,
    format: &'static str,
    tracks: Vec<Track>,
    /// The conversation of the call added last.
    latest: usize,
    /// Instructions differ from call to call of one conversation; the first are shown.
    pub(super) instructions_change: bool,
}

#[derive(Debug)]
struct Track {
    group: Box<str>,
    talk: Talk,
    current: Vec<Known>,
    /// What its instructions say.
    instructions: Option<Vec<u64>>,
}

/// A message in context.
#[derive(Clone, Copy, Debug)]
struct Known {
    message: usize,
    key: u64,
    is_system: bool,
}

/// What a call's context is made of.
struct Rebuilt {
    context: Vec<Known>,
    is_managed: bool,
}

impl<'a> Contexts<'a> {
    /// No conversations.
    pub(super) fn new(input: &'a Input, format: &'static str) -> Self {
        Self {
            input,
            format,
            tracks: Vec::new(),
            latest: 0,
            instructions_change: false,
        }
    }

    /// Adds a call, to be done in order of time.
    pub(super) fn add(&mut self, call: Call) {
        let (texts, keys) = keys(&call.context);
        let place = self.place(&call, &keys);
        self.latest = place;
        let track = &mut self.tracks[place];
        self.instructions_change |= track
            .instructions
            .as_ref()
            .is_some_and(|known| *known != texts);
        track.instructions.get_or_insert(texts);
        track.add(call, &keys);
    }

    /// Adds what was said after the last call.
    pub(super) fn say_after(&mut self, draft: Draft) {
        if let Some(track) = self.tracks.get_mut(self.latest) {
            track.talk.say(draft);
        }
    }

    /// The conversations, the longest first: that is the one people look for.
    pub(super) fn finish(self) -> Vec<Session> {
        let mut sessions: Vec<Session> = self
            .tracks
            .into_iter()
            .filter_map(|t| t.talk.finish())
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.steps.len()));
        sessions
    }

    /// The conversation that a call goes on with.
    fn place(&mut self, call: &Call, keys: &[u64]) -> usize {
        let own: std::collections::HashSet<u64> = keys
            .iter()
            .zip(&call.context)
            .filter(|(_, draft)| draft.role != Role::System)
            .map(|(key, _)| *key)
            .collect();
        let common = |track: &Track| {
            let others = track.current.iter().filter(|known| !known.is_system);
            others.filter(|known| own.contains(&known.key)).count()
        };
        let tracks = self
            .tracks
            .iter()
            .enumerate()
            .filter(|(_, t)| t.group == call.group);
        let best = tracks
            .map(|(at, track)| (common(track), at))
            .max_by_key(|(n, at)| (*n, std::cmp::Reverse(*at)));
        if let Some((_, at)) = best.filter(|(n, _)| *n > 0) {
            return at;
        }
        let number = self.tracks.len();
        self.tracks.push(Track {
            group: call.group.clone(),
            talk: Talk::new(self.input, self.format, (number > 0).then_some(number + 1)),
            current: Vec::new(),
            instructions: None,
        });
        number
    }
}

impl Track {
    fn add(&mut self, call: Call, keys: &[u64]) {
        // Tools that a call does not name are the ones before.
        let tools = self
            .current
            .first()
            .filter(|known| known.key == TOOLS && keys.first() != Some(&TOOLS));
        let tools = tools.copied();
        self.current.drain(..usize::from(tools.is_some()));
        let mut rebuilt = self.rebuilt(call.context, keys);
        rebuilt.context.splice(0..0, tools);
        self.current = rebuilt.context;
        if rebuilt.is_managed {
            let kept = self.current.iter().map(|known| known.message).collect();
            self.talk.builder.compaction("", None, None, kept);
        }
        match call.answer.filter(|answer| !answer.parts.is_empty()) {
            Some(answer) => {
                let key = key(&answer);
                let message = self.talk.answer(call.step, answer);
                self.current.push(Known {
                    message,
                    key,
                    is_system: false,
                });
            }
            None => {
                self.talk.builder.step(call.step);
            }
        }
    }

    /// Finds what is known already and adds the rest.
    fn rebuilt(&mut self, context: Vec<Draft>, keys: &[u64]) -> Rebuilt {
        let same = self
            .current
            .iter()
            .zip(keys)
            .take_while(|(known, key)| known.key == **key)
            .count();
        let mut later: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, known) in self.current.iter().enumerate().skip(same).rev() {
            later.entry(known.key).or_default().push(at);
        }
        // Where each message stood before; places ascend.
        let mut next = same;
        let mut found: Vec<Option<usize>> = (0..same).map(Some).collect();
        for key in &keys[same..] {
            let places = later.get_mut(key);
            let place = places.and_then(|places| {
                while places.last().is_some_and(|at| *at < next) {
                    places.pop();
                }
                places.pop()
            });
            next = place.map_or(next, |at| at + 1);
            found.push(place);
        }
        let n_found = found.iter().flatten().count();
        let is_managed = n_found < self.current.len();
        let first_new = first_new(&context, &found, is_managed);
        let before = std::mem::take(&mut self.current);
        let mut rebuilt = Vec::with_capacity(context.len());
        // What was rewritten comes first: it belongs to what a compaction left.
        for (idx, ((draft, place), key)) in context.into_iter().zip(found).zip(keys).enumerate() {
            let is_system = draft.role == Role::System;
            let message = if let Some(at) = place {
                before[at].message
            } else {
                let is_rewritten = is_managed && idx < first_new;
                self.talk.say(Draft {
                    in_history: !is_rewritten,
                    is_summary: is_rewritten && draft.role == Role::User && !draft.is_injected,
                    ..draft
                })
            };
            rebuilt.push(Known {
                message,
                key: *key,
                is_system,
            });
        }
        Rebuilt {
            context: rebuilt,
            is_managed,
        }
    }
}

/// From which message on a context holds what nobody had said before. Where something is missing, only results of
/// tools and the last message can be that: what else is unknown was written in the place of what is missing.
fn first_new(context: &[Draft], found: &[Option<usize>], is_managed: bool) -> usize {
    let last_known = found
        .iter()
        .rposition(Option::is_some)
        .map_or(0, |at| at + 1);
    if !is_managed {
        return last_known;
    }
    let tail = context.iter().enumerate().rev().take_while(|(idx, draft)| {
        *idx >= last_known && (*idx + 1 == context.len() || draft.role == Role::Tool)
    });
    tail.last().map_or(context.len(), |(idx, _)| idx)
}

/// What the instructions at the head say, and what every message says. Instructions that change from call to call are
/// the same message all the same, and tools need not be recorded with every call: neither is context management.
fn keys(context: &[Draft]) -> (Vec<u64>, Vec<u64>) {
    let head = context
        .iter()
        .take_while(|draft| draft.role == Role::System)
        .count();
    let texts = context[..head]
        .iter()
        .filter(|draft| !is_tools(draft))
        .map(key)
        .collect();
    let mut n = 0;
    let all = context.iter().enumerate().map(|(at, draft)| {
        if at >= head {
            return key(draft);
        }
        if is_tools(draft) {
            return TOOLS;
        }
        n += 1;
        n
    });
    (texts, all.collect())
}

/// Stands for all definitions of tools.
const TOOLS: u64 = 0;

fn is_tools(draft: &Draft) -> bool {
    let is_tool = |part: &crate::session::Part| matches!(part.body, Body::ToolDefinition { .. });
    draft.parts.iter().any(is_tool)
}

/// What a message says, whatever ids and thoughts it has: these change from log to log.
fn key(draft: &Draft) -> u64 {
    let mut hasher = DefaultHasher::new();
    let role = match draft.role {
        Role::Tool => Role::User,
        role => role,
    };
    role.hash(&mut hasher);
    for part in &draft.parts {
        match &part.body {
            Body::Thinking { .. } => {}
            Body::ToolCall {
                tool, arguments, ..
            } => {
                let arguments = serde_json::from_str::<serde_json::Value>(arguments)
                    .map_or_else(|_| arguments.to_string(), |value| value.to_string());
                (tool, arguments).hash(&mut hasher);
            }
            Body::Media { bytes, .. } => bytes.hash(&mut hasher),
            body => body.text().trim().hash(&mut hasher),
        }
    }
    hasher.finish()
}
