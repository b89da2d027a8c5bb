//! The front and the recommended setting, with their sentences.

use super::{point, points, reading_again, ruled_out, score, subject, truncate};
use plimsoll_core::analysis::statistics::Interval;
use plimsoll_core::analysis::tune::{
    CostUnit, LostRules, Point, Reason, Recommendation, Score, SweepSubject, candidates, cost_unit,
    front, recommend, ruled_out_counts, trade_off,
};

fn subjects() -> [SweepSubject; 1] {
    [subject(truncate(), Vec::new())]
}

fn recommended(points: &[Point]) -> Recommendation {
    recommend(&subjects(), points, None).expect("a setting works")
}

/// Returns [`score`] that loses some of two constraints of the user.
fn losing(lost: usize, paid: f64, peak: f64) -> Score {
    Score { user_rules: Some(LostRules { lost, unknown: 0, stated: 2 }), ..score(paid, peak) }
}

/// Returns [`score`] of a setting that never acts.
fn idle(paid: f64, peak: f64) -> Score {
    Score { acts: false, compactions: 0, ..score(paid, peak) }
}

#[test]
fn the_price_of_expected_rereads_is_part_of_the_cost() {
    let score = reading_again(3.0, (2.5, 0.4), 0.8);
    assert_eq!(CostUnit::Usd.paid(&score), 3.0);
    assert_eq!(CostUnit::Usd.of(&score), 3.4);
    let interval = Interval { low: 3.2, high: 3.6 };
    assert_eq!(CostUnit::Usd.interval(&score), interval);
    assert_eq!(CostUnit::Tokens.of(&score), 3_400_000.0);
}

#[test]
fn the_front_contains_the_nondominated_points() {
    let [subject] = subjects();
    let with_rules = |lost: usize, score: Score| {
        let user_rules = Some(LostRules { lost, unknown: 0, stated: 2 });
        Ok(Score { user_rules, ..score })
    };
    let points = points(
        &subject,
        &[
            (10.0, Ok(losing(0, 5.0, 0.8))),
            (20.0, Ok(losing(1, 4.0, 0.7))),
            (30.0, with_rules(0, reading_again(2.0, (9.0, 2.0), 0.9))),
            (5.0, Ok(losing(2, 3.0, 0.75))),
            (40.0, Err(ruled_out(Reason::Overflows, 2, 7))),
            (50.0, Ok(losing(0, 4.5, 0.7))),
        ],
    );
    // 50 dominates 10, 40 is ruled out. 30 costs $4.00 with its re-reads; it keeps more rules than 5 and 20, and costs
    // less than 50.
    assert_eq!(front(&points), [3, 1, 2, 5]);
    // 5 and 20 lose rules that others keep, so they are not offered.
    assert_eq!(trade_off(&points), [2, 5]);
    let counts = ruled_out_counts(&points);
    assert_eq!((counts.len(), counts[0].n), (1, 1));
    assert_eq!(counts[0].description(), "overflows");
}

#[test]
fn of_equal_points_the_present_settings_are_on_the_front() {
    let [subject] = subjects();
    let all = [(5.0, Ok(score(5.0, 0.8))), (10.0, Ok(score(5.0, 0.8)))];
    assert_eq!(front(&points(&subject, &all)), [1]);
}

#[test]
fn a_recommendation_compares_with_the_present_settings() {
    let [subject] = subjects();
    let points = points(
        &subject,
        &[
            (10.0, Ok(score(5.94, 0.8))),
            (24.0, Ok(reading_again(4.00, (2.0, 0.10), 0.71))),
            (5.0, Ok(reading_again(3.00, (15.4, 2.00), 0.6))),
            (80.0, Ok(score(5.20, 0.9))),
        ],
    );
    let found = recommended(&points);
    assert_eq!((found.point, found.cheapest), (1, 1));
    assert_eq!(
        found.text,
        "truncate with keep_recent 24 costs $4.10 ($0.10 of it for about 2.0 re-reads), 31 % less than its current settings ($5.94); peak 71 % of usable."
    );
    assert_eq!(found.others, None);
    // 5 pays least, and its re-reads cost $1.00 to $3.00: its interval begins at $4.00, within that of 24.
    assert_eq!(candidates(&points), [1, 2, 3, 0]);
    assert_eq!(found.as_good, 2);
}

#[test]
fn the_price_of_rereads_changes_the_order() {
    let [subject] = subjects();
    let all = |usd: f64| {
        let all = [
            (10.0, Ok(score(6.00, 0.8))),
            (5.0, Ok(reading_again(3.20, (15.4, usd), 0.6))),
            (24.0, Ok(score(4.00, 0.7))),
        ];
        points(&subject, &all)
    };
    let found = |usd| {
        let points = all(usd);
        (recommended(&points).point, candidates(&points))
    };
    assert_eq!(found(0.0), (1, vec![1, 2, 0]));
    assert_eq!(found(2.0), (2, vec![2, 1, 0]));
}

#[test]
fn of_overlapping_intervals_the_fewest_changes_are_recommended() {
    let [subject] = subjects();
    let all = |rereads_of_one_change: f64| {
        let one = reading_again(4.00, (2.0, rereads_of_one_change), 0.71);
        let two = reading_again(3.80, (3.0, 0.30), 0.6);
        let settings = [("keep_recent", 5.0), ("compression_trigger", 0.5)];
        [
            point(&subject, &[], Ok(score(6.00, 0.8))),
            point(&subject, &[("keep_recent", 24.0)], Ok(one)),
            point(&subject, &settings, Ok(two)),
        ]
    };
    // $4.10 to $4.30 for one change and $3.95 to $4.25 for two.
    let found = recommended(&all(0.20));
    assert_eq!((found.point, found.cheapest, found.as_good), (1, 2, 2));
    assert_eq!(
        found.text,
        "truncate with keep_recent 24 costs $4.20 ($0.20 of it for about 2.0 re-reads), 30 % less than its current settings ($6.00); peak 71 % of usable."
    );
    assert_eq!(
        found.others.as_deref(),
        Some(
            "The cheapest setting tried costs $4.10 ($3.95 to $4.25): the difference is below 1 % or within the error of the expected re-reads, and it changes more settings."
        )
    );
    // $4.30 to $4.90 for one change: a clear difference.
    let found = recommended(&all(0.60));
    assert_eq!((found.point, found.cheapest, found.as_good), (2, 2, 1));
    assert_eq!(
        found.text,
        "truncate with compression_trigger 0.5, keep_recent 5 costs $4.10 ($0.30 of it for about 3.0 re-reads), 32 % less than its current settings ($6.00); peak 60 % of usable."
    );
    assert_eq!(found.others, None);
}

#[test]
fn present_settings_are_kept_if_none_is_better() {
    let [subject] = subjects();
    let all = [(10.0, Ok(score(4.10, 0.71))), (24.0, Ok(score(4.08, 0.71)))];
    let found = recommended(&points(&subject, &all));
    assert_eq!((found.point, found.cheapest), (0, 1));
    assert_eq!(
        found.text,
        "truncate with its current settings, as good as any of the 2 settings tried, costs $4.10; peak 71 % of usable."
    );
    // Without re-reads there is no interval to report.
    assert_eq!(
        found.others.as_deref(),
        Some(
            "The cheapest setting tried costs $4.08: the difference is below 1 % or within the error of the expected re-reads, and it changes more settings."
        )
    );
}

#[test]
fn a_recommendation_compares_with_the_recorded_run_first() {
    let [subject] = subjects();
    let points = points(
        &subject,
        &[(10.0, Ok(score(6.10, 0.8))), (24.0, Ok(reading_again(3.60, (1.0, 0.06), 0.71)))],
    );
    // The re-reads of the recorded run happened: they are part of what it cost.
    let text = |paid: f64, files: f64| {
        let recorded = reading_again(paid, (files, 0.50), 0.9);
        let found = recommend(&subjects(), &points, Some(&recorded));
        found.expect("a setting works").text
    };
    assert_eq!(
        text(4.82, 1.0),
        "truncate with keep_recent 24 saves 24 % of $4.82 (recorded run) and costs $3.66 ($0.06 of it for about 1.0 re-read), 40 % less than its current settings ($6.10); peak 71 % of usable."
    );
    assert_eq!(
        text(3.00, 0.2),
        "truncate with keep_recent 24 costs $3.66 ($0.06 of it for about 1.0 re-read), 22 % more than the recorded run ($3.00), 40 % less than its current settings ($6.10); peak 71 % of usable. More re-reads are expected than after the compactions of the recorded run (0.2)."
    );
    let equal =
        " costs $3.66 ($0.06 of it for about 1.0 re-read), as the recorded run, 40 % less than ";
    assert!(text(3.66, 1.0).contains(equal));
    // 0.5 to 1.5 re-reads and 0.4 to 1.2: no difference is known.
    assert!(!text(3.00, 0.8).contains("More re-reads"));
}

#[test]
fn settings_that_lose_a_constraint_are_recommended_only_if_all_do() {
    let [subject] = subjects();
    let mut points = points(
        &subject,
        &[
            (10.0, Ok(losing(2, 1.00, 0.8))),
            (24.0, Ok(losing(1, 1.50, 0.8))),
            (90.0, Ok(losing(0, 40.00, 0.97))),
        ],
    );
    // A lost constraint outweighs any price and a high peak.
    let found = recommended(&points);
    assert_eq!((found.point, candidates(&points)), (2, vec![2]));
    let keeps = ", keeps every constraint and decision of the user; peak 97 % of usable.";
    assert!(found.text.ends_with(keeps), "{}", found.text);

    points.pop();
    let found = recommended(&points);
    // If all lose some, money decides.
    assert_eq!((found.point, candidates(&points)), (0, vec![0, 1]));
    let loses = ", loses 2 of 2 constraints and decisions of the user; peak 80 % of usable. No setting tried keeps every constraint and decision.";
    assert!(found.text.ends_with(loses), "{}", found.text);
}

#[test]
fn one_stated_constraint_is_singular() {
    let [subject] = subjects();
    let lost = Score {
        user_rules: Some(LostRules { lost: 1, unknown: 0, stated: 1 }),
        ..score(1.00, 0.8)
    };
    let text = recommended(&points(&subject, &[(10.0, Ok(lost))])).text;
    let loses = "truncate with its current settings costs $1.00, loses 1 of 1 constraint or decision of the user; peak 80 % of usable.";
    assert!(text.starts_with(loses), "{text}");
}

#[test]
fn peaks_above_95_percent_are_recommended_only_if_nothing_else_works() {
    let [subject] = subjects();
    let overflows = Err(ruled_out(Reason::Overflows, 2, 7));
    let mut points = points(
        &subject,
        &[(10.0, overflows), (24.0, Ok(score(3.00, 0.96))), (30.0, Ok(score(9.00, 0.95)))],
    );
    assert_eq!(recommended(&points).point, 2);
    assert_eq!(candidates(&points), [2]);
    points.pop();
    assert_eq!(recommended(&points).point, 1);
}

#[test]
fn the_best_setting_that_acts_is_offered_beside_one_that_never_does() {
    let [subject] = subjects();
    let all = [
        (10.0, Ok(reading_again(4.00, (9.0, 0.60), 0.6))),
        (24.0, Ok(idle(4.08, 0.84))),
        (5.0, Ok(reading_again(4.05, (1.3, 0.05), 0.6))),
    ];
    let found = recommended(&points(&subject, &all));
    assert_eq!((found.point, found.never_acts), (1, true));
    assert_eq!(
        found.text,
        "This session fits: this setting never acts. truncate with keep_recent 24 costs $4.08, 11 % less than its current settings ($4.60); peak 84 % of usable."
    );
    let acting = found.acting.expect("others act");
    assert_eq!(acting.point, 2);
    assert_eq!(
        acting.text,
        "truncate with keep_recent 5 costs $4.10 ($0.05 of it for about 1.3 re-reads), 11 % less than its current settings ($4.60); peak 60 % of usable."
    );
    let all = [(10.0, Ok(idle(4.08, 0.84))), (24.0, Err(ruled_out(Reason::CutsUnread, 2, 7)))];
    let found = recommended(&points(&subject, &all));
    assert_eq!((found.never_acts, found.acting), (true, None));
    let finding = "This session fits: neither this setting nor any other that works ever acts.";
    assert!(found.text.starts_with(finding), "{}", found.text);
}

#[test]
fn a_setting_that_never_acts_is_no_simpler_form_of_one_that_does() {
    let [subject] = subjects();
    // The difference is below 1 %, and the idle settings are the current ones.
    let all = [(10.0, Ok(idle(4.08, 0.84))), (24.0, Ok(score(4.05, 0.6)))];
    let found = recommended(&points(&subject, &all));
    assert_eq!((found.point, found.as_good, found.never_acts), (1, 2, false));
}

#[test]
fn rejected_present_settings_are_reported() {
    let [subject] = subjects();
    let all = [(10.0, Err(ruled_out(Reason::Overflows, 2, 7))), (24.0, Ok(score(4.08, 0.71)))];
    assert_eq!(
        recommended(&points(&subject, &all)).text,
        "truncate with keep_recent 24 costs $4.08; peak 71 % of usable. The current settings are ruled out: 2 calls overflow, the first is call 8."
    );
    let none = points(
        &subject,
        &[
            (10.0, Err(ruled_out(Reason::Overflows, 1, 7))),
            (24.0, Err(ruled_out(Reason::Overflows, 2, 7))),
            (5.0, Err(ruled_out(Reason::GivesUp, 1, 3))),
        ],
    );
    let why = recommend(&subjects(), &none, None).unwrap_err();
    assert_eq!(why, "None of the 3 settings tried works: 2 overflow, 1 ends the run.");
}

#[test]
fn tokens_replace_an_unknown_cost() {
    let [subject] = subjects();
    let unpriced = |paid: f64, files: f64, sent: f64| {
        let mut score = reading_again(paid, (files, sent), 0.5);
        (score.cost, score.rereads.usd) = (None, None);
        score
    };
    let all = points(
        &subject,
        &[
            (10.0, Ok(unpriced(2.0, 0.0, 0.0))),
            (5.0, Ok(unpriced(0.9, 2.0, 0.1))),
            (2.0, Ok(unpriced(0.8, 9.0, 0.9))),
        ],
    );
    assert_eq!(cost_unit(&all), CostUnit::Tokens);
    let found = recommended(&all);
    assert_eq!(
        found.text,
        "truncate with keep_recent 5 sends 1M tokens (100k of them for about 2.0 re-reads), 50 % fewer tokens than its current settings (2M); peak 50 % of usable."
    );
    assert_eq!(found.others, None);
    // 2 sends fewer tokens than 5, but not with those of its re-reads.
    assert_eq!(candidates(&all), [1, 2, 0]);
    // One unknown price is enough: dollars and tokens cannot be compared.
    let mixed =
        points(&subject, &[(10.0, Ok(score(0.5, 0.5))), (5.0, Ok(unpriced(0.2, 0.0, 0.0)))]);
    assert_eq!(cost_unit(&mixed), CostUnit::Tokens);
    assert_eq!(recommended(&mixed).point, 1);
}
