//! The lanes and the message table keep the selected message in view when its row moves.

use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, drag, drop_file, large, runs, sample, set_slider,
};
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, Pos2, Rect, Vec2, pos2, vec2};
use egui_kittest::Node;
use egui_kittest::kittest::{By, NodeT as _, Queryable as _};
use plimsoll::app::state::wording;
use std::path::PathBuf;

fn window(name: &str) -> Window {
    large(sample(name))
}

/// A pseudo-random sequence that is equal in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Returns the heads of the lanes, from left to right.
fn heads(window: &Window) -> Vec<Rect> {
    let heads = window.get_all_by_label_contains("Focus lane ");
    heads.map(|head| head.rect()).collect()
}

/// Returns the top of the drawer, which is the bottom of the lanes.
fn drawer(window: &Window) -> f32 {
    let tab = window.get_by_role_and_label(Role::Tab, "Messages");
    tab.rect().top()
}

/// Returns the selected lines of the lanes with their texts.
fn selected(window: &Window) -> Vec<(Rect, String)> {
    let is_selected = |node: &egui_kittest::kittest::AccessKitNode<'_>| {
        node.role() == Role::ListBoxOption && node.toggled() == Some(egui::accesskit::Toggled::True)
    };
    let found = window.query_all(By::new().predicate(is_selected));
    let line = |node: Node<'_>| (node.rect(), node.accesskit_node().label().unwrap_or_default());
    found.map(line).collect()
}

/// Returns the number of the message in the detail.
fn message(window: &Window) -> Option<usize> {
    let titles = window.query_all_by_label_contains("Message ");
    let title = |node: Node<'_>| node.accesskit_node().value();
    let mut numbers = titles.filter_map(title).filter_map(|text| {
        let number = text.strip_prefix("Message ")?;
        number.parse().ok()
    });
    numbers.next()
}

/// Asserts that the selected message's row is fully visible in every lane and in the table.
fn assert_in_view(window: &Window, why: &str) {
    let number = message(window).unwrap_or_else(|| panic!("{why}: a message is selected"));
    let runs = runs(window);
    // The lanes have no row for messages outside the history.
    if runs.case.session.messages[number - 1].in_history {
        let (heads, bottom) = (heads(window), drawer(window));
        let lines = selected(window);
        let [(row, said)] = &lines[..] else {
            let all = self::lines(window);
            panic!("{why}: one line shows message {number}: {lines:?} {heads:?} {bottom} {all:?}");
        };
        let start = format!("Message {number}:");
        assert!(said.starts_with(&start), "{why}: {said:?}");
        for head in heads {
            let is_below = row.top() >= head.bottom() - 0.5 && row.bottom() <= bottom + 0.5;
            let is_across = row.x_range().contains(head.center().x);
            assert!(
                is_below && is_across,
                "{why}: message {number} at {row:?}, lane {head:?} to {bottom}"
            );
        }
    }
    let table = Rect::from_min_max(pos2(0.0, drawer(window) + 56.0), pos2(80.0, 900.0));
    let cell = number.to_string();
    let rows = window.query_all(By::new().role(Role::Label).value(&cell));
    let is_seen = rows.map(|node| node.rect()).any(|r| table.contains_rect(r));
    assert!(is_seen, "{why}: message {number} in the table");
}

fn scroll(window: &mut Window, at: Pos2, by: f32) {
    window.event(Event::PointerMoved(at));
    window.event(Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, by),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    window.run_ok();
}

fn go_to(window: &mut Window, number: usize) {
    let field = window.get_by_role_and_label(Role::TextInput, "Go to message");
    field.focus();
    window.step();
    let field = window.get_by_role_and_label(Role::TextInput, "Go to message");
    field.type_text(&number.to_string());
    window.step();
    window.key_press(Key::Enter);
    window.step();
}

#[test]
fn fifty_selections_are_in_view_in_every_lane_each_time() {
    for name in [COMPACTED, MANY_RESULTS] {
        let mut window = window(name);
        let n = window.state().runs().map_or(0, |runs| runs.case.session.messages.len());
        let mut dice = Dice(7);
        for nth in 0..50 {
            let way = dice.below(9);
            match way {
                0..=3 => {
                    let number = 1 + dice.below(n);
                    go_to(&mut window, number);
                    assert_eq!(message(&window), Some(number));
                }
                4 => {
                    let key = [Key::J, Key::K][dice.below(2)];
                    for _ in 0..dice.below(15) {
                        window.key_down(key);
                    }
                    window.key_up(key);
                    window.key_press(Key::J);
                    window.step();
                }
                5 => {
                    let key = [Key::Home, Key::End][dice.below(2)];
                    window.key_press(key);
                    window.step();
                }
                _ => {
                    let key = [Key::ArrowLeft, Key::ArrowRight][dice.below(2)];
                    for _ in 0..=dice.below(12) {
                        window.key_down(key);
                    }
                    window.key_up(key);
                    window.step();
                }
            }
            assert_in_view(&window, &format!("{name}, selection {nth} by {way}"));
            if dice.below(3) == 0 {
                // Scrolled away: the next selection scrolls back.
                let at = pos2(300.0, heads(&window)[0].bottom() + 40.0);
                let by = [-600.0, 600.0][dice.below(2)];
                scroll(&mut window, at, by);
            }
        }
    }
}

#[test]
fn the_selected_message_stays_in_view_when_the_table_is_sorted_or_filtered() {
    let mut window = window(COMPACTED);
    go_to(&mut window, 97);
    for column in ["Sort by tokens", "Sort by cumulative", "Sort by number"] {
        for _ in 0..2 {
            window.get_by_label(column).click();
            window.run_steps(2);
            assert_in_view(&window, column);
        }
    }
    window.key_press(Key::Slash);
    window.run_steps(2);
    let field = || (Role::TextInput, "Filter messages");
    let (role, label) = field();
    window.get_by_role_and_label(role, label).type_text("zzz-nowhere");
    window.run_steps(2);
    window.get_by_label("No message matches the filter.");
    window.key_press(Key::Escape);
    window.run_steps(2);
    assert_in_view(&window, "the filter is cleared");
}

#[test]
fn a_message_selected_in_another_tab_is_in_view_in_the_table() {
    let mut window = window(COMPACTED);
    go_to(&mut window, 20);
    let at = pos2(300.0, drawer(&window) + 120.0);
    scroll(&mut window, at, -900.0);
    for key in [Key::Home, Key::End] {
        window.get_by_role_and_label(Role::Tab, "Cost").click();
        window.run_ok();
        window.key_press(key);
        window.run_steps(2);
        window.get_by_role_and_label(Role::Tab, "Messages").click();
        window.run_ok();
        assert_in_view(&window, "a call under another tab");
    }
}

#[test]
fn without_a_selection_a_new_order_scrolls_to_the_top() {
    let mut window = window(COMPACTED);
    let at = pos2(300.0, drawer(&window) + 120.0);
    scroll(&mut window, at, -900.0);
    window.get_by_label("Sort by tokens").click();
    window.run_steps(2);
    let case = &runs(&window).case;
    let weights = (0..case.session.messages.len()).map(|m| case.ledger.message(m));
    let most = wording::tokens(weights.max().expect("there are messages"));
    let cells = window.query_all(By::new().role(Role::Label).value(&most));
    assert!(cells.count() > 0, "the largest message comes first");
}

#[test]
fn the_selected_message_stays_in_view_when_panels_and_window_are_resized() {
    let mut window = window(COMPACTED);
    go_to(&mut window, 97);
    // First the drawer, up and down again; then the detail.
    let edges = |window: &Window| -> Vec<Rect> {
        let edges = window.query_all_by_label("Resize panel");
        edges.map(|edge| edge.rect()).collect()
    };
    let is_near =
        |edge: &&Rect, y: f32| edge.width() > edge.height() && (edge.center().y - y).abs() < 40.0;
    for by in [-140.0, 140.0, 120.0] {
        let top = drawer(&window);
        let all = edges(&window);
        let edge = all.iter().find(|edge| is_near(edge, top)).expect("the drawer's edge");
        let from = pos2(200.0, edge.center().y);
        drag(&mut window, from, from + vec2(0.0, by));
        assert!((drawer(&window) - top).abs() > 40.0, "the drawer was resized");
        assert_in_view(&window, "the drawer is resized");
    }
    let top = drawer(&window);
    for by in [-160.0, 120.0] {
        let all = edges(&window);
        let is_detail =
            |edge: &&Rect| edge.height() > edge.width() && edge.top() > top && edge.left() < 1000.0;
        let edge = all.iter().find(is_detail).expect("the detail's edge");
        let from = edge.center();
        drag(&mut window, from, from + vec2(by, 0.0));
        assert_in_view(&window, "the detail is resized");
    }
    for size in [[1100.0, 700.0], [1440.0, 900.0]] {
        window.set_size(Vec2::from(size));
        window.run_steps(2);
        assert_in_view(&window, "the window is resized");
    }
}

#[test]
fn the_selected_message_stays_in_view_when_a_setting_moves_the_rows() {
    let mut window = window(COMPACTED);
    go_to(&mut window, 60);
    for trigger in [0.3, 0.5, 0.9, 0.4] {
        set_slider(&mut window, "compression_trigger", trigger);
        assert_in_view(&window, "the trigger is moved");
    }
}

#[test]
fn a_dropped_file_scrolls_to_the_last_removed_messages() {
    let mut window = window(COMPACTED);
    let before = lines(&window);
    go_to(&mut window, 3);
    assert_ne!(lines(&window), before);
    drop_file(&mut window, sample(COMPACTED));
    assert_eq!(lines(&window), before, "as when it was opened first");
    drop_file(&mut window, sample("handoff.json"));
    go_to(&mut window, 2);
    assert_in_view(&window, "another file is dropped");
    // The error of opening a file takes height from the lanes.
    drop_file(&mut window, PathBuf::from("/nowhere/at-all.jsonl"));
    window.get_by_label_contains("/nowhere/at-all.jsonl");
    assert_in_view(&window, "a file is dropped that is not there");
}

/// Returns the texts of the visible lines of the lanes.
fn lines(window: &Window) -> Vec<String> {
    let is_line =
        |node: &egui_kittest::kittest::AccessKitNode<'_>| node.role() == Role::ListBoxOption;
    let found = window.query_all(By::new().predicate(is_line));
    found.filter_map(|node| node.accesskit_node().label()).collect()
}
