//! Two sessions side by side: curves, the tab Compare, swap, and the workspace.

use crate::program::PROGRAM;
use crate::screen::{
    COMPACTED, Window, click, copied, drop_file, open, press, runs, sample, says, sized,
    started_with, texts,
};
use egui::accesskit::Role;
use egui::{Color32, Key, Modifiers, Shape, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use plimsoll::app::state::wording;
use plimsoll::app::ui::theme;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const A: &str = COMPACTED;
const B: &str = "slow-growth.jsonl";

/// A folder with copies of both sessions.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary folder"));
        for name in [A, B] {
            fs::copy(sample(name), place.at(name)).expect("a copy");
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn options(&self, name: &str, compared: Option<&str>) -> Options {
        let compared = compared.map(|name| ["--compare".into(), self.at(name)]);
        let arguments = [self.at(name)].into_iter().chain(compared.into_iter().flatten());
        started_with(arguments, &self.at("kept"))
    }

    fn open(&self, name: &str, compared: Option<&str>) -> Window {
        let mut window = open(self.options(name, compared));
        window.run_ok();
        window
    }

    /// Returns the JSON output of `plimsoll compare`.
    fn command_line(&self) -> plimsoll::json::Value {
        let output = Command::new(PROGRAM)
            .args(["compare", A, B, "--json", "--no-state"])
            .current_dir(self.0.path())
            .output()
            .expect("the program starts");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

/// Returns the points of the line in a color that has the most.
fn curve(window: &Window, color: Color32) -> Vec<egui::Pos2> {
    let lines = window.output().shapes.iter().filter_map(|shape| match &shape.shape {
        Shape::Path(path) if path.stroke.color == egui::epaint::ColorMode::Solid(color) => {
            Some(path.points.clone())
        }
        _ => None,
    });
    lines.max_by_key(Vec::len).unwrap_or_default()
}

fn compared_curve(window: &Window) -> Vec<egui::Pos2> {
    curve(window, theme::of(true).compared())
}

/// Groups a number as the window does.
fn grouped(value: &plimsoll::json::Value) -> String {
    plimsoll::app::state::wording::grouped(value.as_u64().expect("a number"))
}

#[test]
fn the_figures_equal_those_of_the_command_line() {
    let place = Place::new();
    let window = place.open(A, Some(B));
    let found = place.command_line();
    for (side, field) in [
        ("a", "calls"),
        ("b", "calls"),
        ("a", "messages"),
        ("b", "messages"),
        ("a", "peak_tokens"),
        ("b", "peak_tokens"),
        ("a", "history_tokens"),
        ("b", "history_tokens"),
    ] {
        let figure = grouped(&found[side][field]);
        assert!(window.query_all_by_label(&figure).next().is_some(), "{side}.{field}: {figure}");
    }
}

#[test]
fn the_second_curve_is_aligned_by_call_or_stretched() {
    let place = Place::new();
    // The shorter session ends before the right end of the axis.
    let mut window = place.open(B, Some(A));
    let by_call = compared_curve(&window);
    assert!(by_call.len() > 3, "{by_call:?}");
    click(&mut window, "by share");
    let by_share = compared_curve(&window);
    let end = |points: &[egui::Pos2]| points.last().expect("points").x;
    assert!((end(&by_call) - end(&by_share)).abs() > 20.0);
    let plot = window.get_by_label("timeline").rect();
    assert!((end(&by_share) - plot.right()).abs() < 2.0, "{} of {plot}", end(&by_share));
    // Calls of the open session stay selectable, whichever curve is longer.
    window.get_by_label("timeline").focus();
    window.run_steps(2);
    window.key_press(Key::End);
    window.run_ok();
    let value = window.get_by_label("timeline").accesskit_node().value();
    let calls = runs(&window).case.session.calls.len();
    assert!(value.is_some_and(|value| value.starts_with(&format!("Call {calls} "))));
}

#[test]
fn without_a_comparison_there_is_a_way_to_start_one() {
    let mut window = sized(sample(A), vec2(1280.0, 720.0));
    click(&mut window, "Compare");
    window.get_by_label("Open as comparison…");
    assert!(compared_curve(&window).is_empty());
    click(&mut window, "Menu");
    let n = window.query_all_by_label_contains("Open as comparison").count();
    assert_eq!(n, 2, "in the tab and in the menu");
}

#[test]
fn messages_of_one_session_are_listed_and_shown() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    click(&mut window, "Compare: messages");
    let found = place.command_line();
    let n = |list: &str| found["messages"][list].as_array().expect("a list").len();
    for (list, name) in [("only_in_a", "only in A"), ("only_in_b", "only in B")] {
        let text = format!("{} {name}", plimsoll::app::state::wording::grouped(n(list) as u64));
        assert!(says(&window, &text) || says(&window, &format!("List: {name}")), "{text}");
    }
    click(&mut window, "List: only in B");
    let first = window.get_all_by_label("only B").next().expect("a row");
    first.click();
    window.run_ok();
    let number = found["messages"]["only_in_b"][0]["message"].as_u64().expect("a number");
    window.get_by_label(&format!("Message {number} of B"));
    click(&mut window, "Close the text");
    assert!(window.query_by_label(&format!("Message {number} of B")).is_none());
    // A message of the open session is selected in all panels.
    click(&mut window, "List: only in B");
    click(&mut window, "List: only in A");
    let first = window.get_all_by_label("only A").next().expect("a row");
    first.click();
    window.run_ok();
    let number = found["messages"]["only_in_a"][0]["message"].as_u64().expect("a number");
    window.get_by_label(&format!("Message {number} of A"));
    click(&mut window, "Messages");
    window.get_by_label(&format!("Message {number}"));
}

#[test]
fn another_tokenizer_counts_the_messages_of_both_sessions() {
    let place = Place::new();
    let show = |window: &mut Window| {
        click(window, "Compare: messages");
        click(window, "List: only in B");
    };
    let rows = |window: &Window| {
        let texts = texts(window);
        let at = |text: &str| texts.iter().position(|shown| shown.starts_with(text));
        let rows = at("tokens B").zip(at("Focus the recorded lane"));
        let (start, end) = rows.expect("a table");
        texts[start..end].to_vec()
    };
    let mut window = place.open(A, Some(B));
    show(&mut window);
    let before = rows(&window);
    let runs = runs(&window);
    let chip = wording::accuracy(&runs.case.ledger);
    click(&mut window, &chip);
    click(&mut window, "chars/3");
    press(&mut window, Modifiers::NONE, Key::Escape);
    let after = rows(&window);
    // Both sessions are loaded with that tokenizer.
    let mut loaded = open(Options { counter: Some("chars/3"), ..place.options(A, Some(B)) });
    show(&mut loaded);
    assert_ne!(before, after);
    assert_eq!(after, rows(&loaded));
}

#[test]
fn tools_and_facts_have_pages() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    let found = place.command_line();
    click(&mut window, "Compare: tools");
    let tool = found["tools"][0]["tool"].as_str().expect("a name");
    assert!(says(&window, tool), "{tool}");
    click(&mut window, "Compare: facts");
    let n = |list: &str| found["facts"][list].as_array().expect("a list").len() as u64;
    let [a, b] =
        ["only_in_a", "only_in_b"].map(|list| plimsoll::app::state::wording::grouped(n(list)));
    assert!(says(&window, &format!("{a} only in A, {b} only in B")));
}

#[test]
fn swapping_opens_the_second_session_with_its_own_lanes() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    let calls = |window: &Window| runs(window).case.session.calls.len();
    let before = calls(&window);
    click(&mut window, "Swap A and B");
    let after = calls(&window);
    assert_ne!(before, after);
    assert!(!compared_curve(&window).is_empty());
    let figure = plimsoll::app::state::wording::grouped(before as u64);
    assert!(says(&window, &figure));
    click(&mut window, "Swap A and B");
    assert_eq!(calls(&window), before);
    click(&mut window, "Close the comparison");
    assert!(compared_curve(&window).is_empty());
    window.get_by_label("Open as comparison…");
    // The lanes of the open session still replay.
    assert_eq!(calls(&window), before);
}

#[test]
fn swapping_does_not_open_a_session_that_is_open_in_another_tab() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    press(&mut window, Modifiers::COMMAND, Key::T);
    drop_file(&mut window, place.at(B));
    press(&mut window, Modifiers::COMMAND, Key::Tab);
    let session = |window: &Window| {
        let runs = runs(window);
        runs.case.session.source.name.clone()
    };
    assert_eq!(session(&window), A);
    click(&mut window, "Swap A and B");
    assert_eq!(session(&window), A);
    assert!(says(&window, "open in another tab"));
}

#[test]
fn the_table_is_copied_as_csv() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    let found = place.command_line();
    let head = window.get_all_by_label("figure").next().expect("a table");
    head.click_secondary();
    window.run_ok();
    let text = copied(&mut window, "Copy table as CSV");
    let row = format!("calls,{},{}", found["a"]["calls"], found["b"]["calls"]);
    assert!(text.starts_with("figure,A,B") && text.contains(&row), "{text}");
    assert!(says(&window, "Copied"));
}

#[test]
fn a_workspace_keeps_the_comparison() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    click(&mut window, "by share");
    drop(window);
    let again = place.open(A, None);
    assert!(!compared_curve(&again).is_empty());
    let plot = again.get_by_label("timeline").rect();
    let end = compared_curve(&again).last().expect("points").x;
    assert!((end - plot.right()).abs() < 2.0);
}

#[test]
fn a_portable_workspace_opens_only_sessions_of_its_folder() {
    let place = Place::new();
    let mut window = place.open(A, Some(B));
    click(&mut window, "Menu");
    click(&mut window, "Save workspace…");
    drop(window);
    let name = "compacted-workspace.json";
    let text = fs::read_to_string(place.at(name)).expect("it was saved");
    assert!(text.contains(B) && !text.contains(&*place.0.path().to_string_lossy()));
    let other = Place::new();
    fs::copy(place.at(name), other.at(name)).expect("a copy");
    assert!(!compared_curve(&other.open(name, None)).is_empty());
    let outside = place.at(B).to_string_lossy().replace('\\', "/");
    let hostile = text.replace(&format!("\"{B}\""), &format!("\"{outside}\""));
    assert_ne!(hostile, text);
    fs::write(other.at(name), hostile).expect("writable");
    let window = other.open(name, None);
    assert!(window.state().runs().is_some());
    assert!(compared_curve(&window).is_empty());
}

#[test]
fn a_session_that_cannot_be_read_is_reported() {
    let place = Place::new();
    fs::write(place.at("broken.json"), "{").expect("writable");
    let window = place.open(A, Some("broken.json"));
    assert!(says(&window, "broken.json"));
    window.get_by_label("Open as comparison…");
    assert!(window.state().runs().is_some());
    drop(window);
    // It does not fail again at the next start.
    let again = place.open(A, None);
    assert!(!says(&again, "broken.json"));
    assert!(!says(&again, "cannot be opened"));
}

#[test]
fn the_tab_fits_a_small_window() {
    let place = Place::new();
    let mut options = place.options(A, Some(B));
    options.size = vec2(800.0, 600.0);
    let mut window = open(options);
    window.run_ok();
    for page in ["messages", "tools", "facts", "figures"] {
        click(&mut window, &format!("Compare: {page}"));
    }
    window.key_press_modifiers(Modifiers::ALT, Key::Num7);
    window.run_ok();
    assert!(window.query_all_by_role_and_label(Role::Tab, "Compare").next().is_some());
}
