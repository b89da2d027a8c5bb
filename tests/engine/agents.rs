//! Presets of widely used agents: each acts exactly at the token count at which its system acts.

use crate::conversation::{Talk, text};
use plimsoll_core::engine::{
    Case, Effect, Event, KnobValues, Outcome, Policy, PolicyKind, WindowPlan, WindowSource,
    simulate,
};
use plimsoll_core::presets::{self, PRESETS, native};
use plimsoll_core::session::Role;
use plimsoll_core::tokens::{self, Progress, TokenLedger};
use plimsoll_core::units::Tokens;
use std::sync::Arc;

/// Limits of a model.
struct Model {
    window: u64,
    max_output: u32,
    /// Separate limit for prompts; 0 if none.
    input_limit: u32,
}

const MODELS: [Model; 4] = [
    Model { window: 200_000, max_output: 64_000, input_limit: 0 },
    Model { window: 272_000, max_output: 128_000, input_limit: 272_000 },
    Model { window: 32_768, max_output: 8_192, input_limit: 0 },
    Model { window: 1_000_000, max_output: 64_000, input_limit: 0 },
];

/// A preset, the count that its trigger uses, and by model the first value at which it acts, derived from
/// each system's source.
const TRIGGERS: [(&str, Looks, [u64; 4]); 12] = [
    ("opencode", Looks::LastTotal, [168_000, 252_000, 24_576, 968_000]),
    // It estimates the request from its JSON and acts above the limit.
    ("opencode-v2", Looks::Used, [136_001, 144_001, 12_769, 936_001]),
    // It estimates new results from their JSON.
    ("codex", Looks::AfterTools, [180_000, 244_800, 29_491, 900_000]),
    ("codex-remote", Looks::LastTotal, [180_000, 244_800, 29_492, 900_000]),
    ("claude-code", Looks::Used, [167_000, 239_000, 11_576, 967_000]),
    ("gemini-cli", Looks::LastInput, [100_000, 136_000, 16_384, 500_000]),
    ("goose", Looks::LastTotal, [160_001, 217_601, 26_215, 800_001]),
    ("cline", Looks::Used, [162_000, 244_800, 26_543, 810_000]),
    ("cline-legacy", Looks::LastTotal, [160_000, 232_000, 26_215, 960_000]),
    // The newest results are added; the answer is at most a fifth of the window.
    ("roo-code", Looks::AfterTools, [171_809, 236_609, 22_938, 891_809]),
    ("pi", Looks::LastTotal, [183_617, 255_617, 16_385, 983_617]),
    ("anthropic-compaction", Looks::Used, [150_000, 150_000, 150_000, 150_000]),
];

/// The count that a trigger uses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Looks {
    /// The context at the start of a turn.
    Used,
    /// The context after tool results.
    AfterTools,
    /// The reported prompt of the last call.
    LastInput,
    /// The reported prompt and answer of the last call.
    LastTotal,
}

impl Looks {
    fn term(self) -> &'static str {
        match self {
            Self::Used | Self::AfterTools => "used",
            Self::LastInput => "last_input",
            Self::LastTotal => "last_total",
        }
    }

    /// Returns the call before which it is checked: the call of the third turn, or the second call of the second turn.
    fn call(self) -> usize {
        if self == Self::AfterTools { 3 } else { 4 }
    }

    /// Returns its value in a run without compactions.
    fn count(self, case: &Case, outcome: &Outcome) -> u64 {
        let sample = |call: usize| outcome.samples[call].metered.0;
        match self {
            Self::Used => sample(4),
            Self::AfterTools | Self::LastInput => sample(3),
            // The request of the third turn is not included yet.
            Self::LastTotal => {
                let n_messages = case.session.messages.len();
                sample(4) - u64::from(case.ledger.truth.per_message[n_messages - 2])
            }
        }
    }
}

/// Returns two turns with a tool call and an answer each (two model calls), and a third turn with one call. The request of the
/// second turn has `unit * units` bytes and 12 more.
fn session(unit: usize, units: u64) -> Talk {
    let mut talk = Talk::new();
    talk.turn(1, 12);
    let n_bytes = 12 + unit * units as usize;
    // Tokenizers count many words faster than one long word.
    let words = "understanding ".repeat(n_bytes / 14 + 1);
    let question = format!("{}x", &words[..n_bytes - 1]);
    talk.message(Role::User, vec![text(&question)]);
    talk.call("call_2", 12);
    talk.message(Role::Assistant, vec![text("That is done.")]);
    talk.message(Role::User, vec![text("next")]);
    talk.message(Role::Assistant, vec![text("That is done.")]);
    talk
}

/// Returns a case whose true count is characters / 4, so that every text has a known count.
fn case(talk: &Talk, window: u64) -> Case {
    let session = talk.session();
    let counter = tokens::by_name("chars/4").expect("there is one");
    let ledger =
        TokenLedger::count(&session, counter, &Progress::default()).expect("nobody cancels");
    let windows = WindowPlan::constant(Tokens(window), session.calls.len(), WindowSource::User);
    Case::new(Arc::new(session), ledger, windows)
}

fn policy(name: &str) -> Policy {
    presets::by_name(name).expect("a bundled preset")
}

/// Returns the settings of a preset for a model.
fn knobs(policy: &Policy, model: &Model) -> KnobValues {
    let mut values = policy.defaults();
    // Keeps little, so that a small window also has content to remove.
    for (name, value) in [
        // Claude Code has no trigger without a window of its own.
        ("reckon_up_to", model.window as u32),
        ("max_output", model.max_output),
        ("input_limit", model.input_limit),
        ("keep_recent_tokens", 2_000),
    ] {
        // Roo Code uses its own 8,192 if a profile sets nothing.
        if policy.knob(name).is_some() && policy.name != "roo-code" {
            policy.set(&mut values, name, f64::from(value)).expect("in range");
        }
    }
    values
}

/// Plays a preset up to the check of its trigger, with this count at that point.
fn events(name: &str, looks: Looks, model: &Model, count: u64) -> Vec<Event> {
    let policy = policy(name);
    let unit = if name == "cline" { 3 } else { 4 };
    let values = knobs(&policy, model);
    let until = Some(looks.call());
    let mut talk = session(unit, 0);
    let mut more = 0;
    // A count of JSON includes the digits of reported usage, which grow with the text.
    let has_own_count = ["cline", "codex", "opencode-v2", "roo-code"].contains(&name);
    for _ in 0..if name == "cline" { 4 } else { 1 } {
        let large = case(&talk, 1_000_000_000);
        let nothing = simulate(&large, &policy, &values, until);
        let compared = nothing.compared.iter().rev();
        let compared = compared.map(|(_, count)| count.0).next();
        let is = compared.filter(|_| has_own_count);
        let is = is.unwrap_or_else(|| looks.count(&large, &nothing));
        more = more + count - is;
        talk = session(unit, more);
    }
    simulate(&case(&talk, model.window), &policy, &values, until).events
}

#[test]
fn every_agent_acts_exactly_at_its_trigger() {
    for (name, looks, points) in TRIGGERS {
        for (model, at) in MODELS.iter().zip(points) {
            let place = format!("{name}, {looks:?}, a window of {}", model.window);
            let acts = |event: &&Event| event.call == looks.call() && event.n_messages() > 0;
            // Beyond the window the call is rejected first, which another stage handles.
            let below = events(name, looks, model, at - 1);
            let planned = |e: &&Event| !e.stage.ends_with("refused");
            assert_eq!(below.iter().filter(planned).count(), 0, "{place}: {below:?}");
            let found = events(name, looks, model, at);
            let event = found.iter().filter(planned).find(acts);
            let event = event.unwrap_or_else(|| panic!("{place}: {found:?}"));
            let terms = [looks.term(), "total"];
            let count = terms.iter().find_map(|term| event.cause.value(term));
            assert_eq!(count, Some(at as f64), "{place}: {:?}", event.cause);
        }
    }
}

#[test]
fn a_system_without_a_limit_has_no_believed_fill() {
    let case = case(&Talk::turns(3, 2, 500), 100_000);
    for (name, limit, on) in [
        ("adk", "token_threshold", 50_000.0),
        ("strands", "compression_trigger", 0.5),
        ("deepagents", "compression_trigger", 0.5),
    ] {
        let policy = policy(name);
        let mut settings = policy.defaults();
        for (value, has_limit) in [(0.0, false), (on, true)] {
            policy.set(&mut settings, limit, value).expect("in range");
            let outcome = simulate(&case, &policy, &settings, None);
            let believed = outcome.samples.iter().map(|sample| sample.believed.is_some());
            assert!(believed.clone().all(|is_some| is_some == has_limit), "{name}, {value}");
        }
    }
}

#[test]
fn the_server_keeps_three_results_of_every_request_above_its_trigger() {
    let mut talk = Talk::new();
    talk.turn(12, 8_000);
    let case = case(&talk, 200_000);
    let policy = policy("anthropic");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    let first = outcome.events.first().expect("it acts");
    assert!(first.cause.value("sent").is_some_and(|sent| sent > 100_000.0));
    // From then on every call adds one result, and the oldest of four is cleared.
    let calls: Vec<_> = outcome.events.iter().map(|e| e.call).collect();
    assert!(calls.windows(2).all(|pair| pair[1] == pair[0] + 1), "{calls:?}");
    assert_eq!(outcome.events.last().map(plimsoll_core::engine::Event::n_messages), Some(1));
    outcome.context.check(&case).expect("the account is complete");
}

#[test]
fn codex_keeps_user_messages_and_puts_the_summary_after_them() {
    let mut talk = Talk::new();
    talk.turn(1, 10).turn(3, 2_200).turn(1, 10);
    let case = case(&talk, 6_000);
    let policy = policy("codex");
    let mut values = policy.defaults();
    policy.set(&mut values, "summary_max_tokens", 500.0).expect("in range");
    let outcome = simulate(&case, &policy, &values, Some(4));
    let event = outcome.events.last().expect("it acts");
    assert_eq!(event.stage, "compact");
    let written = outcome.context.entries.iter().position(|e| e.message().is_none());
    let kept: Vec<_> =
        outcome.context.entries.iter().filter_map(plimsoll_core::engine::Entry::message).collect();
    let role = |m: &u32| case.session.messages[*m as usize].role;
    let roles: Vec<_> = kept.iter().map(role).collect();
    assert!(roles.iter().all(|r| matches!(r, Role::System | Role::User)), "{roles:?}");
    assert_eq!(written, Some(outcome.context.entries.len() - 1));
    outcome.context.check(&case).expect("the account is complete");
}

#[test]
fn gemini_does_not_summarize_one_long_turn() {
    let mut talk = Talk::new();
    talk.turn(10, 1_000);
    let case = case(&talk, 4_000);
    let policy = policy("gemini-cli");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    // Only the guard reports that the request will not fit, as Gemini CLI does before it sends it.
    let is_guard = |event: &Event| event.stage == "guard" && event.effect == Effect::Logged;
    let events = &outcome.events;
    assert!(!events.is_empty() && events.iter().all(is_guard), "{events:?}");
    assert_eq!(outcome.compactions, 0);
    assert!(outcome.peak_share().0 > 1.0);
}

#[test]
fn opencodes_second_engine_replaces_the_whole_history_with_one_message() {
    let policy = policy("opencode-v2");
    let mut values = policy.defaults();
    for (name, value) in [
        ("buffer", 2_000.0),
        ("max_output", 2_000.0),
        ("keep_recent_tokens", 500.0),
        ("summary_max_tokens", 500.0),
    ] {
        policy.set(&mut values, name, value).expect("in range");
    }
    let mut one = Talk::new();
    one.turn(8, 1_000);
    let mut more = Talk::new();
    more.turn(7, 1_000).turn(2, 1_000);
    for talk in [one, more] {
        let case = case(&talk, 12_000);
        let outcome = simulate(&case, &policy, &values, None);
        outcome.context.check(&case).expect("the account is complete");
        let first = outcome.events.first().expect("it acts");
        assert_eq!(first.stage, "compact");
        let then = simulate(&case, &policy, &values, Some(first.call));
        let entries = then.context.entries.iter();
        let kept = entries.filter_map(plimsoll_core::engine::Entry::message);
        let roles: Vec<_> = kept.map(|m| case.session.messages[m as usize].role).collect();
        assert!(roles.iter().all(|role| *role == Role::System), "{roles:?}");
        assert_eq!(then.context.entries.len(), roles.len() + 1);
    }
}

#[test]
fn claude_code_writes_long_results_to_files_and_names_them() {
    let mut talk = Talk::new();
    talk.turn(2, 20_000);
    let case = case(&talk, 200_000);
    let policy = policy("claude-code");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    assert_eq!(outcome.events.len(), 2);
    let file = &outcome.events[0].files[0];
    assert_eq!(file.n_bytes(), Some(100_000));
    let marker = outcome.context.markers.iter().find(|m| m.text.contains(&file.name));
    assert!(marker.is_some_and(|m| m.text.contains("98000 more characters")));
    outcome.context.check(&case).expect("the account is complete");
}

/// Returns the presets of systems: all except generic ones.
fn systems() -> impl Iterator<Item = Policy> {
    let all = PRESETS.iter().map(|preset| policy(preset.name));
    all.filter(|policy| policy.kind != Some(PolicyKind::Strategy))
}

#[test]
fn every_preset_of_a_system_lists_sources_and_unknowns() {
    assert!(systems().count() >= 20);
    for policy in systems() {
        let name = &policy.name;
        assert!(!policy.sources.is_empty(), "{name}: no sources");
        assert!(
            policy.unknowns.len()
                + policy.documentation_differences.len()
                + policy.differences.len()
                > 0,
            "{name}: no unknowns, documentation_differences or differences"
        );
        for knob in &policy.knobs {
            assert!(knob.help.ends_with('.'), "{name}: the help of {} has no period", knob.name);
        }
        let written = native::export(&policy, &policy.defaults());
        let is_configurable = policy.knobs.iter().any(|knob| knob.key.is_some());
        assert_eq!(written.is_ok(), is_configurable, "{name}: a configuration without `key`");
        let is_opaque = policy.stages.iter().any(|stage| stage.action.is_size_only());
        let says_so = policy.help.contains("Models sizes only");
        assert_eq!(is_opaque, says_so, "{name}: `Models sizes only` in its help");
    }
}
