//! Sessions in ZIP archives.

use plimsoll::exec::FileSessions;
use plimsoll::tokens::Progress;
use std::fs;
use std::path::Path;

#[test]
fn an_inspect_log_opens_with_a_conversation_for_each_sample() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/inspect.eval");
    let sessions = FileSessions::open(&path, &Progress::default()).expect("a log");
    assert_eq!(sessions.numbers().len(), 2);
}

#[test]
fn damaged_archives_and_archives_of_other_files_are_rejected() {
    let here = tempfile::tempdir().expect("a folder");
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/inspect.eval");
    let whole = fs::read(whole).expect("the file");
    let path = here.path().join("log.eval");
    for end in (4..whole.len()).step_by(997) {
        fs::write(&path, &whole[..end]).expect("it can be written");
        let error = FileSessions::open(&path, &Progress::default());
        assert!(error.is_err(), "{end} of {}", whole.len());
    }
    // An archive without files.
    let empty = [&b"PK\x03\x04PK\x05\x06"[..], &[0; 18]].concat();
    fs::write(&path, empty).expect("it can be written");
    let error = FileSessions::open(&path, &Progress::default()).expect_err("no session");
    assert!(error.to_string().contains("zip"), "{error}");
}
