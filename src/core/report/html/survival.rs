//! Survival of facts on a page.

use super::super::Report;
use super::super::survival::{LostReport, share};
use super::lane_name;
use super::table::{Cell, table};
use crate::figure::{counted, grouped, number};
use crate::report::escaped::escaped;
use std::fmt::Write as _;

/// Writes the table and the lost facts of each lane; nothing without facts.
pub(super) fn survival(out: &mut String, report: &Report) {
    let Some(survival) = &report.survival else {
        return;
    };
    let names = report.lanes.iter();
    let names: Vec<String> = names.map(|lane| format!("#{}", lane_name(lane))).collect();
    let mut head = vec!["facts", "#number"];
    head.extend(names.iter().map(String::as_str));
    out.push_str("<section><h2>Facts that survive</h2>\n");
    let rows = survival.rows.iter().map(|row| {
        let mut cells = vec![Cell::text(row.label()), Cell::number(grouped(row.stated() as u64))];
        cells.extend(row.lanes.iter().map(|lane| Cell::number(share(*lane))));
        cells
    });
    table(out, &head, rows);
    let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&survival.note()));
    for (lane, lost) in report.lanes.iter().zip(&survival.lost) {
        if lost.lost > 0 {
            let _ = writeln!(out, "<h3>{}: {}</h3>", lane_name(lane), lost.count());
            lines(out, lost);
        }
    }
    out.push_str("</section>\n");
}

fn lines(out: &mut String, lost: &LostReport) {
    if lost.first.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for line in &lost.first {
        let _ = writeln!(
            out,
            "<li>{}: <code>{}</code> (message {}), {}</li>",
            line.kind.name(),
            escaped(&line.text.to_string()),
            number(line.message),
            line.calls
        );
    }
    if lost.more() > 0 {
        let more = counted(lost.more(), "more fact");
        let _ = writeln!(out, "<li>and {more}</li>");
    }
    out.push_str("</ul>\n");
}
