//! Reduces samples to pixel columns. Independent of the UI.
//!
//! A pixel column may cover hundreds of calls. Each column keeps its minimum and maximum, so that the peak of a single
//! call remains visible.

use super::layout::{Grid, Steps};
use crate::app::messages::cumulative::Heat;
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::Tokens;

/// Calls below this share of the largest cumulative tokens are not marked.
const COLD: f64 = 0.002;

/// A curve reduced to pixel resolution: position and tokens.
pub(super) type Curve = Vec<[f64; 2]>;

/// Reduces a lane: each column keeps its minimum and maximum sample, in order. A context only shrinks by a removal
/// before a call, so a drop is vertical at that call.
pub(super) fn curve(samples: &[Sample], steps: Steps<'_>, grid: &Grid) -> Curve {
    curve_of(samples, |sample| sample.tokens, steps, grid)
}

/// Reduces any quantity of the samples.
pub(super) fn curve_of(
    samples: &[Sample],
    of: impl Fn(&Sample) -> Tokens,
    steps: Steps<'_>,
    grid: &Grid,
) -> Curve {
    let mut out = Curve::new();
    let mut column = Column {
        tolerance: grid.tolerance,
        ..Column::default()
    };
    let mut before = 0.0;
    for (step, sample) in in_view(samples, steps, grid) {
        let point = [steps.x(step), of(sample).as_f64()];
        let at = grid.column(point[0]);
        if point[1] + grid.tolerance < before {
            column.put(at, [point[0], before], &mut out);
        }
        column.put(at, point, &mut out);
        before = point[1];
    }
    column.end(&mut out);
    // A single call is a level line, not a dot.
    if let (1, [only]) = (samples.len(), out.as_slice()) {
        out.push([steps.end(), only[1]]);
    }
    out
}

/// Reduces measurements to the maximum of each group of `apart` columns.
pub(super) fn dots(usage: &[(usize, Tokens)], steps: Steps<'_>, grid: &Grid, apart: i64) -> Curve {
    let mut out = Curve::new();
    let mut at = i64::MIN;
    for (step, tokens) in usage {
        let point = [steps.x(*step), tokens.as_f64()];
        if !(grid.from..=grid.to).contains(&point[0]) {
            continue;
        }
        let cell = grid.column(point[0]) / apart.max(1);
        match out.last_mut() {
            Some(kept) if cell == at => *kept = if point[1] > kept[1] { point } else { *kept },
            _ => out.push(point),
        }
        at = cell;
    }
    out
}

/// Returns the call with the most cumulative tokens of each column, except low ones.
pub(super) fn hottest(heat: &[Heat], steps: Steps<'_>, grid: &Grid) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let mut column = i64::MIN;
    for step in grid.range(steps, heat.len()) {
        if heat[step].share.0 < COLD {
            continue;
        }
        let at = grid.column(steps.x(step));
        match out.last_mut() {
            Some(hottest) if at == column => {
                if heat[step].share > heat[*hottest].share {
                    *hottest = step;
                }
            }
            _ => out.push(step),
        }
        column = at;
    }
    out
}

fn in_view<'s>(
    samples: &'s [Sample],
    steps: Steps<'_>,
    grid: &Grid,
) -> impl Iterator<Item = (usize, &'s Sample)> {
    let range = grid.range(steps, samples.len());
    let first = range.start;
    samples[range]
        .iter()
        .enumerate()
        .map(move |(i, sample)| (first + i, sample))
}

/// Minimum and maximum of a column so far, and their order.
#[derive(Default)]
struct Column {
    at: i64,
    tolerance: f64,
    seen: Option<[[f64; 2]; 2]>,
    is_falling: bool,
}

impl Column {
    fn put(&mut self, column: i64, point: [f64; 2], out: &mut Curve) {
        if column != self.at {
            self.end(out);
            self.at = column;
        }
        match &mut self.seen {
            None => self.seen = Some([point; 2]),
            Some([least, _]) if point[1] < least[1] => {
                (*least, self.is_falling) = (point, true);
            }
            Some([_, greatest]) if point[1] > greatest[1] => {
                (*greatest, self.is_falling) = (point, false);
            }
            Some(_) => {}
        }
    }

    fn end(&mut self, out: &mut Curve) {
        match self.seen.take() {
            None => {}
            Some([least, greatest]) if greatest[1] - least[1] <= self.tolerance => {
                out.push(greatest);
            }
            Some([least, greatest]) if self.is_falling => out.extend([greatest, least]),
            Some([least, greatest]) => out.extend([least, greatest]),
        }
    }
}

/// A segment of the stacked area with the heights of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Start of the segment.
    pub(super) from: f64,
    /// End of the segment; equal to the start if the sample is a single point.
    pub(super) to: f64,
    /// Cumulative heights in tokens, by kind.
    pub(super) tops: [f32; Kind::ALL.len()],
}

impl Bar {
    /// Returns the total of all kinds.
    pub(super) fn total(&self) -> f32 {
        self.tops.last().copied().unwrap_or_default()
    }
}

/// Reduces the stacked area: a column with several samples becomes a bar of the largest one; any other sample is a
/// point joined to its neighbors.
pub(super) fn bars(samples: &[Sample], steps: Steps<'_>, grid: &Grid) -> Vec<Bar> {
    let mut out: Vec<Bar> = Vec::new();
    let mut column: Option<Heaviest<'_>> = None;
    for (step, sample) in in_view(samples, steps, grid) {
        let x = steps.x(step);
        let at = grid.column(x);
        let weight = sample.by_kind.iter().map(|tokens| u64::from(*tokens)).sum();
        match &mut column {
            Some(seen) if seen.column == at => {
                seen.samples += 1;
                if weight > seen.weight {
                    (seen.weight, seen.sample) = (weight, sample);
                }
            }
            _ => {
                out.extend(column.map(|done| done.bar(grid)));
                column = Some(Heaviest {
                    column: at,
                    samples: 1,
                    weight,
                    x,
                    sample,
                });
            }
        }
    }
    out.extend(column.map(|done| done.bar(grid)));
    if let (1, [only]) = (samples.len(), out.as_mut_slice()) {
        only.to = steps.end();
    }
    upright(out)
}

/// Makes each drop vertical at the start of the lower bar.
fn upright(bars: Vec<Bar>) -> Vec<Bar> {
    let mut out: Vec<Bar> = Vec::with_capacity(bars.len());
    for bar in bars {
        let before = out.last().copied();
        if let Some(before) = before.filter(|b| b.total() > bar.total() && b.to < bar.from) {
            out.push(Bar {
                from: bar.from,
                to: bar.from,
                ..before
            });
        }
        out.push(bar);
    }
    out
}

/// The largest sample of a column so far.
struct Heaviest<'s> {
    column: i64,
    samples: usize,
    weight: u64,
    /// Position of the column's first sample.
    x: f64,
    sample: &'s Sample,
}

impl Heaviest<'_> {
    fn bar(&self, grid: &Grid) -> Bar {
        let mut sum = 0.0;
        let tops = self.sample.by_kind.map(|tokens| {
            sum += tokens as f32;
            sum
        });
        match self.samples {
            1 => Bar {
                from: self.x,
                to: self.x,
                tops,
            },
            _ => Bar {
                from: grid.edge(self.column),
                to: grid.edge(self.column + 1),
                tops,
            },
        }
    }
}

/// Returns the first call of each run of overflows.
pub(super) fn overflow_runs(samples: &[Sample]) -> Vec<usize> {
    let is_first =
        |step: &usize| samples[*step].overflows && (*step == 0 || !samples[step - 1].overflows);
    (0..samples.len()).filter(is_first).collect()
}
