//! The tab Context: the map of a context, and the switches of its sources.

use crate::screen::{MANY_RESULTS, Window, copy_of, run_in_palette, says, sized, wait};
use egui::vec2;
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
