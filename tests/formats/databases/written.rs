//! Databases that the real programs wrote: the document of each session is a fixture of its format.
//!
//! `PLIMSOLL_UPDATE_FIXTURES=1` writes the fixtures.

use super::{described, fixture, opened};
use plimsoll::exec::Loaded;
use std::path::Path;

/// Returns the session with this index of a database. Its document must equal the fixture.
pub(super) fn written(format: &str, database: &str, number: usize, name: &str) -> Loaded {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/formats/databases/files").join(database);
    let loaded = opened(&path, number).expect("it can be read");
    let session = &loaded.case.session;
    assert_eq!(session.source.format, format);
    let document = session.source.bytes.whole();
    let fixture = root.join("tests/fixtures").join(format).join(name);
    if std::env::var_os("PLIMSOLL_UPDATE_FIXTURES").is_some() {
        std::fs::create_dir_all(fixture.parent().expect("a folder")).expect("a folder");
        std::fs::write(&fixture, &document[..]).expect("it can be written");
    }
    let expected = std::fs::read_to_string(&fixture).unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&document), expected, "{name}");
    loaded
}

fn warned(loaded: &Loaded) -> Vec<&str> {
    loaded.warnings.iter().map(|warning| warning.text.as_str()).collect()
}

#[test]
fn reads_the_database_of_openai_agents() {
    let read = |number, name| written("openai_agents", "openai_agents.db.gz", number, name);
    let branch = read(0, "branch.json");
    assert_eq!(
        branch.report.recognized_by,
        "a SQLite database with the tables agent_sessions and agent_messages"
    );
    // The last call is alone in its turn. The two calls of the first turn share its usage.
    let inputs = branch.case.session.calls.iter().map(|call| call.usage.map(|u| u.input.0));
    assert_eq!(inputs.collect::<Vec<_>>(), [None, None, Some(385)]);
    assert_eq!(branch.case.session.totals[0].usage.input.0, 550 + 385);
    assert!(warned(&branch).contains(&"1 other branch of this session is not read"));
    assert_eq!(read(2, "plain.json").case.session.calls.len(), 2);
    let compacted = read(1, "compacted.json");
    assert_eq!(compacted.case.session.compactions[0].kept, [0, 1]);
}

#[test]
fn reads_the_databases_of_google_adk() {
    let read = |database, number, name| written("google_adk", database, number, name);
    let json = read("adk_v1.db.gz", 0, "json.json");
    let session = &json.case.session;
    let inputs = session.calls.iter().map(|call| call.usage.map(|usage| usage.input.0));
    assert_eq!(inputs.collect::<Vec<_>>(), [180, 260, 290, 150, 152].map(Some));
    // The summary replaces the two turns before it, and the question after it is rewound.
    assert_eq!(session.compactions[0].kept, [6]);
    assert_eq!(session.compactions[0].request.as_ref().map(|r| r.usage.input.0), Some(300));
    assert_eq!(session.revisions[0].kept, [6]);
    let (_, exported) = fixture("google_adk/export.json").unwrap();
    assert_eq!(described(session), described(&exported));

    let empty = read("adk_sqlite.db.gz", 1, "empty_answer.json");
    assert_eq!(empty.case.session.title, "Dover");
    assert_eq!(empty.case.session.calls[0].usage.unwrap().input.0, 120);

    let pickled = read("adk_v0.db.gz", 0, "pickled.json");
    assert_eq!(pickled.case.session.compactions.len(), 0);
    let text = "a compaction or a rewind is stored as a Python pickle, which is not read; the messages that it removed are still counted";
    assert!(warned(&pickled).contains(&text));
}

#[test]
fn reads_the_database_of_crush() {
    let loaded = written("crush", "crush.db.gz", 0, "summary.json");
    let session = &loaded.case.session;
    assert_eq!(session.title, "Tides of Brest");
    let (kept, calls) = (&session.compactions[0].kept, &session.calls);
    assert_eq!(session.messages[kept[0]].id.as_deref(), Some("m9"));
    assert_eq!((kept.len(), calls.len()), (1, 5));
    assert_eq!(calls[3].rejected_size.map(|size| size.0), Some(214_315));
    assert!(calls[4].cut.is_some());
    let counts = "token counts are recorded for the latest call only (1840 in, 12 out) and are not used; the whole session cost $0.0421";
    assert_eq!(warned(&loaded)[0], counts);
    // The session that only asked for a title has no messages and is not listed.
    assert_eq!(loaded.conversations.len(), 2);
    let agent = loaded.conversations[1].start;
    assert!(agent.is_some(), "{:?}", loaded.conversations[1]);
}

#[test]
fn reads_the_databases_of_langgraph() {
    let read = |database, number, name| written("langgraph", database, number, name);
    let summary = read("langgraph.sqlite.gz", 0, "summary.json");
    let session = &summary.case.session;
    let inputs = session.calls.iter().map(|call| call.usage.map(|usage| usage.input.0));
    assert_eq!(inputs.collect::<Vec<_>>(), [150, 230, 260, 190].map(Some));
    let kept = &session.compactions[0].kept;
    assert_eq!((session.compactions.len(), kept.len()), (1, 4));
    assert!(session.messages[kept[0]].is_summary);

    let trimmed = read("langgraph.sqlite.gz", 1, "trimmed.json");
    let session = &trimmed.case.session;
    // The program removed the messages before the third question after its answer.
    assert_eq!(session.compactions.len(), 1);
    assert_eq!(session.compactions[0].kept, [4, 5]);
    let text = "the state has a `summary` outside of the messages; whether the program sends it is not recorded";
    assert_eq!(warned(&trimmed)[0], text);

    // The latest checkpoint follows the first answer.
    let forked = read("langgraph.sqlite.gz", 2, "forked.json");
    assert_eq!(forked.case.session.messages.len(), 4);
    assert_eq!(forked.case.session.compactions.len(), 0);

    let differences = read("langgraph_delta.sqlite.gz", 0, "differences.json");
    assert_eq!(differences.case.session.messages.len(), 8);
    assert_eq!(differences.case.session.compactions.len(), 0);
    let old = read("langgraph_json.sqlite.gz", 0, "old.json");
    assert_eq!(old.case.session.calls.len(), 2);
}

#[test]
fn reads_the_database_of_hermes() {
    let loaded = written("hermes", "hermes.db.gz", 0, "compacted.json");
    let session = &loaded.case.session;
    assert_eq!(session.title, "Tides of Brest");
    // The system prompt, a copy of the first message, the summary and copies of the last two messages.
    assert_eq!(session.compactions[0].kept, [0, 1, 9, 7, 8]);
    assert_eq!(session.totals[0].usage.input.0, 900 + 700 + 120);
    assert!(session.calls.last().unwrap().cut.is_some());
    let next = written("hermes", "hermes.db.gz", 1, "continued.json");
    assert_eq!(next.case.session.compactions[0].kept, [0]);
    assert_eq!(loaded.conversations.len(), 3);
    // Only the last session is that of a sub-agent.
    assert!(loaded.conversations[1].start.is_none() && loaded.conversations[2].start.is_some());
}
