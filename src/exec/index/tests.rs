//! Tests of the index: changes of files, damage, and results equal to those without it.

use super::update::TextLimits;
use super::*;
use crate::exec::search::{SearchOptions, SearchResult, search};
use crate::exec::stores::{FoundFile, find_in};
use crate::tokens::default_counter;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use rusqlite::Connection;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

/// A folder with sessions and a folder for the index.
struct IndexedFolder {
    sessions: TempDir,
    state: TempDir,
    index: IndexFolder,
}

impl IndexedFolder {
    /// Returns a folder whose index is on.
    fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let index = IndexFolder::in_folder(state.path().join("index"));
        index.switch_on().unwrap();
        Self { sessions: tempfile::tempdir().unwrap(), state, index }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sessions.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let chat = crate::json::json!([
            {"role": "user", "content": text},
            {"role": "assistant", "content": "Done."},
        ]);
        fs::write(self.path(name), chat.to_string()).unwrap();
    }

    fn files(&self) -> Vec<FoundFile> {
        find_in(self.sessions.path(), &Progress::default()).unwrap().files
    }

    fn update(&self) -> IndexUpdate {
        let mut index = self.index.open().unwrap();
        index.update(&self.files(), &Progress::default()).unwrap()
    }

    fn search_in(&self, index: &IndexFolder, query: &str) -> SearchResult {
        let result = search(&self.files(), &options(query), index, &Progress::default(), |_| {});
        result.unwrap()
    }

    /// Returns the names of the files with a match in the index, sorted.
    fn found(&self, query: &str) -> Vec<String> {
        let result = self.search_in(&self.index, query);
        assert!(result.uses_index, "{:?}", result.index_problem);
        let path = |session: &crate::exec::search::FoundSession| {
            let name = session.found.path.file_name().unwrap();
            name.to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = result.sessions.iter().map(path).collect();
        names.sort();
        names
    }

    fn database(&self) -> PathBuf {
        self.index.path().unwrap()
    }
}

fn options(query: &str) -> SearchOptions {
    SearchOptions {
        query: Query::parse(query).unwrap(),
        counter: default_counter(),
        most: 5,
        snippet: 60,
    }
}

#[test]
fn new_changed_renamed_and_deleted_files_are_followed() {
    let folder = IndexedFolder::new();
    folder.write("a.json", "the red lighthouse");
    folder.write("b.json", "a blue harbor");
    assert_eq!(folder.update().n_read, 2);
    assert_eq!(folder.update(), IndexUpdate::default());
    assert_eq!(folder.found("lighthouse"), ["a.json"]);
    folder.write("a.json", "the green lighthouses");
    assert_eq!(folder.found("green"), ["a.json"]);
    assert!(folder.found("red").is_empty());
    fs::rename(folder.path("a.json"), folder.path("c.json")).unwrap();
    assert_eq!(folder.found("green"), ["c.json"]);
    fs::remove_file(folder.path("c.json")).unwrap();
    assert_eq!(folder.update().n_removed, 1);
    assert!(folder.found("green").is_empty());
    assert_eq!(folder.found("harbor"), ["b.json"]);
    // Nothing of the deleted file is left in the database.
    let bytes = fs::read(folder.database()).unwrap();
    let is_in = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(is_in("harbor") && !is_in("lighthouse"));
}

#[test]
fn results_are_the_same_with_and_without_the_index() {
    let folder = IndexedFolder::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    for entry in fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    folder.write(
        "letters.json",
        "ÄNDERN Größe ſtrong \u{212a}elvin Σίσυφος ß 日本語 a\u{0}b \"quoted\"",
    );
    fs::write(folder.path("broken.json"), "{\"type\":").unwrap();
    let mut n_found = 0;
    for query in [
        "ledger",
        "LEDGER cargo",
        "\"the same\"",
        "a",
        "zz",
        "-ledger",
        "kind:result tokens>2000",
        "role:user -is:injected",
        "tool:bash error",
        "call:20-34 is:error",
        "turn:3",
        "message:1-2 the",
        "ändern",
        "größe",
        "strong",
        "kelvin",
        "σίσυφοσ",
        "日本語",
        "\"\\\"quoted\"",
        "quoted",
        "nowhere-in-any-file",
    ] {
        let indexed = folder.search_in(&folder.index, query);
        let read = folder.search_in(&IndexFolder::default(), query);
        assert!(indexed.uses_index && !read.uses_index);
        n_found += read.sessions.len();
        let read = SearchResult { uses_index: true, ..read };
        assert_eq!(indexed, read, "{query}");
    }
    assert!(n_found > 40, "{n_found}");
}

#[test]
#[cfg(unix)]
fn only_the_user_can_read_the_index() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = IndexedFolder::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    folder.write("a.json", "word");
    // Also after someone changed the permissions.
    fs::set_permissions(folder.database(), fs::Permissions::from_mode(0o644)).unwrap();
    let mut index = folder.index.open().unwrap();
    index.update(&folder.files(), &Progress::default()).unwrap();
    let folder = folder.state.path().join("index");
    assert_eq!(mode(&folder), 0o700);
    let files = fs::read_dir(folder).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 1, "the premise: a journal, {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_damaged_index_and_one_of_another_version_are_built_anew() {
    let folder = IndexedFolder::new();
    folder.write("a.json", "word");
    folder.update();
    for damage in [
        "UPDATE about SET version = '0'",
        "DROP TABLE message",
        "DROP TABLE content",
        "UPDATE message SET data = x'00'",
        "UPDATE session SET head = '{'",
        "UPDATE session SET n = 9",
        "DELETE FROM about",
    ] {
        let connection = Connection::open(folder.database()).unwrap();
        connection.execute_batch(damage).unwrap();
        drop(connection);
        assert_eq!(folder.found("word"), ["a.json"], "{damage}");
        assert_eq!(folder.update(), IndexUpdate::default(), "{damage}");
    }
    for bytes in [&b"no database"[..], b"", b"SQLite format 3\0"] {
        fs::write(folder.database(), bytes).unwrap();
        assert_eq!(folder.found("word"), ["a.json"], "{bytes:?}");
    }
    let mut bytes = fs::read(folder.database()).unwrap();
    bytes[4_096..8_192].fill(0xff);
    fs::write(folder.database(), bytes).unwrap();
    assert_eq!(folder.found("word"), ["a.json"]);
}

#[test]
fn sessions_are_reported_once_if_a_search_starts_again() {
    let folder = IndexedFolder::new();
    for n in 10..50 {
        folder.write(&format!("{n}.json"), "word");
    }
    folder.update();
    let connection = Connection::open(folder.database()).unwrap();
    // The last file is found damaged after others were reported.
    let sql = "UPDATE message SET data = x'00' WHERE id > (SELECT max(id) - 2 FROM message)";
    connection.execute_batch(sql).unwrap();
    drop(connection);
    let (files, mut reported) = (folder.files(), Vec::new());
    let progress = Progress::default();
    let result = search(&files, &options("word"), &folder.index, &progress, |session| {
        reported.push(session.found.path.clone());
    });
    assert_eq!(result.unwrap().sessions.len(), 40);
    let distinct: HashSet<&PathBuf> = reported.iter().collect();
    assert_eq!((reported.len(), distinct.len()), (40, 40));
}

#[test]
fn a_damaged_index_that_was_removed_is_not_created_again() {
    let folder = IndexedFolder::new();
    folder.write("a.json", "word");
    let mut index = folder.index.open().unwrap();
    let connection = Connection::open(folder.database()).unwrap();
    connection.execute_batch("DROP TABLE file").unwrap();
    drop(connection);
    assert!(folder.index.clear().unwrap());
    let update = index.update(&folder.files(), &Progress::default());
    assert!(matches!(update, Err(IndexError::Off)), "{update:?}");
    assert!(!folder.index.is_on());
}

#[test]
fn an_interrupted_update_keeps_whole_files_and_goes_on() {
    let folder = IndexedFolder::new();
    for n in 0..40 {
        folder.write(&format!("{n}.json"), &format!("word {n}"));
    }
    let progress = Progress::default();
    progress.cancel();
    let mut index = folder.index.open().unwrap();
    let cancelled = index.update(&folder.files(), &progress);
    assert!(matches!(cancelled, Err(IndexError::Cancelled)));
    // Another thread stops it in the middle.
    let progress = Progress::default();
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.done.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            progress.cancel();
        });
        index.update(&folder.files(), &progress)
    });
    let n_before = index.n_sessions().unwrap();
    drop(index);
    let update = folder.update();
    match stopped {
        Ok(_) => assert_eq!((n_before, update.n_read), (40, 0)),
        Err(error) => {
            assert!(matches!(error, IndexError::Cancelled), "{error}");
            assert!(n_before > 0 && n_before + update.n_read == 40, "{n_before} {update:?}");
        }
    }
    assert_eq!(folder.found("word").len(), 40);
}

#[test]
fn a_file_is_left_out_only_while_there_is_no_room() {
    let folder = IndexedFolder::new();
    let limits = TextLimits { file: 1_000, all: 250 };
    let update = || {
        let mut index = folder.index.open().unwrap();
        let files = folder.files();
        let update = index.update_within(limits, &files, &Progress::default());
        let indexed = ["a.json", "b.json", "c.json"].map(|name| {
            let file = index.file(&folder.path(name)).unwrap();
            matches!(file, Some(IndexedFile::Sessions(_)))
        });
        (update.unwrap().n_read, indexed)
    };
    folder.write("a.json", &"a".repeat(200));
    assert_eq!(update(), (1, [true, false, false]));
    // The text that is replaced makes room for the new one.
    folder.write("a.json", &"A".repeat(201));
    assert_eq!(update(), (1, [true, false, false]));
    folder.write("b.json", &"b".repeat(100));
    assert_eq!(update(), (1, [true, false, false]));
    // It is not read again without need, and added once there is room.
    assert_eq!(update(), (0, [true, false, false]));
    folder.write("a.json", "short");
    assert_eq!(update(), (1, [true, false, false]));
    assert_eq!(update(), (1, [true, true, false]));
    fs::remove_file(folder.path("a.json")).unwrap();
    folder.write("c.json", &"c".repeat(2_000));
    assert_eq!(update(), (1, [false, true, false]));
    assert_eq!(update(), (0, [false, true, false]));
}

#[test]
fn an_index_is_used_only_while_it_is_on() {
    let folder = IndexedFolder::new();
    folder.write("a.json", "word");
    assert!(folder.index.clear().unwrap() && !folder.index.is_on());
    assert!(!folder.state.path().join("index").exists());
    assert!(!folder.index.clear().unwrap());
    let result = folder.search_in(&folder.index, "word");
    assert!(!result.uses_index && result.sessions.len() == 1);
    assert!(!folder.index.is_on(), "a search does not switch it on");
    assert!(matches!(folder.index.open(), Err(IndexError::Off)));
    let none = IndexFolder::default();
    assert!(!none.is_on() && none.switch_on().is_err() && !none.clear().unwrap());
}

#[test]
fn the_index_folds_every_letter_that_queries_fold() {
    let connection = Connection::open_in_memory().unwrap();
    let sql = "CREATE VIRTUAL TABLE content USING fts5 (text, tokenize = 'trigram', detail = none)";
    connection.execute_batch(sql).unwrap();
    let mut pairs = Vec::new();
    for letter in ('\u{1}'..=char::MAX).filter(|c| c.is_alphabetic() || c.to_lowercase().ne([*c])) {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
        class.case_fold_simple();
        let same = class.iter().flat_map(|range| range.start()..=range.end());
        let others = same.filter(|other| *other != letter);
        pairs.extend(others.map(|other| (letter, other)));
    }
    assert!(pairs.len() > 2_000, "{}", pairs.len());
    let sql = "INSERT INTO content (rowid, text) VALUES (?1, ?2)";
    let mut insert = connection.prepare(sql).unwrap();
    for (id, (letter, _)) in pairs.iter().enumerate() {
        let text = format!("x{letter}y");
        insert.execute((id.cast_signed() as i64, narrow::folded(&text))).unwrap();
    }
    let sql = "SELECT count(*) FROM content WHERE content MATCH ?1 AND rowid = ?2";
    let mut select = connection.prepare(sql).unwrap();
    let mut differing = Vec::new();
    for (id, pair) in pairs.iter().enumerate() {
        let query = Query::parse(&format!("x{}y", pair.1)).unwrap();
        let Some(expression) = narrow::expression(&query) else {
            continue;
        };
        let row = (expression, id.cast_signed() as i64);
        let n: i64 = select.query_row(row, |row| row.get(0)).unwrap();
        if n == 0 {
            differing.push(*pair);
        }
    }
    assert!(differing.is_empty(), "{differing:?}");
}
