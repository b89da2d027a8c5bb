//! Figures from sums over a session are those of a run that is played call by call, to the token.

use crate::conversation::{Talk, case, part, text};
use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::loss::{Names, references_at_risk};
use plimsoll::engine::{Case, KnobValues, Outcome, Policy, Sample, Tally, Totals, simulate};
use plimsoll::exec::{LoadOptions, load};
use plimsoll::presets::{self, PRESETS, prices::Prices};
use plimsoll::session::{Body, Kind, Role};
use plimsoll::tokens::{Progress, default_counter};
use plimsoll::units::Tokens;
use proptest::prelude::*;
use std::path::Path;

/// Both ways, for one policy and several settings of a knob; how many firings there were.
fn agree(case: &Case, policy: &Policy, settings: &[KnobValues]) -> usize {
    let tally = Tally::new(case, policy);
    let names = Names::new(&case.session);
    let bills = Bills::new(case, Billing::at(Prices::bundled()));
    let mut firings = 0;
    for knobs in settings {
        let (played, outline) = (simulate(case, policy, knobs, None), tally.outline(knobs));
        let of = format!("{} {knobs:?}", policy.name);
        let totals = Totals::of(case, &played);
        assert_eq!(tally.totals(knobs), totals, "{of}");
        assert_eq!(Totals::of(case, &outline), totals, "{of}");
        let samples = |outcome: &Outcome| outcome.samples.iter().map(figures).collect::<Vec<_>>();
        assert_eq!(samples(&outline), samples(&played), "{of}");
        assert_eq!(
            price_lane(&bills, &outline),
            price_lane(&bills, &played),
            "{of}"
        );
        let missed = |outcome: &Outcome| references_at_risk(&names, case, outcome);
        assert_eq!(missed(&outline), missed(&played), "{of}");
        firings += totals.compactions;
    }
    firings
}

/// All of a sample but its kinds and what the policy itself believes.
fn figures(sample: &Sample) -> Sample {
    Sample {
        by_kind: [0; Kind::ALL.len()],
        believed: None,
        ..*sample
    }
}

/// Settings over the whole room of a policy's knobs.
fn settings(policy: &Policy, n: usize) -> Vec<KnobValues> {
    use plimsoll::analysis::tune::{Axis, Subject};
    let subject = Subject {
        lane: policy.name.clone(),
        policy: policy.clone(),
        now: policy.defaults(),
        axes: policy.knobs.iter().map(Axis::of).collect(),
    };
    subject.settings(n)
}

/// A talk with all that matters to sums: several results in one message, pictures in results, long and short ones.
fn motley() -> Talk {
    let mut talk = Talk::new();
    for turn in 0..12_usize {
        talk.turn(turn % 4, 40 + turn * 97 % 800);
        let call = |nth: usize| {
            part(Body::ToolCall {
                call: format!("p{turn}_{nth}").into(),
                tool: "look".into(),
                arguments: "{}".into(),
            })
        };
        talk.message(
            Role::Assistant,
            vec![text("Two at once."), call(0), call(1)],
        );
        let result = |nth: usize| {
            part(Body::ToolResult {
                call: format!("p{turn}_{nth}").into(),
                tool: "look".into(),
                is_error: false,
                text: "seen ".repeat(turn * 131 % 500).into(),
            })
        };
        talk.message(Role::Tool, vec![result(0), result(1)]);
        talk.message(
            Role::User,
            vec![text(&"and another thing ".repeat(turn * 7))],
        );
    }
    talk
}

fn loaded(file: &str) -> Option<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample_sessions")
        .join(file);
    let options = LoadOptions {
        counter: default_counter(),
        window: Some(Tokens(100_000)),
        conversation: 0,
    };
    Some(load(&path, &options, &Progress::default()).ok()?.case)
}

#[test]
fn plain_policies_come_to_the_same_by_sums_as_when_they_are_played() {
    let samples = [
        "compacted.jsonl",
        "many-tool-results.jsonl",
        "slow-growth.jsonl",
    ];
    let cases = samples.map(|file| loaded(file).unwrap());
    let mut firings = 0;
    for name in ["truncate", "summarize", "prune", "none"] {
        let policy = presets::by_name(name).unwrap();
        for case in &cases {
            firings += agree(case, &policy, &settings(&policy, 60));
        }
    }
    assert!(firings > 1_000, "the premise: {firings}");
}

#[test]
fn so_they_do_where_windows_are_too_small_and_messages_motley() {
    let talk = motley();
    let mut firings = 0;
    for window in [0, 500, 4_000, 9_000, 40_000] {
        let case = case(&talk, window);
        for name in ["truncate", "summarize", "prune"] {
            let policy = presets::by_name(name).unwrap();
            let mut settings = settings(&policy, 80);
            for knobs in &mut settings {
                policy.set(knobs, "output_reserve", 500.0).unwrap();
            }
            firings += agree(&case, &policy, &settings);
        }
    }
    assert!(firings > 1_000, "the premise: {firings}");
}

/// A policy of one stage, with these slots.
fn policy(slots: &str) -> Policy {
    let toml = format!(
        r#"
name = "own"
label = "Own"
help = "."
sources = ["x"]
[knobs.trigger]
value = 0.5
range = [0, 1]
step = 0.05
unit = "share of the window"
help = "."
[knobs.n]
value = 4
range = [0, 40]
step = 1
unit = "things"
help = "."
[[stage]]
id = "own"
at = "before_call"
when = "used > trigger * window"
{slots}
"#
    );
    presets::parse(&toml).expect("it is a policy")
}

#[test]
fn other_ways_to_keep_to_guard_and_to_say_so_come_to_the_same_too() {
    let slots = [
        r#"take = { what = "messages", keep = ["system", "last_messages(n)"], boundary = "none" }
do = { drop = {} }"#,
        r#"take = { what = "messages", keep = ["system", "last_messages(n)"] }
do = { drop = { notice = "{messages} messages of {tokens} tokens are gone" } }
guard = { min_saved = "n * 20", must_shrink = true, cooldown = "3" }"#,
        r#"take = { what = "messages", keep = ["system", "last_messages(n)"], boundary = "turn" }
do = { drop = { notice = "gone" } }"#,
        r#"take = { what = "messages", keep = ["system", "first_user", "last_messages(n)"] }
do = { drop = { notice = "gone" } }"#,
        r#"take = { what = "messages", keep = ["system", "last_messages(n)"] }
do = { summarize = { max_tokens = "10 + n * 20", prefix = "So far:\n", prompt = "summarize" } }
guard = { must_shrink = true }"#,
        r#"take = { what = "tool_results", keep = ["last_results(n)", "last_turns(2)"] }
do = { clear = { marker = "[gone]" } }"#,
        r#"take = { what = "tool_results", keep = ["last_tool_tokens(n * 100)"] }
do = { clear = { marker = "[a marker that weighs more than many a short result does]" } }
guard = { min_saved = "n", cooldown = "2" }"#,
        r#"take = { what = "tool_results", keep = ["last_messages(n)"] }
do = { clear = { marker = "[gone]" } }"#,
    ];
    let talk = motley();
    for slots in slots {
        let policy = policy(slots);
        let mut firings = 0;
        for window in [3_000, 8_000] {
            firings += agree(&case(&talk, window), &policy, &settings(&policy, 60));
        }
        assert!(firings > 20, "the premise: {firings} of {slots}");
    }
}

#[test]
fn a_policy_that_is_not_plain_is_played() {
    let case = loaded("compacted.jsonl").unwrap();
    for preset in PRESETS {
        let policy = preset.policy().unwrap();
        agree(&case, &policy, &[policy.defaults()]);
    }
}

#[test]
fn what_a_person_placed_in_the_session_counts() {
    let case = case(&motley(), 8_000);
    let policy = policy(
        r#"take = { what = "messages", keep = ["system", "last_messages(n)"] }
do = { drop = { notice = "gone" } }"#,
    );
    let by_hand = plimsoll::engine::ByHand {
        pinned: vec![3, 9],
        ..plimsoll::engine::ByHand::default()
    };
    agree(&case.with_by_hand(by_hand), &policy, &settings(&policy, 20));
    agree(&case.with_restarts(&[4]), &policy, &settings(&policy, 20));
}

/// A talk of turns with so many calls each, whose results weigh this much.
fn random_talk(turns: &[(usize, usize)]) -> Talk {
    let mut talk = Talk::new();
    for (calls, words) in turns {
        talk.turn(*calls, *words);
    }
    talk
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_said_and_set_both_ways_come_to_the_same(
        turns in proptest::collection::vec((0..6_usize, 0..400_usize), 1..30),
        window in 200..20_000_u64,
        keep in prop_oneof![
            Just("last_tool_tokens(n * 60)"),
            Just("last_results(n)"),
            Just(r#"last_tool_tokens(n * 60)", "last_results(3)"#),
            Just(r#"last_turns(2)", "last_tool_tokens(n * 20)"#),
        ],
        guard in prop_oneof![
            Just("{}"),
            Just(r#"{ min_saved = "n * 50" }"#),
            Just(r#"{ min_saved = "900", must_shrink = true }"#),
            Just(r#"{ min_saved = "0 - n", cooldown = "1" }"#),
        ],
        drops in any::<bool>(),
    ) {
        let slots = if drops {
            format!(
                r#"take = {{ what = "messages", keep = ["system", "last_messages(n)"] }}
do = {{ drop = {{ notice = "gone" }} }}
guard = {guard}"#
            )
        } else {
            format!(
                r#"take = {{ what = "tool_results", keep = ["{keep}"] }}
do = {{ clear = {{ marker = "[gone]" }} }}
guard = {guard}"#
            )
        };
        let policy = policy(&slots);
        agree(&case(&random_talk(&turns), window), &policy, &settings(&policy, 25));
    }
}
