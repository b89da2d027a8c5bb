//! Replays a case with its preset, call by call, through the function behind the command `context`.

use super::case::ReplayCase;
use super::settings::settings;
use super::systems::{REFUSALS, class_of};
use plimsoll::chat::message_to_json;
use plimsoll::engine::{
    ActionKind, Answer, Case, Effect, EntryBody, Event, Hook, KnobValues, Left, Outcome,
    PartStatus, Policy, ProviderError, Reply, Request, Schedule, Storage, WindowPlan, WindowSource,
};
use plimsoll::exec::{CallContext, ExportJob, LoadOptions, Summarizer, context_with, load_bytes};
use plimsoll::formats;
use plimsoll::json::{Value, json};
use plimsoll::session::{Role, WrittenKind};
use plimsoll::tokens::{Progress, default_counter};
use plimsoll::units::Tokens;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The request that a replay sends for one call.
#[derive(Default)]
pub(crate) struct ActualCall {
    pub(crate) sent: Vec<Value>,
    /// Origins of each message: of its own text and of texts added to it.
    pub(crate) from: Vec<Vec<Origin>>,
    pub(crate) fired: Vec<String>,
    pub(crate) believed: Option<u64>,
    pub(crate) asked: Vec<Value>,
    pub(crate) halts: Vec<String>,
}

/// The name of a refusal among the mechanisms of a call.
pub(crate) const REFUSED: &str = "refused";

/// The name of a repair of calls and results among the mechanisms of a call, before its own name.
const REPAIR: &str = "repair: ";

impl ActualCall {
    /// Returns the mechanisms of a call as a case names them: some list neither refusals nor repairs.
    pub(crate) fn fired_as(&self, expected: &[String]) -> Vec<String> {
        let lists_refusals = expected.iter().any(|name| REFUSALS.contains(&name.as_str()));
        let name = |name: &String| match name.strip_prefix(REPAIR) {
            None if name == REFUSED && !lists_refusals => None,
            None => Some(known_name(name, expected).to_owned()),
            Some(repair) => {
                let is_listed = expected.iter().any(|name| name.replace('_', "-") == repair);
                is_listed.then(|| repair.to_owned())
            }
        };
        self.fired.iter().filter_map(name).collect()
    }
}

/// Backend of a configuration that cannot write files.
const NO_BACKEND: &str = "a backend whose writes fail";

/// Start of the name of a failure among the mechanisms of a call.
const FAILED: &str = "failed: ";

/// A failure after answered requests.
const INFLATED: &str = "failed: COMPRESSION_FAILED_INFLATED_TOKEN_COUNT";

/// Part of the name of a failure whose request got an empty answer.
const NO_TEXT: &str = "no summary text";

/// Text of a rejection.
const REJECTION: &str = "HTTP 400: the prompt is too long: context_length_exceeded";

/// The origin of an entry of the context.
pub(crate) struct Origin {
    /// Index of the recorded message; `None` if the policy wrote it.
    pub(crate) message: Option<usize>,
    /// Whether the policy replaced all of its texts.
    pub(crate) is_replaced: bool,
}

/// A case with its policy.
pub(crate) struct Replay<'a> {
    case: &'a ReplayCase,
    loaded: Case,
    policy: Policy,
    knobs: KnobValues,
}

impl<'a> Replay<'a> {
    /// Loads the conversation of a case as a chat file.
    pub(crate) fn new(case: &'a ReplayCase, policy: Policy) -> Result<Self, String> {
        let bytes = json!({"messages": case.messages}).to_string().into_bytes();
        let options = LoadOptions {
            counter: default_counter(),
            window: Some(Tokens(case.window)),
            conversation: 0,
        };
        let loaded = load_bytes("case.json", bytes, &options, &Progress::default());
        let loaded = loaded.map_err(|error| error.to_string())?.case;
        let (n_calls, expected) = (loaded.session.calls.len(), case.calls.len());
        if n_calls < expected || loaded.session.messages.len() != case.messages.len() {
            return Err(format!("the reader finds {n_calls} calls, not {expected}"));
        }
        let windows = WindowPlan::constant(Tokens(case.window), n_calls, WindowSource::User);
        // Without usage every answer is one without usage.
        let mut usage = case.usage.clone();
        usage.resize(n_calls, None);
        let errors = case
            .rejected
            .iter()
            .map(|request| ProviderError { call: request.call, text: REJECTION.into() });
        let errors: Vec<ProviderError> = errors.collect();
        let loaded = loaded.with_windows(windows).with_reported_usage(&usage);
        let cannot_write = case.config["backend"] == NO_BACKEND;
        let storage = if cannot_write { Storage::Missing } else { Storage::AsSet };
        let loaded = loaded.with_storage(storage);
        Ok(Self {
            knobs: settings(case, &policy)?,
            loaded: loaded.with_errors(&errors),
            case,
            policy,
        })
    }

    /// Returns the call as it was when its request was rejected, the nth one of the case.
    pub(crate) fn rejected(&self, nth: usize) -> Result<ActualCall, String> {
        let (errors, call) = (&self.loaded.errors[..nth], self.loaded.errors[nth].call);
        self.run(&self.loaded.with_errors(errors), call)
    }

    /// Returns what is sent for a call.
    pub(crate) fn call(&self, call: usize) -> Result<ActualCall, String> {
        self.run(&self.loaded, call)
    }

    fn run(&self, case: &Case, call: usize) -> Result<ActualCall, String> {
        let mut answers = Answers {
            summary: &self.case.summary,
            repeated: repeated_answers(self.case),
            failures: failures(self.case),
            asked: Vec::new(),
        };
        let job = ExportJob {
            case: case.clone(),
            policy: self.policy.clone(),
            knobs: self.knobs.clone(),
            schedule: Schedule::Replay,
            until: Some(call),
            summarizer: Summarizer::Digest,
            format: formats::by_name("openai_chat").ok_or("no format")?,
            output: PathBuf::new(),
            given: Vec::new(),
            files: None,
        };
        let context = context_with(&job, &mut answers)?;
        let outcome = context.outcome();
        // A case shows what a system did after a turn at the next call.
        let is_of_call = |event: &&Event| {
            let mut stages = self.policy.stages.iter();
            let stage = stages.find(|stage| stage.id == event.stage);
            let is_late = stage.is_some_and(|stage| stage.at == Hook::TurnEnd);
            event.call + usize::from(is_late) == call
        };
        Ok(ActualCall {
            sent: messages(&context)?,
            from: origins(outcome),
            fired: {
                let events: Vec<&Event> = outcome.events.iter().filter(is_of_call).collect();
                let errors = case.errors.iter().filter(|error| error.call == call);
                let mut names = names(&events, errors, &self.case.system);
                // Such a case lists no failure among the mechanisms.
                let is_listed = self.case.configured_failures.is_empty();
                names.retain(|name| is_listed || !name.starts_with(FAILED));
                names
            },
            believed: {
                let mut counts = outcome.compared.iter().filter(|(of, _)| *of == call);
                counts.next_back().map(|(_, count)| count.0)
            },
            asked: {
                let asked = answers.asked.into_iter();
                asked.filter(|(of, _)| *of == call).map(|a| a.1).collect()
            },
            halts: outcome.halts.iter().map(|halt| halt.why.clone()).collect(),
        })
    }
}

/// Returns the names of the mechanisms of a call: those before its request, then each rejection with those after it.
fn names<'e>(
    events: &[&Event],
    errors: impl Iterator<Item = &'e ProviderError>,
    system: &str,
) -> Vec<String> {
    let names_after = |error: Option<&Arc<str>>| -> Vec<String> {
        let is_after = |event: &&&Event| match (&event.error, error) {
            (Some(own), Some(error)) => Arc::ptr_eq(own, error),
            (own, error) => own.is_none() && error.is_none(),
        };
        let events = events.iter().filter(is_after);
        events.flat_map(|event| fired(event, system)).collect()
    };
    let after_errors = errors.flat_map(|error| {
        let refused = std::iter::once(REFUSED.to_owned());
        refused.chain(names_after(Some(&error.text)))
    });
    names_after(None).into_iter().chain(after_errors).collect()
}

/// Returns the messages of the written conversation.
fn messages(context: &CallContext) -> Result<Vec<Value>, String> {
    let written: Value =
        serde_json::from_slice(context.bytes()).map_err(|error| error.to_string())?;
    let messages = written["messages"].as_array().cloned();
    messages.ok_or_else(|| "the written conversation has no messages".to_owned())
}

fn origins(outcome: &Outcome) -> Vec<Vec<Origin>> {
    let context = &outcome.context;
    let mut origins: Vec<Vec<Origin>> = Vec::new();
    for entry in &context.entries {
        // Cases name the origin of the calls of a message with a new text.
        if matches!(&entry.body, EntryBody::Written(written) if written.joins_next) {
            continue;
        }
        let origin = match &entry.body {
            EntryBody::Original(message) => {
                Origin { message: Some(*message as usize), is_replaced: false }
            }
            EntryBody::Edited(edited) => Origin {
                message: Some(edited.message as usize),
                is_replaced: edited.parts.as_slice().iter().all(|status| match status {
                    PartStatus::Kept => false,
                    PartStatus::Cleared { marker } => {
                        context.markers[*marker as usize].left == Left::Nothing
                    }
                    PartStatus::Removed { .. } => true,
                }),
            },
            EntryBody::Written(_) => Origin { message: None, is_replaced: true },
        };
        let is_addition = matches!(&entry.body, EntryBody::Written(written)
            if written.kind == WrittenKind::Addition && written.role == Role::User);
        match origins.last_mut().filter(|_| is_addition) {
            Some(last) => last.push(origin),
            None => origins.push(vec![origin]),
        }
    }
    origins
}

/// The stage that shapes each request in a system's provider layer. Cases list no mechanism for it.
const PROVIDER_LAYER: &str = "shape";

/// The stage of systems whose strategies contain others: the terms of its events name those that acted.
const STRATEGIES: &str = "strategies";
/// The other term of such events.
const COUNT: &str = "used";

/// Returns the failures that an event logs, and its mechanism: the id of its stage.
fn fired(event: &Event, system: &str) -> Vec<String> {
    if event.stage == PROVIDER_LAYER {
        return Vec::new();
    }
    // A mechanism that ran without a change or an error counts.
    let is_idle =
        event.log.is_empty() && event.request.is_none() && event.effect == Effect::Nothing;
    let acted = matches!(event.effect, Effect::Removed | Effect::Changed) || is_idle;
    let failures = event.log.iter().map(|line| format!("{FAILED}{line}"));
    let names = if event.stage == STRATEGIES {
        let terms = event.cause.terms.iter();
        let terms = terms.map(|(name, _)| name.replace('_', "-"));
        terms.filter(|name| name != COUNT).collect()
    } else {
        Vec::from_iter(acted.then(|| mechanism(event, system)))
    };
    failures.chain(names).collect()
}

/// Ends of the ids of stages that belong to the mechanism with the rest as its name.
const AGAIN: [&str; 5] = ["_if_rejected", "_before_call", "_summary_again", "_again", "_summary"];

/// Returns a name as a case has it: some name a mechanism after a rejection as before it.
fn known_name<'n>(name: &'n str, expected: &[String]) -> &'n str {
    let is_listed = |name: &str| expected.iter().any(|known| known.replace('_', "-") == name);
    let before = name.strip_suffix("-refused").filter(|before| is_listed(before));
    before.filter(|_| !is_listed(name)).unwrap_or(name)
}

/// Returns the name that cases give to a mechanism.
fn mechanism(event: &Event, system: &str) -> String {
    if let Some(class) = class_of(system, &event.stage, event.action) {
        return class.to_owned();
    }
    if event.action == ActionKind::Repair {
        return format!("{REPAIR}{}", event.stage.replace('_', "-"));
    }
    // Stages of one mechanism at several points of a call.
    let name = AGAIN.iter().find_map(|end| event.stage.strip_suffix(end));
    name.unwrap_or(&event.stage).replace('_', "-")
}

/// Answers summary requests with the case's text and records them.
struct Answers<'a> {
    summary: &'a str,
    /// Answers that differ from it, by the number of the request.
    repeated: BTreeMap<usize, String>,
    /// Requests that fail, by number, with the error.
    failures: BTreeMap<usize, String>,
    asked: Vec<(usize, Value)>,
}

impl Answer for Answers<'_> {
    fn answer(&mut self, _: &Case, request: &Request) -> Reply {
        let nth = self.asked.len();
        let asked = request.verbatim.as_ref().map_or(Value::Null, |ask| {
            let messages: Vec<Value> = ask.messages.iter().map(message_to_json).collect();
            json!({"messages": messages, "max_tokens": ask.max_tokens})
        });
        self.asked.push((request.call, asked));
        match self.failures.get(&nth) {
            Some(why) if why.is_empty() => Reply::Summary("".into()),
            Some(why) => Reply::Failed(why.clone()),
            None => {
                let repeated = self.repeated.get(&nth).map(String::as_str);
                Reply::Summary(repeated.unwrap_or(self.summary).into())
            }
        }
    }
}

/// Returns the answers that the next request of a call repeats behind the messages of the first, by the number of the
/// request. The last request of such a call has the same answer.
fn repeated_answers(case: &ReplayCase) -> BTreeMap<usize, String> {
    let mut answers = BTreeMap::new();
    let mut nth = 0;
    for call in &case.calls {
        for (asked, next) in call.asked.iter().zip(call.asked.iter().skip(1)) {
            let question = asked["messages"].as_array().map_or(0, Vec::len).saturating_sub(1);
            let (now, then) = (&asked["messages"][question], &next["messages"][question]);
            let answer = then["content"].as_str();
            let is_repeated = now["role"] == "user" && then["role"] == "assistant";
            if let Some(answer) = answer.filter(|_| is_repeated) {
                answers.insert(nth, answer.to_owned());
                answers.insert(nth + 1, answer.to_owned());
            }
            nth += 1;
        }
        nth += usize::from(!call.asked.is_empty());
    }
    answers
}

/// Returns the requests that the stub of a case refused: those that the configuration lists or with an error, or of each
/// failed mechanism the first. An empty reason means an empty answer.
fn failures(case: &ReplayCase) -> BTreeMap<usize, String> {
    if !case.configured_failures.is_empty() {
        let halt = case.halt.as_deref().map(without_class);
        let why = halt.unwrap_or("the stub refuses");
        let failures = case.configured_failures.iter();
        return failures.map(|nth| (nth - 1, why.to_owned())).collect();
    }
    let mut failures = BTreeMap::new();
    let mut n_before = 0;
    for call in &case.calls {
        if call.asked.iter().any(|asked| asked.get("failed").is_some()) {
            let errors = call.asked.iter().map(|asked| asked["failed"].as_str());
            let errors = errors.enumerate();
            let refused = errors.filter_map(|(nth, why)| Some((n_before + nth, why?.to_owned())));
            failures.extend(refused);
            n_before += call.asked.len();
            continue;
        }
        let n_each = (call.asked.len() / call.fired.len().max(1)).max(1);
        for (nth, name) in call.fired.iter().enumerate() {
            if name.starts_with(FAILED) && name != INFLATED {
                let why = if name.contains("400 the stub") {
                    "400 the stub refuses"
                } else if name.contains(NO_TEXT) {
                    ""
                } else {
                    "the stub refuses"
                };
                failures.insert(n_before + nth * n_each, why.to_owned());
            }
        }
        n_before += call.asked.len();
    }
    failures
}

/// Returns the text of a halt without the class of its exception, which some cases put before it.
pub(crate) fn without_class(halt: &str) -> &str {
    match halt.split_once(": ") {
        Some((class, text)) if class.chars().all(char::is_alphanumeric) => text,
        _ => halt,
    }
}
