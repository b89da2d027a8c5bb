//! Rebuilds conversations from logs in which every call repeats its whole context. New messages were added since the
//! previous call, and missing ones were removed by the program's own context management.
//!
//! Calls of one group (a trace, a conversation) may belong to several agents. A call continues the conversation whose
//! messages it repeats and begins a new one if it repeats none. A sub-agent's call must repeat more messages, because
//! short results and prompts occur in both conversations.

mod candidates;
mod matching;
mod nesting;
mod summaries;

pub(super) use nesting::{Enclosing, Nesting, SpanKind};

use super::transcript::Transcript;
use super::{Input, Warning};
use crate::session::{
    CallDraft, Draft, Part, Role, Session, SubAgent, SummaryUsage, Track as SessionTrack,
};
use candidates::Candidates;
use matching::{TOOLS, context_keys, message_key};
use std::collections::{HashMap, HashSet};
use summaries::{UsedSummary, used_summaries};

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
    /// The provider's error in place of the answer.
    pub(super) error: Option<Box<str>>,
}

/// Conversations of the calls added so far.
#[derive(Debug)]
pub(super) struct Contexts<'a> {
    input: &'a Input,
    format: &'static str,
    tracks: Vec<Track>,
    candidates: Candidates,
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
    /// Number of messages other than instructions in `current`, by key and in total.
    n_current: (HashMap<u64, usize>, usize),
    /// Key of the last message of the latest call's context.
    last_request: Option<u64>,
    /// Hashes of its instructions.
    instructions: Option<Vec<u64>>,
    /// The request for the summary that the next call contains.
    summary: Option<SummaryUsage>,
    /// Whether it is the request for a summary of another conversation.
    is_summary: bool,
}

/// End of the titles of conversations that only request a summary.
pub(super) const SUMMARY_TITLE: &str = " (summary request)";

/// A message in the context.
#[derive(Clone, Copy, Debug)]
struct ContextEntry {
    message: usize,
    key: u64,
    is_system: bool,
    /// Whether its text is long enough to occur in no other conversation.
    is_distinct: bool,
}

/// Minimum length of a message that identifies its conversation.
// Chosen: shorter answers ("Done.", "yes") occur in many.
const DISTINCT: usize = 40;

impl ContextEntry {
    fn new(message: usize, key: u64, draft_len: usize, role: Role) -> Self {
        let (is_system, is_distinct) = (role == Role::System, draft_len >= DISTINCT);
        Self { message, key, is_system, is_distinct }
    }
}

/// A call with the keys of its messages.
#[derive(Debug)]
struct Prepared {
    call: LoggedCall,
    /// Hashes of the instructions.
    texts: Vec<u64>,
    /// Keys of the messages of the context.
    keys: Vec<u64>,
}

impl Prepared {
    fn new(call: LoggedCall) -> Self {
        let (texts, keys) = context_keys(&call.context);
        Self { call, texts, keys }
    }

    /// Iterates over the keys of the messages other than instructions.
    fn own_keys(&self) -> impl Iterator<Item = u64> {
        let others = self.keys.iter().zip(&self.call.context);
        others.filter(|(_, draft)| draft.role != Role::System).map(|(key, _)| *key)
    }

    /// Returns the key of the last message.
    fn last_request(&self) -> Option<u64> {
        self.own_keys().last()
    }

    /// Returns the index of the model's message that directly follows the message with this key.
    fn answers(&self, key: u64) -> Option<usize> {
        let at = self.keys.iter().rposition(|other| *other == key)? + 1;
        let answer = self.call.context.get(at)?;
        (answer.role == Role::Assistant).then_some(at)
    }
}

impl<'a> Contexts<'a> {
    /// Creates an empty set of conversations.
    pub(super) fn new(input: &'a Input, format: &'static str) -> Self {
        Self {
            input,
            format,
            tracks: Vec::new(),
            candidates: Candidates::default(),
            latest: 0,
            instructions_change: false,
            n_calls: 0,
            n_unrecorded: 0,
        }
    }

    /// Adds a call of an agent's log. Calls must be added in chronological order.
    pub(super) fn add(&mut self, call: LoggedCall) {
        let prepared = Prepared::new(call);
        let known = if prepared.call.continues {
            let caller = caller(&prepared.call);
            self.candidates.of_agent(&prepared.call.group, caller.as_deref())
        } else {
            self.repeated(&prepared)
        };
        let track = known.unwrap_or_else(|| self.new_track(&prepared.call));
        self.add_to(track, prepared, None);
    }

    /// Adds all calls of a program that may do several things: conversations, titles, summaries. A call continues a
    /// conversation only if it contains its last answer, or the summary of it that another call requested. The
    /// requests for summaries become conversations of their own.
    pub(super) fn add_all(&mut self, calls: Vec<LoggedCall>) {
        let calls: Vec<Prepared> = calls.into_iter().map(Prepared::new).collect();
        let used = used_summaries(&calls);
        let requests: HashSet<usize> = used.values().map(|summary| summary.request).collect();
        // The conversation that each request summarizes, if it repeats it, and its cost.
        let mut summarized: HashMap<usize, (Option<usize>, Option<SummaryUsage>)> = HashMap::new();
        for (at, prepared) in calls.into_iter().enumerate() {
            let mut known = if prepared.call.continues {
                self.candidates.of_agent(&prepared.call.group, caller(&prepared.call).as_deref())
            } else {
                self.answered(&prepared)
            };
            if requests.contains(&at) {
                let recorded = &prepared.call.recorded;
                let model = recorded.model.as_deref().map(Into::into);
                let cost = recorded.usage.map(|usage| SummaryUsage { model, usage });
                let is_question = prepared.call.context.last().is_some_and(is_question);
                let of = known.filter(|_| is_question);
                if of.is_some() {
                    known = None;
                }
                summarized.insert(at, (of, cost));
            }
            let is_summary = summarized.get(&at).is_some_and(|(of, _)| of.is_some());
            let summary = used.get(&at);
            if let Some(summary) = summary
                && let Some((of, cost)) = summarized.remove(&summary.request)
            {
                known = known.or(of).or_else(|| self.latest_with(&prepared.texts));
                if let Some(track) = known {
                    self.tracks[track].summary = cost;
                }
            }
            let track = known.unwrap_or_else(|| self.new_track(&prepared.call));
            self.tracks[track].is_summary |= is_summary;
            self.add_to(track, prepared, summary);
        }
    }

    fn add_to(&mut self, at: usize, prepared: Prepared, summary: Option<&UsedSummary>) {
        let Prepared { call, texts, keys } = prepared;
        self.n_calls += 1;
        self.n_unrecorded += usize::from(call.continues);
        self.latest = at;
        let caller = caller(&call);
        self.candidates.add_agent(&call.group, caller.as_deref(), at);
        let track = &mut self.tracks[at];
        track.caller = caller;
        if call.continues {
            track.continue_with(call);
        } else {
            self.instructions_change |=
                track.instructions.as_ref().is_some_and(|entry| *entry != texts);
            track.instructions.get_or_insert(texts);
            track.add(call, &keys, summary);
        }
        track.count();
        let entries = track.current.iter().filter(|entry| !entry.is_system);
        self.candidates.add(entries.map(|entry| entry.key), at);
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
            if track.is_summary {
                session.title.push_str(SUMMARY_TITLE);
            }
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

    /// Returns the conversation whose messages a call repeats.
    fn repeated(&self, prepared: &Prepared) -> Option<usize> {
        let caller = caller(&prepared.call);
        let own: HashSet<u64> = prepared.own_keys().collect();
        let repeated = |track: &Track| {
            let (total, n, is_last) = track.repeated(&own);
            let is_same = track.caller == caller;
            // Half of a conversation may be gone after a compaction. Less than that can be texts that two agents share.
            let is_continued = n > 0 && (is_same || is_last || 2 * n > total);
            is_continued.then_some((is_same, n))
        };
        self.best(prepared, repeated)
    }

    /// Returns the conversation whose last answer a call contains.
    fn answered(&self, prepared: &Prepared) -> Option<usize> {
        let own: HashSet<u64> = prepared.own_keys().collect();
        let repeated = |track: &Track| {
            let (total, n, is_last) = track.repeated(&own);
            let last = track.current.last().filter(|entry| !entry.is_system)?;
            let is_known = is_last && (n > 1 || total == 1 || last.is_distinct);
            // The program may change an answer before it resends it.
            let is_answered =
                || track.last_request.is_some_and(|key| prepared.answers(key).is_some());
            (is_known || is_answered()).then_some((is_known, n))
        };
        self.best(prepared, repeated)
    }

    /// Returns the conversation of the call's group with the highest rank, the earliest if several have it.
    fn best(
        &self,
        prepared: &Prepared,
        rank: impl Fn(&Track) -> Option<(bool, usize)>,
    ) -> Option<usize> {
        let keys: Vec<u64> = prepared.own_keys().collect();
        let tracks = self.candidates.with_any(&keys).into_iter();
        let tracks = tracks.filter(|at| self.tracks[*at].group == prepared.call.group);
        let ranked = tracks.filter_map(|at| Some((rank(&self.tracks[at])?, std::cmp::Reverse(at))));
        ranked.max().map(|(_, at)| at.0)
    }

    /// Returns the latest conversation with these instructions that is longer than a question and its answer.
    fn latest_with(&self, texts: &[u64]) -> Option<usize> {
        let is_it =
            |track: &&Track| track.instructions.as_deref() == Some(texts) && track.n_current.1 > 2;
        let latest = self.tracks.iter().rev().take(candidates::MAX_CANDIDATES);
        let n_after = latest.take_while(|track| !is_it(track)).count();
        let at = self.tracks.len().checked_sub(n_after + 1)?;
        self.tracks.get(at).filter(is_it).map(|_| at)
    }

    fn new_track(&mut self, call: &LoggedCall) -> usize {
        let number = self.tracks.len();
        self.tracks.push(Track {
            group: call.group.clone(),
            agent: call.agent.clone(),
            caller: caller(call),
            transcript: Transcript::new(
                self.input,
                self.format,
                (number > 0).then_some(number + 1),
            ),
            current: Vec::new(),
            n_current: (HashMap::new(), 0),
            last_request: None,
            instructions: None,
            summary: None,
            is_summary: false,
        });
        number
    }
}

/// Returns whether a message contains a text of the user.
fn is_question(draft: &Draft) -> bool {
    let is_text = |part: &Part| matches!(part.body, crate::session::Body::Text(_));
    draft.role == Role::User && draft.parts.iter().any(is_text)
}

/// Returns the id of the sub-agent that made a call.
fn caller(call: &LoggedCall) -> Option<Box<str>> {
    call.agent.as_ref().map(|agent| agent.id.clone().unwrap_or_default())
}

impl Track {
    /// Returns the number of its messages, how many of them a context contains, and whether the last one is among them.
    /// The time depends on the length of the context.
    fn repeated(&self, own: &HashSet<u64>) -> (usize, usize, bool) {
        let (by_key, total) = &self.n_current;
        let n = own.iter().filter_map(|key| by_key.get(key)).sum();
        let last = self.current.last().filter(|entry| !entry.is_system);
        (*total, n, last.is_some_and(|last| own.contains(&last.key)))
    }

    /// Counts the messages after a call.
    fn count(&mut self) {
        let (by_key, total) = &mut self.n_current;
        by_key.clear();
        *total = 0;
        for entry in self.current.iter().filter(|entry| !entry.is_system) {
            *by_key.entry(entry.key).or_default() += 1;
            *total += 1;
        }
    }

    fn add(&mut self, call: LoggedCall, keys: &[u64], summary: Option<&UsedSummary>) {
        // A call without tool definitions uses those of the previous call.
        let tools =
            self.current.first().filter(|entry| entry.key == TOOLS && keys.first() != Some(&TOOLS));
        let tools = tools.copied();
        self.current.drain(..usize::from(tools.is_some()));
        let mut rebuilt = self.rebuilt(call.context, keys, summary);
        rebuilt.context.splice(0..0, tools);
        self.current = rebuilt.context;
        if rebuilt.is_managed {
            let kept = self.current.iter().map(|entry| entry.message).collect();
            self.transcript.builder.compaction("", None, None, kept);
            if let Some(SummaryUsage { model, usage }) = self.summary.take() {
                self.transcript.builder.summary_usage(model.as_deref(), usage);
            }
        }
        self.answer(call.recorded, call.answer, call.error);
    }

    /// Adds a call whose context is the whole conversation so far and the messages added since.
    fn continue_with(&mut self, call: LoggedCall) {
        let has_setup = self.current.iter().any(|entry| entry.is_system);
        let is_new = |draft: &Draft| draft.role != Role::System || !has_setup;
        for draft in call.context.into_iter().filter(is_new) {
            let (key, len, role) = (message_key(&draft), text_len(&draft), draft.role);
            let message = self.transcript.add_message(draft);
            self.current.push(ContextEntry::new(message, key, len, role));
        }
        self.answer(call.recorded, call.answer, call.error);
    }

    fn answer(&mut self, recorded: CallDraft, answer: Option<Draft>, error: Option<Box<str>>) {
        self.last_request = self.current.last().filter(|e| !e.is_system).map(|e| e.key);
        if let Some(answer) = answer.filter(|answer| !answer.parts.is_empty()) {
            let (key, len) = (message_key(&answer), text_len(&answer));
            let message = self.transcript.add_answer(recorded, answer);
            self.current.push(ContextEntry::new(message, key, len, Role::Assistant));
        } else {
            self.transcript.builder.call(recorded);
            if let Some(error) = error {
                self.transcript.builder.fail_last_call(&error);
            }
        }
    }
}

/// Returns the length of the texts of a message.
fn text_len(draft: &Draft) -> usize {
    draft.parts.iter().map(|part| part.body.text().len()).sum()
}
