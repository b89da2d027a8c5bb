//! Where things stand: nothing lies over anything else, and what is clicked again and again stays where it is.

use crate::screen::sized;
use egui::accesskit::Role;
use egui::{Key, Modifiers, Rect, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use plimsoll::app::App;
use std::path::Path;

const SIZES: [[f32; 2]; 4] = [
    [900.0, 560.0],
    [1000.0, 650.0],
    [1440.0, 900.0],
    [1920.0, 1200.0],
];
const TABS: [&str; 8] = [
    "Messages", "Insights", "Events", "Loss", "Cost", "Tune", "About", "Import",
];

fn window(size: [f32; 2]) -> Harness<'static, App> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    let paths = vec![folder.join("many-tool-results.jsonl")];
    let mut window = sized(paths, Vec2::from(size));
    window.run_steps(2);
    window
}

fn tab(window: &Harness<'_, App>, name: &str) -> Rect {
    window.get_by_role_and_label(Role::Tab, name).rect()
}

#[test]
fn the_tabs_stay_where_they_are_whichever_is_open_and_at_any_size() {
    for size in SIZES {
        let mut window = window(size);
        window.key_press_modifiers(Modifiers::COMMAND, Key::R);
        window.run_steps(8);
        let before = TABS.map(|name| tab(&window, name));
        let all = Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size));
        assert!(
            before.iter().all(|rect| all.contains_rect(*rect)),
            "{size:?}"
        );
        window.get_by_label("Sweep");
        for name in TABS {
            window.get_by_role_and_label(Role::Tab, name).click();
            window.run_steps(4);
            assert_eq!(
                TABS.map(|name| tab(&window, name)),
                before,
                "{size:?} {name}"
            );
        }
    }
}

#[test]
fn the_tools_of_a_tab_never_lie_over_the_tabs() {
    for size in SIZES {
        let mut window = window(size);
        for (name, tool) in [
            ("Insights", "Show insights: all"),
            ("Messages", "Filter messages"),
        ] {
            window.get_by_role_and_label(Role::Tab, name).click();
            window.run_steps(4);
            let tool = window.get_by_label(tool).rect();
            let over = TABS.iter().find(|name| tab(&window, name).intersects(tool));
            assert_eq!(over, None, "{size:?} {name}");
        }
    }
}

#[test]
fn alt_and_a_number_open_a_tab() {
    let mut window = window(SIZES[2]);
    window.key_press_modifiers(Modifiers::ALT, Key::Num6);
    window.run_steps(3);
    window.get_by_label("Sweep");
    window.key_press_modifiers(Modifiers::ALT, Key::Num1);
    window.run_steps(3);
    assert!(window.query_by_label("Sweep").is_none());
}

#[test]
fn the_drawer_is_as_high_as_before_once_a_window_that_was_small_is_large_again() {
    let (large, small) = (SIZES[2], SIZES[0]);
    let mut window = window(large);
    let edge = tab(&window, "Messages").top() - 12.0;
    // Dragged higher than a small window has room for.
    let at = |y: f32| egui::pos2(300.0, y);
    let button = |pos, pressed| egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let handle = window
        .query_all_by_label("Resize panel")
        .map(|node| node.rect())
        .find(|rect| rect.width() > rect.height() && (rect.center().y - edge).abs() < 40.0)
        .expect("the drawer's edge");
    let from = at(handle.center().y);
    window.event(egui::Event::PointerMoved(from));
    window.run_steps(2);
    window.event(button(from, true));
    window.run_steps(2);
    for y in [40.0, 80.0, 120.0] {
        window.event(egui::Event::PointerMoved(at(from.y - y)));
        window.run_steps(2);
    }
    window.event(button(at(from.y - 120.0), false));
    window.run_steps(3);
    let chosen = tab(&window, "Messages").top();
    assert!(chosen < edge - 60.0, "{chosen} {edge}");
    window.set_size(Vec2::from(small));
    window.run_steps(4);
    let squeezed = small[1] - tab(&window, "Messages").top();
    assert!(squeezed < large[1] - chosen - 40.0, "{squeezed}");
    window.set_size(Vec2::from(large));
    window.run_steps(4);
    assert!((tab(&window, "Messages").top() - chosen).abs() < 1.5);
}

#[test]
fn the_menu_is_no_higher_than_the_smallest_window() {
    for size in SIZES {
        let mut window = window(size);
        window.get_by_label("Menu").click();
        window.run_steps(4);
        let all = Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size));
        for item in ["Sessions on this machine…", "Dark", "Run logs…"] {
            let item = window.get_by_label(item).rect();
            assert!(all.contains_rect(item), "{size:?} {item:?}");
        }
        let last = "A quick tour: parallel calls, an error, a call that was stopped";
        window.get_by_label(last).scroll_to_me();
        window.run_steps(6);
        let last = window.get_by_label(last).rect();
        assert!(all.contains_rect(last), "{size:?} {last:?}");
    }
}
