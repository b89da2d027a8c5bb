//! The keyboard: order of focus, shortcuts while typing, and Esc.

use crate::screen::{
    COMPACTED, LARGE, Window, button, paste, press, runs, sample, set_slider, sized, start_drag,
};
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Shape, Vec2, vec2};
use egui_kittest::kittest::{AccessKitNode, By, NodeT as _, Queryable as _};
use plimsoll::app::ui::theme;

const SMALL: Vec2 = vec2(1100.0, 700.0);

fn window(size: Vec2) -> Window {
    sized(sample(COMPACTED), size)
}

fn is_there(window: &Window, label: &str) -> bool {
    window.query_all_by_label(label).next().is_some()
}

/// Returns the state that letters and digits change: marks, restarts, lane heads, selected message and call.
fn state(window: &Window) -> Vec<String> {
    let runs = runs(window);
    let heads = window.get_all_by_label_contains("Focus lane ");
    let mut all: Vec<String> = heads.filter_map(|n| n.accesskit_node().label()).collect();
    all.push(format!("{:?} {:?}", runs.config.manual_edits, runs.config.restarts));
    let titles = window.query_all_by_label_contains("Message ");
    all.extend(titles.filter_map(|n| n.accesskit_node().value()));
    for label in ["timeline", "overview"] {
        let node = window.get_by_label(label);
        all.extend(node.accesskit_node().value());
    }
    all
}

#[test]
fn letters_do_nothing_while_a_menu_or_a_list_is_open() {
    let letters = [
        Key::C,
        Key::X,
        Key::P,
        Key::R,
        Key::J,
        Key::K,
        Key::Num0,
        Key::Num2,
        Key::W,
        Key::A,
        Key::F,
        Key::Slash,
        Key::Questionmark,
        Key::Home,
    ];
    let mut window = window(LARGE);
    press(&mut window, Modifiers::NONE, Key::J);
    for (opened, inside) in [
        ("strategy", "No management"),
        ("Policy of lane 2", "Add a lane"),
        ("Menu", "Examples"),
        ("All kinds", "Show all"),
    ] {
        let before = state(&window);
        // The name of a setting precedes its control.
        let control = window.get_all_by_label(opened).last();
        control.expect("it is there").click();
        window.run_ok();
        assert!(is_there(&window, inside), "{opened} is open");
        for letter in letters {
            press(&mut window, Modifiers::NONE, letter);
        }
        assert_eq!(state(&window), before, "{opened}");
        assert!(is_there(&window, inside), "{opened} stays open");
        press(&mut window, Modifiers::NONE, Key::Escape);
        assert_eq!(state(&window), before, "{opened} is closed");
        assert!(!is_there(&window, "KEYBOARD"), "{opened}");
    }
    // They work again once it is closed.
    let before = state(&window);
    press(&mut window, Modifiers::NONE, Key::C);
    assert_ne!(state(&window), before);
}

/// Returns the focused control.
fn focused(window: &Window) -> Option<(Rect, String)> {
    let is_focused = |node: &AccessKitNode<'_>| node.is_focused() && node.role() != Role::Window;
    let mut found = window.query_all(By::new().predicate(is_focused));
    found.next().map(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        (node.rect(), label)
    })
}

/// Returns the visible parts of the rings drawn around the focused control.
fn rings(window: &Window) -> Vec<Rect> {
    let accent = theme::of(true).accent;
    let ring = |shape: &egui::epaint::ClippedShape| match &shape.shape {
        Shape::Rect(rect) if rect.stroke.color == accent && rect.stroke.width == 1.5 => {
            Some(rect.rect.intersect(shape.clip_rect))
        }
        _ => None,
    };
    window.output().shapes.iter().filter_map(ring).collect()
}

/// Returns the panel at a position. Panels are listed in the order of keyboard focus.
fn panel(window: &Window, at: Pos2) -> &'static str {
    let heads = window.get_all_by_label_contains("Focus lane ");
    let lanes_begin = heads.map(|head| head.rect().top()).fold(f32::INFINITY, f32::min);
    let tab = window.get_by_role_and_label(Role::Tab, "Messages");
    let settings = window.get_by_label("Reset all").rect();
    let verdict = window.get_by_label_contains("Peaked at").rect();
    let lane = window.get_all_by_label_contains("Focus lane 3").last();
    let lanes_end = lane.expect("a third lane").rect().right();
    if at.y < verdict.top() - 4.0 {
        "bar"
    } else if at.y < verdict.bottom() + 4.0 {
        "verdict"
    } else if at.x > lanes_end && at.y > settings.top() - 30.0 {
        "settings"
    } else if at.y < lanes_begin {
        "timeline"
    } else if at.y < tab.rect().top() {
        "lanes"
    } else {
        "drawer"
    }
}

#[test]
fn the_tab_key_visits_the_panels_in_order_with_a_visible_ring() {
    for size in [LARGE, SMALL] {
        let mut window = window(size);
        let screen = Rect::from_min_size(Pos2::ZERO, size);
        // An open message and a changed setting add buttons.
        press(&mut window, Modifiers::NONE, Key::J);
        set_slider(&mut window, "keep_recent", 20.0);
        let mut panels: Vec<&str> = Vec::new();
        let mut stops: Vec<String> = Vec::new();
        for _ in 0..200 {
            press(&mut window, Modifiers::NONE, Key::Tab);
            let (rect, label) = focused(&window).expect("something has the focus");
            if stops.first() == Some(&label) {
                break;
            }
            assert!(screen.contains_rect(rect), "{size:?} {label} at {rect:?}");
            let is_ringed =
                |ring: &Rect| ring.contains_rect(rect) && ring.width() < rect.width() + 8.0;
            let rings = rings(&window);
            assert!(rings.iter().any(is_ringed), "{size:?} {label} {rect:?}: {rings:?}");
            let panel = panel(&window, rect.center());
            if panels.last() != Some(&panel) {
                panels.push(panel);
            }
            stops.push(label);
        }
        let order = ["bar", "verdict", "timeline", "lanes", "drawer", "settings"];
        assert_eq!(panels, order, "{size:?} {stops:?}");
        for stop in ["compression_trigger", "context_window", "Copy as command", "trigger"] {
            assert!(stops.iter().any(|label| label == stop), "{stop} in {stops:?}");
        }
        assert!(stops.len() > 50, "{stops:?}");
    }
}

/// Types into the filter of the message table, which keeps the focus.
fn type_in_filter(window: &mut Window, text: &str) {
    press(window, Modifiers::NONE, Key::Slash);
    let field = window.get_by_role_and_label(Role::TextInput, "Filter messages");
    field.type_text(text);
    window.run_steps(2);
}

#[test]
fn escape_closes_one_thing_at_a_time_from_the_top() {
    let mut window = window(LARGE);
    press(&mut window, Modifiers::NONE, Key::J);
    type_in_filter(&mut window, "ledger");
    press(&mut window, Modifiers::NONE, Key::Enter);
    let has_filter = |window: &Window| !is_there(window, "137 of 137");
    let has_detail = |window: &Window| is_there(window, "Message 1");
    assert!(has_filter(&window) && has_detail(&window));
    // First a menu, then a dialog.
    window.get_by_label("Menu").click();
    window.run_ok();
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_there(&window, "Examples"));
    assert!(has_filter(&window) && has_detail(&window));
    press(&mut window, Modifiers::NONE, Key::Questionmark);
    assert!(is_there(&window, "KEYBOARD"));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_there(&window, "KEYBOARD"));
    assert!(has_filter(&window) && has_detail(&window));
    // The error of opening a file.
    paste(&mut window, "just some words");
    let has_problem =
        |window: &Window| window.query_all_by_label_contains("Pasted: ").next().is_some();
    assert!(has_problem(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!has_problem(&window));
    assert!(has_filter(&window) && has_detail(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!has_filter(&window) && has_detail(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!has_detail(&window));
}

#[test]
fn escape_in_a_field_leaves_the_detail_open() {
    let mut window = window(LARGE);
    press(&mut window, Modifiers::NONE, Key::J);
    type_in_filter(&mut window, "ledger");
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(is_there(&window, "137 of 137") && is_there(&window, "Message 1"));
}

/// Drags, presses Esc, moves on and releases. Returns `look` before, during and after the drag.
fn cancelled<T>(window: &mut Window, from: Pos2, by: Vec2, look: impl Fn(&Window) -> T) -> [T; 3] {
    let before = look(window);
    start_drag(window, from, from + by);
    let dragged = look(window);
    press(window, Modifiers::NONE, Key::Escape);
    window.event(Event::PointerMoved(from + 0.8 * by));
    window.run_steps(2);
    button(window, from + 0.8 * by, PointerButton::Primary, false);
    window.run_ok();
    [before, dragged, look(window)]
}

#[test]
fn escape_cancels_a_drag_and_nothing_else() {
    let mut window = window(LARGE);
    press(&mut window, Modifiers::NONE, Key::J);
    let can_undo = |window: &Window| {
        let undo = window.get_by_label("Undo");
        !undo.accesskit_node().is_disabled()
    };
    let config = |window: &Window| runs(window).config.clone();
    for (label, by) in [
        ("compression_trigger", vec2(-90.0, 0.0)),
        ("trigger", vec2(0.0, 40.0)),
        ("window", vec2(0.0, 40.0)),
    ] {
        let rect = window.get_by_role_and_label(Role::Slider, label).rect();
        let [before, dragged, after] = cancelled(&mut window, rect.center(), by, config);
        assert_ne!(before, dragged, "{label} is dragged");
        assert_eq!(before, after, "{label}");
        assert!(!can_undo(&window), "{label}: nothing was changed");
        assert!(is_there(&window, "Message 1"), "{label}: the detail stays");
    }
    // The visible part of the timeline, in the overview.
    let strip = window.get_by_label("overview").rect();
    let view = |window: &Window| window.get_by_label("overview").accesskit_node().value();
    let from = strip.left_center() + vec2(100.0, 0.0);
    let [before, dragged, after] = cancelled(&mut window, from, vec2(300.0, 0.0), view);
    assert_ne!(before, dragged);
    assert_eq!(before, after);
    // The drawer's edge.
    let top = |window: &Window| window.get_by_role_and_label(Role::Tab, "Messages").rect().top();
    let y = top(&window);
    let edges = window.query_all_by_label("Resize panel").map(|n| n.rect());
    let is_drawers =
        |edge: &Rect| edge.width() > edge.height() && (edge.center().y - y).abs() < 20.0;
    let edge = edges.into_iter().find(is_drawers).expect("the drawer's edge");
    let from = edge.center();
    let [before, dragged, after] = cancelled(&mut window, from, vec2(0.0, -90.0), top);
    assert!((before - dragged).abs() > 40.0);
    assert_eq!(before, after);
}

#[test]
fn the_zoom_has_a_range_and_is_shown_when_it_changes() {
    let mut window = window(LARGE);
    for (key, n, shown, factor) in [
        (Key::Minus, 10, "Zoom 50\u{2009}%", 0.5),
        (Key::Num0, 1, "Zoom 100\u{2009}%", 1.0),
        (Key::Plus, 4, "Zoom 140\u{2009}%", 1.4),
    ] {
        for _ in 0..n {
            press(&mut window, Modifiers::COMMAND, key);
        }
        window.get_by_label(shown);
        let notices = window.query_all_by_label_contains("Zoom ").count();
        assert_eq!((window.ctx.zoom_factor(), notices), (factor, 1));
    }
}
