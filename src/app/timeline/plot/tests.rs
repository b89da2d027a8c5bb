//! Layout needs no window: peaks reach the pixels, ticks are round, labels keep apart.

#![expect(clippy::float_cmp, reason = "places of whole steps are exact")]

use super::columns;
use super::layout::{self, Grid, Steps};
use super::model::{Axis, TimelineInput};
use super::scene::lowest;
use super::view::View;
use crate::app::messages::cumulative::Heat;
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::{Share, Tokens};
use egui::Pos2;

fn samples(n: usize, tokens: impl Fn(usize) -> u32) -> Vec<Sample> {
    let sample = |step| {
        let mut by_kind = [0; Kind::ALL.len()];
        by_kind[Kind::ToolResult.index()] = tokens(step);
        Sample {
            step,
            turn: 0,
            window: Tokens(200_000),
            metered: Tokens::ZERO,
            tokens: Tokens::from(tokens(step)),
            believed: None,
            pressure: Share(0.0),
            overflows: false,
            refused: false,
            rejected: Tokens::ZERO,
            unchanged: Tokens::ZERO,
            by_kind,
        }
    };
    (0..n).map(sample).collect()
}

fn input<'a>(area: &'a [Sample], turn_starts: &'a [usize], axis: Axis) -> TimelineInput<'a> {
    TimelineInput {
        revision: 0,
        area,
        unseen: &|_| Tokens::ZERO,
        lanes: &[],
        recorded_usage: &[],
        windows: &[Tokens(200_000)],
        output_reserve: Tokens(32_000),
        trigger: Some(Share(0.75)),
        axis,
        turn_starts,
        recorded_compactions: &[],
        restarts: &[],
        errors: &[],
        ghosts: &[],
        heat: &[],
        selected: None,
        corner: 0.0,
        hover_text: &|_| Vec::new(),
        takes_keys: false,
    }
}

fn whole(input: &TimelineInput<'_>, columns: usize) -> Grid {
    Grid {
        from: 0.0,
        to: Steps::new(input).end(),
        columns,
        tolerance: 0.0,
    }
}

#[test]
fn a_peak_of_one_call_in_a_hundred_thousand_reaches_the_pixels() {
    let spike = |step| if step == 54_321 { 190_000 } else { 40_000 };
    let area = samples(100_000, spike);
    let input = input(&area, &[], Axis::Calls);
    let steps = Steps::new(&input);
    let grid = whole(&input, 1400);
    let curve = columns::curve(&area, steps, &grid);
    assert!(
        curve.len() <= 2 * 1400,
        "{} points for 1400 columns",
        curve.len()
    );
    assert_eq!(
        curve
            .iter()
            .filter(|[_, tokens]| *tokens == 190_000.0)
            .count(),
        1
    );
    let bars = columns::bars(&area, steps, &grid);
    let peak = bars
        .iter()
        .find(|bar| bar.tops.last() == Some(&190_000.0))
        .expect("the peak's bar");
    let pixel = grid.to / 1400.0;
    assert!(
        (peak.to - peak.from - pixel).abs() < 1e-6,
        "a whole pixel wide"
    );
    assert!((peak.from..peak.to).contains(&54_321.0));
}

#[test]
fn a_trough_of_one_call_reaches_the_lines_too() {
    let area = samples(100_000, |step| if step == 777 { 5 } else { 40_000 });
    let input = input(&area, &[], Axis::Calls);
    let curve = columns::curve(&area, Steps::new(&input), &whole(&input, 900));
    assert!(curve.contains(&[777.0, 5.0]));
}

#[test]
fn few_samples_are_drawn_as_they_are() {
    let area = samples(50, |step| step as u32 * 10);
    let input = input(&area, &[], Axis::Calls);
    let grid = whole(&input, 1000);
    let curve = columns::curve(&area, Steps::new(&input), &grid);
    let exact: Vec<_> = (0..50)
        .map(f64::from)
        .map(|step| [step, step * 10.0])
        .collect();
    assert_eq!(curve, exact);
    assert!(
        columns::bars(&area, Steps::new(&input), &grid)
            .iter()
            .all(|bar| bar.from == bar.to)
    );
}

#[test]
fn a_compaction_is_an_upright_fall_at_its_call() {
    let area = samples(40, |step| {
        1000 + step as u32 - if step < 20 { 0 } else { 800 }
    });
    let input = input(&area, &[], Axis::Calls);
    let (steps, grid) = (Steps::new(&input), whole(&input, 1000));
    let curve = columns::curve(&area, steps, &grid);
    let at: Vec<_> = curve.iter().filter(|[x, _]| *x == 20.0).collect();
    assert_eq!(at, [&[20.0, 1019.0], &[20.0, 220.0]]);
    let bars = columns::bars(&area, steps, &grid);
    let at: Vec<_> = bars.iter().filter(|bar| bar.from == 20.0).collect();
    assert_eq!([at[0].total(), at[1].total()], [1019.0, 220.0]);
    assert_eq!(bars.len(), 41);
}

#[test]
fn a_session_of_one_call_is_a_level() {
    let area = samples(1, |_| 900);
    let input = input(&area, &[0], Axis::Calls);
    let grid = whole(&input, 100);
    assert_eq!(
        columns::curve(&area, Steps::new(&input), &grid),
        vec![[0.0, 900.0], [1.0, 900.0]]
    );
    let bars = columns::bars(&area, Steps::new(&input), &grid);
    assert_eq!((bars[0].from, bars[0].to), (0.0, 1.0));
}

#[test]
fn turns_are_as_wide_as_one_another_however_many_calls_they_hold() {
    let area = samples(12, |_| 1);
    let starts = [0, 2, 10];
    let input = input(&area, &starts, Axis::Turns);
    let steps = Steps::new(&input);
    assert_eq!(steps.end(), 2.5);
    assert_eq!(
        [0, 1, 2, 6, 10].map(|step| steps.x(step)),
        [0.0, 0.5, 1.0, 1.5, 2.0]
    );
    for step in 0..12 {
        assert_eq!(steps.nearest(steps.x(step)), step);
    }
}

#[test]
fn ticks_are_round_and_whole_where_they_must_be() {
    assert_eq!(
        layout::ticks(0.0, 224_000.0, 6, true),
        [0.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0]
    );
    assert_eq!(layout::ticks(1.0, 4.0, 10, true), [1.0, 2.0, 3.0, 4.0]);
    assert!(layout::ticks(3.0, 3.0, 5, true).is_empty());
}

#[test]
fn labels_of_flags_never_overlap_and_give_way_to_the_left() {
    let flags = [(100.0, 80.0), (150.0, 80.0), (400.0, 80.0), (590.0, 80.0)];
    let starts = layout::place_labels(&flags, 0.0, 600.0);
    assert_eq!(starts, [Some(12.0), Some(158.0), Some(408.0), Some(502.0)]);
    let crowded = layout::place_labels(&[(10.0, 80.0), (14.0, 80.0), (18.0, 80.0)], 0.0, 60.0);
    assert_eq!(crowded, [None, None, None]);
}

#[test]
fn handles_at_one_height_are_moved_apart_and_stay_inside() {
    let mut centers = [10.0, 12.0, 300.0];
    layout::spread(&mut centers, 20.0, 0.0, 305.0);
    assert_eq!(centers, [10.0, 30.0, 295.0]);
}

#[test]
fn a_window_far_above_the_session_does_not_flatten_it() {
    assert!((layout::ceiling(Tokens(180_000), Tokens(200_000)) - 224_000.0).abs() < 1.0);
    assert!(layout::ceiling(Tokens(20_000), Tokens(1_000_000)) < 40_000.0);
}

#[test]
fn zooming_keeps_what_is_under_the_pointer_and_stays_within_the_session() {
    let area = samples(1001, |_| 1);
    let input = input(&area, &[], Axis::Calls);
    let steps = Steps::new(&input);
    let view = View {
        from: 100.0,
        to: 300.0,
    };
    let near = view.zoomed(150.0, 2.0, steps);
    assert_eq!((near.from, near.to), (125.0, 225.0));
    assert_eq!(view.zoomed(150.0, 1e-9, steps), View::whole(1000.0));
    assert_eq!(
        view.moved(-500.0, 1000.0),
        View {
            from: 0.0,
            to: 200.0
        }
    );
    assert_eq!(view.showing(200.0, 1000.0), view);
    assert_eq!(
        view.showing(500.0, 1000.0),
        View {
            from: 320.0,
            to: 520.0
        }
    );
}

#[test]
fn a_line_is_cut_where_it_is_only_a_guess_from_and_nothing_of_it_is_lost() {
    let line: Vec<Pos2> = [(0.0, 0.0), (10.0, 10.0), (20.0, 10.0)]
        .map(|(x, y)| Pos2::new(x, y))
        .to_vec();
    let (solid, guess) = layout::split_at(&line, 5.0);
    assert_eq!(solid.last(), Some(&Pos2::new(5.0, 5.0)));
    assert_eq!(guess.first(), solid.last());
    assert_eq!((solid.len(), guess.len()), (2, 3));
    let (solid, guess) = layout::split_at(&line, 10.0);
    assert_eq!((solid.len(), guess.len()), (2, 2));
    let (solid, guess) = layout::split_at(&line, 0.0);
    assert_eq!((solid.len(), guess.len()), (1, 3));
}

#[test]
fn dashes_of_lines_that_coincide_stand_beside_each_other() {
    let line: Vec<Pos2> = [(0.0, 3.0), (60.0, 3.0)]
        .map(|(x, y)| Pos2::new(x, y))
        .to_vec();
    let covered = |nth| {
        let dashes = layout::dashes(&line, 5.0, (nth, 3));
        let ends = dashes
            .iter()
            .map(|dash| (dash[0].x, dash[dash.len() - 1].x));
        ends.collect::<Vec<_>>()
    };
    assert_eq!(
        covered(0),
        [(0.0, 5.0), (15.0, 20.0), (30.0, 35.0), (45.0, 50.0)]
    );
    assert_eq!(covered(1)[0], (5.0, 10.0));
    assert!(covered(2).iter().all(|(from, _)| from % 15.0 == 10.0));
}

#[test]
fn a_fall_of_a_dashed_line_is_told_whole() {
    let line: Vec<Pos2> = [(7.0, 90.0), (7.0, 10.0)]
        .map(|(x, y)| Pos2::new(x, y))
        .to_vec();
    let dashes = layout::dashes(&line, 5.0, (0, 2));
    assert_eq!(dashes, [line]);
}

#[test]
fn what_no_file_holds_is_not_called_system() {
    let mut all = samples(2, |_| 5);
    for sample in &mut all {
        sample.by_kind[Kind::System.index()] = 40;
    }
    let named = |unseen: &dyn Fn(usize) -> Tokens| {
        lowest(&TimelineInput {
            unseen,
            ..input(&all, &[0], Axis::Calls)
        })
    };
    assert_eq!(named(&|_| Tokens::ZERO), "system");
    assert_eq!(named(&|_| Tokens(40)), "not in the file");
    assert_eq!(
        named(&|step| Tokens(40 - step as u64)),
        "system + not in the file"
    );
}

#[test]
fn of_each_column_the_hottest_step_is_marked_and_what_is_cold_is_not() {
    let heat = |step: usize| Heat {
        retained: Tokens(1),
        share: Share(match step {
            54_321 => 1.0,
            step if step % 97 == 0 => 0.001,
            step => 0.1 + (step % 7) as f64 * 0.01,
        }),
        kind: Kind::ToolResult,
    };
    let heat: Vec<Heat> = (0..100_000).map(heat).collect();
    let area = samples(100_000, |_| 1);
    let input = input(&area, &[], Axis::Calls);
    let steps = Steps::new(&input);
    let grid = whole(&input, 1400);
    let hot = columns::hottest(&heat, steps, &grid);
    assert!(hot.contains(&54_321));
    assert!(hot.is_sorted() && hot.len() <= 1401, "{} marks", hot.len());
    for step in &hot {
        let column = grid.column(steps.x(*step));
        let near = step.saturating_sub(100)..(step + 100).min(heat.len());
        let mut column = near.filter(|other| grid.column(steps.x(*other)) == column);
        assert!(column.all(|other| heat[other].share <= heat[*step].share));
    }
    let cold = [heat[0]; 50];
    assert!(columns::hottest(&cold, steps, &grid).is_empty());
}
