//! Replays of small sessions.

use crate::conversation::{Talk, case, event_words};
use crate::repository::repository;
use crate::session_files::case_in;
use plimsoll_core::engine::{Answer, Case, Estimator, Hook, Outcome, Poll, Reply, Request, Run};
use plimsoll_core::engine::{
    Entry, Idle, MessageStatus, Policy, Schedule, drive, recorded, simulate,
};
use plimsoll_core::presets;
use plimsoll_core::session::{RecordedCompaction, Role};
use plimsoll_core::units::Tokens;

fn policy(name: &str) -> Policy {
    presets::by_name(name).expect("a bundled preset")
}

/// Returns settings for a small window.
fn knobs(policy: &Policy, pairs: &[(&str, f64)]) -> plimsoll_core::engine::KnobValues {
    let mut values = policy.defaults();
    if policy.knob("output_reserve").is_some() {
        policy.set(&mut values, "output_reserve", 0.0).expect("in range");
    }
    for (name, value) in pairs {
        policy.set(&mut values, name, *value).expect("a knob of this preset");
    }
    values
}

#[test]
fn without_a_policy_the_context_grows_to_the_whole_session() {
    let case = case(&Talk::tool_calls(20, 100), 100_000);
    let policy = policy("none");
    let outcome = simulate(&case, &policy, &policy.defaults(), None);
    assert!(outcome.events.is_empty());
    assert!(outcome.samples.windows(2).all(|pair| pair[0].tokens < pair[1].tokens));
    assert_eq!(outcome.context.tokens(), case.ledger.total());
    outcome.context.check(&case).expect("the account is complete");
}

#[test]
fn truncate_keeps_instructions_and_newest_messages_and_whole_pairs() {
    let case = case(&Talk::tool_calls(30, 100), 2_000);
    let policy = policy("truncate");
    let outcome = simulate(&case, &policy, &knobs(&policy, &[("keep_recent", 3.0)]), None);
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    outcome.context.check(&case).expect("the account is complete");
    assert!(outcome.samples.iter().all(|s| s.tokens < Tokens(2_000)));
    // Message 0 is the system prompt; the entry after it is the notice.
    assert_eq!(outcome.context.entries[0].message(), Some(0));
    let (notice, _) =
        outcome.context.written().next().expect("a notice stands in the place of what was dropped");
    assert!(notice.text.contains("earlier messages were left out"), "{}", notice.text);
    crate::conversation::pairs_are_whole(&case, &outcome.context).expect("whole pairs");
}

#[test]
fn a_trigger_acts_exactly_at_its_share_of_usable() {
    let case = case(&Talk::tool_calls(30, 100), 100_000);
    let policy = policy("truncate");
    let none = simulate(&case, &policy, &knobs(&policy, &[]), None);
    let at = none.samples[20].tokens;
    // With this window, sample 20 is exactly half of the usable window.
    let case = case.with_windows(crate::conversation::windows(at.0 * 2, &case));
    let outcome = simulate(
        &case,
        &policy,
        &knobs(&policy, &[("compression_trigger", 0.5), ("keep_recent", 2.0)]),
        None,
    );
    assert_eq!(outcome.events[0].call, 20, "{}", event_words(&outcome));
    let above = knobs(&policy, &[("compression_trigger", 0.51), ("keep_recent", 2.0)]);
    assert!(simulate(&case, &policy, &above, None).events[0].call > 20);
}

#[test]
fn prune_clears_old_results_and_keeps_recent_turns_and_every_message() {
    let case = case(&Talk::turns(6, 5, 200), 8_000);
    let policy = policy("prune");
    let values = knobs(
        &policy,
        &[("prune_protect", 500.0), ("prune_minimum", 300.0), ("compression_trigger", 0.5)],
    );
    let outcome = simulate(&case, &policy, &values, None);
    assert!(outcome.compactions >= 1);
    outcome.context.check(&case).expect("the account is complete");
    let statuses = outcome.context.statuses(case.session.messages.len());
    assert!(
        statuses
            .iter()
            .all(|(status, _)| matches!(status, MessageStatus::Kept | MessageStatus::Cleared))
    );
    let last_turns = case.session.turns - 1;
    let spared = case.session.messages.iter().zip(&statuses).filter(|(m, _)| m.turn >= last_turns);
    assert!(spared.into_iter().all(|(_, (status, _))| *status == MessageStatus::Kept));
    for event in &outcome.events {
        assert!(event.before.0 - event.after.0 > 300, "{event:?}");
    }
}

#[test]
fn prune_does_nothing_if_it_would_save_too_little() {
    let case = case(&Talk::turns(6, 5, 200), 8_000);
    let policy = policy("prune");
    let values = knobs(
        &policy,
        &[("prune_protect", 500.0), ("prune_minimum", 200_000.0), ("compression_trigger", 0.5)],
    );
    assert_eq!(simulate(&case, &policy, &values, None).compactions, 0);
}

#[test]
fn a_summary_covers_the_replaced_messages_and_respects_its_cap() {
    let case = case(&Talk::tool_calls(60, 100), 4_000);
    let policy = policy("summarize");
    let outcome = simulate(
        &case,
        &policy,
        &knobs(&policy, &[("summary_max_tokens", 256.0), ("keep_recent", 4.0)]),
        None,
    );
    assert!(outcome.compactions >= 2, "{}", event_words(&outcome));
    outcome.context.check(&case).expect("the account is complete");
    let (summary, tokens) = outcome.context.written().next().expect("a summary");
    assert!(summary.is_predicted);
    assert!(tokens <= Tokens(256) && tokens > Tokens(250), "{tokens:?}");
    assert_eq!(outcome.summaries.requests, outcome.compactions);
    assert!(
        plimsoll_core::engine::ExecutedContext::new(outcome.context).is_err(),
        "predicted text is never exported"
    );
}

#[test]
fn a_cooldown_is_counted_in_calls() {
    let case = case(&Talk::tool_calls(40, 100), 1_500);
    let policy = policy("truncate");
    // A trigger that is met at every call.
    let values = |cooldown| {
        knobs(
            &policy,
            &[("compression_trigger", 0.05), ("keep_recent", 1.0), ("cooldown", cooldown)],
        )
    };
    let gaps = |cooldown| {
        let outcome = simulate(&case, &policy, &values(cooldown), None);
        let calls: Vec<_> = outcome.events.iter().map(|e| e.call).collect();
        calls.windows(2).map(|w| w[1] - w[0]).min().expect("it fires more than once")
    };
    assert_eq!(gaps(0.0), 1);
    assert_eq!(gaps(3.0), 4);
}

/// Answers from a script.
struct Script(Vec<Reply>);

impl Answer for Script {
    fn answer(&mut self, _: &Case, _: &Request) -> Reply {
        self.0.pop().unwrap_or_else(|| Reply::Failed("the script is over".to_owned()))
    }
}

#[test]
fn a_failed_or_empty_summary_leaves_its_messages_in_place() {
    let case = case(&Talk::tool_calls(20, 100), 4_000);
    let policy = policy("summarize");
    let values = knobs(&policy, &[("summary_max_tokens", 64.0)]);
    let now = Schedule::Now { force: true };
    let replies = [
        (Reply::Failed("no answer".to_owned()), "no answer"),
        (Reply::Summary("  ".into()), "empty"),
    ];
    for (reply, why) in replies {
        let outcome = drive(&case, &policy, &values, now, None, &mut Script(vec![reply]));
        assert_eq!(outcome.compactions, 0);
        assert_eq!(outcome.context.tokens(), case.ledger.total());
        assert!(outcome.warnings[0].text.contains(why), "{:?}", outcome.warnings);
    }
}

#[test]
fn compacting_now_respects_the_trigger_unless_forced() {
    let case = case(&Talk::tool_calls(20, 100), 100_000);
    let policy = policy("truncate");
    let mut answers = Script(Vec::new());
    let honoured = drive(
        &case,
        &policy,
        &policy.defaults(),
        Schedule::Now { force: false },
        None,
        &mut answers,
    );
    assert_eq!(honoured.compactions, 0);
    let forced = drive(
        &case,
        &policy,
        &policy.defaults(),
        Schedule::Now { force: true },
        None,
        &mut answers,
    );
    assert_eq!(forced.compactions, 1);
    assert!(forced.context.tokens() < honoured.context.tokens());
    forced.context.check(&case).expect("the account is complete");
}

#[test]
fn compacting_now_keeps_the_system_prompt_and_the_newest_messages() {
    let case = case(&Talk::tool_calls(20, 100), 100_000);
    let policy = policy("truncate");
    let now = Schedule::Now { force: true };
    let once = drive(&case, &policy, &policy.defaults(), now, None, &mut Script(Vec::new()));
    let kept: Vec<_> = once.context.entries.iter().filter_map(Entry::message).collect();
    // The system prompt and the ten newest messages, and one more if a pair would be split.
    assert!((11..=12).contains(&kept.len()), "{kept:?}");
}

#[test]
fn the_recorded_lane_follows_recorded_compactions_and_reported_tokens() {
    let mut talk = Talk::tool_calls(10, 100);
    talk.compact_before(12, "what happened so far");
    let case = case(&talk, 100_000);
    let outcome = recorded(&case, Tokens::ZERO, None);
    assert_eq!(outcome.compactions, 1);
    let event = &outcome.events[0];
    let (before, after) = (&outcome.samples[event.call - 1], &outcome.samples[event.call]);
    assert!(after.tokens < before.tokens, "{before:?} {after:?}");
    outcome.context.check(&case).expect("the account is complete");
    // A replay starts from the full history: the recorded summary is not in it.
    let none = policy("none");
    let replay = simulate(&case, &none, &none.defaults(), None);
    assert_eq!(replay.context.tokens(), case.ledger.total());
    replay.context.check(&case).expect("the account is complete");
}

#[test]
fn an_overflowing_call_is_counted_once_with_separate_tokens() {
    let case = case(&Talk::tool_calls(20, 100), 1_000);
    let none = policy("none");
    let outcome = simulate(&case, &none, &knobs(&none, &[]), None);
    let above = outcome.samples.iter().filter(|s| s.tokens > Tokens(1_000)).count();
    assert!(above > 0);
    assert_eq!(outcome.overflows, above);
    let rejected: Tokens = outcome.samples.iter().filter(|s| s.overflows).map(|s| s.tokens).sum();
    assert_eq!(outcome.tokens_rejected, rejected);
}

#[test]
fn a_replay_up_to_a_call_equals_the_beginning_of_a_whole_one() {
    let case = case(&Talk::turns(6, 5, 200), 3_000);
    for preset in presets::PRESETS {
        let policy = preset.policy().expect("bundled");
        let values = knobs(&policy, &[]);
        let whole = simulate(&case, &policy, &values, None);
        for call in [0, 7, 20] {
            let part = simulate(&case, &policy, &values, Some(call));
            assert_eq!(part.samples[..], whole.samples[..=call], "{}", preset.name);
            assert_eq!(part.context.tokens(), whole.samples[call].tokens, "{}", preset.name);
        }
    }
}

/// Returns the truncate preset with another meter.
fn metered(count: &str) -> Policy {
    let truncate = include_str!("../../src/core/assets/presets/truncate.toml");
    let meter = format!(
        "[meter]\ncount = \"{count}\"\nper_message = 4\nleaves_out = [\"system\"]\n\n[settings.compression"
    );
    presets::parse(&truncate.replacen("[settings.compression", &meter, 1)).expect("a policy")
}

#[test]
fn a_policy_triggers_on_its_own_meter_and_samples_have_both_counts() {
    let case = case(&Talk::tool_calls(30, 100), 100_000);
    let policy = metered("chars/4");
    let outcome = simulate(&case, &policy, &knobs(&policy, &[]), None);
    let last = outcome.samples.last().expect("a sample");
    // "line " is five characters and one token: the meter counts a quarter more than the true count.
    assert!(last.metered.as_f64() > 1.1 * last.tokens.as_f64(), "{last:?}");
    let at = outcome.samples[20].metered;
    let case = case.with_windows(crate::conversation::windows(at.0 * 2, &case));
    let values = knobs(&policy, &[("compression_trigger", 0.5), ("keep_recent", 2.0)]);
    let outcome = simulate(&case, &policy, &values, None);
    assert_eq!(outcome.events[0].call, 20, "{}", event_words(&outcome));
    assert!(outcome.samples[19].tokens < outcome.samples[19].metered);
    outcome.context.check(&case).expect("the account is complete");
}

#[test]
fn a_run_without_compactions_gives_the_reason() {
    let case = case(&Talk::turns(6, 5, 200), 8_000);
    let now = |name: &str, pairs: &[(&str, f64)], force| {
        let policy = policy(name);
        let schedule = Schedule::Now { force };
        drive(&case, &policy, &knobs(&policy, pairs), schedule, None, &mut Script(Vec::new())).idle
    };
    let never = [("compression_trigger", 1.0), ("prune_protect", 0.0), ("spare_turns", 0.0)];
    let large = case.with_windows(crate::conversation::windows(1_000_000, &case));
    let policy_of = policy("prune");
    let not_met = drive(
        &large,
        &policy_of,
        &knobs(&policy_of, &never),
        Schedule::Now { force: false },
        None,
        &mut Script(Vec::new()),
    );
    assert_eq!(not_met.idle, Some(Idle::NotMet));
    assert_eq!(
        now("prune", &[("prune_minimum", 200_000.0), ("prune_protect", 0.0)], true),
        Some(Idle::GuardHeld)
    );
    assert_eq!(now("prune", &[("spare_turns", 50.0)], true), Some(Idle::NothingToTake));
    assert_eq!(now("summarize", &[], true), Some(Idle::Failed));
    assert_eq!(now("truncate", &[], true), None);
}

#[test]
fn invalid_presets_are_rejected_with_the_location() {
    let error = |from: &str, to: &str| {
        let text =
            include_str!("../../src/core/assets/presets/truncate.toml").replacen(from, to, 1);
        presets::parse(&text).expect_err("a mistake").to_string()
    };
    let idle = error("\"system\", ", "\"last_tool_tokens(5)\", ");
    assert!(idle.contains("stage 'truncate'") && idle.contains("no effect"), "{idle}");
    let name = error("window - output_reserve", "window - outputreserve");
    assert!(name.contains("[let] usable") && name.contains("outputreserve"), "{name}");
    let double = |n: u32| format!("a{n} = \"a{} + a{}\"\n", n - 1, n - 1);
    let doubling = (1..40).map(double).collect::<Vec<_>>().concat();
    let long = error("[let]\n", &format!("[let]\na0 = \"window\"\n{doubling}"));
    assert!(long.contains("too long"), "{long}");
    // Each name alone is within the limit.
    let doubling = (1..12).map(double).collect::<Vec<_>>().concat();
    let stage = "\n[[stage]]\nid    = \"truncate\"\nat    = \"before_call\"\nwhen  = \"";
    let long = error(stage, &format!("a0 = \"window\"\n{doubling}{stage}a11 + a11 > 0 and "));
    assert!(long.contains("stage 'truncate': too long: 8"), "{long}");
    let meter =
        error("[settings.compression", "[meter]\ncount = \"abacus\"\n[settings.compression");
    assert!(meter.contains("unknown counter `abacus`"), "{meter}");
}

#[test]
fn whole_number_settings_reject_fractions() {
    let policy = policy("truncate");
    let mut values = policy.defaults();
    let error =
        policy.set(&mut values, "keep_recent", 2.5).expect_err("half a message").to_string();
    assert_eq!(error, "keep_recent = 2.5 is not a whole number of messages");
}

#[test]
fn instructions_in_the_middle_of_a_conversation_are_not_the_system_prompt() {
    let mut talk = Talk::tool_calls(5, 50);
    talk.message(Role::System, vec![crate::conversation::text("From here on, answer in French.")]);
    talk.turn(8, 50);
    let case = case(&talk, 100_000);
    let policy = policy("truncate");
    let now = Schedule::Now { force: true };
    let outcome = drive(
        &case,
        &policy,
        &knobs(&policy, &[("keep_recent", 4.0)]),
        now,
        None,
        &mut Script(Vec::new()),
    );
    let system: Vec<_> = outcome
        .context
        .entries
        .iter()
        .filter_map(Entry::message)
        .filter(|m| case.session.messages[*m as usize].role == Role::System)
        .collect();
    assert_eq!(system, [0]);
}

#[test]
fn force_does_not_run_a_disabled_stage() {
    let case = case(&Talk::tool_calls(20, 100), 100_000);
    let now = Schedule::Now { force: true };
    for (name, clears) in [("cowagent", false), ("cowagent-document", false), ("cowagent", true)] {
        let policy = policy(name);
        let values = knobs(&policy, &[("clear_context", f64::from(u8::from(clears)))]);
        let outcome = drive(&case, &policy, &values, now, None, &mut Estimator);
        assert_eq!(
            outcome.events.iter().any(|e| e.stage == "clear"),
            clears,
            "{name}: {}",
            event_words(&outcome)
        );
        // The system prompt stays.
        assert_eq!(outcome.context.entries.len() == 1, clears, "{name}");
    }
}

/// Returns a run's events before the last call is tried.
fn decided(policy: &Policy, outcome: &Outcome) -> Vec<String> {
    let at = |id: &str| policy.stages.iter().find(|stage| stage.id == id).map(|stage| stage.at);
    let events = outcome.events.iter();
    let events = events.take_while(|e| at(&e.stage) != Some(Hook::OverflowError));
    events.map(|e| format!("{} {:?} {:?} {:?}", e.stage, e.cause, e.before, e.after)).collect()
}

#[test]
fn compacting_now_equals_a_replay_that_first_acts_at_that_call() {
    let folder = repository().join("sample_sessions");
    let (mut compared, mut acted) = (0, 0);
    for file in std::fs::read_dir(folder).expect("there are samples") {
        let path = file.expect("it reads").path();
        let case = case_in(&path);
        let last = case.session.calls.len() - 1;
        let is_compacted =
            |c: &RecordedCompaction| c.before_message <= case.session.calls[last].context_end;
        if case.session.compactions.iter().any(is_compacted) {
            // A replay has another context there.
            continue;
        }
        for (preset, is_eager) in presets::PRESETS.iter().flat_map(|p| [(p, false), (p, true)]) {
            let policy = preset.policy().expect("bundled presets are valid");
            let mut values = policy.defaults();
            if is_eager && policy.set(&mut values, "compression_trigger", 0.01).is_err() {
                // It is played with its defaults only.
                continue;
            }
            let mut run =
                Run::new(&case, &policy, &values, Schedule::Replay, Some(last)).acting_from(last);
            let replayed = loop {
                match run.poll() {
                    Poll::NeedsSummary(request) => {
                        let reply = Estimator.answer(&case, &request);
                        run.provide(reply);
                    }
                    Poll::Ready => unreachable!("no live run"),
                    Poll::Done(outcome) => break outcome,
                }
            };
            let now = Schedule::Now { force: false };
            let now = drive(&case, &policy, &values, now, Some(last), &mut Estimator);
            let name = format!("{} eager {is_eager} {}", preset.name, path.display());
            assert_eq!(decided(&policy, &now), decided(&policy, &replayed), "{name}");
            compared += 1;
            acted += usize::from(now.compactions > 0);
        }
    }
    assert!(compared > 100 && acted > 20, "{compared} {acted}");
}

/// Regression test: a call that reported usage without an answer is not the first call of the next compaction.
#[test]
fn recorded_compactions_are_counted_alike_everywhere() {
    let fixtures = repository().join("tests/fixtures");
    let mut n_compared = 0;
    for name in [
        "opencode/subtask.json",
        "opencode/export.json",
        "claude_code/boundary_first.jsonl",
        "pi/tree.jsonl",
        "swe_agent/messages.traj",
    ] {
        let case = case_in(&fixtures.join(name));
        let outcome = recorded(&case, Tokens::ZERO, None);
        let compactions = case.session.compactions.iter();
        let known: Vec<usize> = compactions.map(|compaction| compaction.call).collect();
        let shown: Vec<usize> = outcome.events.iter().map(|event| event.call).collect();
        assert_eq!(shown, known, "{name}");
        n_compared += shown.len();
    }
    assert!(n_compared >= 5);
}

#[test]
fn reported_usage_is_used_while_the_context_is_the_recorded_one() {
    // The program compacted and rewound the conversation before the fourth call; a replay keeps what was said.
    let case = case_in(&repository().join("tests/fixtures/google_adk/json.json"));
    let holds = |condition: &str| {
        let toml = format!(
            "name = 'look'\nlabel = 'Look'\nhelp = 'Looks.'\n[meter]\ncount = 'true'\n\
             [[stage]]\nid = 'look'\nat = 'before_call'\nwhen = '{condition}'\n\
             do = {{ log = 'looked' }}\n"
        );
        let policy = presets::parse(&toml).expect("a policy");
        !simulate(&case, &policy, &policy.defaults(), None).events.is_empty()
    };
    for (call, reported) in [(2, 180), (3, 260), (4, 290)] {
        assert!(holds(&format!("call == {call} and reported_input == {reported}")), "{call}");
    }
    // 150 was reported for a shorter context.
    assert!(holds("call == 5 and reported_input > 290"));
}
