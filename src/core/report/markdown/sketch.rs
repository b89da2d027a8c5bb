//! The curve in block characters: one line per lane; full height is the window.

use super::inline::longest_run;
use crate::figure::counted;
use crate::report::{LaneColumn, LaneReport, Report};
use std::fmt::Write as _;

/// Eighths of a character's height.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters of a lane's name.
const NAME: usize = 20;

/// Draws all lanes, if any has a call.
pub(super) fn sketch(out: &mut String, report: &Report) {
    if report.lanes.iter().all(|lane| lane.columns.is_empty()) {
        return;
    }
    let mut text = String::new();
    for lane in &report.lanes {
        let name: String = lane.name.to_string().chars().take(NAME).collect();
        let bars: String = lane.columns.iter().map(bar).collect();
        let peak = lane.figures.peak.map(|p| p.tokens.short());
        let _ = writeln!(text, "{name:<NAME$} {bars} {}", peak.unwrap_or_default());
        let marks: String = lane.columns.iter().map(mark).collect();
        if !marks.trim().is_empty() {
            let _ = writeln!(text, "{:<NAME$} {}", "", marks.trim_end());
        }
    }
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    let _ = writeln!(
        out,
        "## The context, call by call\n\nFrom left to right {}; full height is the window of {}. `^` compaction, \
         `x` first attempt overflowed.\n\n{fence}text\n{text}{fence}\n",
        counted(report.about.calls, "call"),
        report.about.window.short(),
    );
}

fn bar(column: &LaneColumn) -> char {
    let eighths = (column.fill.0 * 8.0).round().clamp(0.0, 8.0) as usize;
    // Small values stay visible.
    BLOCKS[if column.fill.0 > 0.0 { eighths.max(1) } else { 0 }]
}

fn mark(column: &LaneColumn) -> char {
    match column {
        LaneColumn { overflows: true, .. } => 'x',
        LaneColumn { removes: true, .. } => '^',
        _ => ' ',
    }
}

impl LaneReport {
    /// Maximum columns of a sketch, to fit next to a name in a terminal of usual width.
    pub(crate) const COLUMNS: usize = 64;
}
