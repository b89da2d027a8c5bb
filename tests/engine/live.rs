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
struct Numbered(usize);

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
fn ready(manager: &mut Manager, summaries: &mut Numbered) -> Ready {
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

fn sent(ready: &Ready, messages: &[Value]) -> Vec<Value> {
    let message = |entry: &Entry| match entry {
        Entry::Keep { keep } => messages[*keep].clone(),
        Entry::Edit { message, .. } => message.clone(),
        Entry::Add { add } => add.clone(),
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
fn conversation(format: &str, moves: &[(u8, usize, usize)]) -> Vec<Value> {
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

const FORMATS: [&str; 3] = ["openai_chat", "anthropic_messages", "openai_responses"];

fn long(format: &str) -> Vec<Value> {
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

/// Options that keep the counts as they are.
fn options(window: u64) -> Options {
    Options { format: Some("openai_chat".to_owned()), ..Options::new(window) }
}

/// What a provider counts: instructions and tools that no message has, and the messages.
fn provider_count(messages: &[Value]) -> u64 {
    9_000 + messages.iter().map(|message| message.to_string().len() as u64 / 4).sum::<u64>()
}

/// Pushes and steps through a conversation; returns what each call sends.
fn play(manager: &mut Manager, messages: &[Value], usage: bool) -> Vec<Vec<Value>> {
    let mut summaries = Numbered::default();
    let mut all = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        if message["role"] == "assistant" {
            let ready = ready(manager, &mut summaries);
            all.push(sent(&ready, &messages[..number]));
            if usage {
                manager
                    .report(provider_count(&all[all.len() - 1]), Some(50))
                    .expect("a request was built");
            }
        }
        manager.push(&message.to_string()).expect("a message");
    }
    all
}

#[test]
fn reported_usage_corrects_counts_and_never_changes_a_decision() {
    let messages = long("openai_chat");
    let mut manager = Manager::new("summarize", options(48_000)).unwrap();
    let with = play(&mut manager, &messages, true);
    let mut manager = Manager::new("summarize", options(48_000)).unwrap();
    let without = play(&mut manager, &messages, false);
    let first = |calls: &[Vec<Value>]| {
        calls.iter().position(|sent| sent.iter().any(|m| m.to_string().contains("Summary number")))
    };
    let (with, without) = (first(&with), first(&without));
    assert!(with.is_some() && without.is_some() && with < without, "{with:?} {without:?}");
}

#[test]
fn counts_follow_reported_usage() {
    let messages = long("openai_chat");
    let mut manager = Manager::new("none", options(1_000_000)).unwrap();
    let mut last = None;
    for (number, message) in messages.iter().enumerate() {
        if message["role"] == "assistant" {
            let Step::Ready(ready) = manager.step().unwrap() else { panic!("no summary") };
            let actual = provider_count(&messages[..number]);
            if let Some(before) = last {
                let off = (ready.tokens as f64 - actual as f64).abs() / actual as f64;
                assert!(
                    off < 0.2,
                    "call {}: {} instead of {actual} after {before}",
                    ready.call,
                    ready.tokens
                );
                assert_eq!(ready.accuracy, "calibrated");
            }
            manager.report(actual, Some(10)).unwrap();
            last = Some(actual);
        }
        manager.push(&message.to_string()).unwrap();
    }
}

#[test]
fn a_restored_manager_continues_identically() {
    let messages = long("openai_chat");
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (policy, usage) in
        [("summarize", true), ("prune", false), ("claude-code", true), ("digitorn", false)]
    {
        let mut whole = Manager::new(policy, options(16_000)).unwrap();
        let expected = play(&mut whole, &messages, usage);
        let half = messages.iter().rposition(|m| m["role"] == "user").unwrap();
        let mut manager = Manager::new(policy, options(16_000)).unwrap();
        let begun = play(&mut manager, &messages[..half], usage);
        for state in [manager.state(), manager.decisions()] {
            let is_whole = state.len() > manager.decisions().len();
            let given: &[&str] = if is_whole { &[] } else { &texts[..half] };
            let mut restored = Manager::restore(&state, given).unwrap();
            assert_eq!(restored.len(), half);
            assert_eq!(restored.state(), manager.state());
            let mut summaries = Numbered(begun_summaries(&begun));
            let mut rest = Vec::new();
            for (number, message) in messages.iter().enumerate().skip(half) {
                if message["role"] == "assistant" {
                    let ready = ready(&mut restored, &mut summaries);
                    rest.push(sent(&ready, &messages[..number]));
                    if usage {
                        restored.report(provider_count(&rest[rest.len() - 1]), Some(50)).unwrap();
                    }
                }
                restored.push(&message.to_string()).unwrap();
            }
            assert_eq!(rest, expected[begun.len()..], "{policy}");
        }
        let error = Manager::restore(&manager.decisions(), &texts[..3]).unwrap_err().to_string();
        assert!(error.contains("belongs to"), "{error}");
    }
}

/// Returns the highest number of a summary that was sent.
fn begun_summaries(calls: &[Vec<Value>]) -> usize {
    let numbers = calls.iter().flatten().filter_map(|message| {
        let text = message.to_string();
        let at = text.rfind("Summary number ")?;
        text[at + 15..].split(':').next()?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

#[test]
fn a_rewound_conversation_forgets_what_came_later() {
    let messages = long("openai_chat");
    let user = messages.iter().rposition(|m| m["role"] == "user").unwrap();
    let mut straight = Manager::new("summarize", options(16_000)).unwrap();
    play(&mut straight, &messages[..user], false);
    let mut rewound = Manager::new("summarize", options(16_000)).unwrap();
    play(&mut rewound, &messages, false);
    rewound.truncate(user).unwrap();
    assert_eq!(rewound.len(), user);
    for manager in [&mut straight, &mut rewound] {
        manager.push(r#"{"role":"user","content":"Another way, please."}"#).unwrap();
    }
    let mut summaries = (Numbered(7), Numbered(7));
    assert_eq!(
        ready(&mut straight, &mut summaries.0).entries,
        ready(&mut rewound, &mut summaries.1).entries
    );
}

#[test]
fn a_reserve_that_leaves_nothing_is_a_warning() {
    for (window, n_warnings) in [(32_000, 1), (64_000, 0)] {
        let mut manager = Manager::new("summarize", options(window)).unwrap();
        manager.push(r#"{"role":"user","content":"Hello."}"#).unwrap();
        let warnings = ready(&mut manager, &mut Numbered::default()).warnings;
        assert_eq!(warnings.len(), n_warnings, "{warnings:?}");
        assert!(warnings.iter().all(|text| text.contains("set output_reserve")), "{warnings:?}");
    }
}

#[test]
fn a_message_for_one_request_only_changes_no_decision() {
    let messages = long("openai_chat");
    let count = |tail: bool| {
        let mut manager = Manager::new("summarize", options(24_000)).unwrap();
        let mut summaries = Numbered::default();
        for (number, message) in messages.iter().enumerate() {
            if message["role"] == "assistant" {
                if tail {
                    let reminder =
                        json!({"role": "user", "content": format!("It is {number} o'clock.")});
                    manager.push(&reminder.to_string()).unwrap();
                }
                ready(&mut manager, &mut summaries);
                if tail {
                    manager.truncate(number).unwrap();
                }
            }
            manager.push(&message.to_string()).unwrap();
        }
        summaries.0
    };
    let (without, with) = (count(false), count(true));
    assert!(without > 0 && with <= without + 1, "{with} summaries instead of {without}");
}

#[test]
fn a_rejected_request_is_answered_by_the_policy() {
    let messages = long("openai_chat");
    let mut manager = Manager::new("truncate", options(200_000)).unwrap();
    for message in &messages[..messages.len() - 1] {
        manager.push(&message.to_string()).unwrap();
    }
    let before = ready(&mut manager, &mut Numbered::default());
    assert_eq!(before.entries.len(), messages.len() - 1);
    manager.reject("prompt is too long: 210000 tokens > 200000 maximum").unwrap();
    let after = ready(&mut manager, &mut Numbered::default());
    assert_eq!(after.call, before.call);
    assert!(after.entries.len() < before.entries.len());
    assert!(after.events.iter().any(|event| event.effect == "removed"), "{:?}", after.events);
    // An error that is not about the size changes nothing.
    manager.reject("overloaded").unwrap();
    assert_eq!(ready(&mut manager, &mut Numbered::default()).entries, after.entries);
}

#[test]
fn a_step_without_news_is_the_last_one() {
    let mut manager = Manager::new("truncate", options(50_000)).unwrap();
    assert!(manager.step().unwrap_err().to_string().contains("no messages"));
    manager.push(r#"{"role":"user","content":"Hello."}"#).unwrap();
    let first = manager.step().unwrap();
    assert_eq!(manager.step().unwrap(), first);
}

#[test]
fn errors_name_the_preset_the_setting_and_the_message() {
    let error = |result: Result<Manager, _>| match result {
        Ok(_) => panic!("accepted"),
        Err(error) => plimsoll_core::live::LiveError::to_string(&error),
    };
    assert!(
        error(Manager::new("trunkate", options(1000))).contains("no preset is named \"trunkate\"")
    );
    let mut wrong = options(1000);
    wrong.settings.insert("keep_resent".to_owned(), 3.0);
    let text = error(Manager::new("truncate", wrong));
    assert!(text.contains("truncate") && text.contains("keep_resent"), "{text}");
    let mut high = options(1000);
    high.settings.insert("keep_recent".to_owned(), 1e9);
    assert!(error(Manager::new("truncate", high)).contains("keep_recent"));
    assert!(error(Manager::new("truncate", options(0))).contains("window"));
    let mut notation = options(1000);
    notation.format = Some("martian".to_owned());
    assert!(error(Manager::new("truncate", notation)).contains("martian"));
    let mut manager = Manager::new("truncate", options(1000)).unwrap();
    for (message, part) in [
        (r#"{"role":"martian","content":"?"}"#, "martian"),
        ("[]", "object"),
        ("{", "JSON"),
        (r#"{"content":"?"}"#, "role"),
        (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"b"}]}"#,
            "anthropic_messages",
        ),
    ] {
        let error = manager.push(message).unwrap_err().to_string();
        assert!(error.starts_with("message 1: ") && error.contains(part), "{error}");
    }
    assert_eq!(manager.len(), 0);
    assert!(manager.answer("?").unwrap_err().to_string().contains("no summary"));
    assert!(manager.reject("?").unwrap_err().to_string().contains("no request"));
    let error = Options::from_json(r#"{"window":1,"windows":2}"#).unwrap_err().to_string();
    assert!(error.contains("windows"), "{error}");
}

#[test]
fn the_notation_is_found_in_the_messages() {
    for format in FORMATS {
        let messages = long(format);
        let mut manager = Manager::new("truncate", Options::new(16_000)).unwrap();
        for message in &messages {
            manager.push(&message.to_string()).unwrap();
        }
        let ready = ready(&mut manager, &mut Numbered::default());
        assert!(manager.state().contains(r#""plimsoll_live":1"#));
        assert!(!ready.entries.is_empty(), "{format}");
    }
    // The first request has only a text; a later message tells.
    let mut manager = Manager::new("truncate", Options::new(16_000)).unwrap();
    manager.push(r#"{"role":"user","content":"Hi"}"#).unwrap();
    manager.step().unwrap();
    let block = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "a", "name": "b", "input": {}}]});
    assert_eq!(manager.push(&block.to_string()).unwrap(), 2);
    assert!(manager.state().contains("anthropic_messages"));
}
