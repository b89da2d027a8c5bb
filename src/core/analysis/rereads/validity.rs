//! Whether the model predicts: observed against expected re-reads, with control points and whole persons resampled.

use super::fit::fit;
use super::items::{ItemKind, RereadItem};
use super::left_out::LeftOut;
use super::model::{RereadModel, WINDOW_CALLS};
use crate::analysis::statistics::{Ratio, estimate_ratio};
use crate::figure::counted;
use std::collections::BTreeSet;

/// Windows of calls in which re-reads after compactions and control points are compared: that of the model, half of it
/// and twice as much, so that the page shows what the choice of the window changes.
const WINDOWS: [u32; 3] = [10, 20, 40];
/// Slopes of calibration that count as calibrated: predictions that are off by a quarter mislead no ranking.
const CALIBRATED: std::ops::RangeInclusive<f64> = 0.75..=1.0 / 0.75;

/// Everything that the page of validity says.
#[derive(Clone, Debug)]
pub struct Validity {
    /// Name of the table or sessions.
    pub source: String,
    /// Numbers of sessions, persons, compactions and control points with an item.
    pub counts: ItemCounts,
    /// Coefficients fitted to the items, or why there are none.
    pub model: Result<RereadModel, String>,
    /// Predictions for each person from the others; none without coefficients.
    pub left_out: Option<LeftOut>,
    /// Observed against expected re-reads by the coefficients in use: all, then by program.
    pub expected: Vec<ObservedExpected>,
    /// Re-reads after compactions against control points, by kind and window.
    pub effects: Vec<EffectRow>,
    /// Re-reads of files with the next context's names against those without, at equal age, uses and edits.
    pub named: [Ratio; 2],
}

/// The contents of a table in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCounts {
    /// Sessions.
    pub sessions: usize,
    /// Persons.
    pub persons: usize,
    /// Recorded compactions.
    pub compactions: usize,
    /// Control points.
    pub controls: usize,
    /// Compactions that count for the coefficients.
    pub fitted: usize,
}

/// Observed and expected re-reads.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedExpected {
    /// Name of the program; none for all.
    pub program: Option<String>,
    /// Number of files.
    pub files: usize,
    /// Observed / expected, with both sums.
    pub ratio: Ratio,
}

/// Shares of the items that are used again within a window.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectRow {
    /// Kind of the items.
    pub kind: ItemKind,
    /// Calls.
    pub window: u32,
    /// Share after compactions and at control points.
    pub shares: [f64; 2],
    /// Their ratio.
    pub ratio: Ratio,
    /// For files: observed re-reads after compactions / those expected if the content had stayed, at equal age, uses
    /// and edits.
    pub matched: Option<Ratio>,
}

/// The conclusion of a validity page about the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidityVerdict {
    /// Predictions for people who were left out are calibrated and rank compactions.
    Predicts,
    /// They rank compactions, but are not calibrated.
    Ranks,
    /// The data show neither.
    Inconclusive,
    /// There are too few persons.
    TooFewPersons,
}

impl Validity {
    /// Judges items. `model` are the coefficients in use, which the observed re-reads are held against.
    pub fn of(items: &[RereadItem], model: &RereadModel, source: String) -> Self {
        let counts = ItemCounts::of(items);
        let own = fit(items, counts.source(&source));
        let left_out = own.is_ok().then(|| LeftOut::new(items));
        Self {
            source,
            counts,
            left_out,
            expected: observed_expected(items, model),
            effects: effects(items, own.as_ref().unwrap_or(model)),
            named: named(items, own.as_ref().unwrap_or(model)),
            model: own,
        }
    }

    /// Returns the conclusion. Neither few persons nor items that were chosen by what happened later can make it
    /// *predicts*: every person is predicted by the others, and only files that were observed for the whole window
    /// count.
    pub fn verdict(&self) -> ValidityVerdict {
        let Some(left_out) = &self.left_out else {
            return ValidityVerdict::TooFewPersons;
        };
        match left_out.interval {
            None => ValidityVerdict::TooFewPersons,
            Some(interval) if interval.low <= 0.0 => ValidityVerdict::Inconclusive,
            Some(_) if CALIBRATED.contains(&left_out.calibration[1]) => ValidityVerdict::Predicts,
            Some(_) => ValidityVerdict::Ranks,
        }
    }
}

impl ItemCounts {
    /// Returns the source that a file of coefficients names.
    fn source(self, table: &str) -> String {
        format!(
            "{} of {}, {} ({table}), fitted by `plimsoll evaluate --fit`",
            counted(self.sessions, "recorded session"),
            counted(self.persons, "person"),
            counted(self.compactions, "compaction"),
        )
    }

    fn of(items: &[RereadItem]) -> Self {
        let points = |is_wanted: &dyn Fn(&RereadItem) -> bool| {
            let wanted = items.iter().filter(|item| is_wanted(item));
            let points = wanted.map(|item| (item.session, item.point));
            points.collect::<BTreeSet<_>>().len()
        };
        let distinct =
            |of: &dyn Fn(&RereadItem) -> u32| items.iter().map(of).collect::<BTreeSet<_>>().len();
        Self {
            sessions: distinct(&|item| item.session),
            persons: distinct(&|item| item.person),
            compactions: points(&|item| !item.is_control),
            controls: points(&|item| item.is_control),
            fitted: points(&|item| !item.is_control && item.is_fitted()),
        }
    }
}

/// Returns observed against expected re-reads: of all programs, then of each.
fn observed_expected(items: &[RereadItem], model: &RereadModel) -> Vec<ObservedExpected> {
    let removed = || items.iter().filter(|item| item.is_fitted() && !item.is_control);
    let programs: BTreeSet<&str> = removed().map(|item| &*item.program).collect();
    let of = |program: Option<&str>| {
        let is_of = |item: &&RereadItem| program.is_none_or(|program| item.program == program);
        let own: Vec<&RereadItem> = removed().filter(is_of).collect();
        ObservedExpected {
            program: program.map(str::to_owned),
            files: own.len(),
            ratio: ratio(own.iter().map(|item| {
                (item.person, is_read_again(item, WINDOW_CALLS), model.if_removed(item.known))
            })),
        }
    };
    let all = std::iter::once(of(None));
    all.chain(programs.into_iter().map(|program| of(Some(program)))).collect()
}

/// Returns the rows of items after compactions against control points.
fn effects(items: &[RereadItem], model: &RereadModel) -> Vec<EffectRow> {
    let mut rows = Vec::new();
    for kind in ItemKind::ALL {
        for window in WINDOWS {
            let side = |is_control: bool| {
                let of = items.iter().filter(move |item| {
                    item.kind == kind
                        && item.is_control == is_control
                        && !item.is_encrypted
                        && item.is_observed_for(window)
                });
                of.collect::<Vec<_>>()
            };
            let sides = [side(false), side(true)];
            let share = |side: &[&RereadItem]| {
                let again = side.iter().filter(|item| item.is_read_again_within(window));
                again.count() as f64 / side.len() as f64
            };
            if sides.iter().any(Vec::is_empty) {
                continue;
            }
            let shares = [share(&sides[0]), share(&sides[1])];
            let is_matched = kind == ItemKind::File && window == WINDOW_CALLS;
            rows.push(EffectRow {
                kind,
                window,
                shares,
                ratio: ratio_of_shares(&sides, window),
                matched: is_matched.then(|| {
                    ratio(sides[0].iter().map(|item| {
                        (item.person, is_read_again(item, window), model.if_held(item.known))
                    }))
                }),
            });
        }
    }
    rows
}

/// Returns observed / expected re-reads of files that the next context names, and of those that it does not, by the
/// coefficients without names: 1 for both if a name meant nothing at equal age, uses and edits.
fn named(items: &[RereadItem], model: &RereadModel) -> [Ratio; 2] {
    [true, false].map(|is_named| {
        let of = items
            .iter()
            .filter(|item| item.is_fitted() && !item.is_control && item.is_named == Some(is_named));
        ratio(of.map(|item| {
            (item.person, is_read_again(item, WINDOW_CALLS), model.if_removed(item.known))
        }))
    })
}

fn is_read_again(item: &RereadItem, window: u32) -> f64 {
    f64::from(u8::from(item.is_read_again_within(window)))
}

/// Estimates the ratio of two sums over persons.
fn ratio(pairs: impl Iterator<Item = (u32, f64, f64)>) -> Ratio {
    estimate_ratio(
        &pairs.map(|(person, a, b)| (person as usize, [a, 1.0, b, 1.0])).collect::<Vec<_>>(),
        false,
    )
}

/// Estimates the ratio of the shares of two groups.
fn ratio_of_shares(sides: &[Vec<&RereadItem>; 2], window: u32) -> Ratio {
    let first = sides[0].iter();
    let first =
        first.map(|item| (item.person as usize, [is_read_again(item, window), 1.0, 0.0, 0.0]));
    let second = sides[1].iter();
    let second =
        second.map(|item| (item.person as usize, [0.0, 0.0, is_read_again(item, window), 1.0]));
    estimate_ratio(&first.chain(second).collect::<Vec<_>>(), true)
}
