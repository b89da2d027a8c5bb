//! One setting for many sessions.

use super::{points, reading_again, ruled_out, score, subject, truncate};
use plimsoll_core::analysis::tune::{Point, Reason, SweptSession, robust};

fn swept_sessions(sessions: &[Vec<Point>]) -> Vec<SweptSession<'_>> {
    let swept = sessions.iter().map(|points| SweptSession { points });
    swept.collect()
}

fn round(n: f64) -> f64 {
    (n * 1e4).round() / 1e4
}

#[test]
fn one_setting_for_many_sessions_minimizes_the_worst_regret() {
    let subject = subject(truncate(), Vec::new());
    let (a, b, c) = (10.0, 5.0, 20.0);
    // With its re-reads, b costs $6.00 in the first session, more than c.
    let first = [
        (a, Ok(score(10.0, 0.5))),
        (b, Ok(reading_again(4.0, (15.4, 2.0), 0.5))),
        (c, Ok(score(5.0, 0.5))),
    ];
    let second = [(a, Ok(score(10.0, 0.5))), (b, Ok(score(5.0, 0.5))), (c, Ok(score(20.0, 0.5)))];
    let sessions = [points(&subject, &first), points(&subject, &second)];
    let found = robust(&swept_sessions(&sessions)).unwrap();
    assert_eq!(found.setting, 1);
    let regrets: Vec<_> =
        found.regrets.iter().map(|r| (r.session, r.best, r.regret.map(round))).collect();
    // 6 / 5 - 1.
    assert_eq!(regrets, [(0, 2, Some(0.2)), (1, 1, Some(0.0))]);
    assert_eq!(found.worst().map(|r| r.session), Some(0));
    // Without the first session the second also picks b. Without the second the first picks c, which costs four times as
    // much as b in the second.
    let left_out: Vec<_> =
        found.left_out.iter().map(|l| (l.session, l.setting, l.regret.map(round))).collect();
    assert_eq!(left_out, [(0, 1, Some(0.2)), (1, 2, Some(3.0))]);
    assert_eq!(found.worst_left_out().map(|l| l.session), Some(1));
}

#[test]
fn one_setting_for_many_sessions_avoids_unsafe_peaks() {
    let subject = subject(truncate(), Vec::new());
    let first = [(10.0, Ok(score(9.0, 0.8))), (5.0, Ok(score(5.0, 0.99)))];
    let second = [(10.0, Ok(score(9.0, 0.97))), (5.0, Ok(score(5.0, 0.96)))];
    let sessions = [&first, &second].map(|all| points(&subject, all));
    let found = robust(&swept_sessions(&sessions)).unwrap();
    // In the second session every peak is unsafe, so the peak does not decide there.
    assert_eq!(found.setting, 0);
    let regrets: Vec<_> = found.regrets.iter().map(|r| r.regret.map(round)).collect();
    assert_eq!(regrets, [Some(0.0), Some(0.8)]);
}

#[test]
fn a_setting_rejected_in_one_session_is_worse_than_any_regret() {
    let subject = subject(truncate(), Vec::new());
    let first = [(10.0, Ok(score(90.0, 0.5))), (5.0, Ok(score(5.0, 0.5)))];
    let second = [(10.0, Ok(score(90.0, 0.5))), (5.0, Err(ruled_out(Reason::Overflows, 1, 0)))];
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
