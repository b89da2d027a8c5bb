//! Expected re-reads as Markdown.

use super::super::{REREADS_HEAD, Report};
use super::inline::{code, prose};
use crate::figure::{number, tokens, whole_percent};
use std::fmt::Write as _;

/// Writes the table, and the files that are most likely read again in each lane.
pub(super) fn rereads(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "## Expected re-reads\n\n| lane | {} |\n|---|{}",
        REREADS_HEAD.join(" | "),
        "---:|".repeat(REREADS_HEAD.len())
    );
    for lane in &report.lanes {
        let name = code(&lane.name.to_string());
        let _ = write!(out, "\n| {name} | {} |", lane.rereads.cells.join(" | "));
    }
    let _ = writeln!(out, "\n\n{}\n", prose(&Report::rereads_note()));
    for lane in report.lanes.iter().filter(|lane| !lane.rereads.files.is_empty()) {
        let name = code(&lane.name.to_string());
        let _ = writeln!(out, "Most likely read again in {name}:\n");
        for file in &lane.rereads.files {
            let _ = writeln!(
                out,
                "- {}: {}, removed at call {} ({} tokens)",
                code(&file.name.to_string()),
                whole_percent(file.probability),
                number(file.call),
                tokens(file.tokens)
            );
        }
        out.push('\n');
    }
}
