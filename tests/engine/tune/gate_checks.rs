//! Checks of a run against limits and against an earlier run.

use super::{reading_again, score};
use plimsoll_core::analysis::statistics::{Conclusion, Estimate, Interval};
use plimsoll_core::analysis::tune::{
    Check, Figures, GateLimits, Limit, Measure, Score, check_retained, checks,
};
use plimsoll_core::units::Share;

fn figures(score: Score) -> Figures {
    Figures { score, flaw: None }
}

/// Returns figures of a run that costs this much and is expected to cause this many re-reads.
fn run(cost: f64, rereads: f64, peak: f64) -> Figures {
    figures(reading_again(cost, (rereads, 0.1), peak))
}

fn failed(checks: &[Check]) -> Vec<(Measure, &str)> {
    checks.iter().filter(|c| !c.ok).map(|c| (c.measure, &*c.text)).collect()
}

#[test]
fn equal_figures_pass_and_worse_ones_are_reported_with_both_values() {
    let (none, before) = (GateLimits::default(), run(4.0, 2.0, 0.8));
    assert!(failed(&checks(&none, &before, Some(&before))).is_empty());
    let mut worse = run(4.2, 2.5, 0.84);
    worse.score.overflows = 1;
    let found = checks(&none, &worse, Some(&before));
    assert_eq!(
        failed(&found),
        [
            (Measure::Cost, "$4.20 instead of $4.00, +5.0 %"),
            (Measure::Rereads, "2.5 instead of 2.0, +25.0 %"),
            (Measure::Peak, "84.0 % instead of 80.0 %, +5.0 %"),
            (Measure::Overflows, "1 instead of 0"),
        ]
    );
    let better = figures(score(3.0, 0.1));
    assert!(failed(&checks(&none, &better, Some(&before))).is_empty());
}

#[test]
fn a_tiny_increase_is_reported_with_full_precision() {
    let before = run(4.0, 2.0, 0.8);
    let now = run(4.0, 2.0, 0.8004);
    assert_eq!(
        failed(&checks(&GateLimits::default(), &now, Some(&before))),
        [(Measure::Peak, "80.0 %, slightly more than before (0.8004 instead of 0.8)")]
    );
}

#[test]
fn tolerances_and_limits_allow_more() {
    let before = run(4.0, 2.0, 0.8);
    let now = run(4.2, 2.2, 0.8);
    let tolerant = GateLimits { tolerance: Share(0.10), ..GateLimits::default() };
    assert!(failed(&checks(&tolerant, &now, Some(&before))).is_empty());
    let by_cost = GateLimits { cost: Some(Limit::Above(Share(0.05))), ..GateLimits::default() };
    assert_eq!(
        failed(&checks(&by_cost, &now, Some(&before))),
        [(Measure::Rereads, "2.2 instead of 2.0, +10.0 %")]
    );
}

#[test]
fn expected_rereads_are_limited_with_and_without_a_baseline() {
    let (none, some) = (figures(score(4.0, 0.8)), run(4.0, 0.3, 0.8));
    assert_eq!(
        failed(&checks(&GateLimits::default(), &some, Some(&none))),
        [(Measure::Rereads, "0.3 instead of 0.0")]
    );
    let at_most =
        |limit: f64| GateLimits { rereads: Some(Limit::AtMost(limit)), ..GateLimits::default() };
    assert!(at_most(0.3).are_any() && !at_most(0.3).need_before());
    assert!(failed(&checks(&at_most(0.3), &some, None)).is_empty());
    assert_eq!(
        failed(&checks(&at_most(0.2), &some, None)),
        [(Measure::Rereads, "0.3, at most 0.2 allowed")]
    );
    let above = GateLimits { rereads: Some(Limit::Above(Share(0.10))), ..GateLimits::default() };
    assert!(above.need_before() && !above.are_any());
    let (before, more) = (run(4.0, 2.0, 0.8), run(4.0, 2.3, 0.8));
    assert!(failed(&checks(&above, &run(4.0, 2.2, 0.8), Some(&before))).is_empty());
    assert_eq!(
        failed(&checks(&above, &more, Some(&before))),
        [(Measure::Rereads, "2.3 instead of 2.0, +15.0 % (+10.0 % allowed)")]
    );
}

#[test]
fn limits_apply_without_a_baseline() {
    let limits = GateLimits {
        peak: Some(Share(0.75)),
        cost: Some(Limit::AtMost(4.0)),
        rereads: Some(Limit::AtMost(2.0)),
        survival: Vec::new(),
        overflows: Some(0),
        into_reserve: None,
        no_thrash: true,
        tolerance: Share(0.0),
    };
    let mut now = run(4.0, 2.0, 0.8);
    now.flaw = Some("thrashes".to_owned());
    assert_eq!(
        failed(&checks(&limits, &now, None)),
        [(Measure::Peak, "80.0 %, at most 75.0 % allowed"), (Measure::Thrash, "thrashes")]
    );
    now.score.cost = None;
    let found = checks(&limits, &now, None);
    let cost = &found[0];
    assert!(cost.ok && !cost.is_judged && cost.text.starts_with("not judged: no price"));
    assert!(!cost.clone().strict().ok, "what cannot be judged fails");
    assert!(found.iter().filter(|check| check.is_judged).all(|c| c.clone().strict() == *c));
}

#[test]
fn a_flaw_in_the_baseline_is_no_regression() {
    let mut before = run(4.0, 2.0, 0.8);
    let mut now = before.clone();
    now.flaw = Some("cannot_get_below_trigger".to_owned());
    let found = checks(&GateLimits::default(), &now, Some(&before));
    assert_eq!(failed(&found), [(Measure::Thrash, "cannot get below trigger, and did not before")]);
    before.flaw.clone_from(&now.flaw);
    assert!(failed(&checks(&GateLimits::default(), &now, Some(&before))).is_empty());
}

#[test]
fn the_effect_retained_passes_if_its_whole_interval_does() {
    let estimate = |interval: [f64; 2], conclusion| Estimate {
        value: Some(0.8),
        interval: Some(Interval { low: interval[0], high: interval[1] }),
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
    assert_eq!(text, "0.80 [0.71, 0.90], at least 0.70 required of the whole interval");
}
