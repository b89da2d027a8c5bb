//! The tab Tools, the tenth of the drawer: the numbers of the command line, sorting, links, and its settings after a restart.

use crate::screen::{
    self, MANY_RESULTS, Window, copy_of, plimsoll, press, run_in_palette, says, sized,
    started_with, tab, texts, wait,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::state::wording;
use serde_json::Value;

fn show_tools(window: &mut Window) {
    run_in_palette(window, "Show the tab Tools");
    wait(window, |window| says(window, "never named later"));
}

/// Returns the positions of two texts from top to bottom, as whether the first one is above.
fn is_above(window: &Window, first: &str, second: &str) -> bool {
    let top = |text: &str| window.get_by_label(text).rect().top();
    top(first) < top(second)
}

#[test]
fn the_tab_shows_the_figures_of_the_command_line() {
    let (folder, path) = copy_of(MANY_RESULTS);
    let json = plimsoll(folder.path(), &["tools", &path.to_string_lossy(), "--json"]);
    let listed: Value = serde_json::from_str(&json).expect("JSON");
    let mut window = sized(path, vec2(1440.0, 900.0));
    show_tools(&mut window);
    let shown = texts(&window);
    let tools = listed["tools"].as_array().expect("a list");
    assert!(tools.len() > 1);
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let results = tool["result_tokens"].as_u64().expect("a number");
        assert!(shown.iter().any(|text| text == name), "{name}");
        assert!(shown.contains(&wording::grouped(results)), "{name}: {results}");
    }
}

#[test]
fn a_head_sorts_and_a_row_lists_the_calls_and_results_of_its_tool() {
    let (folder, path) = copy_of(MANY_RESULTS);
    let json =
        plimsoll(folder.path(), &["tools", &path.to_string_lossy(), "--json", "--sort", "name"]);
    let listed: Value = serde_json::from_str(&json).expect("JSON");
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|t| t["name"].as_str())
        .collect();
    let mut window = sized(path, vec2(1440.0, 900.0));
    show_tools(&mut window);
    run_in_palette(&mut window, "Sort tools by tool");
    assert!(names.windows(2).all(|pair| is_above(&window, pair[0], pair[1])), "{names:?}");
    window.get_by_label(names[0]).click();
    window.run_ok();
    let filter = window.get_by_role_and_label(Role::TextInput, "Filter messages");
    assert_eq!(filter.value().as_deref(), Some(format!("tool:{}", names[0]).as_str()));
}

#[test]
fn the_order_is_kept_over_a_restart() {
    let (folder, path) = copy_of(MANY_RESULTS);
    let open = || screen::open(started_with([path.clone()], &folder.path().join("kept")));
    let mut window = open();
    show_tools(&mut window);
    // The tool that fills the context comes first; the other one has the smaller name.
    assert!(is_above(&window, "exec_command", "apply_patch"));
    run_in_palette(&mut window, "Sort tools by tool");
    assert!(is_above(&window, "apply_patch", "exec_command"));
    drop(window);
    let mut window = open();
    wait(&mut window, |window| says(window, "never named later"));
    assert!(is_above(&window, "apply_patch", "exec_command"));
}

#[test]
fn tabs_that_do_not_fit_are_in_a_menu() {
    let mut window = sized(screen::sample(MANY_RESULTS), vec2(420.0, 560.0));
    assert!(window.query_by_role_and_label(Role::Tab, "Tools").is_none());
    window.get_by_role_and_label(Role::Tab, "More ⏷").click();
    window.run_ok();
    window.get_by_role_and_label(Role::Button, "Tools").click();
    window.run_ok();
    window.get_by_role_and_label(Role::Tab, "Tools");
    // The chosen tab stays in the row until another one is chosen.
    press(&mut window, Modifiers::ALT, Key::Num1);
    tab(&mut window, "Messages");
    assert!(window.query_by_role_and_label(Role::Tab, "Tools").is_none());
}
