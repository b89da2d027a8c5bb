//! Survival of facts as Markdown.

use super::super::Report;
use super::super::survival::share;
use super::inline::{code, prose};
use super::more;
use crate::figure::{grouped, number};
use std::fmt::Write as _;

/// Writes the table and the lost facts of each lane; nothing without facts.
pub(super) fn survival(out: &mut String, report: &Report) {
    let Some(survival) = &report.survival else {
        return;
    };
    out.push_str("## Facts that survive\n\n| facts | number |");
    for lane in &report.lanes {
        let _ = write!(out, " {} |", code(&lane.name.to_string()));
    }
    out.push_str("\n|---|---:|");
    out.push_str(&"---:|".repeat(report.lanes.len()));
    for row in &survival.rows {
        let _ = write!(out, "\n| {} | {} |", row.label(), grouped(row.stated() as u64));
        for lane in &row.lanes {
            let _ = write!(out, " {} |", share(*lane));
        }
    }
    let _ = writeln!(out, "\n\n{}\n", prose(&survival.note()));
    for (lane, lost) in report.lanes.iter().zip(&survival.lost) {
        if lost.lost == 0 {
            continue;
        }
        let name = code(&lane.name.to_string());
        let _ = writeln!(out, "{name}: {}\n", lost.count());
        for line in &lost.first {
            let _ = writeln!(
                out,
                "- {}: {} (message {}), {}",
                line.kind.name(),
                code(&line.text.to_string()),
                number(line.message),
                line.calls
            );
        }
        if !lost.first.is_empty() {
            more(out, lost.lost, lost.first.len(), "fact");
            out.push('\n');
        }
    }
}
