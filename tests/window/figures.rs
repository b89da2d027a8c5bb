//! Figures and lists of the window agree with each other.

use crate::program::command;
use crate::real_sessions;
use crate::repository::repository;
use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, click, copy_of, large, plimsoll, runs, sample, texts,
    texts_with,
};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use plimsoll::engine::Outcome;
use plimsoll::json::Value;
use std::path::Path;

/// Returns the number of texts that contain this one.
fn n_with(window: &Window, part: &str) -> usize {
    texts_with(window, part).len()
}

#[test]
fn recorded_compactions_are_events_and_the_focused_lane_filters() {
    const RECORDED: &str = "recorded as auto";
    let mut window = large(sample(COMPACTED));
    click(&mut window, "Events");
    let triggers = |window: &Window| n_with(window, "compression_trigger 0.75 * usable");
    let all = triggers(&window);
    assert!(all >= 3, "{all} events of the lanes");
    assert_eq!(n_with(&window, RECORDED), 1, "and the recorded compaction");
    click(&mut window, "focused lane");
    assert_eq!(n_with(&window, RECORDED), 0, "Truncate is focused");
    let truncate = triggers(&window);
    assert!((1..all).contains(&truncate), "{truncate} of {all} events");
    window.key_press(Key::Num0);
    window.run_ok();
    assert_eq!(triggers(&window), 0, "what was recorded is focused");
    assert!(n_with(&window, RECORDED) >= 1);
    click(&mut window, RECORDED);
    assert!(
        texts(&window).iter().any(|text| text == "Recorded · call 35"),
        "the event in full: {:?}",
        texts(&window)
    );
}

#[test]
fn costs_by_call_name_the_lane() {
    let mut window = large(sample(COMPACTED));
    click(&mut window, "Cost");
    click(&mut window, "Show cost: calls");
    let is_of = |window: &Window, about: &str| n_with(window, &format!("48 calls, {about}"));
    assert_eq!(is_of(&window, "≈$"), 1, "a lane: {:?}", texts(&window));
    window.key_press(Key::Num0);
    window.run_ok();
    assert_eq!((is_of(&window, "≈$"), is_of(&window, "$")), (0, 1));
    window.get_by_label("Recorded");
}

#[test]
fn an_export_that_a_provider_rejects_is_not_shown_as_valid() {
    let (_folder, source) = copy_of("handoff.json");
    let mut window = large(source);
    click(&mut window, "Export…");
    click(&mut window, "Compact now, regardless of the trigger");
    window.get_by_label("Export").click();
    window.run_ok();
    assert!(n_with(&window, "providers reject this") == 1, "{:?}", texts(&window));
    assert_eq!(n_with(&window, "⚠"), 1);
    assert!(n_with(&window, "✔") >= 7);
}

/// The figures of a lane, as its head has them for screen readers, and the context of the selected call.
struct Head {
    name: String,
    figures: Vec<(String, String)>,
    now: String,
}

impl Head {
    fn figure(&self, name: &str) -> &str {
        let found = self.figures.iter().find(|(label, _)| label == name);
        found.map_or_else(|| panic!("{} has no {name}", self.name), |(_, value)| value)
    }
}

/// Returns the heads of the lanes. A head shows the figures that fit, with the same values as for screen readers.
fn heads(texts: &[String]) -> Vec<Head> {
    let mut heads: Vec<Head> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if let Some((_, spoken)) =
            text.strip_prefix("Focus lane ").and_then(|rest| rest.split_once(": "))
        {
            let mut parts = spoken.split(", ");
            let name = parts.next().unwrap_or_default().to_owned();
            let figures = parts.filter_map(|part| {
                let (label, value) = part.split_once(": ")?;
                // Without the difference from the recorded lane.
                let value = value.split(" (").next().unwrap_or(value);
                Some((label.to_owned(), value.to_owned()))
            });
            heads.push(Head { name, figures: figures.collect(), now: String::new() });
        } else if let Some(head) = heads.last_mut()
            && head.now.is_empty()
            && text.starts_with("call ")
            && let Some((_, now)) = text.split_once(" · ")
        {
            now.clone_into(&mut head.now);
        } else if let Some(head) = heads.last()
            && head.now.is_empty()
            && let Some((_, value)) = head.figures.iter().find(|(label, _)| label == text)
        {
            assert_eq!(texts[at + 1], *value, "{text} of {}", head.name);
        }
    }
    heads
}

/// Returns the texts after `first`, below the last head of a table.
fn row<'a>(texts: &'a [String], last_head: &str, first: &str) -> &'a [String] {
    let head = texts.iter().position(|text| text == last_head);
    let head = head.unwrap_or_else(|| panic!("no {last_head} in {texts:?}"));
    let row = texts[head..].iter().position(|text| text == first);
    &texts[head + row.unwrap_or_else(|| panic!("no row {first} in {texts:?}"))..]
}

/// Parses `≈$5.79`.
fn dollars(text: &str) -> f64 {
    let plain = text.replace(['≈', '$', '+', ','], "");
    let plain = plain.replace('\u{2212}', "-");
    plain.parse().unwrap_or_else(|_| panic!("{text}"))
}

/// Parses `118k`.
fn tokens(text: &str) -> f64 {
    let text = text.trim_start_matches('≈');
    let (number, unit) = match text.chars().last() {
        Some('k') => (&text[..text.len() - 1], 1e3),
        Some('M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    unit * number.parse::<f64>().unwrap_or_else(|_| panic!("{text}"))
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// Returns the figures of a lane by name: of the window, or of the command line's JSON.
type LaneFigures = Vec<(String, [Option<u64>; 7])>;

/// Returns the figures of the recorded lane and of the others as the window has them.
fn lane_figures(window: &Window) -> LaneFigures {
    let runs = runs(window);
    let recorded = std::iter::once(("recorded".to_owned(), &runs.recorded.outcome));
    let lanes = runs.lanes.iter();
    let lanes = lanes.map(|lane| (lane.policy.name.clone(), &lane.outcome));
    let figures = |outcome: &Outcome| {
        [
            outcome.peak().map(|peak| peak.tokens.0),
            outcome.peak().and_then(|peak| peak.call).map(|call| call as u64 + 1),
            Some(outcome.end.0),
            Some(outcome.tokens_sent().0),
            Some(outcome.overflows as u64),
            Some(outcome.into_reserve() as u64),
            Some(outcome.tokens_rejected.0),
        ]
    };
    let all = recorded.chain(lanes);
    all.map(|(name, outcome)| (name, figures(outcome))).collect()
}

/// Returns the figures of these lanes as `replay` prints them.
fn printed_figures(file: &Path, names: &[String]) -> LaneFigures {
    let here = tempfile::tempdir().expect("a temporary folder");
    let mut args = vec!["replay", file.to_str().expect("UTF-8"), "--json"];
    let policies = names.iter().filter(|name| *name != "recorded");
    args.extend(policies.flat_map(|name| ["--policy", name]));
    let replay = plimsoll(here.path(), &args);
    let replay: Value = serde_json::from_str(&replay).expect("it is JSON");
    let lanes = replay["lanes"].as_array().expect("lanes").iter();
    let shown = lanes.filter(|lane| lane["policy"] != "none");
    let figures = |lane: &Value| {
        let figures = [
            "peak_tokens",
            "peak_call",
            "end_tokens",
            "tokens_sent",
            "overflows",
            "into_reserve",
            "tokens_rejected",
        ];
        figures.map(|name| lane[name].as_u64())
    };
    let name = |lane: &Value| lane["policy"].as_str().expect("a name").to_owned();
    shown.map(|lane| (name(lane), figures(lane))).collect()
}

/// Compares a file's figures in the window with those of the command line, and the recorded lane's head with the verdict.
fn same_as_printed(file: &Path) {
    let window = large(file.to_path_buf());
    let shown = lane_figures(&window);
    let names: Vec<String> = shown.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(shown, printed_figures(file, &names), "{}", file.display());
    let Some(peak) = shown[0].1[0] else { return };
    let peak = plimsoll::units::Tokens(peak).short();
    let heads = texts_with(&window, "Focus the recorded lane: ");
    let is_said = |text: &String| {
        text.contains(&format!("peak: {peak}")) || text.contains(&format!("peak: ≈{peak}"))
    };
    assert!(heads.iter().any(is_said), "{}: {heads:?}", file.display());
    let verdict = texts_with(&window, "Peaked at ");
    let is_same =
        |text: &String| text.contains(&format!("({peak})")) || text.contains(&format!("(≈{peak})"));
    assert!(verdict.iter().any(is_same), "{}: {verdict:?}", file.display());
}

#[test]
fn the_window_shows_the_figures_of_the_command_line() {
    let folder = repository().join("sample_sessions");
    for file in std::fs::read_dir(folder).expect("the samples are there").flatten() {
        same_as_printed(&file.path());
    }
}

#[test]
fn the_window_shows_the_figures_of_the_command_line_for_real_sessions() {
    /// Larger files take longer than all others together, in bytes.
    const MAX_BYTES: u64 = 1_500_000;
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let folders = std::fs::read_dir(folder).expect("a folder").flatten();
    let folders = folders.filter_map(|entry| std::fs::read_dir(entry.path()).ok());
    let is_small = |file: &std::fs::DirEntry| {
        file.metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_BYTES)
    };
    for file in folders.flatten().flatten().filter(is_small) {
        let here = tempfile::tempdir().expect("a temporary folder");
        let path = file.path();
        let args = ["inspect", path.to_str().expect("UTF-8"), "--no-state"];
        let opened = command(here.path(), &args).output();
        if opened.is_ok_and(|output| output.status.success()) {
            same_as_printed(&path);
        }
    }
}

#[test]
fn figures_shown_in_several_panels_agree_in_all_samples() {
    let folder = repository().join("sample_sessions");
    let files = std::fs::read_dir(folder).expect("the samples are there");
    let mut verdicts = String::new();
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let mut window = large(sample(&name));
        verdicts += &same_figures(&name, &mut window);
    }
    for told in [
        "Crossed the trigger of Truncate",
        "1 compaction recorded",
        "Token counts are calibrated to within",
    ] {
        assert!(verdicts.contains(told), "no sample has {told}");
    }
}

/// Compares the figures of all panels. Returns the verdict.
fn same_figures(file: &str, window: &mut Window) -> String {
    let all = texts(window);
    let lanes = heads(&all);
    assert_eq!(lanes.len(), 3, "{file}: {all:?}");
    let is_verdict = |text: &&String| text.starts_with("Peaked at ") && text.ends_with('.');
    let verdict = all.iter().find(is_verdict).expect("a verdict").clone();
    for lane in &lanes {
        let (peak, now) = (lane.figure("peak"), &lane.now);
        assert!(tokens(peak) >= tokens(now), "{file}: peak {peak}, now {now}");
    }
    let error = |text: &str| text.replace(['\u{2009}', ' '], "");
    let chip = all.iter().find_map(|text| text.strip_prefix("calibrated ±"));
    let said = between(&verdict, "Token counts are calibrated to within ", " %.");
    let said = said.map(|said| format!("{}%", error(said)));
    assert_eq!(chip.map(error), said, "{file}");
    same_costs(file, window, &lanes);
    same_losses(file, window, &lanes);
    same_events(file, window, &lanes, &verdict);
    same_contexts(file, window, &lanes);
    verdict
}

fn same_costs(file: &str, window: &mut Window, lanes: &[Head]) {
    click(window, "Cost");
    let all = texts(window);
    // The lanes' costs are modelled: they are compared with the recorded run by the same model, in a row of its own.
    let has_base = all.iter().any(|text| text == "vs modelled");
    let head = if has_base { "vs modelled" } else { "vs recorded" };
    let recorded = &row(&all, head, "Recorded")[1];
    let is_reported = !recorded.contains(['≈', '–']);
    assert_eq!(is_reported, has_base, "{file}: {recorded}");
    let recorded = if has_base {
        let base = row(&all, head, "Recorded, modelled");
        assert_eq!(base[2], "base", "{file}");
        assert!(base[1].starts_with('≈'), "{file}: {}", base[1]);
        &base[1]
    } else {
        recorded
    };
    for lane in lanes {
        let shown = row(&all, head, &lane.name);
        assert_eq!(shown[1], lane.figure("cost"), "{file}: {}", lane.name);
        if shown[1] != "–" {
            let difference = dollars(&shown[1]) - dollars(recorded);
            let told = dollars(&shown[2]);
            assert!((told - difference).abs() < 1e-6, "{file}: {} {}", lane.name, shown[2]);
        }
    }
}

fn same_losses(file: &str, window: &mut Window, lanes: &[Head]) {
    click(window, "Evaluate");
    let all = texts(window);
    for lane in lanes {
        let shown = row(&all, "95 % interval", &lane.name);
        assert_eq!(shown[1], lane.figure("re-reads"), "{file}: {}", lane.name);
    }
    click(window, "Show references at risk");
    let all = texts(window);
    for lane in lanes {
        let shown = row(&all, "from call", &lane.name);
        let blind = lane.figure("blind edits");
        assert_eq!(shown[2], blind, "{file}: {}", lane.name);
    }
}

fn same_events(file: &str, window: &mut Window, lanes: &[Head], verdict: &str) {
    click(window, "Events");
    click(window, "Show changes");
    click(window, "focused lane");
    // The call of the first event and the number of events of this lane.
    let mut listed = |key: Key, name: &str| {
        window.key_press(key);
        window.run_ok();
        let all = texts(window);
        let rows = all.iter().position(|text| text == "why").map_or(&[][..], |at| &all[at..]);
        let end = rows.iter().position(|text| text == "Resize panel");
        let rows = &rows[..end.unwrap_or(rows.len())];
        let first = rows.iter().position(|text| text == name);
        let call = first.map(|at| rows[at - 1].clone());
        (call, rows.iter().filter(|text| *text == name).count())
    };
    for (key, lane) in [Key::Num1, Key::Num2, Key::Num3].into_iter().zip(lanes) {
        let (call, n) = listed(key, &lane.name);
        assert_eq!(n.to_string(), lane.figure("compactions"), "{file}: {}", lane.name);
        if let Some(crossed) =
            between(verdict, &format!("Crossed the trigger of {} ", lane.name), ".")
        {
            let said = between(crossed, "call ", ":").map(str::to_owned);
            assert_eq!(said, call, "{file}: {verdict}");
        }
    }
    let recorded = between(verdict, ". ", " recorded").and_then(|said| said.rsplit(' ').nth(1));
    let n = recorded.unwrap_or("0");
    assert_eq!(listed(Key::Num0, "Recorded").1.to_string(), n, "{file}: {verdict}");
}

/// Compares the contexts in the list of calls with those of the lanes.
fn same_contexts(file: &str, window: &mut Window, lanes: &[Head]) {
    click(window, "Cost");
    click(window, "Show cost: calls");
    window.key_press(Key::Home);
    window.run_ok();
    for (key, lane) in [Key::Num1, Key::Num2, Key::Num3].into_iter().zip(lanes) {
        window.key_press(key);
        window.run_ok();
        let all = texts(window);
        let shown = &row(&all, "Sort by context", "1")[1];
        let shown = shown.replace(',', "").parse().expect("a number");
        let heads = heads(&all);
        let now = heads.iter().find(|head| head.name == lane.name).expect("the lane").now.as_str();
        let now = now.trim_start_matches('≈');
        assert_eq!(plimsoll::units::Tokens(shown).short(), now, "{file}: {}", lane.name);
    }
}

#[test]
fn chips_select_a_lane_and_a_new_strategy_can_be_undone() {
    let mut window = large(sample(MANY_RESULTS));
    let names = |window: &Window| -> Vec<String> {
        heads(&texts(window)).into_iter().map(|head| head.name).collect()
    };
    window.get_by_label("Editing: Truncate");
    click(&mut window, "Prune");
    window.get_by_label("Editing: Prune");
    assert_eq!(names(&window), ["Truncate", "Prune", "Summarize"], "no lane was replaced");
    window.get_by_role_and_label(Role::ComboBox, "strategy").click();
    window.run_ok();
    window.get_by_label("No management").click();
    window.run_ok();
    assert_eq!(names(&window), ["Truncate", "No management", "Summarize"]);
    window.get_by_label("Editing: No management");
    click(&mut window, "Undo");
    assert_eq!(names(&window), ["Truncate", "Prune", "Summarize"]);
    window.get_by_label("Editing: Prune");
    window.key_press(Key::Num0);
    window.run_ok();
    window.get_by_label("Editing: Recorded");
}
