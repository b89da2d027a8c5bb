//! Layout of the timeline: calls on the axis, round numbers, labels without overlap. Independent of the UI.

use super::model::{Axis, TimelineInput};
use crate::units::Tokens;
use egui::Pos2;
use std::ops::Range;

/// Positions of calls on the horizontal axis, which counts calls or turns from 0.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    axis: Axis,
    turn_starts: &'a [usize],
    count: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(input: &TimelineInput<'a>) -> Self {
        let axis = if input.turn_starts.is_empty() {
            Axis::Calls
        } else {
            input.axis
        };
        Self {
            axis,
            turn_starts: input.turn_starts,
            count: input.steps(),
        }
    }

    /// Returns the right end of the axis; never 0.
    pub(super) fn end(self) -> f64 {
        match self.axis {
            _ if self.count <= 1 => 1.0,
            Axis::Calls => (self.count - 1) as f64,
            Axis::Turns => self.x(self.count - 1),
        }
    }

    /// Returns the shortest range that can be viewed.
    pub(super) fn least(self) -> f64 {
        match self.axis {
            Axis::Calls => self.end().min(6.0),
            Axis::Turns => self.end().min(1.0),
        }
    }

    /// Returns the largest number on the axis.
    pub(super) fn numbers(self) -> usize {
        match self.axis {
            Axis::Calls => self.count,
            Axis::Turns => self.turn_starts.len(),
        }
    }

    /// Returns the position of a call.
    pub(super) fn x(self, step: usize) -> f64 {
        match self.axis {
            Axis::Calls => step as f64,
            Axis::Turns => {
                let turn = self
                    .turn_starts
                    .partition_point(|start| *start <= step)
                    .saturating_sub(1);
                let (start, length) = self.turn(turn);
                turn as f64 + step.saturating_sub(start) as f64 / length
            }
        }
    }

    /// Returns the call nearest to a position.
    pub(super) fn nearest(self, x: f64) -> usize {
        let step = match self.axis {
            Axis::Calls => x,
            Axis::Turns => {
                let turn = (x.max(0.0) as usize).min(self.turn_starts.len().saturating_sub(1));
                let (start, length) = self.turn(turn);
                start as f64 + (x - turn as f64) * length
            }
        };
        (step.round().max(0.0) as usize).min(self.count.saturating_sub(1))
    }

    fn turn(self, turn: usize) -> (usize, f64) {
        let start = self.turn_starts.get(turn).copied().unwrap_or_default();
        let end = self
            .turn_starts
            .get(turn + 1)
            .copied()
            .unwrap_or(self.count);
        (start, end.saturating_sub(start).max(1) as f64)
    }

    /// Returns the unit of the axis.
    pub(super) fn unit(self) -> &'static str {
        match self.axis {
            Axis::Calls => "call",
            Axis::Turns => "turn",
        }
    }
}

/// The visible range of the horizontal axis, divided into pixel columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) columns: usize,
    /// Smallest visible difference in tokens.
    pub(super) tolerance: f64,
}

impl Grid {
    /// Returns the column of a position.
    pub(super) fn column(&self, x: f64) -> i64 {
        ((x - self.from) / (self.to - self.from) * self.columns as f64).floor() as i64
    }

    /// Returns the start of a column.
    pub(super) fn edge(&self, column: i64) -> f64 {
        self.from + (self.to - self.from) * column as f64 / self.columns as f64
    }

    /// Returns the samples in view and one beyond each end.
    pub(super) fn range(&self, steps: Steps<'_>, len: usize) -> Range<usize> {
        let first = steps.nearest(self.from).saturating_sub(2).min(len);
        let last = (steps.nearest(self.to) + 3).min(len);
        first..last.max(first)
    }
}

/// Returns the runs of calls with one window: start, end, window.
pub(super) fn window_runs(
    input: &TimelineInput<'_>,
    steps: Steps<'_>,
    grid: &Grid,
) -> Vec<(f64, f64, Tokens)> {
    let first = steps.nearest(grid.from).saturating_sub(1);
    let last = (steps.nearest(grid.to) + 1).min(steps.count.saturating_sub(1));
    let mut runs: Vec<(f64, f64, Tokens)> = Vec::new();
    for step in first..=last {
        let window = input.budget(step).window;
        match runs.last_mut() {
            Some((_, to, same)) if *same == window => *to = steps.x(step),
            Some((_, to, _)) => {
                let x = steps.x(step);
                *to = x;
                runs.push((x, x, window));
            }
            None => runs.push((grid.from, steps.x(step), window)),
        }
    }
    if let Some((_, to, _)) = runs.last_mut() {
        *to = grid.to;
    }
    runs
}

/// Returns at most `most` round numbers in a range; integers if `whole`.
pub(in crate::app) fn ticks(from: f64, to: f64, most: usize, whole: bool) -> Vec<f64> {
    let rough = (to - from) / most.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough);
    let mut step = step.unwrap_or(10.0 * power);
    if whole {
        step = step.max(1.0).round();
    }
    let first = (from / step).ceil() as i64;
    let last = (to / step).floor() as i64;
    (first..=last).take(1000).map(|i| i as f64 * step).collect()
}

/// Returns the left edges of the labels of flags at `at` with these widths, between two bounds. A label is right of its
/// flag, else left of it, else omitted.
pub(super) fn place_labels(flags: &[(f32, f32)], left: f32, right: f32) -> Vec<Option<f32>> {
    const GAP: f32 = 8.0;
    let mut taken = left;
    let mut out = Vec::with_capacity(flags.len());
    for (index, (at, width)) in flags.iter().enumerate() {
        let room = flags.get(index + 1).map_or(right, |(next, _)| next - GAP);
        let start = if at + GAP + width <= room {
            Some(at + GAP)
        } else {
            Some(at - GAP - width).filter(|start| *start >= taken + GAP)
        };
        taken = start.map_or(*at, |start| (start + width).max(*at));
        out.push(start);
    }
    out
}

/// Moves overlapping items of equal height apart as little as possible, within the bounds and in order.
pub(super) fn spread(centers: &mut [f32], height: f32, top: f32, bottom: f32) {
    let mut order: Vec<usize> = (0..centers.len()).collect();
    order.sort_by(|a, b| centers[*a].total_cmp(&centers[*b]));
    let mut floor = top + height / 2.0;
    for i in &order {
        centers[*i] = centers[*i].max(floor);
        floor = centers[*i] + height;
    }
    let mut ceiling = bottom - height / 2.0;
    for i in order.iter().rev() {
        centers[*i] = centers[*i].min(ceiling);
        ceiling = centers[*i] - height;
    }
}

/// Returns the top of the plot: the window if the curves come near it, else a value that fits the curves.
pub(super) fn ceiling(heaviest: Tokens, window: Tokens) -> f64 {
    let (heaviest, window) = (heaviest.as_f64().max(100.0), window.as_f64());
    if window <= heaviest * 5.0 {
        heaviest.max(window) * 1.12
    } else {
        heaviest * 1.6
    }
}

/// Returns the parts of a line that coincide with any of the others, as ranges of points.
pub(super) fn shared_runs(line: &[Pos2], others: &[Vec<Pos2>]) -> Vec<Range<usize>> {
    let is_on = |at: &Pos2, other: &[Pos2]| {
        let first = other.partition_point(|p| p.x < at.x - 0.01);
        let same = other[first..].iter().take_while(|p| p.x <= at.x + 0.01);
        same.into_iter().any(|p| (p.y - at.y).abs() < 1.0)
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, at) in line.iter().enumerate() {
        if !others.iter().any(|other| is_on(at, other)) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == i => run.end = i + 1,
            _ => runs.push(i..i + 1),
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

/// Splits a line at a horizontal position.
pub(super) fn split_at(line: &[Pos2], x: f32) -> (Vec<Pos2>, Vec<Pos2>) {
    let at = line.partition_point(|p| p.x < x);
    let (before, after) = line.split_at(at);
    let (mut before, mut after) = (before.to_vec(), after.to_vec());
    if let (Some(a), Some(b)) = (before.last().copied(), after.first().copied())
        && b.x > x
    {
        let share = (x - a.x) / (b.x - a.x);
        let between = Pos2::new(x, a.y + share * (b.y - a.y));
        before.push(between);
        after.insert(0, between);
    } else if let Some(first) = after.first() {
        before.push(*first);
    }
    (before, after)
}

/// Returns the dashes of a line: every nth of a number of segments of the horizontal axis. They depend on the axis
/// position, so that the dashes of coinciding lines never overlap.
pub(super) fn dashes(line: &[Pos2], length: f32, (nth, of): (usize, usize)) -> Vec<Vec<Pos2>> {
    let stretch = |x: f32| (x / length).floor();
    let is_on = |x: f32| stretch(x).rem_euclid(of as f32) == nth as f32;
    let mut dashes: Vec<Vec<Pos2>> = Vec::new();
    let mut open: Vec<Pos2> = Vec::new();
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        // Split the line at the end of every segment.
        let mut from = a;
        while from.x < b.x {
            let end = ((stretch(from.x) + 1.0) * length).min(b.x);
            // Guarantees progress despite rounding.
            let end = if end > from.x { end } else { b.x };
            let share = (end - a.x) / (b.x - a.x);
            let to = Pos2::new(end, a.y + share * (b.y - a.y));
            if is_on(from.x) {
                if open.is_empty() {
                    open.push(from);
                }
                open.push(to);
            } else if open.len() > 1 {
                dashes.push(std::mem::take(&mut open));
            } else {
                open.clear();
            }
            from = to;
        }
        // A vertical drop is one segment.
        if a.x >= b.x {
            if open.is_empty() {
                open.push(a);
            }
            open.push(b);
        }
    }
    if open.len() > 1 {
        dashes.push(open);
    }
    dashes
}
