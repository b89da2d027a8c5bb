//! Expected re-reads on a page.

use super::super::{LaneReport, REREADS_HEAD, Report};
use super::lane_name;
use super::table::{Cell, table};
use crate::figure::{number, tokens, whole_percent};
use crate::report::escaped::escaped;
use std::fmt::Write as _;

/// Writes the table, and the files that are most likely read again in each lane.
pub(super) fn rereads(out: &mut String, report: &Report) {
    let names = REREADS_HEAD.map(|name| format!("#{name}"));
    let mut head = vec!["lane"];
    head.extend(names.iter().map(String::as_str));
    out.push_str("<section><h2>Expected re-reads</h2>\n");
    let row = |lane: &LaneReport| {
        let mut cells = vec![Cell::html("lane", lane_name(lane))];
        cells.extend(lane.rereads.cells.iter().map(Cell::number));
        cells
    };
    table(out, &head, report.lanes.iter().map(row));
    let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&Report::rereads_note()));
    for lane in report.lanes.iter().filter(|lane| !lane.rereads.files.is_empty()) {
        let name = lane_name(lane);
        let _ = writeln!(out, "<h3>{name}: most likely read again</h3>\n<ul>");
        for file in &lane.rereads.files {
            let _ = writeln!(
                out,
                "<li><code>{}</code>: {}, removed at call {} ({} tokens)</li>",
                escaped(&file.name.to_string()),
                whole_percent(file.probability),
                number(file.call),
                tokens(file.tokens)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</section>\n");
}
