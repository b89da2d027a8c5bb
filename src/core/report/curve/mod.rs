//! Draws the context at each call as one line per lane, with trigger, usable window and context window. Below the plot,
//! each lane has a row with a tick at each compaction.

mod axes;

use super::downsample::downsampled;
use super::drawing::{Anchor, Drawing, Ink, Shape};
use crate::engine::{Effect, Event, Sample, WindowPlan};
use crate::units::{Share, Tokens};
use axes::Axes;

/// Data of the curve.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// The lanes, `recorded` first.
    pub lanes: Vec<CurveLane<'a>>,
    /// The window of every call.
    pub windows: &'a WindowPlan,
    /// Output reserve.
    pub output_reserve: Tokens,
    /// Triggers, as shares of the usable window.
    pub triggers: Vec<Share>,
}

/// A line of the curve.
#[derive(Clone, Debug)]
pub struct CurveLane<'a> {
    /// Name of the lane, escaped by `safe_text`.
    pub name: String,
    /// Kind of the line.
    pub kind: CurveKind,
    /// Samples of the context.
    pub samples: &'a [Sample],
    /// Events of the lane.
    pub events: &'a [Event],
}

/// Kind of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    /// The recorded run.
    Recorded,
    /// The run without compaction.
    Unmanaged,
    /// The lane of the policy with this index.
    Policy(usize),
}

/// Width left of the plot, for token numbers and lane names.
const LEFT: f32 = 148.0;
/// Width right of the plot, for threshold names and numbers of compactions.
const RIGHT: f32 = 120.0;
/// Gap between the plot and the labels on its right.
const ASIDE: f32 = 12.0;
const TOP: f32 = 16.0;
/// Width of the drawing, which fits the text of an HTML report (992).
const WIDTH: f32 = 960.0;
/// Height of the plot. Chosen: a compaction that frees a tenth of the window is a step of 25. At half the height, steps
/// are lost between lanes.
const PLOT: f32 = 264.0;
/// Height between the plot and the rows, for call numbers.
const AXIS: f32 = 36.0;
/// Height of a lane's row.
const ROW: f32 = 20.0;
/// Height of the legend.
const LEGEND: f32 = 34.0;
/// Font size.
const FONT_SIZE: f32 = 12.0;
/// Maximum number of characters of a lane's name: as many as usually fit between the sample of its line and [`LEFT`].
const MAX_NAME: usize = 16;

/// Draws the curve. Returns `None` if there is no call.
pub fn draw(curve: &Curve<'_>) -> Option<Drawing> {
    let axes = Axes::of(curve)?;
    let mut shapes = Vec::new();
    axes.axes(&mut shapes);
    axes.thresholds(curve, &mut shapes);
    // The recorded run is drawn on top.
    for lane in curve.lanes.iter().rev() {
        line(&axes, lane, &mut shapes);
    }
    for (idx, lane) in curve.lanes.iter().enumerate() {
        row(&axes, lane, axes.row(idx), &mut shapes);
    }
    let end = axes.row(curve.lanes.len());
    legend(end, &mut shapes);
    Some(Drawing {
        width: WIDTH,
        height: end + LEGEND - ROW / 2.0,
        description: description(curve),
        shapes,
    })
}

impl CurveKind {
    /// Returns the color of the line.
    pub(super) fn ink(self) -> Ink {
        match self {
            Self::Recorded => Ink::Recorded,
            Self::Unmanaged => Ink::Weak,
            Self::Policy(nth) => Ink::Lane(nth),
        }
    }

    /// Returns the lengths of dashes and gaps; empty for a solid line.
    fn dashes(self) -> &'static [f32] {
        match self {
            Self::Recorded | Self::Policy(0) => &[],
            Self::Unmanaged => &[1.5, 3.0],
            Self::Policy(1) => &[9.0, 3.0],
            Self::Policy(2) => &[4.0, 2.5],
            Self::Policy(3) => &[9.0, 3.0, 2.0, 3.0],
            Self::Policy(_) => &[12.0, 3.0, 2.0, 3.0, 2.0, 3.0],
        }
    }

    fn width(self) -> f32 {
        match self {
            Self::Recorded => 2.25,
            _ => 1.75,
        }
    }
}

/// Draws the line of a lane, downsampled to pixel columns.
fn line(axes: &Axes, lane: &CurveLane<'_>, shapes: &mut Vec<Shape>) {
    let heights = lane
        .samples
        .iter()
        .enumerate()
        .map(|(call, sample)| [axes.across(call), sample.tokens.as_f64()]);
    let mut points: Vec<[f32; 2]> = downsampled(heights)
        .into_iter()
        .map(|[x, tokens]| [LEFT + x as f32, axes.y(tokens)])
        .collect();
    // A single call becomes a horizontal line across the plot.
    if let [only] = points[..] {
        points.push([WIDTH - RIGHT, only[1]]);
    }
    shapes.push(Shape::Line {
        points,
        ink: lane.kind.ink(),
        width: lane.kind.width(),
        dashes: lane.kind.dashes(),
    });
}

/// Draws the row of a lane: its line style, its name, a tick at each compaction, a cross at each overflow, and the
/// number of compactions.
fn row(axes: &Axes, lane: &CurveLane<'_>, y: f32, shapes: &mut Vec<Shape>) {
    let ink = lane.kind.ink();
    shapes.push(Shape::Line {
        points: vec![[0.0, y], [28.0, y]],
        ink,
        width: lane.kind.width(),
        dashes: lane.kind.dashes(),
    });
    shapes.push(label_shape([36.0, y], short(&lane.name), Ink::Text, Anchor::Start));
    shapes.push(Shape::Strokes {
        strokes: vec![[[LEFT, y], [WIDTH - RIGHT, y]]],
        ink: Ink::Hairline,
        width: 1.0,
    });
    let compactions = lane.events.iter().filter(|e| e.effect == Effect::Removed);
    let ticks = axes.columns(compactions.clone().map(|e| e.call), 1.0);
    let overflows = lane.samples.iter().filter(|s| s.overflows);
    let crosses = axes.columns(overflows.map(|s| s.call), 8.0);
    shapes.push(strokes(ticks.iter().map(|x| tick(*x, y)), ink));
    let crosses = crosses.iter().flat_map(|x| cross(*x, y));
    shapes.push(strokes(crosses, Ink::Bad));
    let label = match compactions.count() {
        0 => "no compaction".to_owned(),
        1 => "1 compaction".to_owned(),
        n => format!("{} compactions", crate::figure::grouped(n as u64)),
    };
    let at = [WIDTH - RIGHT + ASIDE, y];
    shapes.push(label_shape(at, label, Ink::Weak, Anchor::Start));
}

/// Draws the legend below the last row. `end` is half a row below that row.
fn legend(end: f32, shapes: &mut Vec<Shape>) {
    let y = end + 8.0;
    shapes.push(strokes([tick(LEFT + 3.0, y)].into_iter(), Ink::Weak));
    let label = "compaction before this call".to_owned();
    shapes.push(label_shape([LEFT + 12.0, y], label, Ink::Weak, Anchor::Start));
    shapes.push(strokes(cross(LEFT + 300.0, y).into_iter(), Ink::Bad));
    let label = "first attempt overflowed".to_owned();
    shapes.push(label_shape([LEFT + 310.0, y], label, Ink::Weak, Anchor::Start));
}

fn tick(x: f32, y: f32) -> [[f32; 2]; 2] {
    [[x, y - 6.0], [x, y + 6.0]]
}

fn cross(x: f32, y: f32) -> [[[f32; 2]; 2]; 2] {
    let r = 3.0;
    [[[x - r, y - r], [x + r, y + r]], [[x - r, y + r], [x + r, y - r]]]
}

fn strokes(strokes: impl Iterator<Item = [[f32; 2]; 2]>, ink: Ink) -> Shape {
    Shape::Strokes { strokes: strokes.collect(), ink, width: 1.5 }
}

fn label_shape(at: [f32; 2], text: String, ink: Ink, anchor: Anchor) -> Shape {
    Shape::Text { at, text, ink, anchor, size: FONT_SIZE }
}

/// Returns a lane's name, shortened to [`MAX_NAME`].
fn short(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(MAX_NAME - 1).collect();
    format!("{start}…")
}

/// Describes the drawing for readers who cannot see it.
fn description(curve: &Curve<'_>) -> String {
    let peak = |lane: &CurveLane<'_>| {
        let most = lane.samples.iter().map(|s| s.tokens).max();
        format!("{} {}", lane.name, most.unwrap_or_default().short())
    };
    let peaks: Vec<_> = curve.lanes.iter().map(peak).collect();
    format!(
        "Tokens in the context by model call. Largest calls: {}. Window {}.",
        peaks.join(", "),
        curve.windows.largest().short()
    )
}
