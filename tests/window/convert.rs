//! Conversion in the window: equal to the command line in bytes and in its list of unsupported content.

use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::App;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const COMPACTED: &str = "compacted.jsonl";

/// Copies a sample session to a temporary folder.
fn copy_of(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join(name);
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    fs::copy(samples.join(name), &copy).expect("the sample can be copied");
    (folder, copy)
}

/// Opens the window with the dialog.
fn converting(source: &Path) -> Harness<'static, App> {
    let mut window = crate::screen::sized(vec![source.to_owned()], Vec2::new(1440.0, 900.0));
    click(&mut window, "More exports");
    click(&mut window, "Convert to another format…");
    window
}

fn click(window: &mut Harness<'_, App>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(6);
}

fn says(window: &Harness<'_, App>, words: &str) -> bool {
    window.query_all_by(|_| true).any(|node| {
        let node = node.accesskit_node();
        let texts = [node.label(), node.value()];
        texts.into_iter().flatten().any(|text| text.contains(words))
    })
}

fn command_line(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn unsupported_content_is_listed_before_writing_as_by_the_command_line() {
    let (folder, source) = copy_of(COMPACTED);
    let mut window = converting(&source);
    let here = folder.path();
    assert_eq!(fs::read_dir(here).unwrap().count(), 1, "nothing is written");
    let args = [
        "convert",
        COMPACTED,
        "--to",
        "anthropic_messages",
        "-o",
        "cli.json",
    ];
    let told = command_line(here, &args);
    let missing = told.split_once("not in the new file:").unwrap().1;
    let mut n = 0;
    for line in missing.lines().filter(|line| !line.trim().is_empty()) {
        let words = line
            .trim()
            .trim_start_matches(|c: char| c.is_ascii_digit() || ", of".contains(c));
        assert!(
            says(&window, words.split(':').next().unwrap_or_default()),
            "{words}"
        );
        n += 1;
    }
    assert!(n > 3, "{told}");
    click(&mut window, "Convert");
    assert!(says(&window, "messages written"));
    let ours = here.join("compacted-anthropic_messages.json");
    assert!(fs::read(&ours).unwrap() == fs::read(here.join("cli.json")).unwrap());
    click(&mut window, "Open here");
    assert!(says(&window, "compacted-anthropic_messages.json"));
}

#[test]
fn another_format_changes_the_list_and_the_path_and_the_own_format_copies() {
    let (folder, source) = copy_of(COMPACTED);
    let mut window = converting(&source);
    window.get_by_value("Anthropic Messages").click();
    window.run_steps(4);
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
    let height = |window: &Harness<'_, App>| window.get_by_label("Convert").rect().top();
    let place = height(&window);
    write_to(&mut window, &source.display().to_string());
    click(&mut window, "Convert");
    assert!(says(&window, "the session's own file"));
    assert!(
        (height(&window) - place).abs() < 1.0,
        "the buttons stay where they are"
    );
    assert!(fs::read(&source).unwrap() == before);
    write_to(&mut window, &format!("{}x", source.display()));
    assert!(!says(&window, "the session's own file"));
    click(&mut window, "Convert");
    assert!(says(&window, "Read back and compared"));
}

/// Types another path.
fn write_to(window: &mut Harness<'_, App>, path: &str) {
    window
        .get_by_role_and_label(Role::TextInput, "write to")
        .focus();
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.run_steps(2);
    window.event(egui::Event::Text(path.to_owned()));
    window.run_steps(6);
}
