//! Fixtures: each file under `tests/fixtures/FORMAT` is detected as that format and reads as described by `FILE.expected`.
//! Files of formats that can be written are written back byte for byte.
//!
//! `PLIMSOLL_UPDATE_FIXTURES=1` writes the descriptions. Read them before you commit them.

use crate::description::{description_of, part};
use crate::dice::Dice;
use crate::fixtures::{self, Fixture, all_kept, fixtures};
use plimsoll::formats::{FORMATS, Parsed};
use plimsoll::session::{Body, Managed, ManagedEntry, ManagedPart, Message, Session, WrittenKind};
use std::path::Path;

/// Reads bytes under the name of a fixture.
fn read(fixture: &Fixture, bytes: &[u8]) -> Result<Parsed, String> {
    let name = fixture.name.rsplit(['/', '\\']).next();
    fixtures::read(name.unwrap_or_default(), bytes)
}

#[test]
fn every_fixture_is_detected_and_reads_as_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut wrong = Vec::new();
    for fixture in fixtures() {
        let shown = &fixture.name;
        let parsed = match read(&fixture, &fixture.bytes) {
            Ok(parsed) => parsed,
            Err(refused) => {
                wrong.push(format!("{shown}: refused: {refused}"));
                continue;
            }
        };
        let format = parsed.sessions[0].source.format;
        if format != fixture.format {
            wrong.push(format!("{shown}: detected as {format}"));
            continue;
        }
        let description = root.join(format!("{shown}.expected"));
        let text = description_of(&parsed);
        if std::env::var_os("PLIMSOLL_UPDATE_FIXTURES").is_some() {
            std::fs::write(&description, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&description).unwrap_or_default();
        if text != expected {
            wrong.push(format!("{shown}: reads as\n{text}instead of\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_format_has_a_fixture() {
    let fixtures = fixtures();
    for format in FORMATS {
        let has_fixture = fixtures.iter().any(|fixture| fixture.format == format.name);
        assert!(has_fixture, "add a file to tests/fixtures/{}", format.name);
    }
}

/// Formats whose files also hold the state of their program. They have tests of their own.
const OWN_TESTS: [&str; 2] = ["claude_code", "codex_rollout"];

/// Returns the fixtures of formats that can be written, with their sessions.
fn writable() -> Vec<(Fixture, Vec<Session>)> {
    let mut found = Vec::new();
    for fixture in fixtures() {
        let is_written = fixture.writer().is_some() && !OWN_TESTS.contains(&fixture.format);
        if let Some(parsed) = read(&fixture, &fixture.bytes).ok().filter(|_| is_written) {
            found.push((fixture, parsed.sessions));
        }
    }
    found
}

fn export(fixture: &Fixture, session: &Session, managed: &Managed) -> Vec<u8> {
    let format = fixture.writer().expect("it can be written");
    format.write(session, managed).expect("a written file")
}

#[test]
fn untouched_sessions_are_written_byte_for_byte() {
    let mut written = 0;
    for (fixture, sessions) in writable() {
        let shown = &fixture.name;
        if let [only] = &sessions[..] {
            let out = export(&fixture, only, &all_kept(only));
            let source = only.source.bytes.whole();
            let source = String::from_utf8_lossy(&source);
            assert_eq!(String::from_utf8_lossy(&out), source, "{shown}");
        }
        // One of several sessions is written alone.
        for session in &sessions {
            let out = export(&fixture, session, &all_kept(session));
            let again = read(&fixture, &out).unwrap();
            assert_eq!(bodies(&again.sessions[0]), bodies(session), "{shown}");
            written += 1;
        }
    }
    assert!(written > 15, "only {written} were written");
}

fn bodies(session: &Session) -> Vec<String> {
    let of = |m: &Message| {
        let parts = session.parts_of(m).iter();
        parts.map(|p| format!("{} {}", m.role.name(), part(&p.body))).collect::<Vec<_>>()
    };
    session.messages.iter().flat_map(of).collect()
}

/// Returns a random edit that a policy could make, and the remaining texts in order.
fn random_edit(session: &Session, dice: &mut Dice) -> (Managed, Vec<String>) {
    let (mut managed, mut expected) = (Managed::default(), Vec::new());
    let mut last: Option<(usize, bool)> = None;
    for (idx, message) in session.messages.iter().enumerate() {
        // A message and its pruned form are never in the same context.
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
                joins_next: false,
                answers: None,
                before_message: idx,
            });
        }
        // A call and its result may be one record, so that they are removed or kept together.
        let record = message.raw.first().map(|span| span.start);
        let change = match (record, last) {
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
        last = record.map(|record| (record, change == 0));
        if change == 0 {
            continue;
        }
        let mut parts = Vec::new();
        for (idx, p) in message.parts.clone().zip(session.parts_of(message)) {
            let can_be_new = matches!(p.body, Body::Text(_) | Body::ToolResult { .. });
            if change == 1 && can_be_new && dice.roll(2) == 0 {
                let text = format!("new {idx}");
                expected.push(text.clone());
                parts.push(ManagedPart::Replaced { part: idx, text });
            } else {
                expected.push(text_of(&p.body));
                parts.push(ManagedPart::Kept { part: idx });
            }
        }
        managed.entries.push(if change == 1 {
            ManagedEntry::Edited { message: idx, parts }
        } else {
            ManagedEntry::Kept { message: idx }
        });
    }
    expected.retain(|text| !text.is_empty());
    (managed, expected)
}

/// Returns the text of a part, or a description of its media.
fn text_of(body: &Body) -> String {
    match body {
        Body::Media { mime, bytes, .. } => format!("{mime} of {bytes} bytes"),
        other => other.text().to_owned(),
    }
}

/// Returns the texts of a session, in order.
fn texts(session: &Session) -> Vec<String> {
    let parts = session.messages.iter().flat_map(|m| session.parts_of(m));
    parts.map(|p| text_of(&p.body)).filter(|text| !text.is_empty()).collect()
}

#[test]
fn edited_sessions_read_as_their_remaining_texts() {
    let mut dice = Dice(11);
    let mut n_read = 0;
    for (fixture, sessions) in writable() {
        for session in &sessions {
            for _ in 0..100 {
                let (managed, mut expected) = random_edit(session, &mut dice);
                let out = export(&fixture, session, &managed);
                let Ok(again) = read(&fixture, &out) else {
                    // The rest may not be a conversation, or the format cannot be detected.
                    continue;
                };
                let mut found = texts(&again.sessions[0]);
                // If a call and its result are one record, messages between them follow it.
                expected.sort();
                found.sort();
                assert_eq!(found, expected, "{}:\n{}", fixture.name, String::from_utf8_lossy(&out));
                n_read += 1;
            }
        }
    }
    assert!(n_read > 1500, "only {n_read} were read");
}

#[test]
fn truncated_and_damaged_fixtures_do_not_stop_the_reader() {
    let mut dice = Dice(5);
    for fixture in fixtures() {
        let bytes = &fixture.bytes;
        for _ in 0..60 {
            let mut torn = bytes.clone();
            torn.truncate(usize::try_from(dice.roll(bytes.len() as u64 + 1)).unwrap());
            let _ = read(&fixture, &torn);
            let mut damaged = bytes.clone();
            for _ in 0..3 {
                let at = usize::try_from(dice.roll(bytes.len() as u64)).unwrap();
                damaged[at] = u8::try_from(dice.roll(256)).unwrap();
            }
            let _ = read(&fixture, &damaged);
        }
    }
}
