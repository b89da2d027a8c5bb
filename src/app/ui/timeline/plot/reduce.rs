//! Reduces samples to pixel columns, independent of the UI.
//!
//! A pixel column may cover hundreds of calls. Each column keeps its minimum and maximum, so that the peak of a single
//! call remains visible.

use crate::app::state::messages::cumulative::Heat;
use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::input::TimelineInput;
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::Tokens;
use std::ops::Range;

/// Minimum cumulative tokens of a marked call, as a share of the largest.
const MIN_SHARE: f64 = 0.002;

/// A curve reduced to pixel resolution: position and tokens.
pub(crate) type Curve = Vec<[f64; 2]>;

/// The visible range of the horizontal axis, divided into pixel columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: usize,
    /// Smallest visible difference in tokens.
    pub(crate) tolerance: f64,
}

impl Columns {
    /// Returns the columns of the whole axis.
    pub(crate) fn whole(axis: CallAxis<'_>, count: usize) -> Self {
        Self { from: 0.0, to: axis.end(), count, tolerance: 0.0 }
    }

    /// Returns the column of a position.
    pub(crate) fn column(&self, x: f64) -> i64 {
        ((x - self.from) / (self.to - self.from) * self.count as f64).floor() as i64
    }

    /// Returns the start of a column.
    fn start(&self, column: i64) -> f64 {
        self.from + (self.to - self.from) * column as f64 / self.count as f64
    }

    /// Returns the calls in view and some beyond each end.
    fn calls(&self, axis: CallAxis<'_>, count: usize) -> Range<usize> {
        let first = axis.nearest(self.from).saturating_sub(2).min(count);
        let last = (axis.nearest(self.to) + 3).min(count);
        first..last.max(first)
    }
}

/// Reduces a lane: each column keeps its minimum and maximum sample, in order. A context only shrinks by a removal
/// before a call, so a drop is vertical at that call.
pub(crate) fn curve(samples: &[Sample], axis: CallAxis<'_>, columns: &Columns) -> Curve {
    curve_of(samples, |sample| sample.tokens, axis, columns)
}

/// Reduces a quantity of the calls.
pub(crate) fn curve_of<T>(
    samples: &[T],
    of: impl Fn(&T) -> Tokens,
    axis: CallAxis<'_>,
    columns: &Columns,
) -> Curve {
    let mut out = Curve::new();
    let mut column = Column { tolerance: columns.tolerance, ..Column::default() };
    let mut before = 0.0;
    for (call, sample) in in_view(samples, axis, columns) {
        let point = [axis.x(call), of(sample).as_f64()];
        let at = columns.column(point[0]);
        if point[1] + columns.tolerance < before {
            column.put(at, [point[0], before], &mut out);
        }
        column.put(at, point, &mut out);
        before = point[1];
    }
    column.end(&mut out);
    // A single call is a level line, not a dot.
    if let (1, [only]) = (samples.len(), out.as_slice()) {
        out.push([axis.end(), only[1]]);
    }
    out
}

/// Reduces measurements to the maximum of each group of `apart` columns.
pub(crate) fn dots(
    usage: &[(usize, Tokens)],
    axis: CallAxis<'_>,
    columns: &Columns,
    apart: i64,
) -> Curve {
    let mut out = Curve::new();
    let mut last_group = i64::MIN;
    for (call, tokens) in usage {
        let point = [axis.x(*call), tokens.as_f64()];
        if !(columns.from..=columns.to).contains(&point[0]) {
            continue;
        }
        let group = columns.column(point[0]) / apart.max(1);
        match out.last_mut() {
            Some(kept) if group == last_group => {
                if point[1] > kept[1] {
                    *kept = point;
                }
            }
            _ => out.push(point),
        }
        last_group = group;
    }
    out
}

/// Returns the call with the most cumulative tokens of each column, except low ones.
pub(crate) fn hottest(heat: &[Heat], axis: CallAxis<'_>, columns: &Columns) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let mut last_column = i64::MIN;
    for call in columns.calls(axis, heat.len()) {
        if heat[call].share.0 < MIN_SHARE {
            continue;
        }
        let at = columns.column(axis.x(call));
        match out.last_mut() {
            Some(hottest) if at == last_column => {
                if heat[call].share > heat[*hottest].share {
                    *hottest = call;
                }
            }
            _ => out.push(call),
        }
        last_column = at;
    }
    out
}

fn in_view<'s, T>(
    samples: &'s [T],
    axis: CallAxis<'_>,
    columns: &Columns,
) -> impl Iterator<Item = (usize, &'s T)> {
    let range = columns.calls(axis, samples.len());
    let first = range.start;
    samples[range].iter().enumerate().map(move |(i, sample)| (first + i, sample))
}

/// Minimum and maximum of a column so far, and their order.
#[derive(Default)]
struct Column {
    at: i64,
    tolerance: f64,
    extremes: Option<[[f64; 2]; 2]>,
    is_falling: bool,
}

impl Column {
    fn put(&mut self, column: i64, point: [f64; 2], out: &mut Curve) {
        if column != self.at {
            self.end(out);
            self.at = column;
        }
        match &mut self.extremes {
            None => self.extremes = Some([point; 2]),
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
        match self.extremes.take() {
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
pub(crate) struct Bar {
    /// Start of the segment.
    pub(crate) from: f64,
    /// End of the segment; equal to the start if the sample is a single point.
    pub(crate) to: f64,
    /// Cumulative heights in tokens, by kind.
    pub(crate) tops: [f32; Kind::ALL.len()],
}

impl Bar {
    /// Returns the total of all kinds.
    pub(crate) fn total(&self) -> f32 {
        self.tops.last().copied().unwrap_or_default()
    }
}

/// Reduces the stacked area: a column with several samples becomes a bar of the largest one; any other sample is a
/// point joined to its neighbors.
pub(crate) fn bars(samples: &[Sample], axis: CallAxis<'_>, columns: &Columns) -> Vec<Bar> {
    let mut out: Vec<Bar> = Vec::new();
    let mut column: Option<Heaviest<'_>> = None;
    for (call, sample) in in_view(samples, axis, columns) {
        let x = axis.x(call);
        let at = columns.column(x);
        let weight = sample.by_kind.iter().map(|tokens| u64::from(*tokens)).sum();
        match &mut column {
            Some(heaviest) if heaviest.column == at => {
                heaviest.samples += 1;
                if weight > heaviest.weight {
                    (heaviest.weight, heaviest.sample) = (weight, sample);
                }
            }
            _ => {
                out.extend(column.map(|done| done.bar(columns)));
                column = Some(Heaviest { column: at, samples: 1, weight, x, sample });
            }
        }
    }
    out.extend(column.map(|done| done.bar(columns)));
    if let (1, [only]) = (samples.len(), out.as_mut_slice()) {
        only.to = axis.end();
    }
    with_vertical_drops(out)
}

/// Makes each drop vertical at the start of the lower bar.
fn with_vertical_drops(bars: Vec<Bar>) -> Vec<Bar> {
    let mut out: Vec<Bar> = Vec::with_capacity(bars.len());
    for bar in bars {
        let before = out.last().copied();
        if let Some(before) = before.filter(|b| b.total() > bar.total() && b.to < bar.from) {
            out.push(Bar { from: bar.from, to: bar.from, ..before });
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
    fn bar(&self, columns: &Columns) -> Bar {
        let mut sum = 0.0;
        let tops = self.sample.by_kind.map(|tokens| {
            sum += tokens as f32;
            sum
        });
        match self.samples {
            1 => Bar { from: self.x, to: self.x, tops },
            _ => Bar { from: columns.start(self.column), to: columns.start(self.column + 1), tops },
        }
    }
}

/// Returns the first call of each run of overflows.
pub(crate) fn overflow_runs(samples: &[Sample]) -> Vec<usize> {
    let is_first =
        |call: &usize| samples[*call].overflows && (*call == 0 || !samples[call - 1].overflows);
    (0..samples.len()).filter(is_first).collect()
}

/// Calls with one context window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowRun {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) window: Tokens,
}

/// Returns the runs of visible calls with one window.
pub(crate) fn window_runs(
    input: &TimelineInput<'_>,
    axis: CallAxis<'_>,
    columns: &Columns,
) -> Vec<WindowRun> {
    let first = axis.nearest(columns.from).saturating_sub(1);
    let last = (axis.nearest(columns.to) + 1).min(input.calls().saturating_sub(1));
    let mut runs: Vec<WindowRun> = Vec::new();
    for call in first..=last {
        let (x, window) = (axis.x(call), input.budget(call).window);
        let from = runs.last_mut().map_or(columns.from, |run| {
            run.to = x;
            x
        });
        if runs.last().is_none_or(|run| run.window != window) {
            let to = x;
            runs.push(WindowRun { from, to, window });
        }
    }
    if let Some(run) = runs.last_mut() {
        run.to = columns.to;
    }
    runs
}
