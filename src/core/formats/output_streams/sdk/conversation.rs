//! Builds the conversation of an agent from its records.

use super::record::{SdkAnswer, SdkBoundary, SdkContent, SdkEnd, SdkRecord, SdkUser};
use crate::formats::Input;
use crate::formats::output_streams::prompts::PromptCount;
use crate::formats::output_streams::totals::RunTotals;
use crate::formats::read_log::ReadLog;
use crate::formats::transcript::Transcript;
use crate::session::{CallDraft, Draft, Part, Role, Session, Span, Usage};
use crate::units::Tokens;
use std::collections::HashMap;

/// Returns the further records of each answer by the index of its first.
pub(super) fn assign_answers(records: &[SdkRecord]) -> HashMap<usize, Vec<usize>> {
    let mut answers: HashMap<usize, Vec<usize>> = HashMap::new();
    // The first record of each answer, by its conversation and its id.
    let mut by_id: HashMap<(String, &str), usize> = HashMap::new();
    // The first record of the answer of each conversation that goes on.
    let mut open: HashMap<String, usize> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        let conversation = record.conversation();
        let answer = match &record.content {
            SdkContent::Answer(answer) => answer,
            SdkContent::User(_) | SdkContent::End(_) => {
                open.remove(&conversation);
                continue;
            }
            _ => continue,
        };
        let id = answer.message.as_deref().or(record.id.as_deref());
        let key = id.map(|id| (conversation.clone(), id));
        let known = key.as_ref().and_then(|key| by_id.get(key)).or_else(|| open.get(&conversation));
        let first = known.copied().unwrap_or(at);
        if first != at {
            answers.entry(first).or_default().push(at);
        }
        by_id.extend(key.map(|key| (key, first)));
        if answer.is_partial {
            open.insert(conversation, first);
        } else {
            open.remove(&conversation);
        }
    }
    answers
}

/// The agent that holds a conversation.
pub(super) struct Agent {
    /// The call that started it; `None` for the main agent.
    pub(super) call: Option<Box<str>>,
}

impl Agent {
    /// Returns the agent of a record.
    pub(super) fn new(record: &SdkRecord) -> Self {
        Self { call: record.parent.clone() }
    }
}

/// A conversation under construction.
pub(super) struct SdkConversation {
    agent: Agent,
    transcript: Transcript,
    /// Messages by the ids of their records.
    messages: HashMap<Box<str>, usize>,
    /// The compaction whose summary follows.
    compaction: Option<(SdkBoundary, Span)>,
    prompts: PromptCount,
    totals: RunTotals,
    windows: HashMap<String, Tokens>,
    model: String,
    /// Id of the answer that the API streams.
    streamed: Option<Box<str>>,
    /// Tokens of streamed answers by their ids.
    outputs: HashMap<Box<str>, Tokens>,
    /// Calls by the ids of their answers.
    calls: HashMap<Box<str>, usize>,
}

impl SdkConversation {
    /// Creates an empty conversation.
    pub(super) fn new(
        input: &Input,
        format: &'static str,
        number: Option<usize>,
        agent: Agent,
    ) -> Self {
        let mut prompts = PromptCount::default();
        prompts.begin_run();
        Self {
            agent,
            transcript: Transcript::new(input, format, number),
            messages: HashMap::new(),
            compaction: None,
            prompts,
            totals: RunTotals::default(),
            windows: HashMap::new(),
            model: String::new(),
            streamed: None,
            outputs: HashMap::new(),
            calls: HashMap::new(),
        }
    }

    /// Returns the agent.
    pub(super) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Adds a warning if prompts are missing.
    pub(super) fn report_prompts(&self, how: &str, log: &mut ReadLog) {
        self.prompts.report(how, log);
    }

    /// Adds a record, and the other records of its answer. Returns false if it is not in the context.
    pub(super) fn add(
        &mut self,
        record: SdkRecord,
        others: Vec<SdkRecord>,
        log: &mut ReadLog,
    ) -> bool {
        let start = record.span.start;
        match record.content {
            SdkContent::User(_) => self.add_user(record, log),
            SdkContent::Answer(_) => {
                self.add_answer(std::iter::once(record).chain(others).collect(), log);
                true
            }
            SdkContent::Init(init) => {
                if let Some(model) = init.model {
                    self.transcript.builder.usual_model(&model);
                    self.model = model;
                }
                if let Some(folder) = init.folder {
                    self.transcript.builder.project(folder);
                }
                self.begin_run();
                false
            }
            SdkContent::Failed(error) => {
                if crate::session::says_too_long(&error.to_lowercase()) {
                    let call = CallDraft { time: record.time, ..CallDraft::default() };
                    self.transcript.builder.call(call);
                    self.transcript.builder.fail_last_call(&error);
                }
                false
            }
            SdkContent::Boundary(boundary) => {
                self.compaction = Some((boundary, record.span));
                false
            }
            SdkContent::Streamed(id) => {
                self.streamed = Some(id);
                false
            }
            SdkContent::StreamedOutput(tokens) => {
                self.set_output(tokens);
                false
            }
            SdkContent::End(end) => {
                self.end_run(end, start, log);
                false
            }
            SdkContent::Ignored => false,
        }
    }

    fn begin_run(&mut self) {
        self.prompts.begin_run();
        self.transcript.builder.begin_turn();
    }

    fn end_run(&mut self, end: SdkEnd, start: usize, log: &mut ReadLog) {
        let own = log.notes.usage(start, end.own);
        let named = |(model, usage): (String, Usage)| {
            let usage = log.notes.usage(start, Some(usage))?;
            Some((if model.is_empty() { self.model.clone() } else { model }, usage))
        };
        let totals: Vec<(String, Usage)> = end.totals.into_iter().filter_map(named).collect();
        if !totals.is_empty() {
            self.totals.add(totals, own.as_ref());
        }
        self.windows.extend(end.windows);
        self.begin_run();
    }

    fn add_user(&mut self, record: SdkRecord, log: &mut ReadLog) -> bool {
        let SdkContent::User(SdkUser { parts, is_injected, has_results }) = record.content else {
            return false;
        };
        // A prompt may be repeated when the program reads it and when it sends it.
        let is_known = record.id.as_ref().is_some_and(|id| self.messages.contains_key(id));
        if parts.is_empty() || is_known {
            return false;
        }
        let compaction = self.compaction.take().filter(|_| !has_results);
        let draft = Draft {
            id: record.id.clone(),
            time: record.time,
            is_injected: is_injected && compaction.is_none(),
            is_summary: compaction.is_some(),
            in_history: compaction.is_none(),
            raw: vec![record.span],
            ..Draft::new(Role::User, parts)
        };
        if !is_injected && !has_results && compaction.is_none() {
            self.prompts.prompt();
        }
        let message = self.transcript.add_message(draft);
        self.messages.extend(record.id.map(|id| (id, message)));
        if let Some((boundary, span)) = compaction {
            self.compact(&boundary, message, span.start, log);
        }
        true
    }

    fn compact(&mut self, boundary: &SdkBoundary, summary: usize, start: usize, log: &mut ReadLog) {
        let found = |id: &str| self.messages.get(id).copied();
        let mut kept: Vec<usize> = boundary.kept.iter().filter_map(|id| found(id)).collect();
        if kept.is_empty()
            && let Some((first, last)) = &boundary.range
            && let (Some(first), Some(last)) = (found(first), found(last))
        {
            kept.extend(first..=last);
        }
        kept.sort_unstable();
        kept.dedup();
        kept.insert(0, summary);
        let what = "a count of this compaction";
        let before = log.notes.tokens(start, boundary.before, what);
        let after = log.notes.tokens(start, boundary.after, what);
        self.transcript.builder.compaction(boundary.trigger.as_str(), before, after, kept);
    }

    /// Adds an answer from all of its records.
    fn add_answer(&mut self, records: Vec<SdkRecord>, log: &mut ReadLog) {
        self.prompts.answer();
        let mut call = CallDraft::default();
        let mut draft = Draft::new(Role::Assistant, Vec::new());
        let mut ids = Vec::with_capacity(records.len());
        let mut message = None;
        for (number, record) in records.into_iter().enumerate() {
            let SdkContent::Answer(SdkAnswer { message: id, call: own, parts, .. }) =
                record.content
            else {
                continue;
            };
            let usage = log.notes.usage(record.span.start, own.usage);
            // Later records may have the final counts.
            if usage.map(|usage| (usage.output, usage.input))
                > call.usage.map(|usage| (usage.output, usage.input))
            {
                call.usage = usage;
            }
            call.model = call.model.or(own.model);
            call.cut = call.cut.or(own.cut);
            call.time = call.time.or(record.time);
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            draft.raw.push(record.span);
            draft.parts.extend(parts.into_iter().map(|part| Part { record: number, ..part }));
            message = message.or(id);
            ids.extend(record.id);
        }
        if let Some(tokens) = message.as_ref().and_then(|id| self.outputs.get(id))
            && let Some(usage) = &mut call.usage
        {
            usage.output = usage.output.max(Some(*tokens));
        }
        draft.time = call.time;
        draft.id.clone_from(&message);
        let idx = self.transcript.add_answer(call, draft);
        self.messages.extend(ids.into_iter().map(|id| (id, idx)));
        let call = self.transcript.builder.session().calls.len() - 1;
        self.calls.extend(message.map(|id| (id, call)));
    }

    /// Sets the tokens of the answer that the API streams. Its records come before the count or after it.
    fn set_output(&mut self, tokens: Tokens) {
        let Some(id) = self.streamed.clone() else {
            return;
        };
        let call = self.calls.get(&id).copied();
        if let Some(call) = call.and_then(|call| self.transcript.builder.call_mut(call))
            && let Some(usage) = &mut call.usage
        {
            usage.output = usage.output.max(Some(tokens));
        }
        self.outputs.insert(id, tokens);
    }

    /// Returns the context windows by model that the end of a run states.
    pub(super) fn windows(&self) -> &HashMap<String, Tokens> {
        &self.windows
    }

    /// Returns the conversation, or `None` without a message. `windows` are those of all conversations.
    pub(super) fn finish(mut self, windows: &HashMap<String, Tokens>) -> Option<Session> {
        self.totals.finish(&mut self.transcript.builder);
        let mut session = self.transcript.finish()?;
        for call in &mut session.calls {
            let model = call.model.and_then(|model| session.models.get(model));
            call.window = call.window.or_else(|| windows.get(model?).copied());
        }
        Some(session)
    }
}
