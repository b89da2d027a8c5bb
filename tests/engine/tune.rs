//! Sweeps and recommendations. Expected figures are not computed by the program.

use crate::conversation::{Talk, case, part, text};
use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::facts::FactKind;
use plimsoll::analysis::loss::{Names, references_at_risk};
use plimsoll::analysis::statistics::{Conclusion, Estimate, Interval};
use plimsoll::analysis::tune::{
    Axis, ChangedSetting, Check, Figures, Gauge, Limit, Limits, LostFacts, Measure, Point,
    Preference, Reason, Risk, RuledOut, Scale, Score, Subject, SweptSession, Values, candidates,
    changed_settings, check_retained, checks, front, plan, recommend, robust, ruled_out_counts,
    sweep, trade_off,
};
use plimsoll::analysis::{FindingKind, findings};
use plimsoll::engine::{Case, KnobValues, Policy, simulate};
use plimsoll::presets::{self, prices::Prices};
use plimsoll::progress::{Cancelled, Progress};
use plimsoll::session::{Body, Role};
use plimsoll::units::{Share, Tokens, Usd};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn truncate() -> Policy {
    presets::by_name("truncate").expect("bundled")
}

fn subject(policy: Policy, axes: Vec<Axis>) -> Subject {
    Subject {
        lane: policy.name.clone(),
        now: policy.defaults(),
        policy,
        axes,
    }
}

fn values(settings: &[KnobValues], knob: &str) -> Vec<f64> {
    settings.iter().filter_map(|s| s.get(knob)).collect()
}

#[test]
fn assumptions_of_a_replay_are_not_varied() {
    let codex = presets::by_name("codex").expect("bundled");
    let is_assumed = |axis: &Axis| axis.knob == "summary_max_tokens";
    assert!(
        codex
            .knobs
            .iter()
            .any(|knob| knob.is_assumed && knob.name == "summary_max_tokens")
    );
    let axes = Axis::usual(&codex);
    assert!(!axes.is_empty() && !axes.iter().any(is_assumed), "{axes:?}");
}

#[test]
fn a_small_space_is_tried_completely() {
    let policy = truncate();
    let axes = vec![
        Axis::listed(&policy, "keep_recent", &[5.0, 10.0, 20.0]).unwrap(),
        Axis::listed(&policy, "compression_trigger", &[0.5, 0.75]).unwrap(),
    ];
    let subject = subject(policy, axes);
    let settings = subject.settings(100);
    assert_eq!(settings[0], subject.now);
    let pairs: Vec<_> = values(&settings, "keep_recent")
        .into_iter()
        .zip(values(&settings, "compression_trigger"))
        .collect();
    let all = [
        (10.0, 0.75),
        (5.0, 0.5),
        (10.0, 0.5),
        (20.0, 0.5),
        (5.0, 0.75),
        (20.0, 0.75),
    ];
    assert_eq!(pairs, all);
}

#[test]
fn a_large_space_is_sampled_evenly_and_deterministically() {
    let policy = truncate();
    let axes = vec![
        Axis::between(&policy, "compression_trigger", (0.4, 0.9), None).unwrap(),
        Axis::of(policy.knob("keep_recent").unwrap()),
    ];
    let subject = subject(policy, axes);
    let settings = subject.settings(200);
    assert_eq!(settings, subject.settings(200));
    assert_eq!(settings.len(), 200);
    let triggers = values(&settings, "compression_trigger");
    let keeps = values(&settings, "keep_recent");
    let distinct: HashSet<_> = triggers
        .iter()
        .zip(&keeps)
        .map(|(t, k)| (t.to_bits(), k.to_bits()))
        .collect();
    assert_eq!(distinct.len(), 200);
    let low = triggers[1..].iter().filter(|t| **t < 0.65).count();
    assert!(
        (90..=110).contains(&low),
        "{low} of 199 triggers in the lower half"
    );
    // Logarithmic: as many values below the root of 500 as above it, and 1 and 500 are included.
    let small = keeps[1..].iter().filter(|k| **k <= 22.0).count();
    assert!((90..=110).contains(&small), "{small} of 199 keep few");
    // Each quarter of the space has its share.
    let corner = triggers
        .iter()
        .zip(&keeps)
        .filter(|(t, k)| **t < 0.65 && **k <= 22.0)
        .count();
    assert!((40..=60).contains(&corner), "{corner} of 200 in a quarter");
    let is_step = |t: &f64| (0.4..=0.9).contains(t) && *t == (t * 100.0).round() / 100.0;
    assert!(triggers.iter().all(is_step), "{triggers:?}");
}

#[test]
fn a_choice_is_spread_by_its_values_and_a_share_evenly() {
    let policy = presets::by_name("digitorn").unwrap();
    let choice = policy
        .knobs
        .iter()
        .find(|knob| !knob.choices.is_empty())
        .unwrap();
    let axis = Axis::of(choice);
    assert!(matches!(&axis.values, Values::Listed(all) if all.len() == choice.choices.len()));
    let trigger = Axis::of(truncate().knob("compression_trigger").unwrap());
    assert!(matches!(
        trigger.values,
        Values::Between {
            scale: Scale::Linear,
            ..
        }
    ));
}

#[test]
fn invalid_values_of_a_setting_are_rejected() {
    let policy = truncate();
    assert!(Axis::listed(&policy, "keep_recent", &[5.0, 0.0]).is_err());
    assert!(Axis::between(&policy, "keep_recent", (5.0, 5_000.0), None).is_err());
    assert!(Axis::listed(&policy, "keep_old", &[5.0]).is_err());
}

fn score(cost: f64, references: usize, peak: f64) -> Score {
    Score {
        cost: Some(Usd(cost)),
        sent: Tokens((cost * 1e6) as u64),
        total: Tokens((cost * 1e6) as u64),
        risk: Risk {
            references,
            ..Risk::default()
        },
        peak: Tokens((peak * 1e5) as u64),
        peak_share: Share(peak),
        compactions: 3,
        acts: true,
        spilled: 0,
        overflows: 0,
        into_reserve: 0,
    }
}

fn ruled_out(reason: Reason, times: usize, call: usize) -> RuledOut {
    RuledOut {
        reason,
        call,
        times,
    }
}

/// Returns points of one subject by `keep_recent`; the first has the present settings.
fn points(subject: &Subject, all: &[(f64, Result<Score, RuledOut>)]) -> Vec<Point> {
    let point = |(idx, (keep, came)): (usize, &(f64, Result<Score, RuledOut>))| {
        let mut knobs = subject.now.clone();
        subject
            .policy
            .set(&mut knobs, "keep_recent", *keep)
            .expect("in range");
        Point {
            subject: 0,
            knobs,
            is_now: idx == 0,
            score: came.ok(),
            ruled_out: came.err(),
        }
    };
    all.iter().enumerate().map(point).collect()
}

fn weighing(weight: f64) -> Preference {
    Preference {
        weight: Share(weight),
        recorded: None,
    }
}

fn swept_sessions(sessions: &[Vec<Point>]) -> Vec<SweptSession<'_>> {
    let swept = sessions.iter().map(|points| SweptSession {
        points,
        preference: weighing(0.5),
    });
    swept.collect()
}

#[test]
fn the_front_contains_the_nondominated_points() {
    let subject = subject(truncate(), Vec::new());
    let points = points(
        &subject,
        &[
            (10.0, Ok(score(5.0, 9, 0.8))),
            (20.0, Ok(score(4.0, 9, 0.7))),
            (30.0, Ok(score(4.0, 4, 0.9))),
            (5.0, Ok(score(3.0, 30, 0.6))),
            (40.0, Err(ruled_out(Reason::Overflows, 2, 7))),
            (50.0, Ok(score(4.5, 4, 0.7))),
        ],
    );
    // 20 has a lower peak than 30, 20 dominates 10, 40 is ruled out, 50 has as few at risk as 30 and a lower peak.
    assert_eq!(front(&points), [3, 2, 1, 5]);
    assert_eq!(trade_off(&points), [3, 2]);
    let counts = ruled_out_counts(&points);
    assert_eq!((counts.len(), counts[0].n), (1, 1));
    assert_eq!(counts[0].description(), "overflows");
}

#[test]
fn of_equal_points_the_present_settings_are_on_the_front() {
    let subject = subject(truncate(), Vec::new());
    let all = [
        (10.0, Ok(score(5.0, 9, 0.8))),
        (5.0, Ok(score(5.0, 9, 0.8))),
    ];
    assert_eq!(front(&points(&subject, &all)), [0]);
}

#[test]
fn a_recommendation_compares_with_the_present_settings() {
    let subjects = [subject(truncate(), Vec::new())];
    let points = points(
        &subjects[0],
        &[
            (10.0, Ok(score(5.94, 9, 0.8))),
            (24.0, Ok(score(4.10, 4, 0.71))),
            (5.0, Ok(score(3.70, 12, 0.6))),
            (80.0, Ok(score(5.20, 3, 0.9))),
            (90.0, Ok(score(3.60, 3, 0.97))),
        ],
    );
    // The last is best, but its peak is unsafe. Of the others, 4.10 x 14 is less than 3.70 x 22 and 5.20 x 13.
    let found = recommend(&subjects, &points, weighing(0.5)).unwrap();
    assert_eq!((found.point, found.cheapest, found.safest), (1, 2, 3));
    let listed = candidates(&points);
    assert_eq!(
        listed,
        [2, 1, 3],
        "the ends of the list are the ends that are spoken of"
    );
    assert_eq!(
        found.text,
        "truncate with keep_recent 24 costs $4.10, 31 % less than its current settings ($5.94), with 4 references at risk instead of 9; peak 71 % of usable."
    );
    assert_eq!(
        found.others.as_deref(),
        Some("The cheapest tried costs $3.70 with 12 at risk, the safest $5.20 with 3 at risk.")
    );
    assert_eq!(
        recommend(&subjects, &points, weighing(0.0)).unwrap().point,
        2
    );
    assert_eq!(
        recommend(&subjects, &points, weighing(1.0)).unwrap().point,
        3
    );
}

#[test]
fn a_recommendation_compares_with_the_recorded_run_first() {
    let subjects = [subject(truncate(), Vec::new())];
    let points = points(
        &subjects[0],
        &[
            (10.0, Ok(score(6.10, 8, 0.8))),
            (24.0, Ok(score(3.66, 6, 0.71))),
        ],
    );
    let text = |cost: f64, references: usize| {
        let against = Preference {
            recorded: Some(score(cost, references, 0.9)),
            ..weighing(0.5)
        };
        recommend(&subjects, &points, against).unwrap().text
    };
    assert_eq!(
        text(4.82, 6),
        "truncate with keep_recent 24 saves 24 % of $4.82 (recorded run) and costs $3.66, 40 % less than its current settings ($6.10), with 6 references at risk instead of 8; peak 71 % of usable."
    );
    assert_eq!(
        text(3.00, 2),
        "truncate with keep_recent 24 costs $3.66, 22 % more than the recorded run ($3.00), 40 % less than its current settings ($6.10), with 6 references at risk instead of 8; peak 71 % of usable. It loses more than the recorded run, which had 2 at risk."
    );
    assert!(text(3.66, 6).contains(" costs $3.66, as the recorded run, 40 % less than "));
}

#[test]
fn the_best_setting_that_acts_is_offered_beside_one_that_never_does() {
    let subjects = [subject(truncate(), Vec::new())];
    let idle = Score {
        acts: false,
        compactions: 0,
        ..score(4.08, 0, 0.84)
    };
    let all = [
        (10.0, Ok(score(4.20, 30, 0.6))),
        (24.0, Ok(idle)),
        (5.0, Ok(score(4.10, 20, 0.6))),
    ];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    assert_eq!((found.point, found.never_acts), (1, true));
    let finding = "This session fits: this setting never acts. truncate with keep_recent 24 ";
    assert!(found.text.starts_with(finding), "{}", found.text);
    let acting = found.acting.expect("others act");
    assert_eq!(acting.point, 2);
    assert!(
        acting.text.contains("keep_recent 5 costs $4.10"),
        "{}",
        acting.text
    );
    let all = [
        (10.0, Ok(idle)),
        (24.0, Err(ruled_out(Reason::CutsUnread, 2, 7))),
    ];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    assert_eq!((found.never_acts, found.acting), (true, None));
    let finding = "This session fits: neither this setting nor any other that works ever acts.";
    assert!(found.text.starts_with(finding), "{}", found.text);
}

#[test]
fn defaults_are_within_the_documented_ranges_and_constants_are_marked() {
    for preset in presets::PRESETS {
        let policy = preset.policy().expect("bundled");
        for knob in &policy.knobs {
            let name = format!("{}.{}", preset.name, knob.name);
            assert!(!knob.is_advised_against(knob.value), "{name}");
            // A setting of a real system has a key, or it is none.
            assert!(knob.is_offered || knob.key.is_none(), "{name}");
        }
        let axes = Axis::usual(&policy);
        let is_fixed = |axis: &&Axis| policy.knob(&axis.knob).is_some_and(|knob| !knob.is_offered);
        assert_eq!(axes.iter().find(is_fixed), None, "{}", preset.name);
    }
}

#[test]
fn a_setting_that_keeps_every_user_constraint_is_recommended() {
    let subjects = [subject(truncate(), Vec::new())];
    let losing = |cost: f64, kind: FactKind, lost: usize| {
        let mut score = score(cost, 0, 0.8);
        let kind = Some(kind);
        score.risk.lost = Some(LostFacts {
            kind,
            lost,
            stated: 2,
        });
        score
    };
    let picked = |kind: FactKind, weight: f64| {
        let all = [
            (10.0, Ok(losing(1.00, kind, 2))),
            (24.0, Ok(losing(1.50, kind, 1))),
            (90.0, Ok(losing(40.00, kind, 0))),
        ];
        recommend(&subjects, &points(&subjects[0], &all), weighing(weight)).unwrap()
    };
    // 40 x 10 = 400 and 1.5 x 60 = 90: a file may be lost, a constraint may not.
    assert_eq!(picked(FactKind::File, 0.5).point, 1);
    let found = picked(FactKind::Constraint, 0.1);
    assert_eq!(found.point, 2);
    assert!(
        found
            .text
            .contains("and keeps every user constraint (now 2 lost)"),
        "{}",
        found.text
    );
    assert_eq!(picked(FactKind::Constraint, 0.0).point, 0, "cost only");
    let all = [(10.0, Ok(losing(1.00, FactKind::Constraint, 2)))];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    let ending = "No setting tried keeps every user constraint.";
    assert!(found.text.ends_with(ending), "{}", found.text);
}

#[test]
fn counted_facts_agree_with_their_number() {
    let text = |kind, stated| {
        LostFacts {
            kind,
            lost: 1,
            stated,
        }
        .of_stated()
    };
    assert_eq!(
        text(Some(FactKind::Constraint), 1),
        "1 of 1 user constraint"
    );
    assert_eq!(
        text(Some(FactKind::Constraint), 2),
        "1 of 2 user constraints"
    );
    assert_eq!(text(Some(FactKind::Link), 1), "1 of 1 link or id");
    assert_eq!(text(Some(FactKind::Link), 2), "1 of 2 links and ids");
    assert_eq!(text(None, 1_000), "1 of 1,000 facts");
}

#[test]
fn references_that_a_predicted_summary_may_contain_are_a_maximum() {
    let subjects = [subject(truncate(), Vec::new())];
    let predicted = |cost: f64, references: usize| {
        let mut score = score(cost, references, 0.71);
        score.risk.may_be_fewer = true;
        score
    };
    let all = [
        (10.0, Ok(predicted(6.00, 10))),
        (24.0, Ok(predicted(3.00, 10))),
        (30.0, Ok(predicted(2.90, 80))),
    ];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    assert_eq!(
        found.text,
        "truncate with keep_recent 24 costs $3.00, 50 % less than its current settings ($6.00), with at most 10 references at risk, as now; peak 71 % of usable."
    );
    assert_eq!(
        found.others.as_deref(),
        Some("The cheapest tried costs $2.90 with at most 80 at risk.")
    );
    let all = [
        (10.0, Ok(predicted(6.00, 9))),
        (24.0, Ok(predicted(3.00, 10))),
    ];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    let risk = "with at most 10 references at risk instead of at most 9;";
    assert!(found.text.contains(risk), "{}", found.text);
}

#[test]
fn facts_that_the_session_does_not_state_are_not_judged() {
    let subjects = [subject(truncate(), Vec::new())];
    let all = [10.0, 24.0].map(|keep| {
        let mut score = score(keep, 0, 0.8);
        score.risk.lost = Some(LostFacts {
            kind: Some(FactKind::Decision),
            lost: 0,
            stated: 0,
        });
        (keep, Ok(score))
    });
    let points = points(&subjects[0], &all);
    let why = recommend(&subjects, &points, weighing(0.5)).unwrap_err();
    assert!(why.starts_with("The session states no "), "{why}");
    assert!(
        recommend(&subjects, &points, weighing(0.0)).is_ok(),
        "cost only"
    );
}

#[test]
fn references_below_the_noise_floor_do_not_count() {
    let subjects = [subject(truncate(), Vec::new())];
    let points = points(
        &subjects[0],
        &[
            (10.0, Ok(score(6.00, 40, 0.8))),
            (24.0, Ok(score(7.00, 19, 0.8))),
            (90.0, Ok(score(9.00, 8, 0.9))),
        ],
    );
    // 7 x 29 = 203 and 9 x 18 = 162; below 20 all count as 20.
    let picked = |noise: usize| {
        let taste = Preference {
            recorded: Some(score(6.5, noise, 0.8)),
            ..weighing(0.5)
        };
        recommend(&subjects, &points, taste).unwrap().point
    };
    assert_eq!((picked(0), picked(20)), (2, 1));
}

#[test]
fn present_settings_are_kept_if_none_is_better() {
    let subjects = [subject(truncate(), Vec::new())];
    let points = points(
        &subjects[0],
        &[
            (10.0, Ok(score(4.10, 1, 0.71))),
            (24.0, Ok(score(4.08, 1, 0.71))),
        ],
    );
    let found = recommend(&subjects, &points, weighing(0.5)).unwrap();
    assert_eq!(found.point, 0);
    assert_eq!(
        found.text,
        "truncate with its current settings is as good as any of the 2 settings tried: it costs $4.10 with 1 reference at risk; peak 71 % of usable."
    );
}

#[test]
fn rejected_present_settings_are_reported() {
    let subjects = [subject(truncate(), Vec::new())];
    let all = [
        (10.0, Err(ruled_out(Reason::Overflows, 2, 7))),
        (24.0, Ok(score(4.08, 0, 0.71))),
    ];
    let found = recommend(&subjects, &points(&subjects[0], &all), weighing(0.5)).unwrap();
    assert_eq!(
        found.text,
        "truncate with keep_recent 24 costs $4.08 with no reference at risk; peak 71 % of usable. The current settings are ruled out: 2 calls overflow, the first is call 8."
    );
    let none = points(
        &subjects[0],
        &[
            (10.0, Err(ruled_out(Reason::Overflows, 1, 7))),
            (24.0, Err(ruled_out(Reason::Overflows, 2, 7))),
            (5.0, Err(ruled_out(Reason::GivesUp, 1, 3))),
        ],
    );
    let why = recommend(&subjects, &none, weighing(0.5)).unwrap_err();
    assert_eq!(
        why,
        "None of the 3 settings tried works: 2 overflow, 1 ends the run."
    );
}

#[test]
fn tokens_replace_an_unknown_cost() {
    let subjects = [subject(truncate(), Vec::new())];
    let unpriced = |cost: f64| Score {
        cost: None,
        ..score(cost, 0, 0.5)
    };
    let points = points(
        &subjects[0],
        &[(10.0, Ok(unpriced(2.0))), (5.0, Ok(unpriced(1.0)))],
    );
    let found = recommend(&subjects, &points, weighing(0.5)).unwrap();
    assert_eq!(
        found.text,
        "truncate with keep_recent 5 sends 1M tokens, 50 % fewer tokens than its current settings (2M), with no reference at risk, as now; peak 50 % of usable."
    );
    assert_eq!(found.others, None);
}

#[test]
fn one_setting_for_many_sessions_minimizes_the_worst_regret() {
    let subject = subject(truncate(), Vec::new());
    let (a, b, c) = (10.0, 5.0, 20.0);
    // Cost times (references + 10): 100, 100, 72 in the first session; 100, 50, 200 in the second.
    let first = [
        (a, Ok(score(10.0, 0, 0.5))),
        (b, Ok(score(5.0, 10, 0.5))),
        (c, Ok(score(6.0, 2, 0.5))),
    ];
    let second = [
        (a, Ok(score(10.0, 0, 0.5))),
        (b, Ok(score(5.0, 0, 0.5))),
        (c, Ok(score(20.0, 0, 0.5))),
    ];
    let sessions = [points(&subject, &first), points(&subject, &second)];
    let found = robust(&swept_sessions(&sessions)).unwrap();
    assert_eq!(found.setting, 1);
    let regrets: Vec<_> = found
        .regrets
        .iter()
        .map(|r| (r.session, r.best, r.regret.map(round)))
        .collect();
    // The root of 100 / 72 is 1.1785.
    assert_eq!(regrets, [(0, 2, Some(0.1785)), (1, 1, Some(0.0))]);
    assert_eq!(found.worst().map(|r| r.session), Some(0));
    // Without the first session the second also picks b; without the second the first picks c, whose loss in the second
    // is four times the smallest: twice, as a root.
    let left_out: Vec<_> = found
        .left_out
        .iter()
        .map(|l| (l.session, l.setting, l.regret.map(round)))
        .collect();
    assert_eq!(left_out, [(0, 1, Some(0.1785)), (1, 2, Some(1.0))]);
    assert_eq!(found.worst_left_out().map(|l| l.session), Some(1));
}

#[test]
fn one_setting_for_many_sessions_avoids_unsafe_peaks() {
    let subject = subject(truncate(), Vec::new());
    let first = [
        (10.0, Ok(score(9.0, 0, 0.8))),
        (5.0, Ok(score(5.0, 0, 0.99))),
    ];
    let second = [
        (10.0, Ok(score(9.0, 0, 0.97))),
        (5.0, Ok(score(5.0, 0, 0.96))),
    ];
    let sessions = [&first, &second].map(|all| points(&subject, all));
    let found = robust(&swept_sessions(&sessions)).unwrap();
    // In the second session every peak is unsafe, so the peak does not decide there.
    assert_eq!(found.setting, 0);
    let regrets: Vec<_> = found.regrets.iter().map(|r| r.regret.map(round)).collect();
    assert_eq!(regrets, [Some(0.0), Some(0.3416)]);
}

fn round(n: f64) -> f64 {
    (n * 1e4).round() / 1e4
}

#[test]
fn a_setting_rejected_in_one_session_is_worse_than_any_regret() {
    let subject = subject(truncate(), Vec::new());
    let first = [
        (10.0, Ok(score(90.0, 50, 0.5))),
        (5.0, Ok(score(5.0, 0, 0.5))),
    ];
    let second = [
        (10.0, Ok(score(90.0, 50, 0.5))),
        (5.0, Err(ruled_out(Reason::Overflows, 1, 0))),
    ];
    let nothing = [
        (10.0, Err(ruled_out(Reason::GivesUp, 1, 0))),
        (5.0, Err(ruled_out(Reason::GivesUp, 1, 0))),
    ];
    let sessions = [&first, &second, &nothing].map(|all| points(&subject, all));
    let found = robust(&swept_sessions(&sessions)).unwrap();
    assert_eq!(found.setting, 0);
    // A session in which no setting works is ignored.
    assert_eq!(found.regrets.len(), 2);
    let without_second = found.left_out[1];
    assert_eq!((without_second.setting, without_second.regret), (1, None));
    assert_eq!(robust(&swept_sessions(&sessions[2..])), None);
}

/// Returns a session that reads a file, makes 30 other calls, and then uses a name that only the file contains.
fn needs_what_was_read() -> Case {
    let mut talk = Talk::new();
    talk.turn(1, 20);
    let call = Body::ToolCall {
        call: "c1".into(),
        tool: "read".into(),
        arguments: r#"{"path":"src/first.rs"}"#.into(),
    };
    talk.message(Role::Assistant, vec![part(call)]);
    let result = Body::ToolResult {
        call: "c1".into(),
        tool: "read".into(),
        is_error: false,
        text: format!("fn settle_ledger_entry() {{}}\n{}", "line ".repeat(400)).into(),
    };
    talk.message(Role::Tool, vec![part(result)]);
    talk.turn(30, 200);
    talk.message(Role::User, vec![text("Now write the caller.")]);
    talk.message(
        Role::Assistant,
        vec![text("It calls settle_ledger_entry twice.")],
    );
    let mut case = case(&talk, 7_000);
    let mut session = (*case.session).clone();
    session.models = vec!["claude-sonnet-4-5-20250929".to_owned()];
    for call in &mut session.calls {
        call.model = Some(0);
    }
    case.session = std::sync::Arc::new(session);
    case
}

/// Returns the policy with these values of `keep_recent` and a small reserve.
fn by_keep(keeps: &[f64]) -> [Subject; 1] {
    let policy = truncate();
    let axis = Axis::listed(&policy, "keep_recent", keeps).expect("in range");
    let mut subject = subject(policy, vec![axis]);
    for (knob, value) in [("output_reserve", 1_000.0), ("cooldown", 0.0)] {
        subject
            .policy
            .set(&mut subject.now, knob, value)
            .expect("in range");
    }
    [subject]
}

fn gauge<'a>(case: &'a Case, names: &'a Names) -> Gauge<'a> {
    let bills = Bills::new(case, Billing::at(Prices::bundled()));
    Gauge::new(case, bills, names)
}

fn swept(case: &Case, subjects: &[Subject]) -> Vec<Point> {
    let names = Names::new(&case.session);
    sweep(
        &gauge(case, &names),
        subjects,
        plan(subjects, 1_000),
        &Progress::default(),
        &|_, _| {},
    )
    .expect("nobody stops it")
}

#[test]
fn settings_that_leave_almost_nothing_are_rejected() {
    let mut talk = Talk::new();
    talk.turn(3, 50).call("giant", 30_000);
    talk.turn(3, 50);
    let case = case(&talk, 60_000);
    let subjects = ["truncate", "prune"].map(|name| {
        let policy = presets::by_name(name).unwrap();
        let axes = policy.knobs.iter().map(Axis::of).collect();
        let mut subject = subject(policy, axes);
        let reserve = ("output_reserve", 1_000.0);
        subject
            .policy
            .set(&mut subject.now, reserve.0, reserve.1)
            .unwrap();
        subject
    });
    let (mut wiped, mut valid) = (0, 0);
    for point in swept(&case, &subjects) {
        let policy = &subjects[point.subject].policy;
        let outcome = simulate(&case, policy, &point.knobs, None);
        let found = findings(&case, policy, &point.knobs, &outcome);
        let is_told = found.iter().any(|found| found.kind == FindingKind::Wiped);
        match point.ruled_out {
            None => {
                assert!(!is_told, "{:?}", point.knobs);
                valid += 1;
            }
            Some(why) if why.reason == Reason::Wipes => {
                let finding = found.iter().find(|found| found.kind == FindingKind::Wiped);
                assert_eq!(
                    finding.map(|found| (found.times, found.call)),
                    Some((why.times, why.call))
                );
                wiped += 1;
            }
            Some(_) => {}
        }
    }
    assert!(wiped > 10 && valid > 10, "the premise: {wiped}, {valid}");
}

#[test]
fn settings_with_bad_findings_are_never_recommended() {
    let mut talk = Talk::new();
    talk.turn(4, 120).call("giant", 9_000);
    talk.turn(12, 150);
    let (mut flawed, mut valid) = (Vec::new(), 0);
    for window in [6_000, 14_000, 40_000] {
        let case = case(&talk, window);
        let names = Names::new(&case.session);
        let gauge = gauge(&case, &names);
        for preset in presets::PRESETS {
            let subjects = [subject(preset.policy().unwrap(), Vec::new())];
            let (policy, knobs) = (&subjects[0].policy, &subjects[0].now);
            let outcome = simulate(&case, policy, knobs, None);
            let found = findings(&case, policy, knobs, &outcome);
            let bad: Vec<FindingKind> = found
                .iter()
                .map(|f| f.kind)
                .filter(|k| k.is_bad())
                .collect();
            let points = plan(&subjects, 1);
            let points = sweep(&gauge, &subjects, points, &Progress::default(), &|_, _| {});
            let points = points.unwrap();
            let ruled_out = points[0].ruled_out;
            let name = preset.name;
            assert!(
                bad.is_empty() || ruled_out.is_some(),
                "{name} at {window}: {bad:?}"
            );
            if let Some(why) = ruled_out
                && let Reason::Flawed(kind) = why.reason
            {
                let finding = found.iter().find(|f| f.kind == kind).unwrap();
                assert_eq!(
                    (finding.times, finding.call),
                    (why.times, why.call),
                    "{name} at {window}"
                );
                flawed.push(kind);
            }
            let recommended = recommend(&subjects, &points, weighing(0.5));
            assert_eq!(
                recommended.is_ok(),
                ruled_out.is_none(),
                "{name} at {window}"
            );
            valid += usize::from(ruled_out.is_none());
            let reasons = gauge.assess(policy, knobs).reasons;
            assert!(
                bad.is_empty() || !reasons.is_empty(),
                "{}: {bad:?}",
                preset.name
            );
        }
    }
    flawed.sort();
    flawed.dedup();
    assert!(
        !flawed.is_empty() && valid > 10,
        "the premise: {flawed:?}, {valid}"
    );
}

#[test]
fn a_sweep_gives_the_figures_of_a_replay() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[2.0, 5.0, 10.0, 20.0, 40.0]);
    let points = swept(&case, &subjects);
    let names = Names::new(&case.session);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let mut played = 0;
    for point in &points {
        let Some(score) = point.score else {
            continue;
        };
        played += 1;
        let outcome = simulate(&case, &subjects[0].policy, &point.knobs, None);
        let missed = references_at_risk(&names, &case, &outcome);
        assert_eq!(score.cost, price_lane(&bills, &outcome).total());
        assert_eq!(score.risk.references, missed.faults.len());
        assert_eq!(
            (score.peak, score.compactions),
            (outcome.peak().unwrap().tokens, outcome.compactions)
        );
        assert_eq!(score.sent, outcome.tokens_sent());
        let all = outcome.tokens_sent() + outcome.tokens_rejected;
        assert_eq!(score.total, all);
    }
    assert!(played >= 4);
}

#[test]
fn keeping_more_costs_more_until_the_trigger_cannot_be_met() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[4.0, 30.0, 200.0]);
    let points = swept(&case, &subjects);
    let by_keep = |keep: f64| {
        points
            .iter()
            .find(|p| p.knobs.get("keep_recent") == Some(keep))
            .unwrap()
    };
    let (few, more) = (
        by_keep(4.0).valid().unwrap(),
        by_keep(30.0).valid().unwrap(),
    );
    // The file's content is removed long before its use in both cases.
    assert_eq!(few.risk.references, 1);
    assert!(few.cost < more.cost && few.peak_share.0 <= 1.0 && more.compactions > few.compactions);
    // The session has 200 messages: a setting that keeps all of them is not replayed.
    let all = by_keep(200.0);
    assert_eq!(all.score, None);
    let Some(Reason::CannotGetBelow(stuck)) = all.ruled_out.map(|why| why.reason) else {
        panic!("{:?}", all.ruled_out);
    };
    assert!(stuck.least >= stuck.limit && stuck.in_all >= 3);
    // A replay confirms it: it removes nothing and overflows at the end.
    let outcome = simulate(&case, &subjects[0].policy, &all.knobs, None);
    let first = outcome.samples.iter().position(|s| s.tokens >= stuck.limit);
    assert_eq!(first, Some(stuck.call));
}

#[test]
fn one_large_message_rejects_no_setting() {
    let mut talk = Talk::new();
    talk.turn(40, 20);
    talk.call("giant", 5_300);
    talk.turn(60, 20);
    let case = case(&talk, 8_000);
    let points = swept(&case, &by_keep(&[8.0]));
    // That it leaves almost nothing after that message is a different reason.
    assert!(
        !points[1]
            .ruled_out
            .is_some_and(|why| matches!(why.reason, Reason::CannotGetBelow(_))),
        "it is above the trigger for four calls only"
    );
}

#[test]
fn overflows_are_counted_with_the_first_call() {
    let mut talk = Talk::new();
    talk.turn(3, 20);
    talk.call("giant", 9_000);
    talk.turn(3, 20);
    let case = case(&talk, 8_000);
    let points = swept(&case, &by_keep(&[4.0]));
    let why = points[1].ruled_out.unwrap();
    let outcome = simulate(&case, &truncate(), &points[1].knobs, None);
    let first = outcome.samples.iter().find(|s| s.overflows).unwrap().call;
    assert_eq!(why, ruled_out(Reason::Overflows, outcome.overflows, first));
    assert!(why.to_string().ends_with(&format!("call {}", first + 1)));
}

#[test]
fn a_sweep_reports_every_point_and_can_be_cancelled() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[2.0, 5.0, 10.0, 20.0, 40.0]);
    let all = plan(&subjects, 1_000);
    let names = Names::new(&case.session);
    let gauge = gauge(&case, &names);
    let heard = Mutex::new(vec![None; all.len()]);
    let hear = |idx: usize, point: &Point| heard.lock().unwrap()[idx] = Some(point.clone());
    let found = sweep(&gauge, &subjects, all.clone(), &Progress::default(), &hear).unwrap();
    let heard: Vec<_> = heard.into_inner().unwrap().into_iter().flatten().collect();
    assert_eq!(heard, found);
    let (progress, n) = (Progress::default(), AtomicUsize::new(0));
    let stop = |_: usize, _: &Point| {
        n.fetch_add(1, Ordering::Relaxed);
        progress.cancel();
    };
    let policy = truncate();
    let axis = Axis::of(policy.knob("keep_recent").unwrap());
    let many = [subject(policy, vec![axis])];
    let stopped = sweep(&gauge, &many, plan(&many, 400), &progress, &stop);
    assert_eq!(stopped, Err(Cancelled));
    assert!(n.into_inner() < 100);
}

#[test]
fn settings_are_written_as_options() {
    let policy = presets::by_name("digitorn").unwrap();
    let choice = policy
        .knobs
        .iter()
        .find(|knob| knob.choices.len() > 1)
        .unwrap();
    let mut knobs = policy.defaults();
    let other = if choice.value == 0.0 { 1.0 } else { 0.0 };
    policy.set(&mut knobs, &choice.name, other).unwrap();
    let changed = changed_settings(&policy, &policy.defaults(), &knobs);
    let expected = ChangedSetting {
        knob: choice.name.clone(),
        value: choice.choices[other as usize].clone(),
    };
    assert_eq!(changed, [expected]);
}

fn figures(score: Score) -> Figures {
    Figures { score, flaw: None }
}

fn failed(checks: &[Check]) -> Vec<(Measure, &str)> {
    checks
        .iter()
        .filter(|c| !c.ok)
        .map(|c| (c.measure, &*c.text))
        .collect()
}

#[test]
fn equal_figures_pass_and_worse_ones_are_reported_with_both_values() {
    let (none, before) = (Limits::default(), figures(score(4.0, 9, 0.8)));
    assert!(failed(&checks(&none, &before, Some(&before))).is_empty());
    let mut worse = figures(score(4.2, 10, 0.84));
    worse.score.overflows = 1;
    let found = checks(&none, &worse, Some(&before));
    assert_eq!(
        failed(&found),
        [
            (Measure::Cost, "$4.20 instead of $4.00, +5.0 %"),
            (Measure::AtRisk, "10 instead of 9, +11.1 %"),
            (Measure::Peak, "84.0 % instead of 80.0 %, +5.0 %"),
            (Measure::Overflows, "1 instead of 0"),
        ]
    );
    let better = figures(score(3.0, 0, 0.1));
    assert!(failed(&checks(&none, &better, Some(&before))).is_empty());
}

#[test]
fn a_tiny_increase_is_reported_with_full_precision() {
    let before = figures(score(4.0, 9, 0.8));
    let now = figures(score(4.0, 9, 0.8004));
    assert_eq!(
        failed(&checks(&Limits::default(), &now, Some(&before))),
        [(
            Measure::Peak,
            "80.0 %, slightly more than before (0.8004 instead of 0.8)"
        )]
    );
}

#[test]
fn tolerances_and_limits_allow_more() {
    let before = figures(score(4.0, 10, 0.8));
    let now = figures(score(4.2, 11, 0.8));
    let tolerant = Limits {
        tolerance: Share(0.10),
        ..Limits::default()
    };
    assert!(failed(&checks(&tolerant, &now, Some(&before))).is_empty());
    let by_cost = Limits {
        cost: Some(Limit::Above(Share(0.05))),
        ..Limits::default()
    };
    assert_eq!(
        failed(&checks(&by_cost, &now, Some(&before))),
        [(Measure::AtRisk, "11 instead of 10, +10.0 %")]
    );
}

#[test]
fn limits_apply_without_a_baseline() {
    let limits = Limits {
        peak: Some(Share(0.75)),
        cost: Some(Limit::AtMost(4.0)),
        at_risk: Some(Limit::AtMost(9.0)),
        survival: Vec::new(),
        overflows: Some(0),
        into_reserve: None,
        no_thrash: true,
        tolerance: Share(0.0),
    };
    let mut now = figures(score(4.0, 9, 0.8));
    now.flaw = Some("thrashes".to_owned());
    assert_eq!(
        failed(&checks(&limits, &now, None)),
        [
            (Measure::Peak, "80.0 %, at most 75.0 % allowed"),
            (Measure::Thrash, "thrashes")
        ]
    );
    now.score.cost = None;
    let found = checks(&limits, &now, None);
    assert!(
        failed(&found)[0].1.starts_with("unknown: no price"),
        "{found:?}"
    );
}

#[test]
fn a_flaw_in_the_baseline_is_no_regression() {
    let mut before = figures(score(4.0, 9, 0.8));
    let mut now = before.clone();
    now.flaw = Some("cannot_get_below_trigger".to_owned());
    let found = checks(&Limits::default(), &now, Some(&before));
    assert_eq!(
        failed(&found),
        [(
            Measure::Thrash,
            "cannot get below trigger, and did not before"
        )]
    );
    before.flaw.clone_from(&now.flaw);
    assert!(failed(&checks(&Limits::default(), &now, Some(&before))).is_empty());
}

#[test]
fn the_effect_retained_passes_if_its_whole_interval_does() {
    let estimate = |interval: [f64; 2], conclusion| Estimate {
        value: Some(0.8),
        interval: Some(Interval {
            low: interval[0],
            high: interval[1],
        }),
        n: 40,
        clusters: 10,
        conclusion,
    };
    let check = |interval, conclusion| {
        let check = check_retained(Share(0.7), &estimate(interval, conclusion));
        (check.ok, check.is_judged)
    };
    assert_eq!(check([0.71, 0.9], Conclusion::Above), (true, true));
    assert_eq!(check([0.69, 0.9], Conclusion::Above), (false, true));
    assert_eq!(check([-0.1, 0.9], Conclusion::Inconclusive), (false, true));
    let few = check([0.71, 0.9], Conclusion::TooFewCompactions);
    assert_eq!(few, (true, false));
    // Figure and limit have the same decimals.
    let text = check_retained(Share(0.7), &estimate([0.71, 0.9], Conclusion::Above)).text;
    assert_eq!(
        text,
        "0.80 [0.71, 0.90], at least 0.70 required of the whole interval"
    );
}
