//! Puts a session together while a format is read, and keeps its rules:
//! part ranges are contiguous, every step has a turn from 1 on, steps point at existing messages.

use super::{
    Calibration, Message, Part, RecordedCompaction, Role, Session, Source, Span, Step, StepsFrom,
    Track, Usage,
};
use crate::units::{Millis, Tokens};
use std::sync::Arc;

/// The compactions of one session keep no more messages in all: a file could list a hundred thousand of them that each
/// keep everything. Those beyond are left out.
pub const MOST_KEPT: usize = 5_000_000;

/// A message as a format reads it, before it is numbered.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its id in the file.
    pub id: Option<Box<str>>,
    /// Who speaks.
    pub role: Role,
    /// When.
    pub time: Option<Millis>,
    /// See [`Message::is_injected`].
    pub is_injected: bool,
    /// See [`Message::is_summary`].
    pub is_summary: bool,
    /// See [`Message::in_history`].
    pub in_history: bool,
    /// See [`Message::raw`].
    pub raw: Vec<Span>,
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Draft {
    /// An ordinary message of the history without an id or a time.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            id: None,
            role,
            time: None,
            is_injected: false,
            is_summary: false,
            in_history: true,
            raw: Vec::new(),
            parts,
        }
    }
}

/// A recorded model call, to be added right before the assistant message it produced.
#[derive(Clone, Debug, Default)]
pub struct StepDraft {
    /// Name of the model.
    pub model: Option<String>,
    /// Recorded context window.
    pub window: Option<Tokens>,
    /// Reported tokens.
    pub usage: Option<Usage>,
    /// When.
    pub time: Option<Millis>,
}

/// Collects messages, steps and compactions in file order.
#[derive(Debug)]
pub struct SessionBuilder {
    session: Session,
    /// The step whose answer is being added.
    open_step: Option<usize>,
    /// The model of calls that name none themselves.
    usual_model: Option<String>,
    /// The reasoning effort of the calls to come.
    effort: Option<Arc<str>>,
    /// The latest call was aborted.
    is_aborted: bool,
    /// Messages that compactions may still keep.
    kept_left: usize,
}

impl SessionBuilder {
    /// An empty session of this source; its title is the source's name until [`Self::title`] says more.
    pub fn new(source: Source) -> Self {
        let title = source.name.clone();
        let session = Session {
            source,
            title,
            track: Track::Main,
            project: None,
            models: Vec::new(),
            messages: Vec::new(),
            parts: Vec::new(),
            steps: Vec::new(),
            steps_from: StepsFrom::AssistantMessages,
            compactions: Vec::new(),
            calibration: None,
            turns: 0,
        };
        Self {
            session,
            open_step: None,
            usual_model: None,
            effort: None,
            is_aborted: false,
            kept_left: MOST_KEPT,
        }
    }

    /// Makes room for so many more messages, calls and parts: a large session that grows bit by bit leaves memory behind.
    pub fn reserve(&mut self, messages: usize, calls: usize, parts: usize) {
        self.session.messages.reserve(messages);
        self.session.steps.reserve(calls);
        self.session.parts.reserve(parts);
    }

    /// Names the session.
    pub fn title(&mut self, title: impl Into<String>) {
        self.session.title = title.into();
    }

    /// Notes the folder in which the agent worked; the first that is noted stays.
    pub fn project(&mut self, folder: impl Into<String>) {
        let project = &mut self.session.project;
        project.get_or_insert_with(|| folder.into());
    }

    /// Names the model of all calls that name none themselves.
    pub fn usual_model(&mut self, name: impl Into<String>) {
        self.usual_model = Some(name.into());
    }

    /// Notes how the session was weighed that this is a managed copy of; the last calibration counts.
    pub fn calibration(&mut self, calibration: Option<Calibration>) {
        self.session.calibration = calibration.or(self.session.calibration.take());
    }

    /// Adds a message and returns its index. A message of a person opens a turn; an assistant's message
    /// belongs to the step that was opened last; any other closes that step.
    pub fn message(&mut self, draft: Draft) -> usize {
        if draft.role != Role::Assistant {
            self.open_step = None;
        }
        if opens_turn(&draft) {
            self.session.turns += 1;
        } else if draft.role == Role::Assistant && draft.in_history {
            self.turn_of_call();
        }
        let start = self.session.parts.len();
        self.session.parts.extend(draft.parts);
        self.session.messages.push(Message {
            id: draft.id,
            role: draft.role,
            turn: self.session.turns,
            time: draft.time,
            is_injected: draft.is_injected,
            is_summary: draft.is_summary,
            in_history: draft.in_history,
            step: self.open_step.filter(|_| draft.role == Role::Assistant),
            parts: start..self.session.parts.len(),
            raw: draft.raw,
        });
        self.session.messages.len() - 1
    }

    /// Adds a recorded model call: the messages so far are what it saw; the assistant messages that follow
    /// directly are its answer. Returns its index.
    pub fn step(&mut self, draft: StepDraft) -> usize {
        self.session.steps_from = StepsFrom::Recorded;
        self.push_step(draft)
    }

    /// Notes the reasoning effort of the calls to come.
    pub fn effort(&mut self, effort: &str) {
        if self.effort.as_deref() != Some(effort) {
            self.effort = Some(effort.into());
        }
    }

    /// Notes that the latest call was aborted.
    pub fn aborted(&mut self) {
        self.is_aborted = true;
    }

    /// The step with this index, to add what is recorded after its answer (usage).
    pub fn step_mut(&mut self, step: usize) -> Option<&mut Step> {
        self.session.steps.get_mut(step)
    }

    /// The message with this index, to add records that arrive later.
    pub fn message_mut(&mut self, message: usize) -> Option<&mut Message> {
        self.session.messages.get_mut(message)
    }

    /// Adds a record and what it says to the latest message: an answer may be written piece by piece.
    pub fn extend_last(&mut self, record: Span, parts: Vec<Part>) {
        let Some(message) = self.session.messages.last_mut() else {
            return;
        };
        let number = u32::try_from(message.raw.len()).unwrap_or(u32::MAX);
        message.raw.push(record);
        let parts = parts.into_iter().map(|part| Part {
            record: number,
            ..part
        });
        self.session.parts.extend(parts);
        message.parts.end = self.session.parts.len();
    }

    /// The parts of the message with this index, to add what is recorded after it (reasoning tokens).
    pub fn parts_mut(&mut self, message: usize) -> &mut [Part] {
        let range = self
            .session
            .messages
            .get(message)
            .map_or(0..0, |m| m.parts.clone());
        &mut self.session.parts[range]
    }

    /// Adds a compaction that stands before the next message of the history and left these messages, as far as
    /// [`MOST_KEPT`] allows.
    pub fn compaction(
        &mut self,
        trigger: impl Into<String>,
        before: Option<Tokens>,
        after: Option<Tokens>,
        kept: Vec<usize>,
    ) {
        self.open_step = None;
        let Some(left) = self.kept_left.checked_sub(kept.len()) else {
            return;
        };
        self.kept_left = left;
        self.session.compactions.push(RecordedCompaction {
            before_message: self.session.messages.len(),
            step: self.session.steps.len(),
            trigger: trigger.into(),
            tokens_before: before,
            tokens_after: after,
            kept,
        });
    }

    /// How many messages were added.
    pub fn len(&self) -> usize {
        self.session.messages.len()
    }

    /// Nothing was added.
    pub fn is_empty(&self) -> bool {
        self.session.messages.is_empty()
    }

    /// The session so far.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The finished session. Where no calls are recorded each assistant message of the history is one. Reports that cannot
    /// be right are left out.
    pub fn finish(mut self) -> Session {
        if self.session.steps_from == StepsFrom::AssistantMessages {
            self.session.steps = steps_of_messages(&mut self.session.messages);
            let steps = &self.session.steps;
            for compaction in &mut self.session.compactions {
                let is_before = |step: &Step| step.context_end < compaction.before_message;
                compaction.step = steps.partition_point(is_before);
            }
        }
        let steps = &self.session.steps;
        let is_needed = steps.is_empty() || steps.iter().any(|s| s.model.is_none());
        if let Some(name) = self.usual_model.take().filter(|_| is_needed) {
            let usual = self.model(name);
            for step in &mut self.session.steps {
                step.model.get_or_insert(usual);
            }
        }
        super::leave_out_impossible(&mut self.session);
        super::refused::mark_refused(&mut self.session);
        self.session
    }

    /// A call before any person's own words opens turn 1 (a session begun by a command of the harness); it begins with
    /// what the harness said in a person's place, if it said anything.
    fn turn_of_call(&mut self) {
        if self.session.turns > 0 {
            return;
        }
        self.session.turns = 1;
        let messages = &mut self.session.messages;
        let is_prompt = |m: &Message| m.role == Role::User && m.in_history;
        let first = messages
            .iter()
            .position(is_prompt)
            .unwrap_or(messages.len());
        for message in &mut messages[first..] {
            message.turn = 1;
        }
    }

    /// Notes that the provider refused the latest call because its context was too long.
    pub fn refuse(&mut self) {
        if let Some(step) = self.session.steps.last_mut() {
            step.is_refused = true;
        }
    }

    fn push_step(&mut self, draft: StepDraft) -> usize {
        self.turn_of_call();
        let model = draft.model.map(|name| self.model(name));
        self.session.steps.push(Step {
            context_end: self.session.messages.len(),
            turn: self.session.turns,
            model,
            window: draft.window,
            usage: draft.usage,
            left_out: None,
            time: draft.time,
            effort: self.effort.clone(),
            is_after_abort: std::mem::take(&mut self.is_aborted),
            is_refused: false,
        });
        let step = self.session.steps.len() - 1;
        self.open_step = Some(step);
        step
    }

    /// Index of a model's name, added if it is new.
    fn model(&mut self, name: String) -> usize {
        let models = &mut self.session.models;
        models.iter().position(|m| *m == name).unwrap_or_else(|| {
            models.push(name);
            models.len() - 1
        })
    }
}

/// A person speaks, and says more than what answers a tool.
fn opens_turn(draft: &Draft) -> bool {
    draft.role == Role::User
        && draft.in_history
        && !draft.is_injected
        && !draft.is_summary
        && draft.parts.iter().any(|p| is_own_words(&p.body))
}

fn is_own_words(body: &super::Body) -> bool {
    match body {
        super::Body::Text(_) | super::Body::Opaque { .. } => true,
        super::Body::Media { within, .. } => within.is_none(),
        _ => false,
    }
}

fn steps_of_messages(messages: &mut [Message]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (idx, message) in messages.iter_mut().enumerate() {
        if message.role == Role::Assistant && message.in_history {
            message.step = Some(steps.len());
            steps.push(Step {
                context_end: idx,
                turn: message.turn,
                model: None,
                window: None,
                usage: None,
                left_out: None,
                time: message.time,
                effort: None,
                is_after_abort: false,
                is_refused: false,
            });
        }
    }
    steps
}
