//! The section of one lane.

use super::lane_name;
use super::table::{Cell, classed, table};
use crate::figure::{counted, number, tokens};
use crate::report::escaped::escaped;
use crate::report::{EventReport, LaneReport};
use std::fmt::Write as _;

/// Writes settings, belief, events and removed messages of a lane; nothing if there are none.
pub(super) fn section(out: &mut String, lane: &LaneReport) {
    let has_news = !(lane.events.is_empty() && lane.warnings.is_empty());
    if !has_news && !lane.kind.is_policy() {
        return;
    }
    let _ = writeln!(
        out,
        "<section><h2>{} <span class=\"weak\">{}</span></h2>",
        lane_name(lane),
        escaped(&lane.about())
    );
    for warning in &lane.warnings {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&warning.to_string()));
    }
    if let Some(aside) = lane.figures.aside() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&aside));
    }
    if let Some(belief) = &lane.belief {
        let sentence = belief.sentence();
        let _ = writeln!(out, "<h3>Believed and actual</h3>\n<p>{}</p>", escaped(&sentence));
    }
    settings(out, lane);
    events(out, lane);
    removed(out, lane);
    out.push_str("</section>\n");
}

fn settings(out: &mut String, lane: &LaneReport) {
    if lane.settings.is_empty() {
        return;
    }
    out.push_str("<h3>Settings</h3>\n");
    let rows = lane.settings.iter().map(|setting| {
        let row = vec![
            Cell::code(setting.name.to_string()),
            Cell::number(setting.value.to_string()),
            Cell::text(setting.unit.to_string()),
            if setting.is_changed {
                Cell::text(format!("preset: {}", setting.usual))
            } else {
                Cell::text("")
            },
        ];
        (if setting.is_changed { "changed" } else { "" }, row)
    });
    classed(out, "tight", &["setting", "#value", "unit", ""], rows);
}

fn events(out: &mut String, lane: &LaneReport) {
    if lane.events.is_empty() {
        return;
    }
    out.push_str("<h3>Events</h3>\n");
    let row = |event: &EventReport| {
        let mut what = format!(
            "<code>{}</code> <span class=\"weak\">{}</span>",
            escaped(&event.stage.to_string()),
            escaped(&event.outcome())
        );
        for line in &event.log {
            let _ =
                write!(what, "<br><span class=\"weak\">“{}”</span>", escaped(&line.to_string()));
        }
        vec![
            Cell::number(number(event.call)),
            Cell::html("", what),
            Cell::code(event.why.to_string()),
            Cell::number(tokens(event.before)),
            Cell::number(tokens(event.after)),
        ]
    };
    let head = ["#call", "event", "cause", "#before", "#after"];
    table(out, &head, lane.events.iter().map(row));
    more(out, lane.more_events, "event");
}

fn removed(out: &mut String, lane: &LaneReport) {
    if lane.removed.is_empty() {
        return;
    }
    out.push_str("<h3>Missing at the end, by message</h3>\n");
    for removal in &lane.removed {
        let _ = writeln!(out, "<details><summary>{}</summary>", escaped(&removal.sentence()));
        let mut note = String::new();
        if let Some(why) = removal.why.as_ref().filter(|why| !why.is_empty()) {
            let _ = write!(note, "because <code>{}</code>", escaped(&why.to_string()));
        }
        if let Some(replacement) = &removal.replacement {
            let joined = if note.is_empty() { "" } else { "; " };
            let text = escaped(&replacement.text.to_string());
            let weight = tokens(replacement.tokens);
            let _ = write!(note, "{joined}replaced by: <code>{text}</code> ({weight} tokens)");
        }
        if !note.is_empty() {
            let _ = writeln!(out, "<p class=\"note\">{note}</p>");
        }
        let rows = removal.items.iter().map(|item| {
            vec![
                Cell::number(number(item.message)),
                Cell::text(item.name.to_string()),
                Cell::number(tokens(item.tokens)),
            ]
        });
        let rows = rows.map(|row| ("", row));
        classed(out, "tight", &["#message", "name", "#tokens"], rows);
        more(out, removal.messages - removal.items.len(), "smaller message");
        out.push_str("</details>\n");
    }
    more(out, lane.more_removed, "removal");
}

fn more(out: &mut String, n: usize, what: &str) {
    if n > 0 {
        let _ = writeln!(out, "<p class=\"more\">and {}</p>", counted(n, &format!("more {what}")));
    }
}
