//! The window at every size: equal figures in all lanes, notices outside the charts, no overlap.

use crate::screen::{COMPACTED, LARGE, Window, add_lane, click, runs, sample, sized};
use egui::accesskit::Role;
use egui::{Rect, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

fn window(size: Vec2) -> Window {
    sized(sample(COMPACTED), size)
}

/// All figures of a head, in this order.
const FIGURES: [&str; 8] = [
    "peak",
    "cost",
    "re-reads",
    "compactions",
    "sent",
    "overflows",
    "into the reserve",
    "blind edits",
];

#[test]
fn lane_heads_show_the_same_figures_at_every_width_on_one_row() {
    for (size, lanes, least) in [
        ([2560.0, 1440.0], 3, 8),
        ([1920.0, 1200.0], 3, 5),
        ([1440.0, 900.0], 3, 4),
        ([1440.0, 900.0], 6, 2),
        ([1280.0, 720.0], 3, 3),
        ([1280.0, 720.0], 6, 2),
        ([800.0, 600.0], 3, 2),
    ] {
        let mut window = window(Vec2::from(size));
        for _ in 3..lanes {
            add_lane(&mut window);
        }
        let drawer = window.get_by_role_and_label(Role::Tab, "Messages").rect();
        let heads: Vec<Rect> =
            window.get_all_by_label_contains("Focus lane ").map(|head| head.rect()).collect();
        assert_eq!(heads.len(), lanes);
        let mut tops = Vec::new();
        for label in FIGURES {
            let rects: Vec<Rect> = window
                .query_all_by_label(label)
                .map(|node| node.rect())
                .filter(|rect| heads.iter().any(|head| head.contains_rect(*rect)))
                .collect();
            if rects.is_empty() {
                continue;
            }
            assert_eq!(rects.len(), lanes, "{label} at {size:?}");
            // At the same position in each lane.
            for (rect, head) in rects.iter().zip(&heads) {
                let at = (rect.left() - head.left(), rect.top() - head.top());
                let first = (rects[0].left() - heads[0].left(), rects[0].top() - heads[0].top());
                assert!((at.0 - first.0).abs() < 1.0 && (at.1 - first.1).abs() < 1.0);
                assert!(rect.bottom() + 14.0 < drawer.top(), "{label} at {size:?}");
            }
            tops.push(rects[0]);
        }
        assert!(tops.len() >= least, "{} figures at {size:?}", tops.len());
        for pair in tops.windows(2) {
            assert_eq!(pair[0].top(), pair[1].top(), "one row at {size:?}");
            assert!(pair[0].right() < pair[1].left(), "no overlap at {size:?}");
        }
    }
}

/// Returns the lanes' rows that are whole inside their panel, from top to bottom.
fn rows(window: &Window) -> Vec<Rect> {
    let drawer = window.get_by_role_and_label(Role::Tab, "Messages").rect();
    let edges = window.query_all_by_role_and_label(Role::Slider, "Resize panel");
    // The edge between the lanes and the drawer.
    let edges = edges.map(|edge| edge.rect().center().y);
    let edge = edges.filter(|y| *y <= drawer.center().y).fold(0.0, f32::max);
    let options = window.get_all_by_role(Role::ListBoxOption);
    let rows = options.map(|row| row.rect());
    rows.filter(|row| row.bottom() <= edge).collect()
}

#[test]
fn a_small_window_shows_six_messages_and_a_large_one_six_lanes() {
    let small = window(Vec2::new(1280.0, 720.0));
    assert!(rows(&small).len() >= 6, "{:?}", rows(&small));
    // A screen of 2,560 x 1,440 pixels at a scale of 2 has this size in points.
    let mut dense = window(Vec2::new(1280.0, 720.0));
    for _ in 0..3 {
        add_lane(&mut dense);
    }
    let settings = dense.get_by_label("Copy as command").rect();
    let heads = dense.get_all_by_label_contains("Focus lane ");
    let visible = heads.filter(|head| head.rect().right() <= settings.left());
    assert_eq!(visible.count(), 6);
    assert!(rows(&dense).len() >= 6, "{:?}", rows(&dense));
}

#[test]
fn notices_cover_only_the_settings_and_let_clicks_through() {
    for size in [[1440.0, 900.0], [800.0, 600.0]] {
        let mut window = window(Vec2::from(size));
        let settings = window.get_by_label("Copy as command").rect();
        for _ in 0..2 {
            click(&mut window, "Copy as command");
            let notice = window.get_by_label("Copied the command").rect();
            assert!(notice.left() >= settings.left() - 16.0, "{notice:?}");
            let all = Rect::from_min_size(egui::Pos2::ZERO, Vec2::from(size));
            assert!(all.contains_rect(notice), "{notice:?}");
            assert!(!notice.expand(8.0).intersects(settings), "{notice:?}");
        }
    }
}

#[test]
fn the_window_chip_opens_the_choice_of_window_and_model() {
    let mut window = window(LARGE);
    let now = |window: &Window| {
        let runs = runs(window);
        runs.case.windows.largest().0
    };
    let before = now(&window);
    let open = |window: &mut Window| {
        let chips = window.get_all_by_role(Role::Button);
        let chip = chips.into_iter().find(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.contains(" window") && label.contains('·')
        });
        chip.expect("the chip").click();
        window.run_ok();
    };
    open(&mut window);
    click(&mut window, "Window of 1M tokens");
    assert_eq!(now(&window), 1_000_000);
    let model = window.get_by_label("Find a model");
    model.focus();
    window.run_steps(2);
    window.get_by_label("Find a model").type_text("gpt-4o-mini");
    window.run_ok();
    click(&mut window, "gpt-4o-mini");
    assert_eq!(now(&window), 128_000);
    let runs = runs(&window);
    assert!(format!("{:?}", runs.config.billing.price).contains("gpt-4o-mini"));
    // Both are set and undone together.
    click(&mut window, "Undo");
    assert_eq!(now(&window), 1_000_000);
    open(&mut window);
    let recorded = window.get_by_label_contains("As recorded: ");
    recorded.click();
    window.run_ok();
    assert_eq!(now(&window), before);
}

#[test]
fn panels_return_to_their_width_in_a_large_window() {
    let mut window = window(LARGE);
    window.get_by_role_and_label(Role::Tab, "Evaluate").click();
    window.run_ok();
    click(&mut window, "Show facts");
    let columns = |window: &Window| {
        let columns = window.get_all_by_label_contains(": all facts ");
        let columns: Vec<Rect> = columns.map(|cell| cell.rect()).collect();
        columns
    };
    let before = columns(&window);
    assert!(before.len() > 2);
    let small = Vec2::new(900.0, 560.0);
    window.set_size(small);
    window.run_ok();
    let all = Rect::from_min_size(egui::Pos2::ZERO, small);
    assert!(all.contains(columns(&window)[0].center()));
    let legend = window.query_by_label("verbatim");
    assert!(legend.is_none(), "it leaves its place to the rows");
    window.set_size(LARGE);
    window.run_ok();
    assert_eq!(columns(&window), before);
}
