//! The window restores the source of a managed conversation.

use crate::screen::{COMPACTED, Window, click, copy_of, large, plimsoll, says, type_into};
use egui::accesskit::Role;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Writes a managed conversation next to a copy of a sample. Returns the folder, the source and the managed file.
fn managed() -> (TempDir, PathBuf, PathBuf) {
    let (folder, source) = copy_of(COMPACTED);
    let args = ["compact", COMPACTED, "--policy", "prune"];
    let more = ["--schedule", "replay", "-o", "managed.jsonl"];
    plimsoll(folder.path(), &[&args[..], &more[..]].concat());
    let managed = folder.path().join("managed.jsonl");
    (folder, source, managed)
}

fn restoring(managed: PathBuf) -> Window {
    let mut window = large(managed);
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
    assert!(says(&window, "bytes of compacted.jsonl restored"));
    assert!(fs::read(&source).expect("it was restored") == original);
    // A second time to a chosen path, since nothing is overwritten.
    click(&mut window, "Close");
    click(&mut window, "More exports");
    click(&mut window, "Restore original…");
    let write_to = (Role::TextInput, "write to");
    type_into(&mut window, write_to, &source.to_string_lossy());
    click(&mut window, "Restore");
    assert!(
        says(&window, "Nothing was written") && says(&window, "compacted.jsonl already exists")
    );
    let other = folder.path().join("other.jsonl");
    type_into(&mut window, write_to, &other.to_string_lossy());
    assert!(!says(&window, "Nothing was written"), "the error is gone");
    click(&mut window, "Restore");
    assert!(fs::read(&other).expect("it was restored") == original);
}

#[test]
fn a_file_that_is_not_managed_or_was_changed_is_rejected_with_the_reason() {
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
