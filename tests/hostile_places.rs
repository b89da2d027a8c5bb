//! Folders with things in them that are no files: links, rings of links, devices, pipes that nobody writes to. They are
//! passed over or refused, and nobody waits for them.
#![cfg(unix)]

use plimsoll::exec::stores::find_in;
use plimsoll::exec::{LoadOptions, load};
use plimsoll::progress::Progress;
use plimsoll::tokens::by_name;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const TASK: &str = r#"[{"role":"user","content":[{"type":"text","text":"Fix it."}],"ts":1770000000000},{"role":"assistant","content":[{"type":"text","text":"Done."}],"ts":1770000001000}]"#;

fn options() -> LoadOptions {
    LoadOptions {
        counter: by_name("chars/4").expect("it is one of ours"),
        window: None,
        conversation: 0,
    }
}

/// A pipe that nobody writes to.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "{}",
        path.display()
    );
}

#[test]
fn a_list_of_a_folder_passes_over_what_is_no_file() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    fs::write(at("talk.json"), TASK).unwrap();
    fs::create_dir(at("deep")).unwrap();
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink("/dev/stdin", at("deep/input.jsonl")).unwrap();
    symlink(at("talk.json"), at("deep/again.json")).unwrap();
    symlink(here.path(), at("deep/round")).unwrap();
    symlink(at("a.json"), at("b.json")).unwrap();
    symlink(at("b.json"), at("a.json")).unwrap();
    pipe(&at("pipe.jsonl"));
    pipe(&at("deep/pipe.md"));
    let found = find_in(here.path(), &Progress::default()).unwrap();
    let paths: Vec<_> = found.iter().map(|f| &f.path).collect();
    assert_eq!(paths, [&at("talk.json")]);
}

#[test]
fn what_is_no_file_is_refused_in_a_line_that_names_it() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink(at("ring.json"), at("ring.json")).unwrap();
    fs::create_dir(at("folder.json")).unwrap();
    for (name, says) in [
        ("zero.json", "is a device"),
        ("ring.json", "is a link that leads to no file"),
        ("folder.json", "is a folder"),
    ] {
        let refused = load(&at(name), &options(), &Progress::default()).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains(says) && said.contains(name), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_sessions_folder_is_read_without_what_only_pretends_to_be_its_files() {
    let here = tempfile::tempdir().unwrap();
    let at = |name: &str| here.path().join(name);
    fs::create_dir(at("task")).unwrap();
    fs::write(at("task/api_conversation_history.json"), TASK).unwrap();
    fs::write(at("secret.json"), r#"{"key":"do not read"}"#).unwrap();
    symlink(at("secret.json"), at("task/ui_messages.json")).unwrap();
    symlink("/dev/zero", at("task/history_item.json")).unwrap();
    pipe(&at("task/task_metadata.json"));
    let loaded = load(&at("task"), &options(), &Progress::default()).unwrap();
    assert_eq!(loaded.case.session.source.format, "cline");
    let bytes = loaded.case.session.source.bytes.whole();
    let bytes = String::from_utf8_lossy(&bytes);
    assert!(!bytes.contains("do not read"), "{bytes}");

    fs::create_dir_all(at("talk/events")).unwrap();
    let event = r#"{"id":0,"source":"user","action":"message","args":{"content":"a"}}"#;
    fs::write(at("talk/events/0.json"), event).unwrap();
    pipe(&at("talk/events/1.json"));
    symlink("/dev/zero", at("talk/events/2.json")).unwrap();
    let loaded = load(&at("talk"), &options(), &Progress::default()).unwrap();
    assert_eq!(loaded.case.session.messages.len(), 1);
}
