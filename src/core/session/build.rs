//! Builds a session while a format is read and enforces its invariants: part ranges are contiguous, every call has a
//! turn from 1 on, and calls refer to existing messages.

use super::rejected::stated_sizes;
use super::{
    Body, Calibration, Call, CallDraft, CallsFrom, ContextRevision, Draft, Message, ModelVendor,
    Part, RecordedCompaction, Role, Session, Source, Span, SummaryUsage, Track, Usage, UsageTotal,
    says_too_long,
};
use crate::units::Tokens;
use std::sync::Arc;

/// Maximum number of messages that all compactions and revisions of a session keep in total. A file could list a hundred thousand
/// compactions that each keep everything. Further compactions are left out.
// Chosen: 40 MB of indices. A session of 100,000 messages may keep half of them at each of a hundred compactions.
pub const MAX_KEPT: usize = 5_000_000;

/// Collects messages, calls and compactions in file order.
#[derive(Debug)]
pub struct SessionBuilder {
    session: Session,
    /// Index of the call whose answer is being added.
    open_call: Option<usize>,
    /// Model of calls that do not name one.
    usual_model: Option<String>,
    /// Reasoning effort of the following calls.
    effort: Option<Arc<str>>,
    /// Whether the latest call was aborted.
    is_aborted: bool,
    /// Whether a turn begins whose user message may be missing.
    is_turn_due: bool,
    /// Whether the latest message has no content so far.
    is_empty: bool,
    /// Number of messages that compactions may still keep.
    kept_left: usize,
}

impl SessionBuilder {
    /// Creates an empty session. Its title is the name of the source until [`Self::title`] sets another.
    pub fn new(source: Source) -> Self {
        let title = source.name.clone();
        let session = Session {
            source,
            title,
            track: Track::Main,
            project: None,
            id: None,
            agent_version: None,
            models: Vec::new(),
            default_vendor: None,
            window_share: 1.0,
            messages: Vec::new(),
            parts: Vec::new(),
            calls: Vec::new(),
            calls_from: CallsFrom::AssistantMessages,
            compactions: Vec::new(),
            revisions: Vec::new(),
            totals: Vec::new(),
            calibration: None,
            turns: 0,
        };
        Self {
            session,
            open_call: None,
            usual_model: None,
            effort: None,
            is_aborted: false,
            is_turn_due: false,
            is_empty: false,
            kept_left: MAX_KEPT,
        }
    }

    /// Reserves capacity for more messages, calls and parts. Growing a large session in small steps wastes memory.
    pub fn reserve(&mut self, messages: usize, calls: usize, parts: usize) {
        self.session.messages.reserve(messages);
        self.session.calls.reserve(calls);
        self.session.parts.reserve(parts);
    }

    /// Sets the title.
    pub fn title(&mut self, title: impl Into<String>) {
        self.session.title = title.into();
    }

    /// Sets the agent's working directory, unless it is already set.
    pub fn project(&mut self, folder: impl Into<String>) {
        let project = &mut self.session.project;
        project.get_or_insert_with(|| folder.into());
    }

    /// Sets the version of the agent, unless it is already set.
    pub fn agent_version(&mut self, version: impl Into<String>) {
        self.session.agent_version.get_or_insert_with(|| version.into());
    }

    /// Sets the model of calls that do not name one.
    pub fn usual_model(&mut self, name: impl Into<String>) {
        self.usual_model = Some(name.into());
    }

    /// Sets the vendor of the models of a session that names none.
    pub fn default_vendor(&mut self, vendor: ModelVendor) {
        self.session.default_vendor = Some(vendor);
    }

    /// Sets the calibration of the source of a managed conversation. The last one set applies.
    pub fn calibration(&mut self, calibration: Option<Calibration>) {
        self.session.calibration = calibration.or(self.session.calibration.take());
    }

    /// Adds a message and returns its index. A user message opens a turn. An assistant message belongs to the latest
    /// open call; any other message closes that call.
    pub fn message(&mut self, mut draft: Draft) -> usize {
        self.is_empty = draft.parts.is_empty();
        if self.is_empty {
            // Policies move, count and remove a message by its parts.
            draft.parts.push(Part { body: Body::Text("".into()), record: 0, block: 0 });
        }
        if draft.role != Role::Assistant {
            self.open_call = None;
        }
        if opens_turn(&draft) {
            self.session.turns += 1;
            self.is_turn_due = false;
        } else if draft.role == Role::Assistant && draft.in_history {
            self.ensure_turn();
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
            call: self.open_call.filter(|_| draft.role == Role::Assistant),
            parts: start..self.session.parts.len(),
            empty: draft.empty,
            raw: draft.raw,
        });
        self.session.messages.len() - 1
    }

    /// Adds a recorded model call and returns its index. Its context is the messages so far. The assistant messages
    /// that follow directly are its answer.
    pub fn call(&mut self, draft: CallDraft) -> usize {
        self.session.calls_from = CallsFrom::Recorded;
        self.push_call(draft)
    }

    /// Sets the share of a model's context window that the recorded windows are.
    pub fn window_share(&mut self, share: f64) {
        self.session.window_share = share;
    }

    /// Begins a turn. Its user message may be missing: the next call then opens the turn.
    pub fn begin_turn(&mut self) {
        self.is_turn_due = true;
    }

    /// Ends the answer to the latest call: the next assistant message is not part of it.
    pub fn end_answer(&mut self) {
        self.open_call = None;
    }

    /// Sets the reasoning effort of the following calls.
    pub fn effort(&mut self, effort: &str) {
        if self.effort.as_deref() != Some(effort) {
            self.effort = Some(effort.into());
        }
    }

    /// Marks the latest call as aborted.
    pub fn aborted(&mut self) {
        self.is_aborted = true;
    }

    /// Returns the call with this index, for adding what is recorded after its answer (usage).
    pub fn call_mut(&mut self, call: usize) -> Option<&mut Call> {
        self.session.calls.get_mut(call)
    }

    /// Sets the model of the calls so far that have none.
    pub fn name_unnamed_calls(&mut self, name: &str) {
        if self.session.calls.iter().any(|call| call.model.is_none()) {
            let model = self.model(name.to_owned());
            let calls = self.session.calls.iter_mut();
            for call in calls.filter(|call| call.model.is_none()) {
                call.model = Some(model);
            }
        }
    }

    /// Returns the latest call, for adding what is recorded after its answer.
    pub fn last_call_mut(&mut self) -> Option<&mut Call> {
        self.session.calls.last_mut()
    }

    /// Returns the message with this index, for adding records that arrive later.
    pub fn message_mut(&mut self, message: usize) -> Option<&mut Message> {
        self.session.messages.get_mut(message)
    }

    /// Adds a record and its parts to the latest message, for answers that are written in pieces.
    pub fn extend_last(&mut self, record: Span, parts: Vec<Part>) {
        let Some(message) = self.session.messages.last_mut() else {
            return;
        };
        let number = u32::try_from(message.raw.len()).unwrap_or(u32::MAX);
        message.raw.push(record);
        if self.is_empty && !parts.is_empty() {
            self.is_empty = false;
            self.session.parts.truncate(message.parts.start);
        }
        let parts = parts.into_iter().map(|part| Part { record: number, ..part });
        self.session.parts.extend(parts);
        message.parts.end = self.session.parts.len();
    }

    /// Returns the parts of a message, for adding what is recorded after it (reasoning tokens).
    pub fn parts_mut(&mut self, message: usize) -> &mut [Part] {
        let range = self.session.messages.get(message).map_or(0..0, |m| m.parts.clone());
        &mut self.session.parts[range]
    }

    /// Adds a compaction before the next message of the history. `kept` are the messages of the context after it.
    /// Ignored beyond [`MAX_KEPT`].
    pub fn compaction(
        &mut self,
        trigger: impl Into<String>,
        before: Option<Tokens>,
        after: Option<Tokens>,
        kept: Vec<usize>,
    ) {
        self.open_call = None;
        let Some(left) = self.kept_left.checked_sub(kept.len()) else {
            return;
        };
        self.kept_left = left;
        self.session.compactions.push(RecordedCompaction {
            before_message: self.session.messages.len(),
            call: self.session.calls.len(),
            trigger: trigger.into(),
            tokens_before: before,
            tokens_after: after,
            request: None,
            kept,
        });
    }

    /// Adds a revision of the context before the next message of the history. `kept` are the messages of the context
    /// after it. Ignored beyond [`MAX_KEPT`].
    pub fn revision(&mut self, kept: Vec<usize>) {
        self.open_call = None;
        let Some(left) = self.kept_left.checked_sub(kept.len()) else {
            return;
        };
        self.kept_left = left;
        self.session.revisions.push(ContextRevision {
            before_message: self.session.messages.len(),
            call: self.session.calls.len(),
            kept,
        });
    }

    /// Takes back the latest call, which was the request for a summary: its answer leaves the history. Returns its model
    /// and usage, if reported.
    pub fn withdraw_last_call(&mut self) -> Option<(Option<String>, Usage)> {
        let call = self.session.calls.pop()?;
        self.open_call = None;
        let n_calls = self.session.calls.len();
        for message in self.session.messages.iter_mut().rev() {
            match message.call {
                Some(of) if of >= n_calls => {
                    message.call = None;
                    message.in_history = false;
                }
                Some(_) => break,
                None => {}
            }
        }
        let model = call.model.and_then(|model| self.session.models.get(model)).cloned();
        Some((model, call.usage?))
    }

    /// Sets the recorded usage of the request for the latest compaction's summary.
    pub fn summary_usage(&mut self, model: Option<&str>, usage: Usage) {
        if let Some(compaction) = self.session.compactions.last_mut() {
            let model = model.map(Into::into);
            compaction.request = Some(SummaryUsage { model, usage });
        }
    }

    /// Adds a message to those that the latest compaction kept, behind them: one that exists only because of it.
    pub fn keep_in_last_compaction(&mut self, message: usize) {
        if let Some(compaction) = self.session.compactions.last_mut() {
            compaction.kept.push(message);
        }
    }

    /// Adds usage that the program totals for a model.
    pub fn total(&mut self, model: &str, usage: &Usage) {
        let totals = &mut self.session.totals;
        match totals.iter_mut().find(|total| total.model == model) {
            Some(total) => total.usage.add(usage),
            None => totals.push(UsageTotal { model: model.to_owned(), usage: *usage }),
        }
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.session.messages.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.session.messages.is_empty()
    }

    /// Exchanges the session that is built, to continue one that others read meanwhile.
    pub fn swap(&mut self, session: &mut Session) {
        std::mem::swap(&mut self.session, session);
    }

    /// Appends the bytes of a record to the source, on a line of its own. Returns their place.
    pub fn append_bytes(&mut self, record: &[u8]) -> Span {
        self.session.source.bytes.append(record)
    }

    /// Returns the session so far.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Finishes the session. If no calls are recorded, each assistant message of the history counts as one. Removes
    /// implausible usage.
    pub fn finish(mut self) -> Session {
        if self.session.calls_from == CallsFrom::AssistantMessages {
            self.session.calls = calls_of_messages(&mut self.session.messages);
            let calls = &self.session.calls;
            for compaction in &mut self.session.compactions {
                let is_before = |call: &Call| call.context_end < compaction.before_message;
                compaction.call = calls.partition_point(is_before);
            }
        }
        let calls = &self.session.calls;
        let is_needed = calls.is_empty() || calls.iter().any(|s| s.model.is_none());
        if let Some(name) = self.usual_model.take().filter(|_| is_needed) {
            let usual = self.model(name);
            for call in &mut self.session.calls {
                call.model.get_or_insert(usual);
            }
        }
        super::remove_implausible_usage(&mut self.session);
        super::rejected::mark_rejected(&mut self.session);
        self.session
    }

    /// Opens turn 1 for a call before any user message (a session started by a command of the harness). The turn begins
    /// with the first injected user message, if there is one. Opens a later turn if it is due.
    fn ensure_turn(&mut self) {
        let is_due = std::mem::take(&mut self.is_turn_due);
        if self.session.turns > 0 {
            self.session.turns += u32::from(is_due);
            return;
        }
        self.session.turns = 1;
        let messages = &mut self.session.messages;
        let is_prompt = |m: &Message| m.role == Role::User && m.in_history;
        let first = messages.iter().position(is_prompt).unwrap_or(messages.len());
        for message in &mut messages[first..] {
            message.turn = 1;
        }
    }

    /// Records an error in place of the answer to the latest call. The provider rejected the call if the error says that
    /// its context was too long.
    pub fn fail_last_call(&mut self, error: &str) {
        let error = error.to_lowercase();
        if !says_too_long(&error) {
            return;
        }
        if let [before @ .., call] = &mut *self.session.calls {
            // Programs write the error in their own name, without the model.
            call.model = call.model.or(before.last().and_then(|call| call.model));
            call.reject(stated_sizes(&error));
        }
    }

    fn push_call(&mut self, draft: CallDraft) -> usize {
        self.ensure_turn();
        let model = draft.model.map(|name| self.model(name));
        self.session.calls.push(Call {
            context_end: self.session.messages.len(),
            turn: self.session.turns,
            model,
            window: draft.window,
            usage: draft.usage,
            left_out: None,
            time: draft.time,
            effort: self.effort.clone(),
            is_after_abort: std::mem::take(&mut self.is_aborted),
            is_rejected: false,
            rejected_size: None,
            answer: draft.answer,
            cut: draft.cut,
        });
        let call = self.session.calls.len() - 1;
        self.open_call = Some(call);
        call
    }

    /// Returns the index of a model's name and adds the name if it is new.
    fn model(&mut self, name: String) -> usize {
        let models = &mut self.session.models;
        models.iter().position(|m| *m == name).unwrap_or_else(|| {
            models.push(name);
            models.len() - 1
        })
    }
}

/// Returns whether a message opens a turn: it is written by the user and has more than tool results.
fn opens_turn(draft: &Draft) -> bool {
    draft.role == Role::User
        && draft.in_history
        && !draft.is_injected
        && !draft.is_summary
        && draft.parts.iter().any(|p| is_user_content(&p.body))
}

fn is_user_content(body: &Body) -> bool {
    match body {
        Body::Text(_) | Body::Opaque { .. } => true,
        Body::Media { within, .. } => within.is_none(),
        _ => false,
    }
}

fn calls_of_messages(messages: &mut [Message]) -> Vec<Call> {
    let is_answer = |message: &Message| message.role == Role::Assistant && message.in_history;
    let n_answers = messages.iter().filter(|m| is_answer(m)).count();
    let mut calls = Vec::with_capacity(n_answers);
    for (idx, message) in messages.iter_mut().enumerate() {
        if is_answer(message) {
            message.call = Some(calls.len());
            calls.push(Call {
                context_end: idx,
                turn: message.turn,
                model: None,
                window: None,
                usage: None,
                left_out: None,
                time: message.time,
                effort: None,
                is_after_abort: false,
                is_rejected: false,
                rejected_size: None,
                answer: None,
                cut: None,
            });
        }
    }
    calls
}
