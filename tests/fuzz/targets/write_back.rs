//! Writing: untouched sessions keep their bytes, and writers never panic.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use plimsoll::formats::{self, Format, parse_with};
use plimsoll::progress::Progress;
use plimsoll::session::{Managed, ManagedEntry, ManagedPart, Role, Session, WrittenKind};
use plimsoll::units::Tokens;
use plimsoll_fuzz::{check, input, packed};

/// Number of bytes after the file that determine the managed conversation.
const CHOICES: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    let (file, choices) = bytes.split_at(bytes.len().saturating_sub(CHOICES));
    let is_packed = choices.last().is_some_and(|choice| choice % 2 == 1);
    let file = if is_packed { packed(file) } else { input(file) };
    let read = parse_with(&file, &Progress::default());
    let Ok(parsed) = &read else { return };
    for session in &parsed.sessions {
        let format = formats::by_name(session.source.format);
        let Some(format) = format.filter(|format| format.is_writable()) else {
            return;
        };
        if parsed.sessions.len() == 1 {
            is_the_same(session, format);
        }
        let managed = managed(session, &mut Unstructured::new(choices));
        if let Ok(written) = format.write(session, &managed.unwrap_or_default()) {
            check(&parse_with(&input(&written), &Progress::default()));
        }
    }
});

fn is_the_same(session: &Session, format: &Format) {
    let kept = |message| ManagedEntry::Kept { message };
    let managed = Managed {
        entries: (0..session.messages.len()).map(kept).collect(),
        ..Managed::default()
    };
    // If a compaction hid messages and wrote none, these two formats write all messages as a new context.
    let is_own = ["claude_code", "codex_rollout"].contains(&session.source.format);
    if is_own && !managed.is_everything(session) {
        return;
    }
    let out = format.write(session, &managed).expect("an unchanged session can be written");
    let source = session.source.bytes.whole();
    let [out, source] = [&out, &source[..]].map(String::from_utf8_lossy);
    assert_eq!(out, source);
}

/// Returns a managed conversation with messages kept, edited, removed or added.
fn managed(session: &Session, u: &mut Unstructured<'_>) -> Result<Managed> {
    let mut managed = Managed {
        tokens: u.arbitrary::<Option<u16>>()?.map(|n| Tokens(n.into())),
        ..Managed::default()
    };
    for (idx, message) in session.messages.iter().enumerate() {
        let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
        match u.int_in_range(0..=7)? {
            0 => {}
            1 => managed.entries.push(ManagedEntry::Written {
                role: *u.choose(&roles)?,
                text: format!("written {idx} \u{1b}\"\u{0}"),
                kind: *u.choose(&[WrittenKind::Summary, WrittenKind::Notice])?,
                joins_next: false,
                answers: None,
                before_message: idx,
            }),
            2 | 3 => {
                let mut parts = Vec::new();
                for part in message.parts.clone() {
                    let text = "new \u{2028}\\".to_owned();
                    match u.int_in_range(0..=3)? {
                        0 => {}
                        1 => parts.push(ManagedPart::Kept { part }),
                        _ => parts.push(ManagedPart::Replaced { part, text }),
                    }
                }
                let message = idx;
                managed
                    .entries
                    .push(ManagedEntry::Edited { message, parts });
            }
            _ => managed.entries.push(ManagedEntry::Kept { message: idx }),
        }
    }
    Ok(managed)
}
