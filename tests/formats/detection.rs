//! What is read of the fixtures: each file under `tests/fixtures/FORMAT` is told for that format, reads as the text beside
//! it says (`FILE.told`), and is written back byte for byte where its format can be written.
//!
//! `PLIMSOLL_TELL=1` writes the texts anew; they are to be read before they are kept.

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{
    Body, Managed, ManagedEntry, ManagedPart, Message, Session, Step, StepsFrom, SubAgent, Track,
    Usage, WrittenKind,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = folders
        .filter_map(|folder| std::fs::read_dir(folder.path()).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_none_or(|end| end != "told"))
        .collect();
    files.sort();
    files
}

/// The folder of a fixture is the name of its format.
fn format_of(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    folder.unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path, bytes: &[u8]) -> Result<Parsed, String> {
    let name = path.file_name().unwrap_or_default();
    let parsed = formats::parse(&Input {
        name: name.to_string_lossy().into_owned(),
        bytes: bytes.to_vec().into(),
    });
    parsed.map_err(|refused| refused.to_string())
}

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(70).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{dots}")
}

fn part(body: &Body) -> String {
    match body {
        Body::Text(text) => short(text),
        Body::Thinking {
            text,
            sealed_bytes,
            reported,
        } => format!(
            "thinks {} sealed {sealed_bytes} reported {reported:?}",
            short(text)
        ),
        Body::ToolDefinition { tool, .. } => format!("has {tool}"),
        Body::ToolCall {
            call,
            tool,
            arguments,
        } => format!("calls {tool} as {call} with {}", short(arguments)),
        Body::ToolResult {
            call,
            tool,
            is_error,
            text,
        } => {
            let failed = if *is_error { " failed" } else { "" };
            format!("answers {call} of {tool}{failed} {}", short(text))
        }
        Body::Media {
            media,
            mime,
            bytes,
            within,
            ..
        } => format!("shows {media:?} {mime} {bytes} within {within:?}"),
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
    if let Some(step) = message.step {
        let _ = write!(line, " of call {}", step + 1);
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

fn step(session: &Session, idx: usize, step: &Step) -> String {
    let model = step.model.map_or("?", |m| &session.models[m]);
    let used = step
        .usage
        .as_ref()
        .map_or_else(|| "unknown".to_owned(), usage);
    let window = step
        .window
        .map_or_else(String::new, |w| format!(" window {}", w.0));
    let time = step
        .time
        .map_or_else(String::new, |t| format!(" at {}", t.0));
    format!(
        "call {} after {} in turn {} by {model}: {used}{window}{time}",
        idx + 1,
        step.context_end,
        step.turn
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

fn told(parsed: &Parsed) -> String {
    let mut text = String::new();
    for session in &parsed.sessions {
        let _ = writeln!(text, "== {}{}", session.title, track(&session.track));
        for (idx, m) in session.messages.iter().enumerate() {
            let _ = writeln!(text, "{}", message(session, idx, m));
        }
        if session.steps_from == StepsFrom::Recorded {
            for (idx, s) in session.steps.iter().enumerate() {
                let _ = writeln!(text, "{}", step(session, idx, s));
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
                c.step + 1,
                tokens(c.tokens_before),
                tokens(c.tokens_after),
                c.kept
            );
        }
    }
    for warning in &parsed.warnings {
        let _ = writeln!(text, "! {warning}");
    }
    for (kind, count) in &parsed.report.records {
        let _ = writeln!(
            text,
            "{kind}: {} ({} context)",
            count.count, count.in_context
        );
    }
    text
}

#[test]
fn every_fixture_is_told_for_its_format_and_reads_as_written_beside_it() {
    let files = fixtures();
    assert!(files.len() > 40, "only {} fixtures", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let shown = path.display();
        let parsed = match read(&path, &bytes) {
            Ok(parsed) => parsed,
            Err(refused) => {
                wrong.push(format!("{shown}: refused: {refused}"));
                continue;
            }
        };
        let format = parsed.sessions[0].source.format;
        if format != format_of(&path) {
            wrong.push(format!("{shown}: told for {format}"));
            continue;
        }
        let beside = PathBuf::from(format!("{shown}.told"));
        let text = told(&parsed);
        if std::env::var_os("PLIMSOLL_TELL").is_some() {
            std::fs::write(&beside, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if text != expected {
            wrong.push(format!("{shown}: reads as\n{text}instead of\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn all_kept(session: &Session) -> Managed {
    let kept = |message| ManagedEntry::Kept { message };
    Managed {
        entries: (0..session.messages.len()).map(kept).collect(),
        ..Managed::default()
    }
}

/// Formats that hold what their program can carry on with, beside what was said: they have tests of their own.
const OWN_TESTS: [&str; 2] = ["claude_code", "codex_rollout"];

/// The fixtures of formats that can be written, as their sessions.
fn writable() -> Vec<(PathBuf, Vec<Session>)> {
    let mut found = Vec::new();
    for path in fixtures() {
        let parsed = std::fs::read(&path)
            .ok()
            .and_then(|bytes| read(&path, &bytes).ok());
        let format = formats::by_name(&format_of(&path));
        let is_written = format.is_some_and(|f| f.export.is_some() && !OWN_TESTS.contains(&f.name));
        if let Some(parsed) = parsed.filter(|_| is_written) {
            found.push((path, parsed.sessions));
        }
    }
    found
}

fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, String> {
    let format = formats::by_name(session.source.format).ok_or("no format")?;
    let export = format.export.ok_or("it cannot be written")?;
    export(session, managed).map_err(|error| error.to_string())
}

#[test]
fn an_untouched_session_is_written_byte_for_byte_where_its_format_can_be_written() {
    let mut written = 0;
    for (path, sessions) in writable() {
        let shown = path.display();
        if let [only] = &sessions[..] {
            let out = export(only, &all_kept(only)).unwrap();
            let source = only.source.bytes.whole();
            let source = String::from_utf8_lossy(&source);
            assert_eq!(String::from_utf8_lossy(&out), source, "{shown}");
        }
        // One of several is written alone, and reads the same.
        for session in &sessions {
            let out = export(session, &all_kept(session)).unwrap();
            let again = read(&path, &out).unwrap();
            assert_eq!(bodies(&again.sessions[0]), bodies(session), "{shown}");
            written += 1;
        }
    }
    assert!(written > 15, "only {written} were written");
}

fn bodies(session: &Session) -> Vec<String> {
    let of = |m: &Message| {
        let parts = session.parts_of(m).iter();
        parts
            .map(|p| format!("{} {}", m.role.name(), part(&p.body)))
            .collect::<Vec<_>>()
    };
    session.messages.iter().flat_map(of).collect()
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A random edit that any policy could make, and the texts that are left of the session, in order.
fn random_edit(session: &Session, dice: &mut Dice) -> (Managed, Vec<String>) {
    let (mut managed, mut expected) = (Managed::default(), Vec::new());
    let mut last: Option<(usize, bool)> = None;
    for (idx, message) in session.messages.iter().enumerate() {
        // What a pruning left of a message is never beside it in one context.
        let mut before = session.messages[..idx].iter();
        if !message.in_history
            && before.any(|m| m.in_history && m.raw == message.raw && m.role == message.role)
        {
            continue;
        }
        if dice.roll(8) == 0 && !message.raw.is_empty() {
            let text = format!("written {idx}");
            expected.push(text.clone());
            managed.entries.push(ManagedEntry::Written {
                role: plimsoll::session::Role::User,
                text,
                kind: WrittenKind::Notice,
                before_message: idx,
            });
        }
        // A call and its result may be one record: pairs go or stay together.
        let record = message.raw.first().map(|span| span.start);
        let fate = match (record, last) {
            (None, _) => 3,
            (Some(now), Some((before, was_dropped))) if now == before => {
                if was_dropped {
                    0
                } else {
                    1 + dice.roll(3)
                }
            }
            _ => dice.roll(4),
        };
        last = record.map(|record| (record, fate == 0));
        if fate == 0 {
            continue;
        }
        let mut parts = Vec::new();
        for (idx, p) in message.parts.clone().zip(session.parts_of(message)) {
            let can_be_new = matches!(p.body, Body::Text(_) | Body::ToolResult { .. });
            if fate == 1 && can_be_new && dice.roll(2) == 0 {
                let text = format!("new {idx}");
                expected.push(text.clone());
                parts.push(ManagedPart::Replaced { part: idx, text });
            } else {
                expected.push(said(&p.body));
                parts.push(ManagedPart::Kept { part: idx });
            }
        }
        managed.entries.push(if fate == 1 {
            ManagedEntry::Edited {
                message: idx,
                parts,
            }
        } else {
            ManagedEntry::Kept { message: idx }
        });
    }
    expected.retain(|text| !text.is_empty());
    (managed, expected)
}

/// What a part says, or what it shows.
fn said(body: &Body) -> String {
    match body {
        Body::Media { mime, bytes, .. } => format!("{mime} of {bytes} bytes"),
        other => other.text().to_owned(),
    }
}

/// The texts that a session holds, in order.
fn texts(session: &Session) -> Vec<String> {
    let parts = session.messages.iter().flat_map(|m| session.parts_of(m));
    parts
        .map(|p| said(&p.body))
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn a_session_with_anything_changed_reads_as_what_was_left() {
    let mut dice = Dice(11);
    let mut n_read = 0;
    for (path, sessions) in writable() {
        for session in &sessions {
            for _ in 0..100 {
                let (managed, mut expected) = random_edit(session, &mut dice);
                let out = export(session, &managed).unwrap();
                let Ok(again) = read(&path, &out) else {
                    // What is left may be no conversation, or nothing that tells the format.
                    continue;
                };
                let mut found = texts(&again.sessions[0]);
                // Where a call and its result are one record, what stands between them stands behind it.
                expected.sort();
                found.sort();
                assert_eq!(
                    found,
                    expected,
                    "{}:\n{}",
                    path.display(),
                    String::from_utf8_lossy(&out)
                );
                n_read += 1;
            }
        }
    }
    assert!(n_read > 1500, "only {n_read} were read");
}

#[test]
fn no_torn_or_damaged_fixture_stops_the_reader() {
    let mut dice = Dice(5);
    for path in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..60 {
            let mut torn = bytes.clone();
            torn.truncate(usize::try_from(dice.roll(bytes.len() as u64 + 1)).unwrap());
            let _ = read(&path, &torn);
            let mut damaged = bytes.clone();
            for _ in 0..3 {
                let at = usize::try_from(dice.roll(bytes.len() as u64)).unwrap();
                damaged[at] = u8::try_from(dice.roll(256)).unwrap();
            }
            let _ = read(&path, &damaged);
        }
    }
}
