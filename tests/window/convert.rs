//! Conversion in the window: equal to the command line in bytes and in its list of unsupported content.

use crate::screen::{COMPACTED, Window, click, copy_of, large, plimsoll, says, type_into};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use std::fs;
use std::path::Path;

const WRITE_TO: (Role, &str) = (Role::TextInput, "write to");

/// Opens the window with the dialog.
fn converting(source: &Path) -> Window {
    let mut window = large(source.to_owned());
    click(&mut window, "More exports");
    click(&mut window, "Convert to another format…");
    window
}

#[test]
fn unsupported_content_is_listed_before_writing_as_by_the_command_line() {
    let (folder, source) = copy_of(COMPACTED);
    let mut window = converting(&source);
    let here = folder.path();
    assert_eq!(fs::read_dir(here).unwrap().count(), 1, "nothing is written");
    let args = ["convert", COMPACTED, "--to", "anthropic_messages", "-o", "cli.json"];
    let told = plimsoll(here, &args);
    let missing = told.split_once("not in the new file:").unwrap().1;
    let mut n = 0;
    for line in missing.lines().filter(|line| !line.trim().is_empty()) {
        let words =
            line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ", of".contains(c));
        assert!(says(&window, words.split(':').next().unwrap_or_default()), "{words}");
        n += 1;
    }
    assert!(n > 3, "{told}");
    click(&mut window, "Convert");
    assert!(says(&window, "messages written"));
    let ours = here.join("compacted-anthropic_messages.json");
    assert!(fs::read(&ours).unwrap() == fs::read(here.join("cli.json")).unwrap());
    click(&mut window, "Open here");
    for session in ["compacted.jsonl", "compacted-anthropic_messages.json"] {
        let tab = format!("Session {session}");
        window.get_by_role_and_label(Role::Tab, &tab);
    }
}

#[test]
fn another_format_changes_the_list_and_the_path_and_the_own_format_copies() {
    let (folder, source) = copy_of(COMPACTED);
    let mut window = converting(&source);
    window.get_by_value("Anthropic Messages").click();
    window.run_ok();
    click(&mut window, "Claude Code session (a copy)");
    assert!(says(&window, "byte for byte"));
    click(&mut window, "Convert");
    let copy = folder.path().join("compacted-claude_code.jsonl");
    assert!(fs::read(copy).unwrap() == fs::read(&source).unwrap());
}

#[test]
fn existing_files_are_not_overwritten() {
    let (folder, source) = copy_of(COMPACTED);
    let taken = folder.path().join("compacted-anthropic_messages.json");
    let mut window = converting(&source);
    fs::write(&taken, "mine").unwrap();
    click(&mut window, "Convert");
    assert!(says(&window, "already exists"));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
}

#[test]
fn the_path_of_the_session_itself_is_rejected() {
    let (_folder, source) = copy_of(COMPACTED);
    let mut window = converting(&source);
    let before = fs::read(&source).unwrap();
    let height = |window: &Window| window.get_by_label("Convert").rect().top();
    let place = height(&window);
    type_into(&mut window, WRITE_TO, &source.display().to_string());
    click(&mut window, "Convert");
    assert!(says(&window, "the session's own file"));
    assert!((height(&window) - place).abs() < 1.0, "the buttons stay where they are");
    assert!(fs::read(&source).unwrap() == before);
    type_into(&mut window, WRITE_TO, &format!("{}x", source.display()));
    assert!(!says(&window, "the session's own file"));
    click(&mut window, "Convert");
    assert!(says(&window, "Read back and compared"));
}
