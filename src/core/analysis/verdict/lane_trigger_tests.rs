//! Verdicts that compare the recorded run with the trigger of a lane.

use super::tests::{RESERVE, reading_session, recorded};
use super::verdict;
use crate::analysis::{PlayedLane, Trigger};
use crate::engine::{ActionKind, Case, Cause, Effect, Event, Outcome, OwnMeasure};
use crate::units::Tokens;

/// Truncate's trigger of 75 % of usable, in a run with this outcome.
fn of_truncate(case: &Case, outcome: &Outcome) -> Trigger {
    let policy = crate::presets::by_name("truncate").expect("bundled");
    let mut knobs = policy.defaults();
    policy.set(&mut knobs, "output_reserve", RESERVE.as_f64()).expect("in range");
    let lane = PlayedLane { name: "truncate", policy: &policy, knobs: &knobs, outcome };
    Trigger::of_lane(case, RESERVE, lane).expect("it has one")
}

#[test]
fn a_lanes_trigger_is_crossed_at_the_call_that_its_own_count_reaches() {
    let case = reading_session(640);
    let run = recorded(&case);
    let shown = |lane: &Outcome| {
        let trigger = of_truncate(&case, lane);
        verdict(&case, &run, RESERVE, &trigger).text()
    };
    let mut lane = run.clone();
    lane.samples[1].metered = Tokens(600);
    let text = shown(&lane);
    assert!(text.contains("Crossed the trigger of truncate (600) at call 2:"), "{text}");
    // By its own count it never gets there, or it acts earlier.
    lane.samples[1].metered = Tokens(590);
    let text = shown(&lane);
    assert!(text.ends_with("Never reached the trigger of truncate (600)."), "{text}");
    // It compacts for another reason.
    lane.events.push(event_at(0));
    let text = shown(&lane);
    assert!(
        text.ends_with("truncate compacts from call 1 on, below its trigger of 600 tokens."),
        "{text}"
    );
    lane.events[0].measured.metered = Tokens(600);
    let text = shown(&lane);
    assert!(text.contains("Crossed the trigger of truncate (600) at call 1"), "{text}");
}

#[test]
fn without_lanes_the_trigger_is_that_of_the_default_lane() {
    let case = reading_session(640);
    let policy = crate::presets::by_name("truncate").expect("bundled");
    let mut knobs = policy.defaults();
    policy.set(&mut knobs, "output_reserve", RESERVE.as_f64()).expect("in range");
    let outcome = crate::engine::simulate(&case, &policy, &knobs, None);
    assert_eq!(Trigger::of_lanes(&case, RESERVE, None), of_truncate(&case, &outcome));
}

fn event_at(call: usize) -> Event {
    Event {
        call,
        is_after_request: false,
        stage: String::new(),
        action: ActionKind::Drop,
        cause: Cause::default(),
        before: Tokens::ZERO,
        after: Tokens::ZERO,
        messages: Vec::new(),
        request: None,
        effect: Effect::Removed,
        measured: OwnMeasure::default(),
        orphans: 0,
        forgotten: 0,
        left: 0,
        log: Vec::new(),
        files: Vec::new(),
        error: None,
    }
}
