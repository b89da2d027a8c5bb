//! The tab Evaluate, and settings of a sweep that never act.

use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, click, large, open, run_in_palette, runs, sample, says, sized,
    started_with, tab,
};
use egui::accesskit::Role;
use egui::vec2;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::analysis::facts::{FactKind, Facts, LaneSurvival};
use plimsoll::app::state::evaluate::state::kind_label;
use plimsoll::app::state::wording;
use plimsoll::report::{VALIDITY, survival_share};
use std::fs;
use std::path::PathBuf;

/// Opens the page of facts.
fn window(path: PathBuf) -> Window {
    facts_in(large(path))
}

/// Opens the page of facts in a window.
fn facts_in(mut window: Window) -> Window {
    tab(&mut window, "Evaluate");
    click(&mut window, "Show facts");
    window
}

/// Returns the facts of the open session and, by lane with the recorded one first, its label and the facts that it kept.
fn evaluated(window: &Window) -> (Facts, Vec<(String, LaneSurvival)>) {
    let runs = runs(window);
    let facts = Facts::new(&runs.case.session);
    let lanes = (0..runs.lanes.len()).map(Some);
    let of_lane = |lane: Option<usize>| {
        let run = lane.map_or(&runs.recorded, |lane| &runs.lanes[lane]);
        let survival = LaneSurvival::new(&facts, &runs.case, &run.outcome);
        (runs.label(lane).to_owned(), survival)
    };
    let lanes = std::iter::once(None).chain(lanes).map(of_lane).collect();
    (facts, lanes)
}

#[test]
fn the_matrix_has_the_survival_of_every_lane_and_says_what_losses_describe() {
    let window = window(sample(MANY_RESULTS));
    let (_, lanes) = evaluated(&window);
    let mut is_lost = false;
    for (name, survival) in &lanes {
        for kind in std::iter::once(None).chain(FactKind::ALL.map(Some)) {
            let counts = survival.of(kind);
            if counts.stated > 0 {
                let share = survival_share(counts, wording::percent);
                window.get_by_label(&format!("{name}: {} {share}", kind_label(kind)));
                is_lost |= counts.gone > 0;
            }
        }
    }
    assert!(is_lost, "a lane of the sample loses a fact");
    window.get_by_label(VALIDITY);
}

#[test]
fn a_cell_lists_the_lost_facts_and_a_fact_selects_its_message_and_the_call_where_it_left() {
    let mut window = window(sample(MANY_RESULTS));
    let (facts, lanes) = evaluated(&window);
    let of_kind = |survival: &LaneSurvival, kind: FactKind| {
        let lost = survival.lost.iter();
        let lost =
            lost.filter(|lost| facts.all()[lost.fact].kind == kind && lost.left_at.is_some());
        lost.copied().collect::<Vec<_>>()
    };
    let chosen = lanes[1..].iter().find_map(|(name, survival)| {
        let kind = FactKind::ALL.into_iter().find(|kind| {
            !of_kind(survival, *kind).is_empty() && survival.of(Some(*kind)).stated > 0
        })?;
        Some((name, survival, kind))
    });
    let (name, survival, kind) = chosen.expect("a lane that lost a fact");
    let share = survival_share(survival.of(Some(kind)), wording::percent);
    click(&mut window, &format!("{name}: {} {share}", kind_label(Some(kind))));
    let lost = of_kind(survival, kind);
    assert!(says(&window, &format!("{} lost", lost.len())), "{name}");
    let left_at = lost[0].left_at.expect("it left");
    let n_calls = window.state().runs().map_or(0, |runs| runs.case.session.calls.len());
    let place = wording::place_label(left_at, n_calls);
    let strip = format!("gone from call {}", wording::number(left_at));
    let row = window.query_all_by_label_contains(&strip).next();
    row.expect("the row of the first lost fact").click();
    window.run_ok();
    assert!(says(&window, &place), "{place}");
    tab(&mut window, "Messages");
    let message = wording::number(facts.all()[lost[0].fact].message as usize);
    assert!(says(&window, &format!("Message {message}")), "{message}");
}

#[test]
fn a_session_without_calls_or_facts_shows_the_reason_instead_of_the_matrix() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (messages, expected) in [
        (r#"[{"role":"user","content":"Hello"}]"#, "This file has no model calls"),
        (
            r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]"#,
            "No rule finds a fact in this session",
        ),
    ] {
        let path = folder.path().join("talk.json");
        fs::write(&path, messages).expect("it is written");
        assert!(says(&window(path), expected), "{expected}");
    }
}

#[test]
fn a_sweep_names_a_setting_that_never_acts_and_offers_the_best_that_acts() {
    let kept = tempfile::tempdir().expect("a folder");
    let file = sample(MANY_RESULTS).into_os_string();
    let arguments = [file, "--policy".into(), "truncate".into()];
    let mut window = open(started_with(arguments, kept.path()));
    tab(&mut window, "Tune");
    click(&mut window, "Sweep");
    window.run_ok();
    assert!(says(&window, "This session fits: this setting never acts."));
    assert!(says(&window, " settings ruled out: "));
    assert!(says(&window, "are as good: their costs differ by less than 1 %"));
    // Its settings can be applied, too.
    assert!(window.query_all_by_label("Apply").count() > 1);
    window.get_by_label("Best that acts");
}

#[test]
fn facts_used_while_they_were_lost_are_counted_up_to_the_chosen_call() {
    // High enough for the last row of the matrix.
    let mut window = facts_in(sized(sample(COMPACTED), vec2(1440.0, 1100.0)));
    let (_, lanes) = evaluated(&window);
    let used = |survival: &LaneSurvival| -> Vec<usize> {
        let lost = survival.lost.iter();
        lost.filter_map(|lost| lost.used_at).collect()
    };
    let calls = lanes.iter().flat_map(|(_, survival)| used(survival));
    let (first, last) = (calls.clone().min(), calls.max());
    let (first, last) = (first.expect("a use"), last.expect("a use"));
    assert!(first < last);
    let shown = |window: &Window| -> Vec<String> {
        let row = window.get_by_label("used while lost").rect().center().y;
        let in_row = window.query_all_by_role(Role::Label);
        let in_row = in_row.filter(|node| (node.rect().center().y - row).abs() < 2.0);
        let mut all: Vec<_> = in_row
            .filter_map(|node| Some((node.rect().left(), node.accesskit_node().value()?)))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let numbers = all.into_iter().map(|(_, text)| text);
        numbers.filter(|text| text.parse::<usize>().is_ok()).collect()
    };
    let expected = |call: usize| -> Vec<String> {
        let counts = lanes.iter().map(|(_, survival)| {
            let used = used(survival).into_iter();
            used.filter(|used| *used <= call).count().to_string()
        });
        counts.collect()
    };
    assert_eq!(shown(&window), expected(usize::MAX));
    click(&mut window, "Count facts at the selected call");
    for call in [first - 1, first, last] {
        run_in_palette(&mut window, &format!("call {}", call + 1));
        window.run_ok();
        assert_eq!(shown(&window), expected(call), "call {call}");
    }
}
