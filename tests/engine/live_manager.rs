//! The manager of a live conversation: usage, rewinds, rejections, restored states, errors.

use crate::live::{FORMATS, Numbered, conversation, long, ready, sent};
use plimsoll_core::json::{Value, from_str, json};
use plimsoll_core::live::{Entry, Manager, Options, Ready, Step, StepWriter};
use std::sync::Arc;

/// Options that keep the counts as they are.
fn options(window: u64) -> Options {
    Options { format: Some("openai_chat".to_owned()), ..Options::new(window) }
}

/// Content that a provider counts: instructions and tools that no message has, and the messages.
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

/// Options with which `prune` acts at almost every call.
fn acting_always() -> Options {
    let settings = [
        ("compression_trigger", 0.05),
        ("cooldown", 0.0),
        ("output_reserve", 0.0),
        ("prune_minimum", 0.0),
        ("prune_protect", 0.0),
        ("spare_turns", 0.0),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value));
    Options { settings: settings.into(), ..Options::new(40_000) }
}

#[test]
fn returned_events_are_not_kept() {
    let mut manager = Manager::new("prune", acting_always()).unwrap();
    let mut n_events = 0;
    for message in conversation("openai_chat", &[(1, 200, 30)]) {
        if message["role"] == "assistant" {
            n_events += ready(&mut manager, &mut Numbered::default()).events.len();
        }
        manager.push(&message.to_string()).unwrap();
    }
    assert!(n_events > 100, "{n_events}");
    let memory = format!("{manager:?}");
    // A stage compares its next event with the last one.
    assert_eq!(memory.matches("TakenEvent { number: ").count(), 1);
    assert_eq!(memory.matches("Event { call: ").count(), 0);
}

/// Returns the edited messages of a request by their numbers.
fn edits(ready: &Ready) -> Vec<(usize, &Arc<Value>)> {
    let edits = ready.entries.iter().filter_map(|entry| match entry {
        Entry::Edit { edit, message } => Some((*edit, message)),
        _ => None,
    });
    edits.collect()
}

#[test]
fn requests_share_their_edits_and_a_written_step_has_only_new_ones() {
    let mut manager = Manager::new("prune", acting_always()).unwrap();
    let (mut steps, mut plan) = (StepWriter::default(), Vec::new());
    let (mut last, mut n_edits, mut n_written) = (None, 0, 0);
    let (mut n_repeated, mut n_shared) = (0, 0);
    for message in conversation("openai_chat", &[(1, 100, 30)]) {
        if message["role"] == "assistant" {
            let ready = ready(&mut manager, &mut Numbered::default());
            let edits_now = edits(&ready);
            let edits_before = last.as_ref().map_or_else(Vec::new, edits);
            assert!(edits_now.len() >= edits_before.len());
            for ((number, edit), before) in edits_now.iter().zip(edits_before) {
                assert_eq!((*number, *edit), before, "message {number}");
                n_shared += usize::from(Arc::ptr_eq(edit, before.1));
                n_repeated += 1;
            }
            n_edits += edits_now.len();
            let step = from_str(&steps.write(Step::Ready(ready.clone()))).unwrap();
            let parts = step["parts"].as_array().unwrap();
            n_written += parts.iter().filter(|part| part.get("edit").is_some()).count();
            plan.truncate(step["same"].as_u64().unwrap() as usize);
            plan.extend(parts.iter().cloned());
            let whole = StepWriter::default().write(Step::Ready(ready.clone()));
            let whole = from_str(&whole).unwrap();
            assert_eq!(plan, *whole["parts"].as_array().unwrap());
            assert_eq!(step["ready"], whole["ready"]);
            last = Some(ready);
        }
        manager.push(&message.to_string()).unwrap();
    }
    // The last edits of a request may be written again: a cut is between whole exchanges.
    assert!(n_shared * 10 > n_repeated * 9, "{n_shared} of {n_repeated}");
    assert!(n_written > 40 && n_edits > 10 * n_written, "{n_written} of {n_edits}");
    steps.forget();
    let step = from_str(&steps.write(Step::Ready(last.unwrap()))).unwrap();
    assert_eq!(step["same"].as_u64(), Some(0));
}

#[test]
fn an_edited_message_may_have_a_lone_surrogate() {
    let mut manager = Manager::new("prune", acting_always()).unwrap();
    for message in conversation("openai_chat", &[(1, 20, 60)]) {
        manager.push(&message.to_string().replacen('{', r#"{"note":"\ud800","#, 1)).unwrap();
    }
    let ready = ready(&mut manager, &mut Numbered::default());
    let edited = ready.entries.iter().filter_map(|entry| match entry {
        Entry::Edit { message, .. } => Some(message),
        _ => None,
    });
    let notes: Vec<_> = edited.map(|message| message["note"].as_str()).collect();
    assert!(!notes.is_empty());
    assert!(notes.iter().all(|note| *note == Some("\u{fffd}")), "{notes:?}");
}

#[test]
fn errors_name_the_preset_the_setting_and_the_message() {
    let error = |result: Result<Manager, _>| match result {
        Ok(_) => panic!("accepted"),
        Err(error) => plimsoll_core::live::LiveError::to_string(&error),
    };
    for (policy, expected) in [
        ("trunkate", "no preset is named \"trunkate\"; did you mean truncate?"),
        ("xyzzy", "no preset is named \"xyzzy\"; choose from truncate, prune, "),
        ("ours.toml", "\"ours.toml\" is the path of a policy file: pass the text of the file"),
    ] {
        let text = error(Manager::new(policy, options(1000)));
        assert!(text.starts_with(expected), "{text}");
    }
    let mut wrong = options(1000);
    wrong.settings.insert("keep_resent".to_owned(), 3.0);
    let text = error(Manager::new("truncate", wrong));
    assert_eq!(
        text,
        "truncate: truncate has no setting named \"keep_resent\"; did you mean keep_recent?"
    );
    let mut high = options(1000);
    high.settings.insert("keep_recent".to_owned(), 1e9);
    assert!(error(Manager::new("truncate", high)).contains("keep_recent"));
    assert!(error(Manager::new("truncate", options(0))).contains("window"));
    let mut notation = options(1000);
    notation.format = Some("martian".to_owned());
    assert!(error(Manager::new("truncate", notation)).contains("\"martian\"; choose from openai_"));
    let mut counter = options(1000);
    counter.counter = Some("o200k_bas".to_owned());
    assert!(error(Manager::new("truncate", counter)).contains("did you mean o200k_base?"));
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
