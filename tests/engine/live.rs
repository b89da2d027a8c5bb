//! A live conversation gets the messages that a replay of the finished one shows, call by call.

use crate::repository;
use plimsoll_core::engine::{
    Answer, Case, ExecutedContext, KnobValues, Policy, Reply, Request, Schedule, WindowPlan,
    WindowSource, drive,
};
use plimsoll_core::formats::{self, Input};
use plimsoll_core::json::{Value, from_slice, json};
use plimsoll_core::live::{Entry, Manager, Options, Ready, Step};
use plimsoll_core::presets::PRESETS;
use plimsoll_core::progress::Progress;
use plimsoll_core::session::{Managed, ManagedEntry, Session};
use plimsoll_core::tokens::{TokenLedger, default_counter};
use plimsoll_core::units::Tokens;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// Numbers the summaries of a run.
#[derive(Default)]
pub(crate) struct Numbered(pub(crate) usize);

impl Numbered {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("Summary number {}: the user wants tests, and the parser is done.", self.0)
    }
}

impl Answer for Numbered {
    fn answer(&mut self, _: &Case, _: &Request) -> Reply {
        Reply::Summary(self.next().as_str().into())
    }
}

/// Reads a list of messages as a file.
fn read(format: &str, messages: &[Value]) -> Session {
    let text = Value::from(messages.to_vec()).to_string();
    let input = Input { name: "live".into(), bytes: text.into_bytes().into() };
    let format = formats::by_name(format).expect("it exists");
    let parsed = format.read(&input, &Progress::default()).expect("a list of messages");
    parsed.sessions.into_iter().next().expect("one conversation")
}

fn case_of(session: Session, window: u64) -> Case {
    let session = Arc::new(session);
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default());
    let calls = session.calls.len();
    let windows = WindowPlan::constant(Tokens(window), calls, WindowSource::User);
    Case::new(session, ledger.expect("nobody cancels"), windows)
}

/// Returns the messages that a replay sends at a call, as its format writes them.
fn replayed(case: &Case, policy: &Policy, knobs: &KnobValues, call: usize) -> Vec<Value> {
    let outcome =
        drive(case, policy, knobs, Schedule::Replay, Some(call), &mut Numbered::default());
    let executed = ExecutedContext::new(outcome.context).expect("no summary is predicted");
    let managed = executed.managed(&case.session);
    let format = formats::by_name(case.session.source.format).expect("it was read");
    let written = format.write(&case.session, &managed).expect("it can be written");
    match from_slice(&written) {
        Ok(Value::Array(messages)) => messages,
        // An empty list may be written as nothing.
        other => panic!("no list: {other:?}"),
    }
}

/// Steps until a request is ready, with numbered summaries.
pub(crate) fn ready(manager: &mut Manager, summaries: &mut Numbered) -> Ready {
    loop {
        match manager.step().expect("the conversation continues") {
            Step::Ready(ready) => return ready,
            Step::Summarize(ask) => {
                let is_last = ask.part.0 == ask.part.1;
                let text = if is_last { summaries.next() } else { "So far.".to_owned() };
                manager.answer(&text).expect("a summary is awaited");
            }
        }
    }
}

pub(crate) fn sent(ready: &Ready, messages: &[Value]) -> Vec<Value> {
    let message = |entry: &Entry| match entry {
        Entry::Keep { keep } => messages[*keep].clone(),
        Entry::Edit { message, .. } | Entry::Add { add: message } => Value::clone(message),
    };
    ready.entries.iter().map(message).collect()
}

/// Plays a conversation live and compares every `nth` call with a replay. Returns the number of compared calls and of those
/// that were sent something else than the history.
fn compare(
    format: &str,
    messages: &[Value],
    (policy, window, nth): (&str, u64, usize),
    settings: &[(String, f64)],
) -> Result<(usize, usize), String> {
    let case = case_of(read(format, messages), window);
    let parsed = plimsoll_core::preset(policy).expect("bundled");
    let mut knobs = parsed.defaults();
    for (name, value) in settings {
        parsed.set(&mut knobs, name, *value).expect("inside the range");
    }
    let mut options = Options::new(window);
    options.format = Some(format.to_owned());
    options.settings = settings.iter().cloned().collect();
    let mut manager = Manager::new(policy, options).expect("a bundled preset");
    let (mut summaries, mut compared, mut changed) = (Numbered::default(), 0, 0);
    let mut pushed = 0;
    // Messages of the list by message of the session: a message may be read as several.
    let elements: Vec<usize> = {
        let mut spans: Vec<_> = Vec::new();
        case.session
            .messages
            .iter()
            .map(|message| {
                let span = message.raw[0].clone();
                if spans.last() != Some(&span) {
                    spans.push(span);
                }
                spans.len() - 1
            })
            .collect()
    };
    for (number, call) in case.session.calls.iter().enumerate() {
        let end = elements.get(call.context_end).copied().unwrap_or(messages.len());
        for message in &messages[pushed..end] {
            manager.push(&message.to_string()).map_err(|error| error.to_string())?;
        }
        pushed = end;
        if end == 0 {
            // A greeting: nothing was sent for it.
            continue;
        }
        let ready = ready(&mut manager, &mut summaries);
        if number % nth != 0 {
            continue;
        }
        let live = sent(&ready, messages);
        let expected = replayed(&case, &parsed, &knobs, number);
        compared += 1;
        changed += usize::from(live != messages[..end]);
        if live != expected {
            let text = |messages: &[Value]| Value::from(messages.to_vec()).to_string();
            return Err(format!(
                "{policy}, window {window}, call {} of {}:\nlive   {}\nreplay {}",
                number + 1,
                case.session.calls.len(),
                text(&live),
                text(&expected)
            ));
        }
    }
    Ok((compared, changed))
}

/// A random conversation: turns of calls with results of some words.
pub(crate) fn conversation(format: &str, moves: &[(u8, usize, usize)]) -> Vec<Value> {
    let mut messages = Vec::new();
    // The other formats have their instructions outside of the list.
    if format == "openai_chat" {
        messages.push(json!({"role": "system", "content": "You are a careful agent."}));
    }
    let mut id = 0;
    for (number, (kind, calls, words)) in moves.iter().enumerate() {
        let text = format!("Please do step {number}: never touch the file config_{number}.toml.");
        messages.push(match format {
            "openai_responses" => json!({"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": text}]}),
            _ => json!({"role": "user", "content": text}),
        });
        let at_once = if *kind == 0 { 2 } else { 1 };
        for _ in 0..*calls {
            let ids: Vec<String> = (0..at_once)
                .map(|_| {
                    id += 1;
                    format!("call_{id}")
                })
                .collect();
            let result = format!("line {id} of the file. ").repeat(*words);
            exchange(format, &mut messages, &ids, &result);
        }
        answer(format, &mut messages, &format!("Step {number} is done."));
    }
    messages
}

fn exchange(format: &str, messages: &mut Vec<Value>, ids: &[String], result: &str) {
    let arguments = |id: &str| json!({"path": format!("src/{id}.rs")});
    match format {
        "openai_chat" => {
            let calls: Vec<Value> = ids
                .iter()
                .map(|id| {
                    json!({"id": id, "type": "function",
                "function": {"name": "read", "arguments": arguments(id).to_string()}})
                })
                .collect();
            messages
                .push(json!({"role": "assistant", "content": "Let me look.", "tool_calls": calls}));
            for id in ids {
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
            }
        }
        "anthropic_messages" => {
            let calls: Vec<Value> = ids
                .iter()
                .map(|id| {
                    json!({"type": "tool_use", "id": id,
                "name": "read", "input": arguments(id)})
                })
                .collect();
            let results: Vec<Value> = ids
                .iter()
                .map(|id| {
                    json!({"type": "tool_result",
                "tool_use_id": id, "content": result})
                })
                .collect();
            messages.push(json!({"role": "assistant", "content": calls}));
            messages.push(json!({"role": "user", "content": results}));
        }
        _ => {
            for id in ids {
                messages.push(json!({"type": "function_call", "call_id": id, "name": "read",
                    "arguments": arguments(id).to_string()}));
            }
            for id in ids {
                messages
                    .push(json!({"type": "function_call_output", "call_id": id, "output": result}));
            }
        }
    }
}

fn answer(format: &str, messages: &mut Vec<Value>, text: &str) {
    messages.push(match format {
        "openai_responses" => json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    });
}

pub(crate) const FORMATS: [&str; 3] = ["openai_chat", "anthropic_messages", "openai_responses"];

pub(crate) fn long(format: &str) -> Vec<Value> {
    let moves: Vec<_> = (0..10).map(|n| ((n % 3) as u8, 3 + n % 4, 60 + 40 * (n % 5))).collect();
    conversation(format, &moves)
}

#[test]
fn every_preset_sends_live_what_its_replay_shows() {
    let mut acted = Vec::new();
    let mut wrong = Vec::new();
    for format in FORMATS {
        let messages = long(format);
        for preset in PRESETS {
            match compare(format, &messages, (preset.name, 24_000, 1), &[]) {
                Ok((_, managed)) if managed > 0 => acted.push(preset.name),
                Ok(_) => {}
                Err(why) => wrong.push(format!("{format}, {why}")),
            }
        }
    }
    let short = |why: &String| why.chars().take(3000).collect::<String>();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().map(short).collect::<Vec<_>>().join("\n\n")
    );
    acted.sort_unstable();
    acted.dedup();
    assert!(acted.len() > PRESETS.len() / 3, "only {acted:?} acted");
}

/// Returns the files of the samples, and the session files of real programs.
fn session_files() -> Vec<PathBuf> {
    let mut folders = [
        "sample_sessions",
        "tests/pairs",
        "tests/fixtures/claude_code",
        "tests/fixtures/codex_rollout",
    ]
    .map(|folder| repository::repository().join(folder))
    .to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// Recorded conversations of real programs and of the samples, as lists of messages.
static RECORDED: LazyLock<Vec<(String, &'static str, Vec<Value>)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for path in session_files() {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let input = Input { name: "file".into(), bytes: bytes.into() };
        let Ok(parsed) = formats::parse(&input) else { continue };
        for (number, session) in parsed.sessions.iter().enumerate().take(2) {
            let keep = |(message, _)| ManagedEntry::Kept { message };
            let messages = session.messages.iter().enumerate();
            let entries = messages.filter(|(_, m)| m.in_history).map(keep).collect();
            let managed = Managed { entries, ..Managed::default() };
            for target in ["openai_chat", "anthropic_messages"] {
                if session.calls.len() < 3 || session.source.format == target {
                    continue;
                }
                let format = formats::by_name(target).expect("it exists");
                let Ok(written) = format.write(session, &managed) else { continue };
                let Ok(document) = from_slice(&written) else { continue };
                let list = match document {
                    Value::Array(list) => list,
                    other => match other.get("messages").and_then(Value::as_array) {
                        Some(list) => list.clone(),
                        None => continue,
                    },
                };
                found.push((format!("{} {}", path.display(), number + 1), target, list));
            }
        }
    }
    found
});

#[test]
fn recorded_conversations_are_managed_live_as_in_a_replay() {
    let (mut n_compared, mut n_managed) = (0, 0);
    assert!(RECORDED.len() >= 20, "only {} recorded conversations", RECORDED.len());
    for (name, format, messages) in &*RECORDED {
        for preset in ["truncate", "prune", "summarize", "codex", "opencode", "claude-code"] {
            let window = 12_000;
            let nth = 1 + messages.len() / 40;
            let result = compare(format, messages, (preset, window, nth), &[]);
            let (compared, managed) = result.unwrap_or_else(|why| {
                panic!("{name}: {}", why.chars().take(6000).collect::<String>())
            });
            n_compared += compared;
            n_managed += managed;
        }
    }
    assert!(n_managed * 10 > n_compared, "{n_managed} of {n_compared} calls were managed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_conversations_are_managed_live_as_in_a_replay(
        moves in prop::collection::vec((0..3_u8, 0..5_usize, 0..200_usize), 2..8),
        format in 0..FORMATS.len(),
        preset in 0..PRESETS.len(),
        window in 6_000..40_000_u64,
        dice in prop::collection::vec(0.0..1.0_f64, 1..6),
    ) {
        let (format, preset) = (FORMATS[format], PRESETS[preset].name);
        let policy = plimsoll_core::preset(preset).expect("bundled");
        let mut settings = Vec::new();
        let mut knobs = policy.defaults();
        for (knob, dice) in policy.knobs.iter().zip(dice.iter().cycle()) {
            let [low, high] = knob.range;
            let value = low + (high - low) * dice.powi(4);
            let value = if knob.step >= 1.0 { value.round() } else { value }.clamp(low, high);
            if policy.set(&mut knobs, &knob.name, value).is_ok() {
                settings.push((knob.name.clone(), value));
            }
        }
        let result = compare(format, &conversation(format, &moves), (preset, window, 1), &settings);
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }
}
