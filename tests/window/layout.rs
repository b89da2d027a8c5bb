//! Layout: panels do not overlap, and controls keep their positions.

use crate::screen::{
    self, MANY_RESULTS, Window, add_lane, drag, open, options, sample, sized, with_lanes,
};
use egui::accesskit::Role;
use egui::epaint::TextShape;
use egui::{FontFamily, Key, Modifiers, Rect, Shape, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use plimsoll::app::drawer_tabs;
use plimsoll::app::state::model::tab::Tab;
use plimsoll::app::ui::theme;
use plimsoll::report::{VALIDITY, VALIDITY_SHORT};

const SIZES: [[f32; 2]; 4] = [[900.0, 560.0], [1000.0, 650.0], [1440.0, 900.0], [1920.0, 1200.0]];

fn window(size: [f32; 2]) -> Window {
    sized(sample(MANY_RESULTS), Vec2::from(size))
}

fn tab(window: &Window, tab: Tab) -> Rect {
    window.get_by_role_and_label(Role::Tab, tab.label).rect()
}

fn tabs(window: &Window) -> Vec<Rect> {
    drawer_tabs().map(|each| tab(window, each)).collect()
}

#[test]
fn tabs_keep_their_positions() {
    for size in SIZES {
        let mut window = window(size);
        window.key_press_modifiers(Modifiers::COMMAND, Key::R);
        window.run_ok();
        let before = tabs(&window);
        let all = Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size));
        assert!(before.iter().all(|rect| all.contains_rect(*rect)), "{size:?}");
        window.get_by_label("Sweep");
        for tab in drawer_tabs() {
            let name = tab.label;
            window.get_by_role_and_label(Role::Tab, name).click();
            window.run_ok();
            assert_eq!(tabs(&window), before, "{size:?} {name}");
        }
    }
}

#[test]
fn the_controls_of_a_tab_never_overlap_the_tabs() {
    for size in SIZES {
        let mut window = window(size);
        for (name, control) in [("Insights", "Show insights: all"), ("Messages", "Filter messages")]
        {
            window.get_by_role_and_label(Role::Tab, name).click();
            window.run_ok();
            let control = window.get_by_label(control).rect();
            let over = drawer_tabs().find(|each| tab(&window, *each).intersects(control));
            assert_eq!(over, None, "{size:?} {name}");
        }
    }
}

#[test]
fn alt_and_a_number_open_a_tab() {
    let mut window = window(SIZES[2]);
    window.key_press_modifiers(Modifiers::ALT, Key::Num6);
    window.run_ok();
    window.get_by_label("Sweep");
    window.key_press_modifiers(Modifiers::ALT, Key::Num1);
    window.run_ok();
    assert!(window.query_by_label("Sweep").is_none());
}

#[test]
fn the_drawer_regains_its_height_in_a_large_window() {
    let (large, small) = (SIZES[2], SIZES[0]);
    let mut window = window(large);
    let edge = tab(&window, Tab::MESSAGES).top() - 12.0;
    let handle = window
        .query_all_by_label("Resize panel")
        .map(|node| node.rect())
        .find(|rect| rect.width() > rect.height() && (rect.center().y - edge).abs() < 40.0)
        .expect("the drawer's edge");
    // Higher than a small window allows.
    let from = egui::pos2(300.0, handle.center().y);
    drag(&mut window, from, from - egui::vec2(0.0, 120.0));
    let chosen = tab(&window, Tab::MESSAGES).top();
    assert!(chosen < edge - 60.0, "{chosen} {edge}");
    window.set_size(Vec2::from(small));
    window.run_ok();
    let squeezed = small[1] - tab(&window, Tab::MESSAGES).top();
    assert!(squeezed < large[1] - chosen - 40.0, "{squeezed}");
    window.set_size(Vec2::from(large));
    window.run_ok();
    assert!((tab(&window, Tab::MESSAGES).top() - chosen).abs() < 1.5);
}

#[test]
fn each_level_of_the_menu_fits_into_the_smallest_window() {
    let last = "A quick tour: parallel calls, an error, a call that was stopped";
    for size in SIZES {
        let mut window = window(size);
        let all = Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size));
        for (level, items) in [
            (None, ["Sessions on this machine…", "New tab"]),
            (Some("Examples"), ["Slow growth over many turns", last]),
            (Some("Theme, shortcuts, logs"), ["Dark", "Run logs…"]),
        ] {
            screen::menu(&mut window, level.as_slice());
            for item in items {
                let item = window.get_by_label(item).rect();
                assert!(all.contains_rect(item), "{size:?} {item:?}");
            }
            window.key_press(egui::Key::Escape);
            window.run_ok();
        }
    }
}

const SMALL: [f32; 2] = [800.0, 600.0];

fn inside(size: [f32; 2]) -> Rect {
    Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size))
}

#[test]
fn the_sheet_of_shortcuts_fits_into_a_small_window() {
    let mut window = window(SMALL);
    window.key_press(Key::Questionmark);
    window.run_ok();
    for label in ["KEYBOARD", "Ctrl+O", "This sheet", "Close"] {
        let found: Vec<Rect> = window.get_all_by_label(label).map(|n| n.rect()).collect();
        assert!(found.iter().all(|rect| inside(SMALL).contains_rect(*rect)), "{label} {found:?}");
    }
}

#[test]
fn a_small_window_shows_three_messages_without_overlap() {
    let mut window = window(SMALL);
    let head = window.get_by_label("Sort by tokens").rect();
    assert!(SMALL[1] - head.bottom() > 2.8 * 22.0, "{head:?}");
    window.key_press_modifiers(Modifiers::ALT, Key::Num5);
    window.run_ok();
    let prices = window.get_by_label("Prices").rect();
    let heads = ["lane", "vs modelled", "cache read"];
    for name in heads {
        let head = window.get_all_by_label(name).map(|n| n.rect());
        let of_table: Vec<Rect> = head.filter(|r| r.left() < prices.left()).collect();
        assert!(!of_table.is_empty(), "{name}");
        assert!(of_table.iter().all(|r| r.right() < prices.left()), "{name}");
    }
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_ok();
    let plot = window.get_by_label("settings that were tried").rect();
    let lane = window.get_by_role_and_label(Role::CheckBox, "Truncate").rect();
    assert!(plot.right() < lane.left(), "{plot:?} {lane:?}");
    assert!(inside(SMALL).contains_rect(plot), "{plot:?}");
}

#[test]
fn the_tune_plot_uses_most_of_the_drawer_height() {
    let size = SIZES[2];
    let mut window = window(size);
    window.key_press_modifiers(Modifiers::COMMAND, Key::R);
    window.run_ok();
    let plot = window.get_by_label("settings that were tried").rect();
    let drawer = size[1] - tab(&window, Tab::TUNE).top();
    assert!(plot.height() > 0.75 * drawer, "{plot:?} of {drawer}");
}

#[test]
fn a_lane_that_is_out_of_view_scrolls_into_view_when_it_is_focused() {
    let mut window = window(SMALL);
    add_lane(&mut window);
    for (key, lane) in [(Key::Num1, "lane 1"), (Key::Num4, "lane 4"), (Key::Num1, "lane 1")] {
        window.key_press(key);
        window.run_ok();
        let settings = window.get_by_label("Copy as command").rect();
        let policy = window.get_by_label(&format!("Policy of {lane}")).rect();
        assert!(policy.left() >= 0.0 && policy.right() < settings.left(), "{lane} {policy:?}");
    }
}

#[test]
fn the_content_column_takes_the_remaining_width() {
    for size in [[800.0, 600.0], [1280.0, 720.0], [1440.0, 900.0]] {
        let window = window(size);
        let left = window.get_by_label("content").rect().left();
        let right = window.get_by_label("Sort by tokens").rect().right();
        let drawer = window.get_by_label("Copy as command").rect().left();
        let drawer = if size[0] < 1100.0 { size[0] } else { drawer };
        assert!(right - left > 0.36 * drawer, "{size:?} {left} {right}");
    }
}

#[test]
fn the_tooltip_of_the_strip_below_the_plot_is_a_whole_sentence() {
    let mut window = window(SIZES[2]);
    let strip = window.get_by_label("cumulative tokens by call").rect();
    window.event(egui::Event::PointerMoved(strip.center()));
    window.run_ok();
    let tip = window.get_by_label_contains("Messages added at call");
    let said = tip.accesskit_node().value().or(tip.accesskit_node().label());
    let said = said.expect("a text");
    assert!(said.starts_with("Messages added at call ") && said.ends_with("”."), "{said}");
}

#[test]
fn nothing_is_drawn_over_the_splitters_of_a_tab() {
    let mut window = window([1280.0, 720.0]);
    window.get_by_role_and_label(Role::Tab, "Cost").click();
    window.run_ok();
    let prices = window.get_by_label("PRICES").rect();
    let selection = theme::of(true).selection;
    let in_drawer = |rect: &Rect| rect.top() > tab(&window, Tab::COST).bottom();
    let shapes = window.output().shapes.iter();
    let rows = shapes.filter_map(|shape| match &shape.shape {
        Shape::Rect(rect) if rect.fill == selection => Some(rect.rect.intersect(shape.clip_rect)),
        _ => None,
    });
    let rows: Vec<Rect> = rows.filter(in_drawer).collect();
    assert!(!rows.is_empty(), "the row of the focused lane");
    for row in rows {
        assert!(row.right() <= prices.left() - 12.0, "{row} {prices}");
    }
}

#[test]
fn lost_facts_and_their_caveat_are_readable_in_a_small_window() {
    let mut window = window([1280.0, 720.0]);
    window.get_by_role_and_label(Role::Tab, "Evaluate").click();
    window.run_ok();
    window.get_by_label("Show facts").click();
    window.run_ok();
    let lanes = window.query_all_by_label_contains(": all facts ");
    assert_eq!(lanes.count(), 4, "all lanes keep their column");
    let shapes = &window.output().shapes;
    let texts = shapes.iter().filter_map(|shape| match &shape.shape {
        Shape::Text(text) => Some(text),
        _ => None,
    });
    let is_caveat = |text: &&TextShape| [VALIDITY, VALIDITY_SHORT].contains(&text.galley.text());
    let shown = texts.clone().find(is_caveat);
    assert!(shown.is_some_and(|text| !text.galley.elided));
    // Files are in a monospace font.
    let is_file = |text: &&TextShape| {
        let sections = &text.galley.job.sections;
        let is_monospace = sections[0].format.font_id.family == FontFamily::Monospace;
        is_monospace && text.galley.text().contains('/')
    };
    let files: Vec<&TextShape> = texts.filter(is_file).collect();
    assert!(files.len() > 2);
    for file in files {
        let n: usize = file.galley.rows.iter().map(|row| row.glyphs.len()).sum();
        assert!(!file.galley.elided || n > 24, "{}", file.galley.text());
    }
}

#[test]
fn lane_cards_are_whole_and_start_with_the_recorded_lane_in_the_smallest_window() {
    let size = Vec2::new(640.0, 400.0);
    let five = ["truncate", "prune", "summarize", "codex", "cline"];
    let options = Options { size, ..options(sample(MANY_RESULTS)) };
    let window = open(with_lanes(options, &five, &[]));
    let settings = window.get_by_label("Copy as command").rect();
    let baseline = window.get_by_label("Recorded baseline").rect();
    assert!(baseline.left() >= 0.0, "{baseline}");
    // The lanes that are in view.
    let heads = window.get_all_by_label_contains("Focus lane ");
    let heads: Vec<Rect> = heads.map(|head| head.rect()).collect();
    let right = settings.left() - 16.0;
    let in_view = heads.iter().filter(|head| head.left() < right - 2.0);
    assert!(in_view.clone().count() > 0);
    for head in in_view {
        assert!(head.right() <= right + 2.0, "{head} {settings}");
    }
    for figure in window.get_all_by_label("cost") {
        let figure = figure.rect();
        let of = heads.iter().find(|head| head.intersects(figure));
        assert!(of.is_none_or(|head| figure.right() <= head.right() - 4.0), "{figure}");
    }
}

#[test]
fn narrow_lanes_show_the_state_of_three_messages() {
    let size = Vec2::new(1280.0, 720.0);
    let five = ["truncate", "prune", "summarize", "none", "none"];
    let options = Options { size, ..options(sample(MANY_RESULTS)) };
    let window = open(with_lanes(options, &five, &[]));
    let rows = window.query_all_by_role(Role::ListBoxOption);
    let rows: Vec<Rect> = rows.map(|row| row.rect()).collect();
    let drawer = tab(&window, Tab::MESSAGES).top();
    let in_view = rows.iter().filter(|row| row.bottom() < drawer);
    assert!(in_view.count() >= 3, "{rows:?}");
    let shapes = window.output().shapes.iter();
    let words = shapes.filter(|shape| match &shape.shape {
        Shape::Text(text) => {
            let is_word = text.galley.text() == "kept" && !text.galley.elided;
            is_word && rows.iter().any(|row| row.contains(text.pos))
        }
        _ => false,
    });
    assert!(words.count() >= 4);
}
