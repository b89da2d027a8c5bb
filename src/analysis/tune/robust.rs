//! One setting for many sessions: the one whose worst regret is smallest, tested on sessions that it was not picked by.
//!
//! Regret is how much worse a setting does in a session than the best one for that session, as a share of what that one
//! comes to (cost and references at risk taken together). A setting that is out of the question in a session is worse
//! than any regret.

use super::front::{changes, price_unit};
use super::recommend::{Taste, is_safe, loss, regret};
use super::sweep::Point;
use std::cmp::Ordering;

/// The setting that does best in the session where it does worst.
#[derive(Clone, Debug, PartialEq)]
pub struct Robust {
    /// Index of the setting: the same in every session's points.
    pub setting: usize,
    /// Its regrets, by session; sessions in which no setting works are left out.
    pub regrets: Vec<Regret>,
    /// What a choice by the other sessions would have meant for each; empty where there are fewer than two.
    pub left_out: Vec<LeftOut>,
}

/// How a setting does in a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Index of the session.
    pub session: usize,
    /// The setting that is best for it.
    pub best: usize,
    /// The regret; none where the setting is out of the question there.
    pub regret: Option<f64>,
}

/// A session that had no say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// Index of the session.
    pub session: usize,
    /// What the others would have chosen.
    pub setting: usize,
    /// Its regret in this session; none where it is out of the question there.
    pub regret: Option<f64>,
}

impl Robust {
    /// The session in which it does worst.
    pub fn worst(&self) -> Option<&Regret> {
        self.regrets
            .iter()
            .max_by(|a, b| compared(a.regret, b.regret))
    }

    /// The worst regret that a session would have had that had no say.
    pub fn worst_left_out(&self) -> Option<&LeftOut> {
        self.left_out
            .iter()
            .max_by(|a, b| compared(a.regret, b.regret))
    }
}

/// Out of the question is worse than any regret.
fn compared(a: Option<f64>, b: Option<f64>) -> Ordering {
    let worst = |regret: Option<f64>| regret.unwrap_or(f64::INFINITY);
    worst(a).total_cmp(&worst(b))
}

/// Picks one setting for sessions that were swept by the same plan, each with what is preferred there. None where nothing
/// works in any of them.
pub fn robust(sessions: &[(&[Point], Taste)]) -> Option<Robust> {
    let table: Vec<Row> = sessions
        .iter()
        .enumerate()
        .filter_map(|(session, (points, taste))| Row::new(session, points, *taste))
        .collect();
    let (points, _) = sessions.first()?;
    let rows: Vec<&Row> = table.iter().collect();
    let setting = choose(points, &rows)?;
    let regrets = table.iter().map(|row| Regret {
        session: row.session,
        best: row.best,
        regret: row.regrets[setting],
    });
    let without = |row: &Row| {
        let others: Vec<&Row> = table.iter().filter(|r| r.session != row.session).collect();
        let setting = choose(points, &others)?;
        Some(LeftOut {
            session: row.session,
            setting,
            regret: row.regrets[setting],
        })
    };
    Some(Robust {
        setting,
        regrets: regrets.collect(),
        left_out: table.iter().filter_map(without).collect(),
    })
}

/// The regrets of all settings in one session.
struct Row {
    session: usize,
    best: usize,
    regrets: Vec<Option<f64>>,
    /// Whether a setting comes too deep for comfort although others do not.
    is_deep: Vec<bool>,
}

impl Row {
    fn new(session: usize, points: &[Point], taste: Taste) -> Option<Self> {
        let unit = price_unit(points);
        let losses: Vec<Option<f64>> = points.iter().map(|p| loss(unit, p, taste)).collect();
        let is_deep = |point: &Point| point.valid().is_some_and(|score| !is_safe(score));
        let mut deep: Vec<bool> = points.iter().map(is_deep).collect();
        let works = |idx: usize| losses[idx].is_some();
        if (0..points.len()).all(|idx| deep[idx] || !works(idx)) {
            deep.fill(false);
        }
        let open = losses.iter().enumerate().filter(|(idx, _)| !deep[*idx]);
        let known = open.filter_map(|(idx, loss)| Some((idx, (*loss)?)));
        let (best, least) = known.reduce(|a, b| if b.1 < a.1 { b } else { a })?;
        Some(Self {
            session,
            best,
            regrets: losses
                .iter()
                // One that comes too deep may do better than the best that does not.
                .map(|loss| loss.map(|loss| regret(loss, least).max(0.0)))
                .collect(),
            is_deep: deep,
        })
    }
}

/// The setting that is out of the question in the fewest sessions, then too deep in the fewest; of those the one whose
/// worst regret is smallest, then whose sum is, then the one that changes least.
fn choose(points: &[Point], rows: &[&Row]) -> Option<usize> {
    if rows.is_empty() {
        return None;
    }
    let judged = |idx: usize| {
        let regrets = || rows.iter().map(|row| row.regrets[idx]);
        let known = || regrets().flatten();
        Judged {
            rejected: regrets().filter(Option::is_none).count(),
            deep: rows.iter().filter(|row| row.is_deep[idx]).count(),
            worst: known().fold(0.0, f64::max),
            sum: known().sum(),
            changes: changes(points, idx),
        }
    };
    let all = (0..points.len()).map(|idx| (idx, judged(idx)));
    all.min_by(|a, b| a.1.compared(&b.1)).map(|(idx, _)| idx)
}

/// How a setting does in all sessions.
struct Judged {
    /// Sessions in which it is out of the question.
    rejected: usize,
    /// Sessions in which it comes too deep.
    deep: usize,
    /// Its worst regret.
    worst: f64,
    /// All its regrets.
    sum: f64,
    /// Knobs that it changes.
    changes: usize,
}

impl Judged {
    fn compared(&self, other: &Self) -> Ordering {
        (self.rejected, self.deep)
            .cmp(&(other.rejected, other.deep))
            .then(self.worst.total_cmp(&other.worst))
            .then(self.sum.total_cmp(&other.sum))
            .then(self.changes.cmp(&other.changes))
    }
}
