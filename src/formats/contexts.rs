//! Logs of which every call repeats its whole context: what is new in it is what was said since, and what is missing is
//! what the program's own context management took.
//!
//! Calls of one group (a trace, a conversation) may belong to several agents: a call continues the conversation whose
//! messages it repeats, and begins another one where it repeats nothing. A sub-agent's call must repeat more: short
//! results and prompts occur in both conversations.

use super::talk::Talk;
use super::{Input, Warning};
use crate::session::{Body, Draft, Role, Session, StepDraft, SubAgent, Track as SessionTrack};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// One model call with all that it saw.
#[derive(Debug)]
pub(super) struct Call {
    /// What the calls of one conversation have in common; empty where nothing says.
    pub(super) group: Box<str>,
    /// The sub-agent that made it, where the file says so.
    pub(super) agent: Option<SubAgent>,
    /// What it saw, in order.
    pub(super) context: Vec<Draft>,
    /// The file does not record its context: `context` is what was added since the call before.
    pub(super) continues: bool,
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
    instructions_change: bool,
    /// Calls so far, and those of which the file does not record the context.
    n_calls: usize,
    n_unrecorded: usize,
}

#[derive(Debug)]
struct Track {
    group: Box<str>,
    /// The sub-agent whose conversation it is.
    agent: Option<SubAgent>,
    /// Id of the sub-agent that made the latest call.
    caller: Option<Box<str>>,
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
            n_calls: 0,
            n_unrecorded: 0,
        }
    }

    /// Adds a call, to be done in order of time.
    pub(super) fn add(&mut self, call: Call) {
        self.n_calls += 1;
        self.n_unrecorded += usize::from(call.continues);
        let (texts, keys) = keys(&call.context);
        let place = self.place(&call, &keys);
        self.latest = place;
        let track = &mut self.tracks[place];
        track.caller = caller(&call);
        if call.continues {
            track.go_on(call);
            return;
        }
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

    /// Warnings about all calls.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut texts = Vec::new();
        if self.instructions_change {
            texts.push("the instructions differ from call to call; the first are shown".to_owned());
        }
        if self.n_unrecorded > 0 {
            texts.push(format!(
                "{} of {} model calls record no input messages: their context is taken to be all that was said before",
                self.n_unrecorded, self.n_calls
            ));
        }
        let warning = |text| Warning { line: None, text };
        texts.into_iter().map(warning).collect()
    }

    /// The conversations: those of sub-agents last, else the longest first, since that is the one people look for.
    pub(super) fn finish(self) -> Vec<Session> {
        let main_groups: HashSet<Box<str>> = self
            .tracks
            .iter()
            .filter(|track| track.agent.is_none())
            .map(|track| track.group.clone())
            .collect();
        let session = |track: Track| {
            let mut session = track.talk.finish()?;
            if let Some(agent) = track.agent.filter(|_| main_groups.contains(&track.group)) {
                session.track = SessionTrack::SubAgent(agent);
            }
            Some(session)
        };
        let mut sessions: Vec<Session> = self.tracks.into_iter().filter_map(session).collect();
        sessions.sort_by_key(|session| {
            let is_main = session.track == SessionTrack::Main;
            (!is_main, std::cmp::Reverse(session.steps.len()))
        });
        sessions
    }

    /// The conversation that a call continues.
    fn place(&mut self, call: &Call, keys: &[u64]) -> usize {
        let caller = caller(call);
        let own: HashSet<u64> = keys
            .iter()
            .zip(&call.context)
            .filter(|(_, draft)| draft.role != Role::System)
            .map(|(key, _)| *key)
            .collect();
        let repeated = |track: &Track| {
            let others = track.current.iter().filter(|known| !known.is_system);
            let (mut total, mut n, mut is_last) = (0, 0, false);
            for known in others {
                is_last = own.contains(&known.key);
                n += usize::from(is_last);
                total += 1;
            }
            let is_same = track.caller == caller;
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
            talk: Talk::new(self.input, self.format, (number > 0).then_some(number + 1)),
            current: Vec::new(),
            instructions: None,
        });
        number
    }
}

/// The id of the sub-agent that made a call.
fn caller(call: &Call) -> Option<Box<str>> {
    call.agent
        .as_ref()
        .map(|agent| agent.id.clone().unwrap_or_default())
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
        self.answer(call.step, call.answer);
    }

    /// Adds a call whose context is what was said so far and what was added since.
    fn go_on(&mut self, call: Call) {
        let has_setup = self.current.iter().any(|known| known.is_system);
        let is_new = |draft: &Draft| draft.role != Role::System || !has_setup;
        for draft in call.context.into_iter().filter(is_new) {
            let known = Known {
                key: key(&draft),
                is_system: draft.role == Role::System,
                message: self.talk.say(draft),
            };
            self.current.push(known);
        }
        self.answer(call.step, call.answer);
    }

    fn answer(&mut self, step: StepDraft, answer: Option<Draft>) {
        match answer.filter(|answer| !answer.parts.is_empty()) {
            Some(answer) => {
                let key = key(&answer);
                let message = self.talk.answer(step, answer);
                self.current.push(Known {
                    message,
                    key,
                    is_system: false,
                });
            }
            None => {
                self.talk.builder.step(step);
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
                // Some libraries write no arguments as an empty text in answers, and as `{}` when they send them again.
                let arguments = match arguments.trim() {
                    "" | "null" => "{}",
                    other => other,
                };
                let arguments = serde_json::from_str::<serde_json::Value>(arguments)
                    .map_or_else(|_| arguments.to_owned(), |value| value.to_string());
                (tool, arguments).hash(&mut hasher);
            }
            Body::Media { bytes, .. } => bytes.hash(&mut hasher),
            body => body.text().trim().hash(&mut hasher),
        }
    }
    hasher.finish()
}
