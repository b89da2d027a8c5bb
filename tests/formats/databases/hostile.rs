//! Malicious and damaged databases, and logs of other databases: each leads to an error or a warning.

use super::{described, fixture, make, opened, options, state};
use plimsoll::exec::load;
use plimsoll::progress::Progress;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit, far longer than needed on any machine.
const LONG: Duration = Duration::from_mins(1);

fn made(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("opencode.db");
    let (export, _) = fixture("opencode/export.json")?;
    make::opencode(&path, &[("ses_1", 1_000, &export)]).ok()?;
    Some(path)
}

fn run(path: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(path)?.execute_batch(sql)
}

#[test]
fn queries_plain_tables_only() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'ses_1' AS session_id, '{}' AS data FROM n";
    let made_as = [
        format!("CREATE VIEW message AS {endless};"),
        "CREATE VIRTUAL TABLE message USING fts5(id, session_id, data);".to_owned(),
        "CREATE TABLE message (id text, session_id text, time_created integer,
           data text GENERATED ALWAYS AS (printf('%.*c', 900000000, 'x')));"
            .to_owned(),
    ];
    for sql in made_as {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path()).unwrap();
        run(&path, &format!("DROP TABLE message; {sql}")).unwrap();
        let started = Instant::now();
        let message = opened(&path, 0).unwrap_err();
        assert!(message.contains("of another kind"), "{sql}: {message}");
        assert!(started.elapsed() < LONG, "{sql}");
    }
}

#[test]
fn rejects_deceptive_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    run(
        &path,
        "CREATE TABLE victim (a text);
         CREATE TRIGGER t AFTER UPDATE ON session BEGIN DELETE FROM message; END;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE TABLE message AS SELECT 1' WHERE name = 'message';
         UPDATE sqlite_schema SET sql = 'CREATE VIEW victim AS SELECT 1 AS a' WHERE name = 'victim';",
    )
    .unwrap();
    let before = state(folder.path());
    let _ = opened(&path, 0);
    assert_eq!(state(folder.path()), before);
}

#[test]
fn warns_of_wrong_types_and_text_that_is_not_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    run(
        &path,
        "UPDATE part SET data = CAST(x'7b2274797065223a2274657874222c2274657874223a22ff227d' AS text)
           WHERE id = (SELECT min(id) FROM part);
         INSERT INTO message VALUES ('msg_zz1', 'ses_1', 'never', 0, 12);
         INSERT INTO message VALUES ('msg_zz2', 'ses_1', 9e99, x'00', x'ff00');
         INSERT INTO message VALUES ('msg_zz3', 'ses_1', 1, 1, '{\"role\": \"user\", \"time\": []}');
         INSERT INTO message VALUES (7, 'ses_1', 1, 1, '{\"role\"');",
    )
    .unwrap();
    let loaded = opened(&path, 0).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings[0].ends_with("not valid UTF-8; invalid bytes are replaced by \u{fffd}"),
        "{warnings:?}"
    );
    let message = described(&loaded.case.session).concat();
    assert!(message.contains('\u{fffd}'), "{message}");
}

#[test]
fn damage_is_an_error_or_a_warning_within_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    // Many pages, so that the tree has inner pages.
    run(
        &path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
         INSERT INTO part SELECT 'prt_x' || i, 'msg_2', 'ses_1', i, i,
           '{\"type\":\"text\",\"text\":\"' || hex(zeroblob(40)) || '\"}' FROM n; VACUUM;",
    )
    .unwrap();
    let whole = fs::read(&path).unwrap();
    let started = Instant::now();
    let (mut refused, mut warned) = (0, 0);
    let mut look = |bytes: &[u8]| {
        let path = folder.path().join("damaged.db");
        fs::write(&path, bytes).unwrap();
        match opened(&path, 0) {
            Err(message) => {
                assert_eq!(message.lines().count(), 1, "{message}");
                refused += 1;
            }
            Ok(loaded) => warned += usize::from(!loaded.warnings.is_empty()),
        }
    };
    for n in 0..40 {
        look(&whole[..whole.len() * n / 40]);
    }
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for n in 0..120 {
        let mut bytes = whole.clone();
        for _ in 0..=n % 8 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Mostly at the start of pages, which describes their content.
            let page = (random >> 8) as usize % (whole.len() / 4096) * 4096;
            let at = page + (random >> 40) as usize % if n % 3 == 0 { 4096 } else { 16 };
            bytes[at] = random as u8;
        }
        look(&bytes);
    }
    assert!(refused > 20 && warned > 5, "{refused} refused, {warned} warned");
    assert!(started.elapsed() < LONG * 2);
}

#[test]
fn reading_ends_despite_cyclic_pages_and_huge_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    run(
        &path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO part SELECT 'prt_x' || i, 'msg_2', 'ses_1', i, i, '{}' FROM n;
         DROP INDEX part_session_idx; VACUUM;",
    )
    .unwrap();
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'part'", [], |r| r.get(0))
        .unwrap();
    let whole = fs::read(&path).unwrap();
    let page = (root as usize - 1) * 4096;
    assert_eq!(whole[page], 5, "the premise: it is no leaf");
    let n_cells = usize::from(u16::from_be_bytes([whole[page + 3], whole[page + 4]]));
    let cell = |n: usize| {
        let at = page + 12 + n * 2;
        page + usize::from(u16::from_be_bytes([whole[at], whole[at + 1]]))
    };
    let first = whole[cell(0)..cell(0) + 4].to_vec();
    for child in [(root as u32).to_be_bytes().to_vec(), first] {
        let mut bytes = whole.clone();
        for n in 0..n_cells {
            bytes[cell(n)..cell(n) + 4].copy_from_slice(&child);
        }
        bytes[page + 8..page + 12].copy_from_slice(&child);
        fs::write(&path, bytes).unwrap();
        let started = Instant::now();
        let _ = opened(&path, 0);
        assert!(started.elapsed() < LONG);
    }
    // The first cell of a leaf claims to be a gigabyte long.
    let leaf = (u32::from_be_bytes([
        whole[cell(0)],
        whole[cell(0) + 1],
        whole[cell(0) + 2],
        whole[cell(0) + 3],
    ]) as usize
        - 1)
        * 4096;
    let at = leaf + usize::from(u16::from_be_bytes([whole[leaf + 8], whole[leaf + 9]]));
    let mut bytes = whole.clone();
    bytes[at..at + 5].copy_from_slice(&[0x84, 0x80, 0x80, 0x80, 0x00]);
    fs::write(&path, bytes).unwrap();
    let loaded = opened(&path, 0);
    let warnings = loaded.map(|l| l.warnings.iter().map(ToString::to_string).collect::<String>());
    let message = warnings.unwrap_or_else(|message| message);
    assert!(
        message.contains("damaged") || message.contains("more data than its size"),
        "{message}"
    );
}

#[test]
fn ignores_the_log_of_another_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    let log = folder.path().join("opencode.db-wal");
    fs::write(&log, b"no log at all").unwrap();
    let loaded = opened(&path, 0).unwrap();
    let warning = loaded.warnings[0].to_string();
    assert!(warning.contains("belongs to another database"), "{warning}");

    // The log of another database, while this one also uses a log.
    fs::remove_file(&log).unwrap();
    run(&path, "PRAGMA journal_mode = wal").unwrap();
    let other = folder.path().join("other.db");
    let writer = Connection::open(&other).unwrap();
    writer
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (b);",
        )
        .unwrap();
    fs::copy(folder.path().join("other.db-wal"), &log).unwrap();
    let loaded = opened(&path, 0).unwrap();
    let warning = loaded.warnings[0].to_string();
    assert!(warning.contains("belongs to another database"), "{warning}");
    let (_, exported) = fixture("opencode/export.json").unwrap();
    assert_eq!(described(&loaded.case.session), described(&exported));
}

#[test]
fn a_journal_does_not_delete_the_files_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, b"nobody's journal").unwrap();
    // A journal of one page that ends with the name of a superjournal.
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7].to_vec();
    journal.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 2, 0, 0, 0, 16, 0]);
    journal.resize(512, 0);
    journal.extend((1_u32 << 30).div_euclid(4096).wrapping_add(1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    let sum: i32 = name.iter().map(|b| i32::from(b.cast_signed())).sum();
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(folder.path().join("opencode.db-journal"), journal).unwrap();
    let before = state(folder.path());
    let loaded = opened(&path, 0).unwrap();
    assert!(loaded.warnings[0].to_string().contains("-journal"), "{:?}", loaded.warnings);
    assert_eq!(state(folder.path()), before);
}

#[test]
fn reading_can_be_cancelled_and_links_use_the_log_of_their_target() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path()).unwrap();
    let progress = Progress::default();
    progress.cancel();
    let error = load(&path, &options(0), &progress).unwrap_err();
    assert!(error.to_string().ends_with("cancelled"), "{error}");
    #[cfg(unix)]
    {
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; UPDATE session SET title = 'logged'").unwrap();
        let link = tempfile::tempdir().unwrap();
        let link = link.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(opened(&link, 0).unwrap().case.session.title, "logged");
    }
}

#[test]
fn repeated_ids_do_not_multiply_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let opencode = made(folder.path()).unwrap();
    // A thousand messages with one id, and a large part of that message.
    run(
        &opencode,
        "DROP TABLE message;
         CREATE TABLE message (id text, session_id text, time_created integer, data text);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
           INSERT INTO message SELECT 'msg_x', 'ses_1', i, '{\"role\": \"user\"}' FROM n;
         INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
           SELECT 'prt_x', 'msg_x', 'ses_1', 1, 1, '{\"type\": \"text\", \"text\": \"' || printf('%.*c', 200000, 'x') || '\"}';",
    )
    .unwrap();
    let cursor = folder.path().join("state.vscdb");
    run(
        &cursor,
        "CREATE TABLE cursorDiskKV (key text, value text);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
           INSERT INTO cursorDiskKV SELECT 'composerData:c', '{\"composerId\": \"c\", \"fullConversationHeadersOnly\": ['
             || group_concat('{\"bubbleId\": \"b\", \"type\": 1}') || ']}' FROM n;
         INSERT INTO cursorDiskKV
           SELECT 'bubbleId:c:b', '{\"bubbleId\": \"b\", \"type\": 1, \"text\": \"' || printf('%.*c', 200000, 'x') || '\"}';",
    )
    .unwrap();
    for path in [opencode, cursor] {
        let loaded = opened(&path, 0).unwrap();
        let session = &loaded.case.session;
        let (bytes, name) = (session.source.bytes.len(), path.display());
        assert!(bytes < 500_000, "{name}: {bytes} bytes");
        let large = session.parts.iter().filter(|part| part.body.text().len() == 200_000);
        assert_eq!(large.count(), 1, "{name}");
        assert!(!loaded.warnings.is_empty(), "{name}");
    }
}
