//! The rules of `app`: `state` below `ui` below `shell`, `state` without drawing, and panels that do not know each other.

use crate::WINDOW;
use crate::imports::Import;
use crate::source::Source;

/// The floors of `app`, from below.
const FLOORS: [&str; 3] = ["state", "ui", "shell"];

/// Rooms of `ui` that its features stand on.
const SHARED: [&str; 7] =
    ["drawer_tab", "parts", "picture", "plots", "repaint", "theme", "widgets"];

/// Libraries of the window that do not draw.
const WITHOUT_DRAWING: [&str; 1] = ["poll_promise"];

/// Returns why an import inside `app` is wrong, if it is.
pub(crate) fn wrong_in_window(import: &Import<'_>) -> Option<String> {
    let ["app", from, ..] = names(import.from)[..] else {
        return None;
    };
    let ["app", to, ..] = names(import.to)[..] else {
        return None;
    };
    let floor = |name: &str| FLOORS.iter().position(|floor| *floor == name);
    let path = || import.path.join("::");
    if floor(to)? > floor(from)? {
        return Some(format!("{}: `{from}` may not import `{to}` ({})", import.file, path()));
    }
    let (["app", "ui", own, ..], ["app", "ui", other, ..]) =
        (&names(import.from)[..], &names(import.to)[..])
    else {
        return None;
    };
    let is_wrong = own != other && !SHARED.contains(other);
    is_wrong.then(|| format!("{}: `ui/{own}` may not know `ui/{other}` ({})", import.file, path()))
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Returns the drawing libraries that a file of `app/state` uses.
pub(crate) fn drawing_in_state(source: &Source) -> Vec<String> {
    if !source.path.starts_with("app/state/") {
        return Vec::new();
    }
    let draws = |path: &&String| {
        let library = path.split("::").next().unwrap_or(path);
        WINDOW.contains(&library) && !WITHOUT_DRAWING.contains(&library)
    };
    let found = source.paths.iter().filter(draws);
    found.map(|path| format!("{}: `app/state` may not use `{path}`", source.path)).collect()
}

#[test]
fn imports_upwards_and_between_panels_are_found() {
    let words = |path: &str| -> Vec<String> { path.split('/').map(str::to_owned).collect() };
    let is_wrong = |from: &str, to: &str| {
        let (from, to) = (words(from), words(to));
        wrong_in_window(&Import { file: "a.rs", from: &from, to: &to, path: &to }).is_some()
    };
    assert!(is_wrong("app/state/cost/state", "app/ui/cost/panel"));
    assert!(is_wrong("app/ui/cost/panel", "app/shell/toasts"));
    assert!(is_wrong("app/ui/cost/panel", "app/ui/events/panel"));
    assert!(is_wrong("app/ui/widgets/table", "app/ui/events/panel"));
    assert!(!is_wrong("app/ui/cost/panel", "app/ui/cost/lanes"));
    assert!(!is_wrong("app/ui/cost/panel", "app/ui/widgets/table"));
    assert!(!is_wrong("app/shell/drawer", "app/ui/cost/panel"));
    assert!(!is_wrong("app/shell/drawer", "exec/load"));
}

#[test]
fn drawing_in_the_state_is_found() {
    let found = |path: &str, text: &str| drawing_in_state(&Source::new(path, text)).len();
    assert_eq!(found("app/state/cost/state.rs", "fn f(ui: &mut egui::Ui) {}"), 1);
    assert_eq!(found("app/state/cost/state.rs", "use poll_promise::Promise;"), 0);
    assert_eq!(found("app/ui/cost/panel.rs", "use egui::Ui;"), 0);
}
