//! Reduction to pixels, navigation and label placement, without a window.

#![expect(clippy::float_cmp, reason = "positions of calls are exact")]

use crate::app::state::messages::cumulative::Heat;
use crate::app::state::timeline::state::Axis;
use crate::app::ui::timeline::plot::axis::CallAxis;
use crate::app::ui::timeline::plot::dashes::DashPattern;
use crate::app::ui::timeline::plot::input::TimelineInput;
use crate::app::ui::timeline::plot::reduce::Columns;
use crate::app::ui::timeline::plot::state::{TimelineState, fingerprint, lowest_label};
use crate::app::ui::timeline::plot::view::View;
use crate::app::ui::timeline::plot::{dashes, flags, reduce, thresholds};
use crate::engine::Sample;
use crate::session::Kind;
use crate::units::{Share, Tokens};
use egui::Pos2;

fn pattern(nth: usize, of: usize) -> DashPattern {
    DashPattern { length: 5.0, nth, of }
}

fn samples(n: usize, tokens: impl Fn(usize) -> u32) -> Vec<Sample> {
    let sample = |call| {
        let mut by_kind = [0; Kind::ALL.len()];
        by_kind[Kind::ToolResult.index()] = tokens(call);
        Sample {
            call,
            turn: 0,
            window: Tokens(200_000),
            metered: Tokens::ZERO,
            tokens: Tokens::from(tokens(call)),
            believed: None,
            pressure: Share(0.0),
            overflows: false,
            is_rejected: false,
            rejected: Tokens::ZERO,
            unchanged: Tokens::ZERO,
            by_kind,
        }
    };
    (0..n).map(sample).collect()
}

/// Returns an input with a stacked area only.
pub(crate) fn input<'a>(
    area: &'a [Sample],
    turn_starts: &'a [usize],
    axis: Axis,
) -> TimelineInput<'a> {
    TimelineInput {
        revision: 0,
        area,
        unrecorded: &|_| Tokens::ZERO,
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
        reference_curve: None,
        compared_session: None,
        heat: &[],
        selected: None,
        range: None,
        zooms_to_range: false,
        compared: None,
        isolated: None,
        corner: 0.0,
        hover_text: &|_| Vec::new(),
        takes_keys: false,
    }
}

#[test]
fn a_peak_of_one_call_in_a_hundred_thousand_is_drawn() {
    let spike = |call| if call == 54_321 { 190_000 } else { 40_000 };
    let area = samples(100_000, spike);
    let input = input(&area, &[], Axis::Calls);
    let axis = CallAxis::new(&input);
    let columns = Columns::whole(CallAxis::new(&input), 1400);
    let curve = reduce::curve(&area, axis, &columns);
    assert!(curve.len() <= 2 * 1400, "{} points for 1400 columns", curve.len());
    assert_eq!(curve.iter().filter(|[_, tokens]| *tokens == 190_000.0).count(), 1);
    let bars = reduce::bars(&area, axis, &columns);
    let peak = bars.iter().find(|bar| bar.tops.last() == Some(&190_000.0)).expect("the peak's bar");
    let pixel = columns.to / 1400.0;
    assert!((peak.to - peak.from - pixel).abs() < 1e-6, "a whole pixel wide");
    assert!((peak.from..peak.to).contains(&54_321.0));
}

#[test]
fn a_low_of_one_call_in_a_hundred_thousand_is_drawn() {
    let area = samples(100_000, |call| if call == 777 { 5 } else { 40_000 });
    let input = input(&area, &[], Axis::Calls);
    let curve =
        reduce::curve(&area, CallAxis::new(&input), &Columns::whole(CallAxis::new(&input), 900));
    assert!(curve.contains(&[777.0, 5.0]));
}

#[test]
fn few_samples_are_not_reduced() {
    let area = samples(50, |call| call as u32 * 10);
    let input = input(&area, &[], Axis::Calls);
    let columns = Columns::whole(CallAxis::new(&input), 1000);
    let curve = reduce::curve(&area, CallAxis::new(&input), &columns);
    let exact: Vec<_> = (0..50).map(f64::from).map(|call| [call, call * 10.0]).collect();
    assert_eq!(curve, exact);
    assert!(
        reduce::bars(&area, CallAxis::new(&input), &columns).iter().all(|bar| bar.from == bar.to)
    );
}

#[test]
fn a_compaction_is_a_vertical_drop_at_its_call() {
    let area = samples(40, |call| 1000 + call as u32 - if call < 20 { 0 } else { 800 });
    let input = input(&area, &[], Axis::Calls);
    let (axis, columns) = (CallAxis::new(&input), Columns::whole(CallAxis::new(&input), 1000));
    let curve = reduce::curve(&area, axis, &columns);
    let at: Vec<_> = curve.iter().filter(|[x, _]| *x == 20.0).collect();
    assert_eq!(at, [&[20.0, 1019.0], &[20.0, 220.0]]);
    let bars = reduce::bars(&area, axis, &columns);
    let at: Vec<_> = bars.iter().filter(|bar| bar.from == 20.0).collect();
    assert_eq!([at[0].total(), at[1].total()], [1019.0, 220.0]);
    assert_eq!(bars.len(), 41);
}

#[test]
fn a_session_of_one_call_is_a_level_line() {
    let area = samples(1, |_| 900);
    let input = input(&area, &[0], Axis::Calls);
    let columns = Columns::whole(CallAxis::new(&input), 100);
    assert_eq!(
        reduce::curve(&area, CallAxis::new(&input), &columns),
        vec![[0.0, 900.0], [1.0, 900.0]]
    );
    let bars = reduce::bars(&area, CallAxis::new(&input), &columns);
    assert_eq!((bars[0].from, bars[0].to), (0.0, 1.0));
}

#[test]
fn turns_have_equal_widths() {
    let area = samples(12, |_| 1);
    let starts = [0, 2, 10];
    let input = input(&area, &starts, Axis::Turns);
    let axis = CallAxis::new(&input);
    assert_eq!(axis.end(), 2.5);
    assert_eq!([0, 1, 2, 6, 10].map(|call| axis.x(call)), [0.0, 0.5, 1.0, 1.5, 2.0]);
    for call in 0..12 {
        assert_eq!(axis.nearest(axis.x(call)), call);
    }
}

#[test]
fn labels_of_flags_do_not_overlap() {
    let flags = [(100.0, 80.0), (150.0, 80.0), (400.0, 80.0), (590.0, 80.0)];
    let starts = flags::place_labels(&flags, 0.0, 600.0);
    assert_eq!(starts, [Some(12.0), Some(158.0), Some(408.0), Some(502.0)]);
    let crowded = flags::place_labels(&[(10.0, 80.0), (14.0, 80.0), (18.0, 80.0)], 0.0, 60.0);
    assert_eq!(crowded, [None, None, None]);
}

#[test]
fn handles_at_one_height_are_moved_apart_within_the_bounds() {
    let mut centers = [10.0, 12.0, 300.0];
    thresholds::spread(&mut centers, 20.0, 0.0, 305.0);
    assert_eq!(centers, [10.0, 30.0, 295.0]);
}

#[test]
fn a_window_far_above_the_curves_does_not_determine_the_top() {
    let top = |tokens, window| {
        let area = samples(2, |_| tokens);
        let windows = [Tokens(window)];
        let input = TimelineInput { windows: &windows, ..input(&area, &[], Axis::Calls) };
        let mut state = TimelineState::default();
        state.session(&input, fingerprint(&input), 100).top()
    };
    assert!((top(180_000, 200_000) - 224_000.0).abs() < 1.0);
    assert!(top(20_000, 1_000_000) < 40_000.0);
}

#[test]
fn zooming_keeps_the_position_under_the_pointer_and_stays_within_the_session() {
    let area = samples(1001, |_| 1);
    let input = input(&area, &[], Axis::Calls);
    let axis = CallAxis::new(&input);
    let view = View::whole(1000.0).showing(100.0, 300.0, 1000.0);
    let near = view.zoomed(150.0, 2.0, axis);
    assert_eq!((near.from, near.to), (125.0, 225.0));
    assert_eq!(view.zoomed(150.0, 1e-9, axis), View::whole(1000.0));
    assert_eq!(view.moved(-500.0, 1000.0), View::whole(1000.0).showing(0.0, 200.0, 1000.0));
    assert_eq!(view.including(200.0, 1000.0), view);
    assert_eq!(view.including(500.0, 1000.0), View::whole(1000.0).showing(320.0, 520.0, 1000.0));
}

#[test]
fn a_view_stays_within_both_axes() {
    let view = |tokens| View { tokens: Some(tokens), ..View::whole(1000.0) };
    let within = |tokens| view(tokens).within(1000.0, 100.0);
    assert_eq!(within([90.0, 120.0]), view([70.0, 100.0]));
    assert_eq!(within([-10.0, 20.0]), view([0.0, 30.0]));
    assert_eq!(within([20.0, 500.0]), view([0.0, 100.0]));
}

#[test]
fn a_line_is_split_without_a_gap() {
    let line: Vec<Pos2> =
        [(0.0, 0.0), (10.0, 10.0), (20.0, 10.0)].map(|(x, y)| Pos2::new(x, y)).to_vec();
    let (solid, dashed) = dashes::split_at(&line, 5.0);
    assert_eq!(solid.last(), Some(&Pos2::new(5.0, 5.0)));
    assert_eq!(dashed.first(), solid.last());
    assert_eq!((solid.len(), dashed.len()), (2, 3));
    let (solid, dashed) = dashes::split_at(&line, 10.0);
    assert_eq!((solid.len(), dashed.len()), (2, 2));
    let (solid, dashed) = dashes::split_at(&line, 0.0);
    assert_eq!((solid.len(), dashed.len()), (1, 3));
}

#[test]
fn dashes_of_coinciding_lines_alternate() {
    let line: Vec<Pos2> = [(0.0, 3.0), (60.0, 3.0)].map(|(x, y)| Pos2::new(x, y)).to_vec();
    let covered = |nth| {
        let dashes = dashes::dashes(&line, pattern(nth, 3));
        let ends = dashes.iter().map(|dash| (dash[0].x, dash[dash.len() - 1].x));
        ends.collect::<Vec<_>>()
    };
    assert_eq!(covered(0), [(0.0, 5.0), (15.0, 20.0), (30.0, 35.0), (45.0, 50.0)]);
    assert_eq!(covered(1)[0], (5.0, 10.0));
    assert!(covered(2).iter().all(|(from, _)| from % 15.0 == 10.0));
}

#[test]
fn a_vertical_drop_is_not_dashed() {
    let line: Vec<Pos2> = [(7.0, 90.0), (7.0, 10.0)].map(|(x, y)| Pos2::new(x, y)).to_vec();
    let dashes = dashes::dashes(&line, pattern(0, 2));
    assert_eq!(dashes, [line]);
}

#[test]
fn unrecorded_content_is_not_labelled_system() {
    let mut all = samples(2, |_| 5);
    for sample in &mut all {
        sample.by_kind[Kind::System.index()] = 40;
    }
    let named = |unrecorded: &dyn Fn(usize) -> Tokens| {
        lowest_label(&TimelineInput { unrecorded, ..input(&all, &[0], Axis::Calls) })
    };
    assert_eq!(named(&|_| Tokens::ZERO), "system");
    assert_eq!(named(&|_| Tokens(40)), "not recorded");
    assert_eq!(named(&|call| Tokens(40 - call as u64)), "system + not recorded");
}

#[test]
fn the_call_with_the_most_cumulative_tokens_of_each_column_is_marked() {
    let heat = |call: usize| Heat {
        tokens: Tokens(1),
        share: Share(match call {
            54_321 => 1.0,
            call if call % 97 == 0 => 0.001,
            call => 0.1 + (call % 7) as f64 * 0.01,
        }),
        kind: Kind::ToolResult,
    };
    let heat: Vec<Heat> = (0..100_000).map(heat).collect();
    let area = samples(100_000, |_| 1);
    let input = input(&area, &[], Axis::Calls);
    let axis = CallAxis::new(&input);
    let columns = Columns::whole(CallAxis::new(&input), 1400);
    let hot = reduce::hottest(&heat, axis, &columns);
    assert!(hot.contains(&54_321));
    assert!(hot.is_sorted() && hot.len() <= 1401, "{} marks", hot.len());
    for call in &hot {
        let column = columns.column(axis.x(*call));
        let near = call.saturating_sub(100)..(call + 100).min(heat.len());
        let mut column = near.filter(|other| columns.column(axis.x(*other)) == column);
        assert!(column.all(|other| heat[other].share <= heat[*call].share));
    }
    let cold = [heat[0]; 50];
    assert!(reduce::hottest(&cold, axis, &columns).is_empty());
}
