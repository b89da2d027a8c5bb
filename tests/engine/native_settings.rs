//! Configurations in the systems' own formats, in both directions.

use crate::conversation::{Talk, case};
use plimsoll_core::engine::{Effect, PolicyKind, simulate};
use plimsoll_core::presets::native::{NATIVE, Native, export, import};
use plimsoll_core::presets::{self, PRESETS};

const DIGITORN: &str = include_str!("../configs/digitorn.yaml");

#[test]
fn every_system_reads_its_own_configuration() {
    for native in NATIVE {
        let policy = presets::by_name(native.system).expect("bundled");
        let mut knobs = policy.defaults();
        let tunable = policy.knobs.iter();
        let mut tunable = tunable.filter(|k| k.key.is_some() && k.range[0] < k.range[1]);
        let knob = tunable
            .clone()
            .find(|k| k.choices.is_empty())
            .or_else(|| tunable.next())
            .expect("a number or a choice");
        let [low, high] = knob.range;
        let tuned = if low < knob.value {
            (knob.value - knob.step).max(low)
        } else {
            (knob.value + knob.step).min(high)
        };
        policy.set(&mut knobs, &knob.name, tuned).expect("in range");
        let written = export(&policy, &knobs).expect("it has a configuration");
        let read = import(&written.text).unwrap_or_else(|why| panic!("{}: {why}", native.system));
        assert_eq!(read.policy.name, native.system, "{}", written.text);
        assert_eq!(read.knobs.get(&knob.name), Some(tuned), "{}", written.text);
    }
}

#[test]
fn settings_are_read_from_the_files_that_enclose_them() {
    let files = [
        (
            r#"{"model": "opus", "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "70"}}"#,
            "claude-code",
            ("compression_trigger", 0.7),
        ),
        (
            "GOOSE_PROVIDER: openai\nGOOSE_AUTO_COMPACT_THRESHOLD: 0.7\n",
            "goose",
            ("compression_trigger", 0.7),
        ),
        (
            "agent:\n  history_processors:\n    - type: cache_control\n      last_n_messages: 2\n    - type: last_n_observations\n      n: 7\n",
            "swe-agent",
            ("n", 7.0),
        ),
        (
            r#"{"context_management": {"edits": [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919",
               "trigger": {"type": "input_tokens", "value": 50000}, "keep": {"type": "tool_uses", "value": 5}}]}}"#,
            "anthropic",
            ("keep_results", 5.0),
        ),
    ];
    for (text, preset, (name, value)) in files {
        let read = import(text).unwrap_or_else(|why| panic!("{preset}: {why}"));
        assert_eq!(read.policy.name, preset);
        assert_eq!(read.knobs.get(name), Some(value), "{preset}: {:?}", read.set);
    }
}

#[test]
fn every_preset_of_a_system_has_a_configuration_and_generic_ones_have_none() {
    let mut wrong = Vec::new();
    for preset in PRESETS {
        let is_generic = preset.policy().expect("bundled").kind == Some(PolicyKind::Strategy);
        match (Native::of(preset.name), is_generic) {
            (None, false) => wrong.push(format!("{}: no row of NATIVE", preset.name)),
            (Some(row), true) => wrong.push(format!(
                "{}: a generic preset with the row {} of NATIVE",
                preset.name, row.system
            )),
            (None, true) | (Some(_), false) => (),
        }
    }
    assert!(wrong.is_empty(), "src/core/presets/native/systems.rs:\n{}", wrong.join("\n"));
    let truncate = presets::by_name("truncate").expect("bundled");
    let refused = export(&truncate, &truncate.defaults()).expect_err("it is ours");
    assert!(
        refused.contains("is a strategy of Plimsoll") && refused.contains("--for"),
        "{refused}"
    );
    let none = presets::by_name("none").expect("bundled");
    let refused = export(&none, &none.defaults()).expect_err("it is ours");
    assert!(refused.contains("no configuration format of its own"), "{refused}");
}

#[test]
fn a_percentage_becomes_a_share() {
    let policy = presets::by_name("picoclaw").expect("bundled");
    let mut knobs = policy.defaults();
    policy.set(&mut knobs, "compression_trigger", 0.29).expect("in range");
    let written = export(&policy, &knobs).expect("it has one").text;
    assert!(
        written.contains("\"summarize_token_percent\": 29\n") || written.contains(": 29,"),
        "{written}"
    );
    assert_eq!(import(&written).expect("read").knobs.get("compression_trigger"), Some(0.29));
}

#[test]
fn ignored_keys_are_reported_in_comments_and_notes() {
    let policy = presets::by_name("baseagent").expect("bundled");
    let written = export(&policy, &policy.defaults()).expect("it has one");
    let line = written.text.lines().find(|l| l.contains("prune_protect")).expect("a line");
    assert!(line.contains("# ignored:"), "{line}");
    assert!(written.notes.iter().any(|note| note.contains("prune_protect")));
}

#[test]
fn a_limit_of_another_kind_is_reported_and_ignored() {
    let text = r#"{"edits": [{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 50000},
        "keep": {"type": "tool_uses", "value": 5}}]}"#;
    let read = import(text).expect("Anthropic's");
    assert_eq!(read.policy.name, "anthropic");
    assert_eq!(read.knobs.get("compression_trigger"), Some(100_000.0));
    assert_eq!(read.knobs.get("keep_results"), Some(5.0));
    assert!(
        read.notes.iter().any(|note| note.contains("trigger: \"tool_uses\"")),
        "{:?}",
        read.notes
    );
    assert_eq!(read.unread, [""; 0]);
}

#[test]
fn a_python_dict_with_comments_and_grouped_digits_is_read() {
    let text = "CONFIG = {\n    \"auto_compact_threshold\": 0.70,  # More aggressive\n    'prune_protect': 30_000,\n}\n";
    let read = import(text).expect("BaseAgent's");
    assert_eq!(read.policy.name, "baseagent");
    assert_eq!(read.knobs.get("compression_trigger"), Some(0.7));
    assert_eq!(read.knobs.get("prune_protect"), Some(30_000.0));
}

#[test]
fn unknown_and_out_of_range_keys_are_reported_and_ignored() {
    let read = import("{\"agent_max_context_turns\": 9000, \"channel_type\": \"web\"}")
        .expect("CowAgent's");
    assert_eq!(read.policy.name, "cowagent");
    assert_eq!(read.knobs.get("agent_max_context_turns"), Some(20.0));
    assert!(read.notes.iter().any(|note| note.contains("out of range")), "{:?}", read.notes);
    assert_eq!(read.unread, ["channel_type"]);
    assert!(
        import("hello").expect_err("nothing").contains("no setting of a supported system found")
    );
}

#[test]
fn an_application_is_read_with_its_placeholders_and_ignored_keys() {
    let read = import(DIGITORN).expect("Digitorn's");
    let knob = |name: &str| read.knobs.get(name);
    assert_eq!(knob("max_tokens"), Some(131_072.0), "the window of deepseek-chat");
    assert_eq!(knob("keep_recent"), Some(6.0), "the agent's block replaces the execution's");
    assert_eq!(knob("compression_trigger"), Some(0.15));
    assert_eq!(knob("summary_max_tokens"), Some(512.0));
    let toml = read.toml.as_deref().expect("it has hooks of its own");
    assert!(toml.contains("pressure_log") && toml.contains("turn5_reminder"));
    assert!(
        toml.contains("count = 5") && !toml.contains("private"),
        "numbers stay numbers: {toml}"
    );
    assert!(!read.notes.iter().any(|note| note.contains("API_KEY=")));
    let says = |word: &str| read.notes.iter().any(|note| note.contains(word));
    assert!(says("count") && says("message"), "what the code ignores: {:?}", read.notes);
}

/// Its document's "What happens at runtime": pressure is logged at every call, compaction fires once pressure passes
/// 15 %, and not again for two turns.
#[test]
fn an_application_replays_with_its_own_settings() {
    let read = import(DIGITORN).expect("Digitorn's");
    let mut talk = Talk::new();
    talk.turn(2, 40).turn(12, 3_000);
    let case = case(&talk, 131_072);
    let outcome = simulate(&case, &read.policy, &read.knobs, None);
    outcome.context.check(&case).expect("the account is complete");
    let logged = outcome.events.iter().flat_map(|e| &e.log);
    assert!(logged.filter(|line| line.contains("tokens, ")).count() >= case.session.calls.len());
    let compacted: Vec<_> = outcome.events.iter().filter(|e| e.effect == Effect::Removed).collect();
    let first = compacted.first().expect("it compacts");
    let pressure = first.before.as_f64() / (131_072.0 - 4_096.0);
    assert!((0.10..0.30).contains(&pressure), "{pressure}");
    assert!(compacted.windows(2).all(|pair| pair[1].call - pair[0].call >= 3));
}

#[test]
fn a_custom_hook_acts_at_its_own_threshold() {
    let yaml = "execution:\n  context:\n    max_tokens: 20000\n  hooks:\n    - id: mine\n      on: turn_start\n      condition: {type: context_pressure, threshold: 0.5}\n      action: {type: compact_context, strategy: truncate, keep_recent: 4}\n";
    let read = import(yaml).expect("Digitorn's");
    let mut talk = Talk::new();
    talk.turn(1, 40).turn(1, 9_000).turn(1, 40).turn(1, 40);
    let case = case(&talk, 131_072);
    let outcome = simulate(&case, &read.policy, &read.knobs, None);
    let removed = outcome.events.iter().filter(|e| e.effect == Effect::Removed);
    assert!(removed.count() > 0, "{:?}", outcome.events);
}

#[test]
fn an_invalid_number_is_rejected_with_its_location() {
    let yaml = "agents:\n  - id: main\n    brain:\n      context:\n        compression_trigger: ";
    for number in [".nan", "1e400", ".inf"] {
        let why = import(&format!("{yaml}{number}\n")).expect_err("no number");
        assert!(why.contains("as YAML: line 5") && why.contains(number), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    let why = import("{\"agents\": [}").expect_err("no JSON");
    assert!(why.contains("as JSON: expected value at line 1"), "{why}");
}

/// Presets whose configuration does not differ from that of their system: it names no variant.
const LIKE_THEIR_SYSTEM: [&str; 13] = [
    "aider-document",
    "holmesgpt-document",
    "holmesgpt-v038",
    "holmesgpt-legacy",
    "digitorn-document",
    "digitorn-hooks",
    "digitorn-go",
    "baseagent-document",
    "cowagent-document",
    "codex-remote",
    "continue-cli",
    "picoclaw-before",
    "picoclaw-proposed",
];

#[test]
fn every_key_of_every_preset_comes_back() {
    for preset in PRESETS {
        let policy = preset.policy().expect("bundled");
        if Native::of(preset.name).is_none() || LIKE_THEIR_SYSTEM.contains(&preset.name) {
            continue;
        }
        let mut knobs = policy.defaults();
        for knob in policy.knobs.iter().filter(|knob| knob.key.is_some()) {
            // Another value than the default, where there is one.
            let [low, high] = knob.range;
            let step = knob.step.max(if knob.unit == "tokens" { 1_000.0 } else { 1.0 });
            let tuned = [knob.value + step, knob.value - step, knob.value + knob.step]
                .into_iter()
                .find(|value| (low..=high).contains(value))
                .unwrap_or(knob.value);
            policy.set(&mut knobs, &knob.name, tuned).expect("in range");
        }
        let Ok(written) = export(&policy, &knobs) else {
            assert!(policy.knobs.iter().all(|knob| knob.key.is_none()), "{}", preset.name);
            continue;
        };
        let read = import(&written.text).unwrap_or_else(|why| panic!("{}: {why}", preset.name));
        assert_eq!(read.policy.name, preset.name, "{}", written.text);
        assert_eq!(read.unread, [""; 0], "{}: {}", preset.name, written.text);
        for knob in policy.knobs.iter().filter(|knob| knob.key.is_some()) {
            let (set, back) = (knobs.get(&knob.name), read.knobs.get(&knob.name));
            let is_told = written.notes.iter().any(|note| note.contains(&knob.name));
            assert!(set == back || is_told, "{}: {set:?}, {back:?}\n{}", knob.name, written.text);
        }
    }
}

#[test]
fn calls_of_classes_are_read_from_programs() {
    let adk = "app = App(events_compaction_config=EventsCompactionConfig(  # comment\n    \
               compaction_interval=3, overlap_size=None,\n    token_threshold=50_000),\n)\n\
               plugins=[ContextFilterPlugin(num_invocations_to_keep=5)]";
    let read = import(adk).expect("it names a class");
    assert_eq!(read.policy.name, "adk");
    assert_eq!(read.knobs.get("compaction_interval"), Some(3.0));
    assert_eq!(read.knobs.get("token_threshold"), Some(50_000.0));
    assert_eq!(read.knobs.get("num_invocations_to_keep"), Some(5.0));
    let strands = "manager = SummarizingConversationManager(summary_ratio=0.5)";
    let read = import(strands).expect("it names a class");
    assert_eq!(read.policy.name, "strands");
    let choices = &read.policy.knob("manager").expect("a setting").choices;
    let chosen = read.knobs.get("manager").expect("it is set") as usize;
    assert_eq!(choices[chosen], "SummarizingConversationManager");
    // The import statement tells classes of the same name apart.
    let deep = "from deepagents.middleware.summarization import SummarizationMiddleware\n\
                middleware = [SummarizationMiddleware(model=model, trigger=('tokens', 9000))]";
    let read = import(deep).expect("it names a class");
    assert_eq!(read.policy.name, "deepagents");
    assert_eq!(read.knobs.get("trigger_tokens"), Some(9_000.0));
    let agents = "s = OpenAIResponsesCompactionSession('a', s, should_trigger_compaction=lambda c: len(c['items']) >= 25)";
    let read = import(agents).expect("it names a class");
    assert_eq!(read.policy.name, "openai-agents");
    assert_eq!(read.knobs.get("threshold"), Some(25.0));
    let unlimited =
        "SummarizationMiddleware(trigger=('tokens', 9000), trim_tokens_to_summarize=None)";
    let read = import(unlimited).expect("it names a class");
    assert_eq!(read.policy.name, "langchain-summarization");
    assert_eq!(read.knobs.get("trim_tokens"), Some(0.0));
}

#[test]
fn compaction_that_is_switched_off_becomes_the_policy_that_removes_nothing() {
    for (text, key, unread) in [
        (
            "{\"autoCompactEnabled\": false, \"model\": \"opus\"}",
            "autoCompactEnabled is false",
            &["model"][..],
        ),
        (
            "{\"env\": {\"DISABLE_AUTO_COMPACT\": \"1\", \"FOO\": \"2\"}, \"a\": {\"b\": 1}}",
            "DISABLE_AUTO_COMPACT is 1",
            &["FOO", "a.b"],
        ),
        (
            "export DISABLE_AUTO_COMPACT=1\nCLAUDE_AUTOCOMPACT_PCT_OVERRIDE=70\n",
            "DISABLE_AUTO_COMPACT is 1",
            &[],
        ),
        ("DISABLE_COMPACT=true\n", "DISABLE_COMPACT is true", &[]),
    ] {
        let read = import(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(read.policy.name, "none", "{text}");
        assert!(read.policy.stages.is_empty() && read.set.is_empty());
        assert!(read.notes.iter().any(|note| note.contains(key)), "{:?}", read.notes);
        let mut found: Vec<&str> = read.unread.iter().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, unread, "{text}");
    }
    for text in [
        "{\"autoCompactEnabled\": true, \"env\": {\"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE\": \"70\"}}",
        "DISABLE_AUTO_COMPACT=0\nCLAUDE_AUTOCOMPACT_PCT_OVERRIDE=70\n",
    ] {
        let read = import(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(read.policy.name, "claude-code", "{text}");
        assert_eq!(read.knobs.get("compression_trigger"), Some(0.7));
        assert!(read.unread.is_empty(), "{:?}", read.unread);
    }
}

#[test]
fn a_configuration_of_codex_has_a_window_and_profiles() {
    let read = import("model_context_window = 128000\n").expect("Codex's");
    assert_eq!(read.policy.name, "codex");
    assert_eq!(read.window, Some(128_000));
    let profiles = "model_auto_compact_token_limit = 90000\n[profiles.x]\nmodel_auto_compact_token_limit = 50000\nmodel = \"m\"\n";
    let limit = |text: &str| {
        let read = import(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(read.policy.name, "codex");
        assert_eq!(read.unread, ["profiles.x.model"]);
        let notes = read.notes.join(" ");
        (read.knobs.get("compact_at"), notes)
    };
    let (value, notes) = limit(profiles);
    assert_eq!(value, Some(90_000.0));
    assert!(notes.contains("not taken from the profile x"), "{notes}");
    let (value, notes) = limit(&format!("profile = \"x\"\n{profiles}"));
    assert_eq!(value, Some(50_000.0));
    assert!(notes.contains("from the profile x."), "{notes}");
    // The only setting is in a profile.
    let (value, notes) = limit(profiles.split_once('\n').expect("lines").1);
    assert_eq!(value, Some(10_000_000.0));
    assert!(notes.contains("`profile = \"x\"` selects it"), "{notes}");
}
