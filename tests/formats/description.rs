//! Descriptions of what was read from a fixture, as text.

use plimsoll::formats::Parsed;
use plimsoll::session::{Body, Call, CallsFrom, Message, Session, SubAgent, Track, Usage};
use std::fmt::Write as _;

/// Returns a text on one line, shortened.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(70).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{dots}")
}

pub(crate) fn part(body: &Body) -> String {
    match body {
        Body::Text(text) => short(text),
        Body::Thinking { text, sealed_bytes, reported } => {
            format!("thinks {} sealed {sealed_bytes} reported {reported:?}", short(text))
        }
        Body::ToolDefinition { tool, .. } => format!("has {tool}"),
        Body::ToolCall { call, tool, arguments } => {
            format!("calls {tool} as {call} with {}", short(arguments))
        }
        Body::ToolResult { call, tool, is_error, text } => {
            let failed = if *is_error { " failed" } else { "" };
            format!("answers {call} of {tool}{failed} {}", short(text))
        }
        Body::Media { media, mime, bytes, within, .. } => {
            format!("shows {media:?} {mime} {bytes} within {within:?}")
        }
        Body::Opaque { name, json } => format!("opaque {name} {}", short(json)),
    }
}

fn message(session: &Session, idx: usize, message: &Message) -> String {
    let mut line = format!("{idx} {}", message.role.name());
    let marks = [
        (message.is_injected, " injected"),
        (message.is_summary, " summary"),
        (!message.in_history, " written"),
    ];
    for (is, mark) in marks {
        if is {
            line.push_str(mark);
        }
    }
    if let Some(call) = message.call {
        let _ = write!(line, " of call {}", call + 1);
    }
    for p in session.parts_of(message) {
        let _ = write!(line, "\n    {}", part(&p.body));
    }
    line
}

fn usage(usage: &Usage) -> String {
    let mut text = format!("input {}", usage.input.0);
    let rest = [
        ("read", usage.cache_read),
        ("written", usage.cache_write),
        ("output", usage.output),
        ("reasoning", usage.reasoning),
    ];
    for (name, tokens) in rest {
        if let Some(tokens) = tokens {
            let _ = write!(text, " {name} {}", tokens.0);
        }
    }
    text
}

fn call(session: &Session, idx: usize, call: &Call) -> String {
    let model = call.model.map_or("?", |m| &session.models[m]);
    let used = call.usage.as_ref().map_or_else(|| "unknown".to_owned(), usage);
    let window = call.window.map_or_else(String::new, |w| format!(" window {}", w.0));
    let time = call.time.map_or_else(String::new, |t| format!(" at {}", t.0));
    format!(
        "call {} after {} in turn {} by {model}: {used}{window}{time}",
        idx + 1,
        call.context_end,
        call.turn
    )
}

fn track(track: &Track) -> String {
    match track {
        Track::Main => String::new(),
        Track::SubAgent(SubAgent { id, kind, call }) => {
            let or = |text: &Option<Box<str>>| text.as_deref().unwrap_or("?").to_owned();
            format!(" (sub-agent {} {} of call {})", or(id), or(kind), or(call))
        }
        Track::Branch => " (branch)".to_owned(),
    }
}

pub(crate) fn description_of(parsed: &Parsed) -> String {
    let mut text = String::new();
    for session in &parsed.sessions {
        let _ = writeln!(text, "== {}{}", session.title, track(&session.track));
        for (idx, m) in session.messages.iter().enumerate() {
            let _ = writeln!(text, "{}", message(session, idx, m));
        }
        if session.calls_from == CallsFrom::Recorded {
            for (idx, s) in session.calls.iter().enumerate() {
                let _ = writeln!(text, "{}", call(session, idx, s));
            }
        } else {
            let _ = writeln!(text, "calls are not recorded");
        }
        for c in &session.compactions {
            let tokens =
                |t: Option<plimsoll::units::Tokens>| t.map_or("?".to_owned(), |t| t.0.to_string());
            let _ = writeln!(
                text,
                "compaction {:?} before message {} and call {}: {} to {} tokens, keeps {:?}",
                c.trigger,
                c.before_message,
                c.call + 1,
                tokens(c.tokens_before),
                tokens(c.tokens_after),
                c.kept
            );
        }
        for revision in &session.revisions {
            let (before, call) = (revision.before_message, revision.call + 1);
            let kept = &revision.kept;
            let _ =
                writeln!(text, "revision before message {before} and call {call}: keeps {kept:?}");
        }
    }
    for warning in &parsed.warnings {
        let _ = writeln!(text, "! {warning}");
    }
    for (kind, count) in &parsed.report.records {
        let _ = writeln!(text, "{kind}: {} ({} context)", count.count, count.in_context);
    }
    text
}
