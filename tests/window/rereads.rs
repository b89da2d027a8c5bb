//! Expected re-reads: in the heads of the lanes, the tabs Evaluate, Insights and Tune, and the curves of settings.

use crate::screen::{
    COMPACTED, Window, click, large, open, runs, sample, says, set_slider, started_with, tab,
    texts, wait,
};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::analysis::cost::Bills;
use plimsoll::analysis::rereads::{
    ExpectedRereads, FileReads, RemovedFile, RereadMeasure, RereadModel, RereadPrices,
    rereads_number, retention_curves,
};
use plimsoll::app::state::wording;
use plimsoll::units::{Share, Tokens, Usd};
use std::fs;

/// Calls a function with the measure of the open session.
fn measured<T>(window: &Window, with: impl FnOnce(&RereadMeasure<'_>) -> T) -> T {
    let runs = runs(window);
    let billing = &runs.config.billing;
    let table = billing.prices();
    let bills = Bills::new(&runs.case, billing.at(&table));
    with(&RereadMeasure {
        model: &runs.config.reread_model,
        files: &FileReads::new(&runs.case),
        prices: &RereadPrices::new(&bills, runs.case.session.calls.len()),
    })
}

/// Returns the label and the expected re-reads of each lane, the recorded one first.
fn expected(window: &Window) -> Vec<(String, ExpectedRereads)> {
    let runs = runs(window);
    let lanes = std::iter::once(None).chain((0..runs.lanes.len()).map(Some));
    measured(window, |measure| {
        let of_lane = |lane: Option<usize>| {
            let run = lane.map_or(&runs.recorded, |lane| &runs.lanes[lane]);
            let expected = measure.rereads(&runs.case, &run.outcome);
            (runs.label(lane).to_owned(), expected)
        };
        lanes.map(of_lane).collect()
    })
}

/// Returns the texts after the last head of a table.
fn below(window: &Window, last_head: &str) -> Vec<String> {
    let all = texts(window);
    let head = all.iter().position(|text| text == last_head);
    let head = head.unwrap_or_else(|| panic!("no {last_head} in {all:?}"));
    all[head + 1..].to_vec()
}

#[test]
fn evaluate_starts_with_the_rereads_of_every_lane_as_in_their_heads() {
    let mut window = large(sample(COMPACTED));
    tab(&mut window, "Evaluate");
    let lanes = expected(&window);
    assert!(lanes.iter().any(|(_, found)| !found.total.is_none()));
    let rows = below(&window, "95 % interval");
    for (name, found) in &lanes {
        let total = &found.total;
        let at = rows.iter().position(|text| text == name);
        let at = at.unwrap_or_else(|| panic!("no row {name} in {rows:?}"));
        let price = total.usd.map(|price| wording::usd(Usd(price.value)));
        let figures = [
            total.number(),
            total.files.range_text(),
            wording::short(Tokens(total.tokens.value as u64)),
            price.unwrap_or_else(|| "–".to_owned()),
        ];
        assert_eq!(rows[at + 1..at + 5], figures, "{name}");
        let head = format!(": {name}, ");
        let figure = format!("re-reads: {}", total.number());
        let all = texts(&window);
        let mut heads = all.iter().filter(|text| text.contains(&head));
        assert!(heads.any(|text| text.contains(&figure)), "{name} {figure}");
    }
}

#[test]
fn a_file_of_the_focused_lane_selects_its_message_and_the_first_call_without_it() {
    let mut window = large(sample(COMPACTED));
    tab(&mut window, "Evaluate");
    let (_, found) = &expected(&window)[1];
    let most = |best: RemovedFile, other: &RemovedFile| {
        if other.extra > best.extra { *other } else { best }
    };
    let first = found.removals[1..].iter().fold(found.removals[0], most);
    let (path, n_calls) = {
        let case = &runs(&window).case;
        let files = FileReads::new(case);
        (files.name(first.file).to_owned(), case.session.calls.len())
    };
    let row = &below(&window, "edited")[..8];
    assert!(path.ends_with(row[0].trim_start_matches('…')), "{row:?}");
    let edited = if first.known.is_edited { "yes" } else { "no" };
    let cells = [
        wording::percent(Share(first.probability)),
        format!("{:.2}", first.extra),
        wording::short(first.tokens),
        wording::number(first.call),
        first.known.age.to_string(),
        first.known.uses.to_string(),
        edited.to_owned(),
    ];
    assert_eq!(row[1..], cells, "{path}");
    let shown = window.query_all_by_label(&row[0]).next();
    shown.expect("the row of the file").click();
    window.run_ok();
    let place = wording::place_label(first.call, n_calls);
    assert!(says(&window, &place), "{place}");
    tab(&mut window, "Messages");
    let message = format!("Message {}", wording::number(first.message));
    assert!(says(&window, &message), "{message}");
}

#[test]
fn the_hover_text_of_the_figure_has_the_interval_and_the_most_probable_file() {
    let mut window = large(sample(COMPACTED));
    let (_, found) = &expected(&window)[1];
    let words = wording::capitalized(&found.total.words());
    let likely = found.likeliest(1)[0];
    let probability = wording::percent(Share(likely.probability));
    let line = format!("removed at call {}", wording::number(likely.call));
    // The first figure is of the recorded lane.
    let figure = window.query_all_by_label("re-reads").nth(1);
    figure.expect("the figure of lane 1").hover();
    wait(&mut window, |window| {
        let all = texts(window);
        let mut with_words = all.iter().filter(|text| text.contains(&words));
        with_words.any(|text| text.contains(&probability) && text.contains(&line))
    });
}

#[test]
fn the_curve_of_keep_recent_names_the_rereads_of_a_compaction_at_its_value() {
    let mut window = large(sample(COMPACTED));
    let curve = {
        let case = &runs(&window).case;
        measured(&window, |measure| retention_curves(measure, case)).messages
    };
    assert!(curve.at(1).rereads > curve.at(100).rereads);
    for kept in [1_u32, 20, 100] {
        set_slider(&mut window, "keep_recent", f64::from(kept));
        let rereads = curve.at(u64::from(kept)).rereads;
        let text = if rereads < 0.05 {
            format!("Keeping {kept}: no re-reads expected.")
        } else {
            let n = rereads_number(rereads);
            format!("Keeping {kept}: about {n} re-read")
        };
        assert!(says(&window, &text), "{text}");
        // The current value is part of the name of the curve.
        assert!(says(&window, &format!("keep_recent: {text}")), "{text}");
    }
}

#[test]
fn an_insight_links_to_the_expected_rereads_of_its_lane() {
    let mut window = large(sample(COMPACTED));
    tab(&mut window, "Evaluate");
    click(&mut window, "Show facts");
    assert!(!says(&window, "95 % interval"));
    tab(&mut window, "Insights");
    let lanes = expected(&window);
    let lane = lanes[1..].iter().find(|(_, found)| !found.total.is_none());
    let words = lane.expect("a lane with re-reads").1.total.words();
    let row = window.query_all_by_label_contains(&words).next();
    row.expect("an insight about re-reads").click_accesskit();
    window.run_ok();
    let link = window.get_by_label("Show expected re-reads");
    link.click_accesskit();
    window.run_ok();
    assert!(says(&window, "95 % interval"));
}

#[test]
fn a_sweep_lists_cost_rereads_peak_and_settings() {
    let mut window = large(sample(COMPACTED));
    tab(&mut window, "Tune");
    click(&mut window, "Sweep");
    window.run_ok();
    let all = texts(&window);
    let heads = ["cost", "re-reads", "peak", "settings"];
    assert!(all.windows(4).any(|texts| texts == heads), "{all:?}");
    window.get_by_label("Recommended");
    assert!(!says(&window, "outdated"));
}

#[test]
fn coefficients_given_at_the_start_replace_the_bundled_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let certain = RereadModel {
        removed: [50.0, 0.0, 0.0, 0.0],
        held: [-50.0, 0.0, 0.0, 0.0],
        ..RereadModel::bundled().clone()
    };
    let path = folder.path().join("certain.toml");
    fs::write(&path, certain.to_toml()).expect("it is written");
    let file = sample(COMPACTED).into_os_string();
    let arguments = [file, "--risk-model".into(), path.into_os_string()];
    let mut window = open(started_with(arguments, folder.path()));
    let bundled = expected(&large(sample(COMPACTED)));
    let given = expected(&window);
    // Every removed file is read again.
    let number = given[1].1.total.number();
    assert_ne!(number, bundled[1].1.total.number());
    let head = window.get_by_label_contains("Focus lane 1: ");
    let head = head.accesskit_node().label().expect("it has figures");
    assert!(head.contains(&format!("re-reads: {number}")), "{head}");
    tab(&mut window, "Evaluate");
    let row = &below(&window, "edited")[..2];
    assert_eq!(row[1], wording::percent(Share(1.0)));
}
