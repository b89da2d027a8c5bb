//! The window restores the source of a managed conversation.

use egui::Vec2;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::App;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

type Window = Harness<'static, App>;

fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(6);
}

/// Returns whether a text of the window contains this.
fn says(window: &Window, words: &str) -> bool {
    window.query_all_by(|_| true).any(|node| {
        let node = node.accesskit_node();
        let texts = [node.label(), node.value()];
        texts.into_iter().flatten().any(|text| text.contains(words))
    })
}

/// Writes a managed conversation next to a copy of a sample. Returns the folder, the source and the managed file.
fn managed() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("source.jsonl");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/compacted.jsonl");
    fs::copy(sample, &source).expect("the sample can be copied");
    let args = ["compact", "source.jsonl", "--policy", "prune"];
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(args)
        .args(["--schedule", "replay", "-o", "managed.jsonl", "--no-state"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{error}");
    let managed = folder.path().join("managed.jsonl");
    (folder, source, managed)
}

fn restoring(managed: PathBuf) -> Window {
    let mut window = crate::screen::sized(vec![managed], Vec2::new(1440.0, 900.0));
    window.run_steps(2);
    click(&mut window, "More exports");
    click(&mut window, "Restore original…");
    window
}

#[test]
fn the_source_of_the_open_managed_conversation_is_restored_byte_for_byte() {
    let (folder, source, managed) = managed();
    let original = fs::read(&source).expect("the source");
    fs::remove_file(&source).expect("the source can be removed");
    let mut window = restoring(managed);
    click(&mut window, "Restore");
    assert!(says(&window, "bytes of source.jsonl restored"));
    assert!(fs::read(&source).expect("it was restored") == original);
    // A second time to a chosen path, since nothing is overwritten.
    click(&mut window, "Close");
    click(&mut window, "More exports");
    click(&mut window, "Restore original…");
    let type_into = |window: &mut Window, path: &Path| {
        let field = window.get_by_role_and_label(Role::TextInput, "write to");
        field.focus();
        window.run_steps(2);
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        window.run_steps(2);
        let field = window.get_by_role_and_label(Role::TextInput, "write to");
        field.type_text(&path.to_string_lossy());
        window.run_steps(4);
    };
    type_into(&mut window, &source);
    click(&mut window, "Restore");
    assert!(says(&window, "Nothing was written") && says(&window, "source.jsonl already exists"));
    let other = folder.path().join("other.jsonl");
    type_into(&mut window, &other);
    assert!(!says(&window, "Nothing was written"), "the error is gone");
    click(&mut window, "Restore");
    assert!(fs::read(&other).expect("it was restored") == original);
}

#[test]
fn a_file_that_is_not_managed_or_was_changed_is_refused_with_the_reason() {
    let (folder, source, managed) = managed();
    let mut window = restoring(managed.clone());
    let mut changed = fs::read(&managed).expect("the managed file");
    changed.extend(b"\n");
    fs::write(&managed, changed).expect("it can be changed");
    click(&mut window, "Restore");
    assert!(says(&window, "Nothing was written"));
    assert!(says(&window, "has changed since it was written"));
    let alone = tempfile::tempdir().expect("a temporary folder");
    let copy = alone.path().join("source.jsonl");
    fs::copy(&source, &copy).expect("it can be copied");
    let mut window = restoring(copy);
    click(&mut window, "Restore");
    assert!(says(&window, "there is no source.manifest.json"));
    let n = fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(n, 4, "source, managed file, manifest and removed records");
}
