//! Contexts of calls as the messages of a request: converted as `plimsoll context` writes them.

use super::job::EvaluatedLane;
use super::points::{QuestionPoint, uncompacted};
use super::sender::{Sender, Series};
use crate::chat::{ChatMessage, message_from_json};
use crate::engine::{Case, Estimator, KnobValues, ManualEdits, Policy, Schedule};
use crate::exec::export::{CallContext, ExportJob, context_with};
use crate::exec::summary::{RequestRecord, Summarizer, SummaryAnswerer};
use crate::formats;
use crate::json::{self, json};
use crate::presets;
use crate::units::Tokens;
use std::path::PathBuf;
use std::sync::Arc;

/// The context of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct PromptContext {
    pub(super) messages: Vec<ChatMessage>,
    /// Actual tokens.
    pub(super) tokens: Tokens,
}

/// The contexts of a lane in one sample.
#[derive(Debug, Default)]
pub(super) struct PlayedLane {
    /// Name of the sample's series of requests.
    pub(super) series: String,
    /// By call in the order requested; `None` where the run ended before.
    pub(super) contexts: Vec<Option<PromptContext>>,
    /// Summary requests up to the last of these calls.
    pub(super) requests: Vec<RequestRecord>,
    /// Reason why a context is missing.
    pub(super) problem: Option<String>,
}

/// The samples of a lane.
#[derive(Debug, Default)]
pub(super) struct PlayedSamples {
    pub(super) samples: Vec<PlayedLane>,
    /// The lane is the recorded run. Questions about it are asked only after recorded compactions.
    pub(super) is_recorded: bool,
}

impl PlayedSamples {
    /// Returns whether questions are asked with this lane at a point.
    pub(super) fn is_asked_at(&self, point: &QuestionPoint) -> bool {
        point.is_asked(self.is_recorded)
    }
}

/// A session with the contexts of its points, and the sender of the questions about them.
#[derive(Clone, Copy)]
pub(super) struct AskedSession<'a, 'b> {
    pub(super) sender: &'a Sender<'b>,
    /// Number of requests at a time.
    pub(super) concurrency: usize,
    pub(super) case: &'a Case,
    pub(super) points: &'a [QuestionPoint],
    /// By point: the full context; `None` if it cannot be sent.
    pub(super) full: &'a [Option<PromptContext>],
    pub(super) lanes: &'a [PlayedSamples],
}

/// Returns the recorded context of a call, without manual edits.
pub(super) fn recorded_context(case: &Case, call: usize) -> Result<PromptContext, String> {
    let none = presets::by_name("none").ok_or("there is no preset none")?;
    let knobs = none.defaults();
    let job = job(
        case.with_manual_edits(ManualEdits::default()),
        &none,
        &knobs,
        Schedule::Now { force: false },
        call,
    );
    prompt_context(&context_with(&job, &mut Estimator)?)
}

/// Returns the full context of a point. After a recorded compaction, that is the context without the compaction.
pub(super) fn full_context(case: &Case, point: &QuestionPoint) -> Result<PromptContext, String> {
    if point.is_recorded_compaction {
        recorded_context(&uncompacted(case, point.call), point.call)
    } else {
        recorded_context(case, point.call)
    }
}

/// Returns the recorded contexts directly after recorded compactions. At other points, the recorded context is the full
/// one.
pub(super) fn play_recorded(case: &Case, points: &[QuestionPoint], series: &str) -> PlayedLane {
    let mut played = PlayedLane { series: series.to_owned(), ..PlayedLane::default() };
    for point in points {
        let context = point.is_recorded_compaction.then(|| recorded_context(case, point.call));
        let context = context.transpose().unwrap_or_else(|reason| {
            played.problem.get_or_insert(reason);
            None
        });
        played.contexts.push(context);
    }
    played
}

/// Plays a lane with real summaries up to each of the calls and returns their contexts. A summary is requested once,
/// since equal prompts of a series have the same answer.
pub(super) fn play(
    case: &Case,
    lane: &EvaluatedLane,
    calls: &[usize],
    sender: &Sender<'_>,
    series: &str,
) -> PlayedLane {
    let summarizer = shared_answers(sender);
    let exchanges = Series { sender, name: series };
    let mut answers = SummaryAnswerer::through(&summarizer, &exchanges);
    let mut played = PlayedLane { series: series.to_owned(), ..PlayedLane::default() };
    for call in calls {
        answers.restart();
        let schedule = Schedule::Replay;
        let job = job(lane.case(case), &lane.policy, &lane.knobs, schedule, *call);
        let context = context_with(&job, &mut answers).and_then(|context| prompt_context(&context));
        if let Some(reason) = answers.fatal.take() {
            played.problem = Some(reason);
            break;
        }
        played.requests.clone_from(&answers.records);
        match context {
            Ok(context) => played.contexts.push(Some(context)),
            Err(reason) => {
                played.problem.get_or_insert(reason);
                played.contexts.push(None);
            }
        }
    }
    played.contexts.resize(calls.len(), None);
    played
}

/// Returns the summarizer of a run whose answers come from a sender.
pub(super) fn shared_answers(sender: &Sender<'_>) -> Summarizer {
    Summarizer::Log(Arc::new(sender.settings().clone()))
}

fn job(
    case: Case,
    policy: &Policy,
    knobs: &KnobValues,
    schedule: Schedule,
    call: usize,
) -> ExportJob {
    // The writer of the source's own format would keep its document.
    let format = formats::other_format(case.session.source.format);
    ExportJob {
        case,
        policy: policy.clone(),
        knobs: knobs.clone(),
        schedule,
        until: Some(call),
        summarizer: Summarizer::Digest,
        format,
        output: PathBuf::new(),
        given: Vec::new(),
        files: None,
    }
}

fn prompt_context(context: &CallContext) -> Result<PromptContext, String> {
    let invalid = |error| format!("the context cannot be sent ({error})");
    let document = json::from_slice(context.bytes()).map_err(invalid)?;
    let system = document.get("system").filter(|system| !system.is_null());
    let system = system.map(|content| {
        let message = json!({"role": "system", "content": content});
        message_from_json(&message)
    });
    let messages = document["messages"].as_array().into_iter().flatten();
    Ok(PromptContext {
        messages: system.into_iter().chain(messages.map(message_from_json)).collect(),
        tokens: context.outcome().context.tokens(),
    })
}
