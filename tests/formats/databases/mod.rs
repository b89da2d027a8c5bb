//! Sessions in databases: they equal the export of their program, including changes in the log only, and the database is
//! not modified.

mod children;
mod hostile;
mod listed;
mod make;
mod many;
mod packed;
mod written;

use plimsoll::exec::{LoadOptions, Loaded, load};
use plimsoll::formats::{self, Input};
use plimsoll::json::Value;
use plimsoll::progress::Progress;
use plimsoll::session::{Body, Session};
use plimsoll::tokens::default_counter;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn options(conversation: usize) -> LoadOptions {
    LoadOptions { counter: default_counter(), window: None, conversation }
}

/// Loads one session of a database.
pub(crate) fn opened(path: &Path, conversation: usize) -> Result<Loaded, String> {
    load(path, &options(conversation), &Progress::default()).map_err(|error| error.to_string())
}

/// Returns the titles of all sessions of a database.
fn titles(loaded: &Loaded) -> Vec<&str> {
    let all = loaded.conversations.iter();
    all.map(|conversation| &*conversation.title).collect()
}

/// Returns a fixture as a value and as a session.
pub(crate) fn fixture(name: &str) -> Option<(Value, Session)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let bytes = fs::read(path).ok()?;
    let value = serde_json::from_slice(&bytes).ok()?;
    let input = Input { name: name.to_owned(), bytes: bytes.into() };
    let session = formats::parse(&input).ok()?.sessions.into_iter().next()?;
    Some((value, session))
}

/// Describes a session without its source.
pub(crate) fn described(session: &Session) -> Vec<String> {
    let message = |m: &plimsoll::session::Message| {
        let bodies: Vec<&Body> = session.parts_of(m).iter().map(|p| &p.body).collect();
        format!("{:?} {:?} {} {} {bodies:?}", m.role, m.time, m.in_history, m.is_summary)
    };
    let mut all: Vec<String> = session.messages.iter().map(message).collect();
    all.extend(session.calls.iter().map(|call| format!("{call:?}")));
    all.extend(session.compactions.iter().map(|c| format!("{c:?}")));
    all.extend([session.title.clone(), format!("{:?}", session.project)]);
    all.extend(session.models.iter().cloned());
    all
}

fn without_times(session: &Session) -> Vec<String> {
    let mut session = session.clone();
    for message in &mut session.messages {
        message.time = None;
    }
    for call in &mut session.calls {
        call.time = None;
    }
    described(&session)
}

/// Returns the files of a folder with their bytes and times.
pub(crate) fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, Option<std::time::SystemTime>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let modified = entry.metadata().ok().and_then(|m| m.modified().ok());
            let path = entry.path();
            (path.clone(), (fs::read(path).unwrap_or_default(), modified))
        })
        .collect()
}

/// Warning about the failed answer in the export of `OpenCode`, which is not resent.
const FAILED_ANSWER: &str = "1 of 9 messages is not part of the conversation";

fn warned(loaded: &Loaded) -> Vec<&str> {
    loaded.warnings.iter().map(|w| w.text.as_str()).collect()
}

#[test]
fn a_session_in_a_database_of_opencode_equals_its_export() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let (export, exported) = fixture("opencode/export.json").unwrap();
    make::opencode(&path, &[("ses_1", 1_770_000_000_000, &export)]).unwrap();
    let before = state(folder.path());
    let loaded = opened(&path, 0).unwrap();
    assert_eq!(state(folder.path()), before);
    assert_eq!(described(&loaded.case.session), described(&exported));
    assert_eq!(loaded.case.session.source.format, "opencode");
    assert_eq!(loaded.case.session.project.as_deref(), Some("/work/shop"));
    assert_eq!(
        loaded.report.recognized_by,
        "a SQLite database with the tables session, message and part"
    );
    assert_eq!(warned(&loaded), [FAILED_ANSWER]);
    let document: Value =
        serde_json::from_slice(&loaded.case.session.source.bytes.whole()).unwrap();
    assert_eq!(document["messages"][0]["info"]["sessionID"], "ses_1");
}

#[test]
fn reads_changes_in_the_log_without_blocking_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let (export, exported) = fixture("opencode/export.json").unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.execute_batch(make::OPENCODE).unwrap();
    make::add_opencode(&writer, "ses_1", 1_770_000_000_000, &export).unwrap();
    // Uncommitted changes are not visible.
    writer.execute_batch("BEGIN; UPDATE session SET title = 'later'").unwrap();
    let main_alone = folder.path().join("main-alone.db");
    fs::copy(&path, &main_alone).unwrap();
    assert!(opened(&main_alone, 0).is_err(), "the premise: the log holds it");
    fs::remove_file(&main_alone).unwrap();
    let before = state(folder.path());
    let loaded = opened(&path, 0).unwrap();
    assert_eq!(described(&loaded.case.session), described(&exported));
    assert_eq!(warned(&loaded), [FAILED_ANSWER]);
    assert_eq!(state(folder.path()), before);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(opened(&path, 0).unwrap().case.session.title, "later");
}

#[test]
fn conversations_of_a_database_are_numbered_from_the_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let (mut export, _) = fixture("opencode/export.json").unwrap();
    let first = export.clone();
    export["info"]["title"] = "Second".into();
    make::opencode(&path, &[("ses_b", 2_000, &export), ("ses_a", 1_000, &first)]).unwrap();
    let loaded = opened(&path, 1).unwrap();
    assert_eq!(titles(&loaded), ["Sell things", "Second"]);
    assert_eq!(loaded.case.session.title, "Second");
    let db = Connection::open(&path).unwrap();
    make::add_opencode(&db, "ses_0", 3_000, &first).unwrap();
    assert_eq!(opened(&path, 1).unwrap().case.session.title, "Second");
    assert_eq!(
        opened(&path, 3).unwrap_err(),
        "opencode.db contains 3 conversations; choose one from 1 to 3"
    );
    db.execute("DELETE FROM message WHERE session_id = 'ses_0'", []).unwrap();
    db.execute("DELETE FROM part WHERE session_id = 'ses_0'", []).unwrap();
    assert_eq!(opened(&path, 2).unwrap_err(), "opencode.db: conversation 3 has no messages");
}

#[test]
fn reads_databases_of_goose_cowagent_and_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (export, exported) = fixture("goose/export.json").unwrap();
    make::goose(&path("sessions.db"), &export).unwrap();
    let loaded = opened(&path("sessions.db"), 0).unwrap();
    assert_eq!(described(&loaded.case.session), described(&exported));
    assert_eq!(loaded.case.session.project.as_deref(), Some("/work"));

    let (document, exported) = fixture("cowagent/conversation.json").unwrap();
    make::cowagent(&path("conversations.db"), &document).unwrap();
    let loaded = opened(&path("conversations.db"), 1).unwrap();
    assert_eq!(titles(&loaded), ["Nothing", "Rain"]);
    assert_eq!(described(&loaded.case.session), described(&exported));
    let other = opened(&path("conversations.db"), 0).unwrap();
    assert_eq!(other.case.session.messages.len(), 1);

    let (document, exported) = fixture("cursor/composer.json").unwrap();
    make::cursor(&path("state.vscdb"), &document).unwrap();
    let loaded = opened(&path("state.vscdb"), 0).unwrap();
    assert_eq!(titles(&loaded), ["Limit the rate"]);
    assert_eq!(without_times(&loaded.case.session), without_times(&exported));
    let text = String::from_utf8_lossy(&loaded.case.session.source.bytes.whole()).into_owned();
    assert!(!text.contains("hidden-") && !text.contains("gone"), "{text}");
}

#[test]
fn rejects_other_databases_and_empty_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("places.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)").unwrap();
    let message = opened(&path, 0).unwrap_err();
    assert!(
        message.contains("a SQLite database of another kind (its table is moz_places)"),
        "{message}"
    );
    assert!(message.contains("OpenCode session, Goose session"), "{message}");
    db.execute_batch(make::OPENCODE).unwrap();
    let message = opened(&path, 0).unwrap_err();
    assert!(message.ends_with("it contains no session yet"), "{message}");
}
