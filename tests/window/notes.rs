//! Notes on messages: written from the menu of a row, shown in table and detail, undone, and listed in reports.

use crate::screen::{
    COMPACTED, Window, click, large, runs, sample, says, secondary_click, type_into,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::Queryable as _;
use std::fs;
use std::path::Path;

const NOTE: &str = "the acquirer disputes this";

/// Opens the menu of the first message.
fn open_menu(window: &mut Window) {
    let pos = window.get_by_label("Sort by kind").rect().left_bottom() + Vec2::new(8.0, 12.0);
    secondary_click(window, pos);
}

/// Writes a report and returns it.
fn report(window: &mut Window, path: &Path, redacts: bool) -> String {
    click(window, "More exports");
    click(window, "Report…");
    click(window, "Markdown");
    if redacts {
        click(window, "Redact texts, paths, names and ids");
    }
    let field = (Role::TextInput, "write to");
    type_into(window, field, &path.to_string_lossy());
    click(window, "Write");
    fs::read_to_string(path).expect("the report was written")
}

#[test]
fn a_note_is_written_undone_and_listed_in_reports() {
    let mut window = large(sample(COMPACTED));
    window.key_press(Key::Home);
    window.run_ok();
    open_menu(&mut window);
    click(&mut window, "Add note…");
    assert!(says(&window, "Note on message 1"));
    window.get_by_role_and_label(Role::TextInput, "Note").type_text(NOTE);
    window.run_ok();
    click(&mut window, "Save");
    let shown = format!("Note: {NOTE}");
    assert!(says(&window, &shown), "the detail shows the note");
    let marks = window.query_all_by_label("note").count();
    assert_eq!(marks, 1, "the row is marked");
    // The note does not change any result.
    let runs = runs(&window);
    assert!(runs.config.notes.is_empty());
    // Undo and redo.
    click(&mut window, "Undo");
    assert!(!says(&window, &shown));
    click(&mut window, "Redo");
    assert!(says(&window, &shown));
    // Reports.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plain = report(&mut window, &folder.path().join("plain.md"), false);
    assert!(plain.contains("## Notes on messages"), "{plain}");
    assert!(plain.contains(NOTE));
    let redacted = report(&mut window, &folder.path().join("redacted.md"), true);
    assert!(!redacted.contains(NOTE));
    assert!(redacted.contains("Omitted: 1 note on messages."));
    // An empty text removes the note.
    open_menu(&mut window);
    click(&mut window, "Edit note…");
    window.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.run_steps(2);
    window.key_press(Key::Backspace);
    window.run_ok();
    click(&mut window, "Remove note");
    assert!(!says(&window, &shown));
}
