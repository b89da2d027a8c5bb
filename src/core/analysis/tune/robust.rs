//! One setting for many sessions: the one with the smallest worst regret, cross-validated by leaving out each session.
//!
//! Regret is the relative difference in cost, with expected re-reads, between a setting and the best one for the
//! session. A setting that is ruled out in a session is worse than any regret.

use super::changed_settings::changes;
use super::cost_unit::cost_unit;
use super::recommend::{MIN_GAIN, regret};
use super::sweep::Point;
use std::cmp::Ordering;

/// The setting with the smallest worst regret.
#[derive(Clone, Debug, PartialEq)]
pub struct Robust {
    /// Index of the setting, equal in every session's points.
    pub setting: usize,
    /// Its regret in each session in which some setting works.
    pub regrets: Vec<Regret>,
    /// Result of the choice by all other sessions, for each session; empty for fewer than two sessions.
    pub left_out: Vec<LeftOut>,
}

/// Regret of a setting in a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Index of the session.
    pub session: usize,
    /// Index of the best setting for it.
    pub best: usize,
    /// The regret; none if the setting is ruled out there.
    pub regret: Option<f64>,
}

/// A session that was left out of the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// Index of the session.
    pub session: usize,
    /// Index of the setting that the other sessions choose.
    pub setting: usize,
    /// Its regret in this session; none if it is ruled out there.
    pub regret: Option<f64>,
}

impl Robust {
    /// Returns the session with the worst regret.
    pub fn worst(&self) -> Option<&Regret> {
        self.regrets.iter().max_by(|a, b| compared(a.regret, b.regret))
    }

    /// Returns the left-out session with the worst regret.
    pub fn worst_left_out(&self) -> Option<&LeftOut> {
        self.left_out.iter().max_by(|a, b| compared(a.regret, b.regret))
    }
}

/// Compares regrets; a setting that is ruled out is worse than any regret.
fn compared(a: Option<f64>, b: Option<f64>) -> Ordering {
    let worst = |regret: Option<f64>| regret.unwrap_or(f64::INFINITY);
    worst(a).total_cmp(&worst(b))
}

/// The sweep of a session.
#[derive(Clone, Copy, Debug)]
pub struct SweptSession<'a> {
    /// The settings with their results.
    pub points: &'a [Point],
}

/// Picks one setting for sessions that were swept with the same plan. None if nothing works in any of them.
pub fn robust(sessions: &[SweptSession<'_>]) -> Option<Robust> {
    let table: Vec<SessionRegrets> = sessions
        .iter()
        .enumerate()
        .filter_map(|(idx, swept)| SessionRegrets::new(idx, swept.points))
        .collect();
    let points = sessions.first()?.points;
    let rows: Vec<&SessionRegrets> = table.iter().collect();
    let setting = choose(points, &rows)?;
    let regrets = table.iter().map(|row| Regret {
        session: row.session,
        best: row.best,
        regret: row.regrets[setting],
    });
    let without = |row: &SessionRegrets| {
        let others: Vec<&SessionRegrets> =
            table.iter().filter(|r| r.session != row.session).collect();
        let setting = choose(points, &others)?;
        Some(LeftOut { session: row.session, setting, regret: row.regrets[setting] })
    };
    Some(Robust {
        setting,
        regrets: regrets.collect(),
        left_out: table.iter().filter_map(without).collect(),
    })
}

/// The regrets of all settings in one session.
struct SessionRegrets {
    session: usize,
    best: usize,
    regrets: Vec<Option<f64>>,
    /// The costs of all settings, in the unit of the session.
    costs: Vec<Option<f64>>,
    /// True for settings above the maximum peak, unless all are.
    is_above: Vec<bool>,
}

impl SessionRegrets {
    fn new(session: usize, points: &[Point]) -> Option<Self> {
        let unit = cost_unit(points);
        let scores: Vec<Option<f64>> =
            points.iter().map(|point| point.valid().map(|score| unit.of(score))).collect();
        let is_above = |point: &Point| point.valid().is_some_and(|score| !score.is_safe());
        let mut above: Vec<bool> = points.iter().map(is_above).collect();
        let works = |idx: usize| scores[idx].is_some();
        if (0..points.len()).all(|idx| above[idx] || !works(idx)) {
            above.fill(false);
        }
        let open = scores.iter().enumerate().filter(|(idx, _)| !above[*idx]);
        let known = open.filter_map(|(idx, score)| Some((idx, (*score)?)));
        let (best, least) = known.reduce(|a, b| if b.1 < a.1 { b } else { a })?;
        Some(Self {
            session,
            best,
            regrets: scores
                .iter()
                // A setting above the maximum peak may cost less than the best below it.
                .map(|score| score.map(|score| regret(score, least).max(0.0)))
                .collect(),
            costs: scores,
            is_above: above,
        })
    }
}

/// Returns the setting that is ruled out in the fewest sessions, then above the maximum peak in the fewest, then with
/// the smallest worst regret. Of those whose worst regret costs less than [`MIN_GAIN`] more, the one that costs least
/// in all sessions together, then the one with the fewest changes.
fn choose(points: &[Point], rows: &[&SessionRegrets]) -> Option<usize> {
    if rows.is_empty() {
        return None;
    }
    let judged = |idx: usize| {
        let regrets = || rows.iter().map(|row| row.regrets[idx]);
        let known = || regrets().flatten();
        JudgedSetting {
            ruled_out: regrets().filter(Option::is_none).count(),
            above: rows.iter().filter(|row| row.is_above[idx]).count(),
            worst: known().fold(0.0, f64::max),
            sum: rows.iter().filter_map(|row| row.costs[idx]).sum(),
            changes: changes(points, idx),
        }
    };
    let all: Vec<JudgedSetting> = (0..points.len()).map(judged).collect();
    let best = all.iter().min_by(|a, b| a.compared(b))?;
    let is_as_good = |judged: &JudgedSetting| {
        (judged.ruled_out, judged.above) == (best.ruled_out, best.above)
            && 1.0 + judged.worst <= (1.0 + best.worst) * (1.0 + MIN_GAIN)
    };
    let as_good = all.iter().enumerate().filter(|(_, judged)| is_as_good(judged));
    as_good
        .min_by(|(_, a), (_, b)| a.sum.total_cmp(&b.sum).then(a.changes.cmp(&b.changes)))
        .map(|(idx, _)| idx)
}

/// Summary of a setting over all sessions.
struct JudgedSetting {
    /// Number of sessions in which it is ruled out.
    ruled_out: usize,
    /// Number of sessions in which it is above the maximum peak.
    above: usize,
    /// Its worst regret.
    worst: f64,
    /// Sum of its costs.
    sum: f64,
    /// Number of changed settings.
    changes: usize,
}

impl JudgedSetting {
    fn compared(&self, other: &Self) -> Ordering {
        (self.ruled_out, self.above)
            .cmp(&(other.ruled_out, other.above))
            .then(self.worst.total_cmp(&other.worst))
            .then(self.sum.total_cmp(&other.sum))
            .then(self.changes.cmp(&other.changes))
    }
}
