//! Dashes of coinciding lines, independent of the UI.

use egui::Pos2;
use std::ops::Range;

/// Returns the parts of a line that coincide with any of the others, as ranges of points.
pub(crate) fn shared_runs(line: &[Pos2], others: &[&[Pos2]]) -> Vec<Range<usize>> {
    let is_on = |at: &Pos2, other: &[Pos2]| {
        let first = other.partition_point(|p| p.x < at.x - 0.01);
        let mut same_x = other[first..].iter().take_while(|p| p.x <= at.x + 0.01);
        same_x.any(|p| (p.y - at.y).abs() < 1.0)
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
pub(crate) fn split_at(line: &[Pos2], x: f32) -> (Vec<Pos2>, Vec<Pos2>) {
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

/// The dashes of one of several coinciding lines: segment `nth` of each group of `of` segments.
#[derive(Clone, Copy)]
pub(crate) struct DashPattern {
    /// Length of a segment, in points.
    pub(crate) length: f32,
    pub(crate) nth: usize,
    pub(crate) of: usize,
}

/// Returns the dashes of a line. Segments are counted along the horizontal axis, so that the dashes of coinciding lines
/// never overlap.
pub(crate) fn dashes(line: &[Pos2], pattern: DashPattern) -> Vec<Vec<Pos2>> {
    let DashPattern { length, nth, of } = pattern;
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
