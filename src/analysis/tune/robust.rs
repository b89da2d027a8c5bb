//! One setting for many sessions: the one whose worst regret is smallest, tested on sessions that it was not picked by.
//!
//! Regret is how much worse a setting does in a session than the best one for that session, as a share of what that one
//! comes to (cost and references at risk taken together). A setting that is out of the question in a session is worse
//! than any regret.

use super::front::{changes, price_unit};
use super::recommend::{loss, regret};
use super::sweep::Point;
use crate::units::Share;
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

/// Picks one setting for sessions that were swept by the same plan, where references at risk weigh so much. None where
/// nothing works in any of them.
pub fn robust(sessions: &[Vec<Point>], weight: Share) -> Option<Robust> {
    let table: Vec<Row> = sessions
        .iter()
        .enumerate()
        .filter_map(|(session, points)| Row::new(session, points, weight))
        .collect();
    let points = sessions.first()?;
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
}

impl Row {
    fn new(session: usize, points: &[Point], weight: Share) -> Option<Self> {
        let unit = price_unit(points);
        let losses: Vec<Option<f64>> = points.iter().map(|p| loss(unit, p, weight)).collect();
        let known = losses
            .iter()
            .enumerate()
            .filter_map(|(idx, loss)| Some((idx, (*loss)?)));
        let (best, least) = known.reduce(|a, b| if b.1 < a.1 { b } else { a })?;
        Some(Self {
            session,
            best,
            regrets: losses
                .iter()
                .map(|loss| loss.map(|loss| regret(loss, least)))
                .collect(),
        })
    }
}

/// The setting that is out of the question in the fewest sessions; of those the one whose worst regret is smallest, then
/// whose sum is, then the one that changes least.
fn choose(points: &[Point], rows: &[&Row]) -> Option<usize> {
    if rows.is_empty() {
        return None;
    }
    let judged = |idx: usize| {
        let regrets = || rows.iter().map(|row| row.regrets[idx]);
        let n_rejected = regrets().filter(Option::is_none).count();
        let known = || regrets().flatten();
        (
            n_rejected,
            known().fold(0.0, f64::max),
            known().sum::<f64>(),
            changes(points, idx),
        )
    };
    let better = |a: &(usize, f64, f64, usize), b: &(usize, f64, f64, usize)| {
        let by_regret =
            a.0.cmp(&b.0)
                .then(a.1.total_cmp(&b.1))
                .then(a.2.total_cmp(&b.2));
        by_regret.then(a.3.cmp(&b.3))
    };
    (0..points.len())
        .map(|idx| (idx, judged(idx)))
        .min_by(|a, b| better(&a.1, &b.1))
        .map(|(idx, _)| idx)
}
