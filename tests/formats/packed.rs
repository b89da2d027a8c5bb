//! Large files, whose bytes are compressed in memory: reading, viewing and writing.

use crate::fixtures::{all_kept, fixtures};
use plimsoll::exec::{LoadOptions, Loaded, convert, load};
use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{FileBytes, ManagedEntry, ManagedPart, Packer, Session};
use plimsoll::tokens::{self, Progress};
use std::fs;
use std::path::Path;

fn packed(bytes: &[u8]) -> FileBytes {
    let mut packer = Packer::default();
    packer.push(bytes);
    packer.finish()
}

fn read(name: &str, bytes: FileBytes) -> Result<Parsed, String> {
    let name = name.to_owned();
    formats::parse(&Input { name, bytes }).map_err(|refused| refused.to_string())
}

/// Describes a session without its bytes.
fn described(session: &Session) -> String {
    let Session {
        title,
        track,
        project,
        models,
        messages,
        parts,
        calls,
        compactions,
        calibration,
        ..
    } = session;
    format!(
        "{title} {track:?} {project:?} {models:?} {messages:?} {parts:?} {calls:?} {compactions:?} {calibration:?}"
    )
}

/// Describes the sessions of a file, or the reason why it was rejected.
fn all_described(read: &Result<Parsed, String>) -> String {
    match read {
        Ok(Parsed { sessions, warnings, report }) => {
            let described: Vec<String> = sessions.iter().map(described).collect();
            format!("{} {warnings:?} {report:?}", described.join("\n"))
        }
        Err(refused) => refused.clone(),
    }
}

/// Writes a session untouched, and with its first part replaced and its last message removed.
fn written(session: &Session) -> Vec<String> {
    let format = formats::by_name(session.source.format).expect("a known format");
    if !format.is_writable() {
        return Vec::new();
    }
    let mut edited = all_kept(session);
    let first = session.messages.first().map(|message| message.parts.clone());
    if let (Some(parts), [first, .., _]) = (first, &mut edited.entries[..]) {
        let replaced = |part| match part {
            0 => ManagedPart::Replaced { part, text: "something else".to_owned() },
            part => ManagedPart::Kept { part },
        };
        *first = ManagedEntry::Edited { message: 0, parts: parts.map(replaced).collect() };
        edited.entries.pop();
    }
    let write = |managed| match format.write(session, managed) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => error.to_string(),
    };
    [all_kept(session), edited].iter().map(write).collect()
}

/// Returns a file unchanged, and with other line endings and truncated ends.
fn variants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    vec![
        bytes.to_vec(),
        [b"\xef\xbb\xbf", bytes].concat(),
        text.replace('\n', "\r\n").into_bytes(),
        bytes[..bytes.len().saturating_sub(7)].to_vec(),
        [bytes, b"\n\n{\"torn\":"].concat(),
    ]
}

#[test]
fn variants_of_every_fixture_are_read_and_written_equally() {
    let (mut read_, mut written_) = (0, 0);
    for fixture in fixtures() {
        for (nth, bytes) in variants(&fixture.bytes).iter().enumerate() {
            let plain = read(&fixture.name, bytes.clone().into());
            let packed = read(&fixture.name, packed(bytes));
            assert_eq!(all_described(&plain), all_described(&packed), "{} {nth}", fixture.name);
            let (Ok(plain), Ok(packed)) = (plain, packed) else {
                continue;
            };
            read_ += 1;
            for (plain, packed) in plain.sessions.iter().zip(&packed.sessions) {
                let expected = written(plain);
                assert_eq!(expected, written(packed), "{} {nth}", fixture.name);
                written_ += expected.len();
            }
        }
    }
    assert!(read_ > 200 && written_ > 200, "{read_} read, {written_} written");
}

fn opened(path: &Path) -> Loaded {
    let options = LoadOptions {
        counter: tokens::by_name("chars/4").expect("the counter exists"),
        window: None,
        conversation: 0,
    };
    load(path, &options, &Progress::default()).expect("a session")
}

#[test]
fn a_large_session_is_shown_and_written_equally_after_packing() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("large.jsonl");
    fs::write(&path, crate::bench_sessions::file_of(8_000)).unwrap();
    let plain = opened(&path);
    let mut loaded = opened(&path);
    loaded.pack();
    let (source, session) = (&plain.case.session, &loaded.case.session);
    assert!(session.source.bytes.is_packed() && !source.source.bytes.is_packed());
    for message in session.messages.iter().step_by(97) {
        for span in &message.raw {
            assert_eq!(session.raw(span), source.raw(span));
        }
    }
    assert_eq!(written(session), written(source));
    for format in ["claude_code", "openai_chat"] {
        let format = formats::by_name(format).unwrap();
        let [a, b] = [&plain, &loaded].map(|loaded| {
            let output = here.path().join("out");
            convert(loaded, format, &output).unwrap();
            let bytes = fs::read(&output).unwrap();
            fs::remove_file(&output).unwrap();
            bytes
        });
        assert!(a == b && !a.is_empty(), "{}", format.name);
    }
}

#[test]
fn a_large_file_is_read_equally_in_blocks() {
    let mut bytes = crate::bench_sessions::file_of(8_000);
    let long = "word ".repeat(1 << 20);
    let line = format!(
        r#"{{"type":"user","uuid":"long","parentUuid":"u-7999","sessionId":"s","message":{{"role":"user","content":"{long}"}}}}"#
    );
    bytes.extend_from_slice(b"no record\n");
    bytes.extend_from_slice(line.as_bytes());
    bytes.extend_from_slice(b"\nnone either\n{\"torn\":");
    for bytes in [bytes.clone(), [b"\xef\xbb\xbf\n\n", &bytes[..]].concat()] {
        let (plain, packed) = (read("a", bytes.clone().into()), read("a", packed(&bytes)));
        let expected = all_described(&plain);
        assert!(expected == all_described(&packed));
        assert!(expected.contains("line: Some(800") && plain.is_ok());
    }
}

#[test]
fn distinguishes_a_grown_packed_file_from_a_changed_one() {
    let before = crate::bench_sessions::file_of(8_000);
    let mut grown = before.clone();
    grown.extend_from_slice(b"{\"type\":\"user\"}\n");
    let mut changed = grown.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let [before, grown, changed] = [before, grown, changed].map(|bytes| {
        let mut bytes = FileBytes::from(bytes);
        bytes.pack();
        assert!(bytes.is_packed());
        bytes
    });
    assert!(grown.starts_with(&before));
    assert!(!before.starts_with(&grown));
    assert!(!changed.starts_with(&before));
}
