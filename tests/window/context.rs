//! The tab Context: the map of a context, and the switches of its sources.

use crate::screen::{MANY_RESULTS, Window, button, copy_of, run_in_palette, says, sized, wait};
use egui::{PointerButton, vec2};
use egui_kittest::kittest::Queryable as _;

fn show_context(window: &mut Window) {
    run_in_palette(window, "Show the tab Context");
    wait(window, |window| says(window, "Click a piece to read it"));
}

#[test]
fn a_piece_of_the_map_opens_its_message_and_a_switch_computes_without_its_source() {
    let (_folder, path) = copy_of(MANY_RESULTS);
    let mut window = sized(path, vec2(1440.0, 900.0));
    show_context(&mut window);
    run_in_palette(&mut window, "Show the sources of the context");
    wait(&mut window, |window| says(window, "memory:"));
    let switch = |window: &Window| {
        let mut all = window.query_all_by_label_contains("Send memory:");
        all.next().expect("the session has AGENTS.md").click();
    };
    switch(&window);
    wait(&mut window, |window| says(window, "Everything is computed without memory:"));
    switch(&window);
    wait(&mut window, |window| says(window, "Everything is computed with memory:"));
}

#[test]
fn a_click_on_the_context_over_time_selects_a_call() {
    let (_folder, path) = copy_of(MANY_RESULTS);
    let mut window = sized(path, vec2(1440.0, 900.0));
    show_context(&mut window);
    run_in_palette(&mut window, "Show the context over time");
    wait(&mut window, |window| says(window, "Recorded contexts by source"));
    assert!(says(&window, "memory  "), "the list names the groups");
    let first = window.get_by_label("Contexts by source").rect().left_center() + vec2(2.0, 0.0);
    window.hover_at(first);
    window.step();
    button(&window, first, PointerButton::Primary, true);
    window.step();
    button(&window, first, PointerButton::Primary, false);
    window.run_steps(4);
    assert!(says(&window, "Recorded contexts by source. Call 1:"), "a click selects the call");
}
