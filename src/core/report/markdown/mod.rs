//! A report as Markdown, to paste into an issue.
//!
//! The curve is drawn with block characters: a link to a picture file would break when pasted, and issue trackers
//! remove inline pictures. (`replay --curve` writes a picture to attach.) Foreign texts are code spans, so that they
//! cannot become markup or mention people.

mod inline;
mod rereads;
mod sketch;
mod survival;

use super::{Block, EventReport, LaneReport, RemovalReport, Report, TreeReport};
use crate::figure::{counted, grouped, number, percent, tokens};
use inline::{code, prose};
use std::fmt::Write as _;

/// Maximum number of listed events of one lane.
const MAX_EVENTS: usize = 12;
/// Maximum number of listed removals of one lane.
const MAX_REMOVALS: usize = 12;
/// Maximum number of listed messages of one removal.
const MAX_ITEMS: usize = 5;

/// Returns a page of these blocks.
pub fn markdown_page(title: &str, blocks: &[Block]) -> String {
    let mut out = format!("# Plimsoll report: {}\n", prose(title));
    for block in blocks {
        page_block(&mut out, block);
    }
    out
}

/// Writes a block below an empty line.
fn page_block(out: &mut String, block: &Block) {
    let _ = match block {
        Block::Heading(text) => writeln!(out, "\n## {}", prose(text)),
        Block::Subheading(text) => writeln!(out, "\n### {}", prose(text)),
        Block::Text(text) => writeln!(out, "\n{}", prose(text)),
        Block::List(items) => {
            let items = items.iter().map(|item| format!("- {}\n", prose(item)));
            write!(out, "\n{}", items.collect::<String>())
        }
        Block::Table { head, rows } => {
            let heads = head.iter().map(|name| name.strip_prefix('#').unwrap_or(name));
            let is_number = |name: &String| name.starts_with('#');
            let rule = head.iter().map(|name| if is_number(name) { "---:|" } else { "---|" });
            let rows = rows.iter().map(|row| table_row(row.iter().map(String::as_str)));
            let head = table_row(heads);
            let (rule, rows) = (rule.collect::<String>(), rows.collect::<String>());
            write!(out, "\n{head}|{rule}\n{rows}")
        }
    };
}

/// Returns a row of a table.
fn table_row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells = cells.map(|cell| format!(" {} |", prose(cell)));
    format!("|{}\n", cells.collect::<String>())
}

/// Returns the Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let about = &report.about;
    let _ = writeln!(out, "# Plimsoll report: {}\n", code(&about.file.to_string()));
    if let Some(title) = &about.title {
        let _ = writeln!(out, "{}\n", code(&title.to_string()));
    }
    let verdict: String = report.verdict.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "**Verdict:** {}\n", prose(&verdict));
    facts(&mut out, report);
    sketch::sketch(&mut out, report);
    figures(&mut out, report);
    for block in report.tree.iter().flat_map(TreeReport::blocks) {
        page_block(&mut out, &block);
    }
    if report.tree.is_some() {
        out.push('\n');
    }
    findings(&mut out, report);
    rereads::rereads(&mut out, report);
    survival::survival(&mut out, report);
    message_notes(&mut out, report);
    for lane in &report.lanes {
        section(&mut out, lane);
    }
    contents(&mut out, report);
    warnings(&mut out, report);
    out.push_str("---\n\n");
    for note in report.notes() {
        let _ = writeln!(out, "{}\n", prose(&note));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn facts(out: &mut String, report: &Report) {
    out.push_str("| | |\n|---|---|\n");
    for (name, value) in report.facts() {
        let _ = writeln!(out, "| {name} | {} |", prose(&value));
    }
    out.push('\n');
}

fn figures(out: &mut String, report: &Report) {
    out.push_str(
        "## Figures\n\n| lane | peak | at call | of usable | compactions | overflows | into the reserve | tokens sent | counts |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    for lane in &report.lanes {
        let figures = &lane.figures;
        let [peak, call, share] = figures.peak.map_or_else(
            || ["–".to_owned(), "–".to_owned(), "–".to_owned()],
            |p| {
                let call = p.call.map_or_else(|| "end".to_owned(), number);
                [p.accuracy.marked(p.tokens), call, percent(p.pressure)]
            },
        );
        let _ = writeln!(
            out,
            "| {} | {peak} | {call} | {share} | {} | {} | {} | {} | {} |",
            code(&lane.name.to_string()),
            figures.compactions.map_or_else(|| "–".to_owned(), |n| grouped(n as u64)),
            grouped(figures.overflows as u64),
            grouped(figures.into_reserve as u64),
            figures.accuracy.marked(figures.sent),
            figures.accuracy
        );
    }
    let _ = writeln!(out, "\n{}\n", prose(&report.figures_note()));
}

fn findings(out: &mut String, report: &Report) {
    let all = report.findings();
    if all.is_empty() {
        return;
    }
    out.push_str("## Findings\n\n");
    for (lane, finding) in all {
        let _ = writeln!(
            out,
            "- {}, call {}: {}",
            code(&lane.name.to_string()),
            number(finding.call),
            prose(&finding.text.to_string())
        );
    }
    out.push('\n');
}

fn message_notes(out: &mut String, report: &Report) {
    if report.message_notes.is_empty() {
        return;
    }
    out.push_str("## Notes on messages\n\n");
    for note in &report.message_notes {
        let (name, text) = (note.item.name.to_string(), note.text.to_string());
        let _ = writeln!(
            out,
            "- Message {} ({}): {}",
            number(note.item.message),
            code(&name),
            prose(&text)
        );
    }
    out.push('\n');
}

fn section(out: &mut String, lane: &LaneReport) {
    let has_news = !(lane.events.is_empty() && lane.warnings.is_empty());
    if !has_news && !lane.kind.is_policy() {
        return;
    }
    let about = lane.about();
    let about = if about.is_empty() { about } else { format!(" ({})", prose(&about)) };
    let _ = writeln!(out, "## {}{about}\n", code(&lane.name.to_string()));
    for warning in &lane.warnings {
        let _ = writeln!(out, "- Warning: {}", prose(&warning.to_string()));
    }
    if !lane.warnings.is_empty() {
        out.push('\n');
    }
    if let Some(belief) = &lane.belief {
        let _ = writeln!(out, "**Believed and actual.** {}\n", prose(&belief.sentence()));
    }
    if let Some(aside) = lane.figures.aside() {
        let _ = writeln!(out, "{}\n", prose(&aside));
    }
    settings(out, lane);
    events(out, lane);
    removed(out, lane);
}

fn settings(out: &mut String, lane: &LaneReport) {
    if lane.settings.is_empty() {
        return;
    }
    out.push_str("| setting | value | unit | |\n|---|---:|---|---|\n");
    for setting in &lane.settings {
        let (value, usual) = (setting.value.to_string(), setting.usual.to_string());
        let [value, usual] = [prose(&value), prose(&usual)];
        let (value, usual) = if setting.is_changed {
            (format!("**{value}**"), format!("changed; preset: {usual}"))
        } else {
            (value, String::new())
        };
        let _ = writeln!(
            out,
            "| {} | {value} | {} | {usual} |",
            code(&setting.name.to_string()),
            prose(&setting.unit.to_string())
        );
    }
    out.push('\n');
}

fn events(out: &mut String, lane: &LaneReport) {
    if lane.events.is_empty() {
        return;
    }
    out.push_str("Events:\n\n");
    for event in lane.events.iter().take(MAX_EVENTS) {
        event_line(out, event);
    }
    more(out, lane.events.len() + lane.more_events, MAX_EVENTS, "event");
    out.push('\n');
}

fn event_line(out: &mut String, event: &EventReport) {
    let _ = write!(
        out,
        "- call {}: {} {}, {} → {} tokens",
        number(event.call),
        code(&event.stage.to_string()),
        prose(&event.outcome()),
        tokens(event.before),
        tokens(event.after),
    );
    let why = event.why.to_string();
    if !why.is_empty() {
        let _ = write!(out, ", because {}", code(&why));
    }
    out.push('\n');
    for line in &event.log {
        let _ = writeln!(out, "  - logged: {}", code(&line.to_string()));
    }
}

fn removed(out: &mut String, lane: &LaneReport) {
    if lane.removed.is_empty() {
        return;
    }
    out.push_str("Missing at the end, by message:\n\n");
    for removal in lane.removed.iter().take(MAX_REMOVALS) {
        let _ = write!(out, "- {}", prose(&removal.sentence()));
        if let Some(replacement) = &removal.replacement {
            let text = code(&replacement.text.to_string());
            let weight = tokens(replacement.tokens);
            let _ = write!(out, "; replaced by: {text} ({weight} tokens)");
        }
        let _ = writeln!(out, "{}", heaviest(removal));
    }
    let all = lane.removed.len() + lane.more_removed;
    more(out, all, MAX_REMOVALS, "removal");
    out.push('\n');
}

/// Lists the largest messages of a removal.
fn heaviest(removal: &RemovalReport) -> String {
    let mut items: Vec<_> = removal.items.iter().collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.tokens));
    let named: Vec<String> = items
        .iter()
        .take(MAX_ITEMS)
        .map(|item| {
            format!(
                "{} {} ({})",
                number(item.message),
                code(&item.name.to_string()),
                tokens(item.tokens)
            )
        })
        .collect();
    match removal.messages.saturating_sub(named.len()) {
        0 => format!(". Messages: {}", named.join(", ")),
        n => format!(". Heaviest messages: {} and {} more", named.join(", "), grouped(n as u64)),
    }
}

fn contents(out: &mut String, report: &Report) {
    let about = &report.about;
    out.push_str("## Session contents\n\n| kind | tokens |\n|---|---:|\n");
    for (kind, weight) in about.kinds() {
        let _ = writeln!(out, "| {kind} | {} |", tokens(weight));
    }
    if !about.by_tool.is_empty() {
        out.push_str("\n| tool | tokens |\n|---|---:|\n");
    }
    for (tool, weight) in &about.by_tool {
        let _ = writeln!(out, "| {} | {} |", code(&tool.to_string()), tokens(*weight));
    }
    out.push_str("\n| message | what | tokens |\n|---:|---|---:|\n");
    for item in &about.heaviest {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            number(item.message),
            code(&item.name.to_string()),
            tokens(item.tokens)
        );
    }
    out.push('\n');
}

fn warnings(out: &mut String, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    out.push_str("## Warnings\n\n");
    let most = MAX_EVENTS;
    for warning in report.warnings.iter().take(most) {
        let _ = writeln!(out, "- Warning: {}", prose(&warning.to_string()));
    }
    more(out, report.warnings.len(), most, "warning");
    out.push('\n');
}

fn more(out: &mut String, all: usize, listed: usize, what: &str) {
    let n = all.saturating_sub(listed);
    if n > 0 {
        let _ = writeln!(out, "- and {}", counted(n, &format!("more {what}")));
    }
}
