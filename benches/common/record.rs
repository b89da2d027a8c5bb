//! Records of a Claude Code session.

use std::fmt::Write as _;

/// Appends the record of the message with this index; odd ones are the assistant's.
pub(crate) fn add(session: &mut String, idx: usize, message: &str) {
    let kind = ["user", "assistant"][idx % 2];
    let parent = match idx {
        0 => "null".to_owned(),
        _ => format!("\"u-{}\"", idx - 1),
    };
    writeln!(
        session,
        r#"{{"type":"{kind}","uuid":"u-{idx}","parentUuid":{parent},"sessionId":"s","version":"2.1.99","isSidechain":false,"timestamp":"2026-11-01T10:{:02}:{:02}.000Z","message":{message}}}"#,
        idx / 60 % 60,
        idx % 60
    )
    .expect("writing to a string succeeds");
}
