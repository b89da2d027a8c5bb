//! A report as a self-contained HTML page without scripts; every text is escaped.

mod lane;
mod rereads;
mod survival;
mod table;

use super::escaped::escaped;
use super::svg;
use super::{Block, FindingReport, LaneReport, Report};
use crate::analysis::Severity;
use crate::figure::{grouped, number, percent, tokens};
use crate::units::Tokens;
use std::fmt::Write as _;
use table::{Cell, table};

/// Returns the page.
pub fn html(report: &Report) -> String {
    let mut out = String::new();
    head(&mut out, &report.about.file.to_string());
    out.push_str("<main>\n");
    header(&mut out, report);
    if let Some(curve) = &report.curve {
        out.push_str("<section><h2>The context, call by call</h2>\n<figure>");
        out.push_str(&svg::element(curve));
        out.push_str("</figure></section>\n");
    }
    figures(&mut out, report);
    if let Some(tree) = &report.tree {
        out.push_str("<section>");
        for block in tree.blocks() {
            page_block(&mut out, &block);
        }
        out.push_str("</section>\n");
    }
    findings(&mut out, report);
    rereads::rereads(&mut out, report);
    survival::survival(&mut out, report);
    message_notes(&mut out, report);
    for lane in &report.lanes {
        lane::section(&mut out, lane);
    }
    contents(&mut out, report);
    footer(&mut out, report);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Returns a page of these blocks.
pub fn html_page(title: &str, blocks: &[Block]) -> String {
    let mut out = String::new();
    head(&mut out, title);
    let _ = writeln!(
        out,
        "<main>\n<header><p class=\"kicker\">Plimsoll report</p>\n<h1>{}</h1></header>",
        escaped(title)
    );
    let mut is_in_section = false;
    for block in blocks {
        if matches!(block, Block::Heading(_)) {
            out.push_str(if is_in_section { "</section>\n<section>" } else { "<section>" });
            is_in_section = true;
        }
        page_block(&mut out, block);
    }
    if is_in_section {
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn page_block(out: &mut String, block: &Block) {
    let _ = match block {
        Block::Heading(text) => writeln!(out, "<h2>{}</h2>", escaped(text)),
        Block::Subheading(text) => writeln!(out, "<h3>{}</h3>", escaped(text)),
        Block::Text(text) => writeln!(out, "<p>{}</p>", escaped(text)),
        Block::List(items) => {
            let items = items.iter();
            let items = items.map(|item| format!("<li>{}</li>\n", escaped(item)));
            writeln!(out, "<ul>\n{}</ul>", items.collect::<String>())
        }
        Block::Table { head, rows } => {
            let is_number: Vec<bool> = head.iter().map(|name| name.starts_with('#')).collect();
            let head: Vec<String> = head.iter().map(|name| escaped(name)).collect();
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let cell = |(idx, text): (usize, &String)| match is_number.get(idx) {
                Some(true) => Cell::number(text),
                _ => Cell::text(text),
            };
            let rows = rows.iter();
            table(out, &head, rows.map(|row| row.iter().enumerate().map(cell).collect()));
            Ok(())
        }
    };
}

fn head(out: &mut String, title: &str) {
    // Defense in depth: the page must not load or run anything, even if an escape were missing.
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Plimsoll report: {}</title>\n<style>\n{}\n{}</style>\n</head>\n<body>",
        escaped(title),
        svg::style(),
        include_str!("../../assets/report.css")
    );
}

fn header(out: &mut String, report: &Report) {
    let about = &report.about;
    let _ = writeln!(
        out,
        "<header><p class=\"kicker\">Plimsoll report</p>\n<h1>{}</h1>",
        escaped(&about.file.to_string())
    );
    if let Some(title) = &about.title {
        let _ = writeln!(out, "<p class=\"title\">{}</p>", escaped(&title.to_string()));
    }
    let severity = match report.severity {
        Severity::Ok => "ok",
        Severity::Warning => "warning",
        Severity::Bad => "bad",
    };
    let verdict: String = report.verdict.iter().map(ToString::to_string).collect();
    let _ = writeln!(
        out,
        "<p class=\"verdict {severity}\">{}</p>\n<dl class=\"facts\">",
        escaped(&verdict)
    );
    for (name, value) in report.facts() {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&value));
    }
    out.push_str("</dl></header>\n");
}

/// Returns a lane's name with its color.
fn lane_name(lane: &LaneReport) -> String {
    format!(
        "<i style=\"background:var(--{})\"></i>{}",
        lane.kind.ink().name(),
        escaped(&lane.name.to_string())
    )
}

fn figures(out: &mut String, report: &Report) {
    let head = [
        "lane",
        "#peak",
        "#at call",
        "#of usable",
        "#compactions",
        "#overflows",
        "#into the reserve",
        "#tokens sent",
        "counts",
    ];
    let row = |lane: &LaneReport| {
        let figures = &lane.figures;
        let peak = figures.peak;
        let dash = || "–".to_owned();
        let overflows = Cell::number(grouped(figures.overflows as u64));
        let share = Cell::number(peak.map_or_else(dash, |p| percent(p.pressure)));
        vec![
            Cell::html("lane", lane_name(lane)),
            Cell::number(peak.map_or_else(dash, |p| p.accuracy.marked(p.tokens))),
            Cell::number(
                peak.map_or_else(dash, |p| p.call.map_or_else(|| "end".to_owned(), number)),
            ),
            share,
            Cell::number(figures.compactions.map_or_else(dash, |n| grouped(n as u64))),
            if figures.overflows > 0 { overflows.bad() } else { overflows },
            Cell::number(grouped(figures.into_reserve as u64)),
            Cell::number(figures.accuracy.marked(figures.sent)),
            Cell::text(figures.accuracy.to_string()),
        ]
    };
    out.push_str("<section><h2>Figures</h2>\n");
    table(out, &head, report.lanes.iter().map(row));
    let _ = writeln!(out, "<p class=\"note\">{}</p></section>", escaped(&report.figures_note()));
}

fn findings(out: &mut String, report: &Report) {
    let all = report.findings();
    if all.is_empty() {
        return;
    }
    out.push_str("<section><h2>Findings</h2>\n<ul class=\"findings\">\n");
    for (lane, finding) in all {
        let name = format!("<span class=\"lane\">{}</span>", lane_name(lane));
        found(out, &name, finding);
    }
    out.push_str("</ul></section>\n");
}

fn message_notes(out: &mut String, report: &Report) {
    if report.message_notes.is_empty() {
        return;
    }
    out.push_str("<section class=\"one\"><h2>Notes on messages</h2>\n<ul class=\"findings\">\n");
    for note in &report.message_notes {
        let _ = writeln!(
            out,
            "<li><span class=\"weak\">message {}</span><p>{} <span class=\"weak\">{}</span></p></li>",
            number(note.item.message),
            escaped(&note.text.to_string()),
            escaped(&note.item.name.to_string())
        );
    }
    out.push_str("</ul></section>\n");
}

fn found(out: &mut String, before: &str, finding: &FindingReport) {
    let is_bad = finding.kind.is_bad();
    let class = if is_bad { "bad-text" } else { "weak" };
    let _ = writeln!(
        out,
        "<li>{before}<span class=\"{class}\">call {}</span><p>{}</p></li>",
        number(finding.call),
        with_code(&finding.text.to_string())
    );
}

/// Escapes a sentence and marks names between backticks as code.
fn with_code(sentence: &str) -> String {
    let pieces: Vec<&str> = sentence.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return escaped(sentence);
    }
    let pieces = pieces.iter().enumerate();
    let pieces = pieces.map(|(idx, piece)| match idx % 2 {
        0 => escaped(piece),
        _ => format!("<code>{}</code>", escaped(piece)),
    });
    pieces.collect()
}

/// Writes the session contents by kind, tool and message.
fn contents(out: &mut String, report: &Report) {
    let about = &report.about;
    out.push_str("<section><h2>Session contents</h2>\n<div class=\"columns\">\n");
    bars(out, "By kind", about.total, about.kinds());
    let all = about.by_tool.iter();
    let tools = all.map(|(tool, tokens)| (tool.to_string(), *tokens));
    bars(out, "Largest tools", about.total, tools);
    let all = about.heaviest.iter();
    let messages = all.map(|item| {
        let name = format!("{} · {}", number(item.message), item.name);
        (name, item.tokens)
    });
    bars(out, "Largest messages", about.total, messages);
    out.push_str("</div></section>\n");
}

fn bars(
    out: &mut String,
    title: &str,
    total: Tokens,
    rows: impl Iterator<Item = (String, Tokens)>,
) {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let most = rows.iter().map(|(_, tokens)| *tokens).max();
    let most = most.unwrap_or(total);
    let _ = writeln!(out, "<div><h3>{title}</h3>");
    let rows = rows.into_iter().map(|(name, weight)| {
        let width = weight.share_of(most).0 * 100.0;
        vec![
            Cell::text(name),
            Cell::number(tokens(weight)),
            Cell::html("bar", format!("<b style=\"width:{width:.1}%\"></b>")),
        ]
    });
    table(out, &["", "#tokens", ""], rows);
    out.push_str("</div>\n");
}

fn footer(out: &mut String, report: &Report) {
    if !report.warnings.is_empty() {
        out.push_str("<section><h2>Warnings</h2>\n<ul class=\"warnings\">\n");
        for warning in &report.warnings {
            let _ = writeln!(out, "<li>{}</li>", escaped(&warning.to_string()));
        }
        out.push_str("</ul></section>\n");
    }
    out.push_str("<footer>");
    for note in report.notes() {
        let _ = writeln!(out, "<p>{}</p>", escaped(&note));
    }
    out.push_str("</footer>\n");
}
