//! Ranges of calls, the comparison of two calls, the recorded baseline, and clicks on legend and flags.

use crate::screen::{
    COMPACTED, Window, button, click, copied, drag, large, press, runs, sample, secondary_click,
    sized, texts,
};
use egui::accesskit::{Role, Toggled};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, vec2};
use egui_kittest::kittest::{By, NodeT as _, Queryable as _};
use plimsoll::analysis::{Change, ContextDifference, MessageRef};
use plimsoll::app::state::model::runs::replays::{LaneRun, Runs};
use plimsoll::app::state::model::selection::EventId;
use plimsoll::app::state::wording;
use plimsoll::engine::{recorded, simulate};

fn window() -> Window {
    large(sample(COMPACTED))
}

/// Returns the first text with this beginning.
fn text(window: &Window, start: &str) -> Option<String> {
    texts(window).into_iter().find(|text| text.starts_with(start))
}

fn plot(window: &Window) -> Rect {
    window.get_by_label("timeline").rect()
}

/// Returns the position of a call while the whole session is in view.
fn at(window: &Window, call: usize) -> Pos2 {
    let (plot, n) = (plot(window), runs(window).case.session.calls.len());
    plot.lerp_inside(vec2(call as f32 / (n - 1) as f32, 0.3))
}

fn click_at(window: &mut Window, pos: Pos2, modifiers: Modifiers) {
    window.event(Event::PointerMoved(pos));
    window.run_steps(2);
    window.event(Event::ModifiersChanged(modifiers));
    for pressed in [true, false] {
        button(window, pos, PointerButton::Primary, pressed);
    }
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.run_ok();
}

/// Selects calls by a drag over the timeline.
fn select(window: &mut Window, first: usize, last: usize) {
    let [from, to] = [first, last].map(|call| at(window, call));
    drag(window, from, to);
}

/// Returns the number of messages that were written or included first by these calls.
fn n_messages(runs: &Runs, first: usize, last: usize) -> usize {
    let session = &runs.case.session;
    let call = |message: usize| {
        let written = session.messages[message].call;
        written
            .or_else(|| (0..session.calls.len()).find(|c| message < session.calls[*c].context_end))
    };
    let all = (0..session.messages.len()).filter_map(call);
    all.filter(|call| (first..=last).contains(call)).count()
}

/// Returns the numbers of the calls in the list of events.
fn event_calls(window: &Window) -> Vec<usize> {
    let (all, runs) = (texts(window), runs(window));
    let rows = all.iter().position(|text| text == "why").expect("the head");
    let names: Vec<&str> = std::iter::once(None)
        .chain((0..runs.lanes.len()).map(Some))
        .map(|lane| runs.label(lane))
        .collect();
    let end = all[rows..].iter().position(|text| text == "Resize panel");
    let rows = &all[rows..end.map_or(all.len(), |end| rows + end)];
    let calls = rows.windows(2).filter(|pair| names.contains(&pair[1].as_str()));
    calls.filter_map(|pair| pair[0].parse().ok()).collect()
}

#[test]
fn a_drag_selects_calls_that_limit_the_tables_until_escape() {
    let mut window = window();
    let all = text(&window, "137 of 137").expect("all messages are listed");
    select(&mut window, 10, 20);
    let runs = runs(&window);
    let n = n_messages(runs, 10, 20);
    assert!(n > 10 && n < 137, "{n}");
    let samples = &runs.lanes[0].outcome.samples;
    let growth = wording::difference(samples[20].tokens, samples[9].tokens);
    let chip = text(&window, "calls 11–21 in Truncate: ").expect("a chip");
    let start = format!("calls 11–21 in Truncate: {growth} tokens, {n} messages");
    assert!(chip.starts_with(&start), "{chip} is no {start}");
    assert!(text(&window, &format!("{n} of 137")).is_some());
    // Costs and events.
    click(&mut window, "Cost");
    click(&mut window, "Show cost: calls");
    let listed = text(&window, "11 calls, ").expect("the cost of the calls");
    let cost = listed.trim_start_matches("11 calls, ");
    assert!(chip.contains(&format!(", {cost}")), "{chip}: {cost}");
    click(&mut window, "Events");
    let runs = self::runs(&window);
    let is_in_range = |id: &&EventId| {
        let (_, event) = runs.event(**id).expect("an event");
        (29..=34).contains(&event.call)
    };
    let n_events = runs.events.iter().filter(is_in_range).count();
    assert!(n_events > 0 && n_events < runs.events.len());
    assert!(text(&window, "No event at the selected calls.").is_some());
    select(&mut window, 29, 34);
    assert_eq!(event_calls(&window).len(), n_events);
    let in_range = |call: &usize| (30..=35).contains(call);
    assert!(event_calls(&window).iter().all(in_range));
    click(&mut window, "Messages");
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(text(&window, "calls 30–35 in Truncate: "), None);
    assert_eq!(text(&window, "137 of 137"), Some(all));
}

#[test]
fn shift_and_arrows_extend_the_range_and_z_zooms_to_it() {
    let mut window = window();
    press(&mut window, Modifiers::NONE, Key::Home);
    for _ in 0..3 {
        press(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    }
    assert!(text(&window, "calls 1–4 in Truncate: ").is_some());
    press(&mut window, Modifiers::SHIFT, Key::ArrowLeft);
    assert!(text(&window, "calls 1–3 in Truncate: ").is_some());
    let view = |window: &Window| window.get_by_label("overview").accesskit_node().value();
    let whole = view(&window);
    press(&mut window, Modifiers::NONE, Key::Z);
    assert_eq!(view(&window).as_deref(), Some("calls 1 to 7"));
    press(&mut window, Modifiers::NONE, Key::F);
    assert_eq!(view(&window), whole);
    click(&mut window, "Zoom to the selected calls");
    assert_eq!(view(&window).as_deref(), Some("calls 1 to 7"));
    click(&mut window, "Clear the selected calls");
    assert!(text(&window, "calls 1–3 in Truncate: ").is_none());
}

#[test]
fn a_click_outside_the_range_ends_it() {
    let mut window = window();
    select(&mut window, 10, 20);
    let pos = at(&window, 15);
    click_at(&mut window, pos, Modifiers::NONE);
    assert!(text(&window, "calls 11–21 in Truncate: ").is_some());
    let pos = at(&window, 30);
    click_at(&mut window, pos, Modifiers::NONE);
    assert!(text(&window, "calls 11–21 in Truncate: ").is_none());
}

#[test]
fn two_calls_are_compared_in_every_lane() {
    let mut window = window();
    press(&mut window, Modifiers::NONE, Key::End);
    let last = runs(&window).case.session.calls.len() - 1;
    let pos = at(&window, 20);
    click_at(&mut window, pos, Modifiers::COMMAND);
    let all = texts(&window);
    assert!(all.contains(&format!("call 21 → {}", last + 1)), "{all:?}");
    let runs = runs(&window);
    let reserve = runs.output_reserve;
    let context = |lane: Option<&LaneRun>, call| match lane {
        Some(lane) => simulate(&runs.case, &lane.policy, &lane.knobs, Some(call)).context,
        None => recorded(&runs.case, reserve, Some(call)).context,
    };
    let lanes = runs.lanes.iter().map(|lane| Some(&**lane));
    let mut is_any_cut = false;
    for (nth, lane) in std::iter::once(None).chain(lanes).enumerate() {
        let found = ContextDifference::new(&context(lane, 20), &context(lane, last));
        let name = runs.label(nth.checked_sub(1));
        let head = all.iter().position(|text| text == "first changed");
        let rows = &all[head.expect("the head")..];
        let row = rows.iter().position(|text| text == name).expect("a row");
        let row = &rows[row..];
        let [before, after] = found.tokens.map(wording::short);
        assert_eq!(row[1], format!("{before} → {after}"), "{name}");
        let (n, tokens) = found.count(Change::Entered);
        assert!(n > 0, "{name}: calls added messages");
        assert_eq!(row[2], format!("{n} · {}", wording::short(tokens)), "{name}");
        let prefix = wording::short(found.prefix);
        assert!(row[..8].contains(&prefix), "{name}: {prefix} in {:?}", &row[..8]);
        if let Some(MessageRef::Recorded(message)) = found.first_changed {
            let number = wording::number(message);
            assert!(row[..9].contains(&number), "{name}: {number} in {:?}", &row[..9]);
            is_any_cut = true;
        }
    }
    assert!(is_any_cut, "a lane removed something");
    press(&mut window, Modifiers::NONE, Key::Escape);
    let empty = "Ctrl+click a second call";
    assert!(text(&window, empty).is_some(), "Esc ends the comparison");
}

#[test]
fn lanes_show_their_differences_from_the_recorded_baseline() {
    // Wide enough for the tokens sent.
    let window = sized(sample(COMPACTED), vec2(1920.0, 1080.0));
    let all = texts(&window);
    let runs = runs(&window);
    let head = |start: &str| {
        let at = all.iter().position(|text| text.starts_with(start));
        &all[at.unwrap_or_else(|| panic!("no {start}"))..]
    };
    let figure = |head: &[String], label: &str| {
        let at = head.iter().position(|text| text == label).expect("a figure");
        [head[at + 1].clone(), head[at + 2].clone()]
    };
    let baseline = head("Focus the recorded lane: ");
    let sent = runs.recorded.sent;
    assert_eq!(figure(baseline, "sent")[0], wording::short(sent));
    let peak = |run: &LaneRun| run.peak.expect("a peak").tokens;
    for (nth, lane) in runs.lanes.iter().enumerate() {
        let head = head(&format!("Focus lane {}: ", nth + 1));
        let difference = wording::difference(lane.sent, sent);
        assert_eq!(figure(head, "sent"), [wording::short(lane.sent), difference]);
        let difference = wording::difference(peak(lane), peak(&runs.recorded));
        assert_eq!(figure(head, "peak")[1], difference);
    }
}

#[test]
fn a_click_on_the_legend_isolates_a_kind_and_a_second_click_shows_all() {
    let mut window = window();
    let name = "Show only: result";
    let is_on = |window: &Window| {
        let entry = window.get_by_label(name);
        entry.accesskit_node().toggled() == Some(Toggled::True)
    };
    let shapes = |window: &Window| window.output().shapes.len();
    assert!(!is_on(&window));
    let all = shapes(&window);
    click(&mut window, name);
    assert!(is_on(&window));
    assert_ne!(shapes(&window), all, "other kinds are not drawn");
    click(&mut window, name);
    assert!(!is_on(&window));
}

#[test]
fn a_click_on_a_flag_selects_the_compaction_and_its_summary() {
    let mut window = window();
    press(&mut window, Modifiers::NONE, Key::Home);
    let compaction = runs(&window).case.session.compactions[0].clone();
    let flag = window.get_by(|node| {
        let label = node.label().unwrap_or_default();
        node.role() == Role::Button && label.starts_with("recorded compaction ")
    });
    flag.click();
    window.run_ok();
    let timeline = window.get_by_label("timeline").accesskit_node().value();
    let call = format!("Call {} ", compaction.call + 1);
    assert!(timeline.is_some_and(|text| text.starts_with(&call)), "{call}");
    let session = &runs(&window).case.session;
    let is_summary = |message: &&usize| {
        let message = &session.messages[**message];
        let parts = session.parts_of(message).iter();
        parts
            .map(|part| plimsoll::session::kind_of(message, part))
            .any(|kind| kind == plimsoll::session::Kind::Summary)
    };
    let summary = compaction.kept.iter().find(is_summary);
    let summary = summary.expect("the sample has a summary");
    assert!(text(&window, &format!("Message {}", summary + 1)).is_some());
}

#[test]
fn every_table_is_copied_as_displayed() {
    let mut window = window();
    let n = runs(&window).case.session.messages.len();
    let head = window.get_by_label("Sort by tokens").rect().center();
    secondary_click(&mut window, head);
    let text = copied(&mut window, "Copy table as CSV");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), n + 1, "rows out of view are copied too");
    assert!(lines[0].starts_with("#,"), "{}", lines[0]);
    assert!(lines[1].starts_with("1,") && lines[n].starts_with("137,"));
    // In the tab Cost, from the menu of a row.
    click(&mut window, "Cost");
    let row = window.get_all_by_label("Prune").map(|node| node.rect());
    let row = row.max_by(|a, b| a.bottom().total_cmp(&b.bottom()));
    let row = row.expect("the lane's row").center();
    secondary_click(&mut window, row);
    let text = copied(&mut window, "Copy table as Markdown");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 + 5, "{text}");
    assert!(lines[0].starts_with("| lane | cost | vs modelled |"), "{text}");
    assert!(lines[2].starts_with("| Recorded | $"), "{text}");
    secondary_click(&mut window, row);
    let text = copied(&mut window, "Copy this row");
    assert!(text.starts_with("Prune\t≈$"), "{text}");
}

#[test]
fn several_messages_are_selected_with_ctrl_and_summed() {
    let mut window = window();
    press(&mut window, Modifiers::NONE, Key::Home);
    let left = window.get_by_label("Sort by number").rect().left();
    let drawer = window.get_by_label("Sort by tokens").rect().bottom();
    let row = |window: &Window, number: usize| {
        let number = number.to_string();
        let cells = window.query_all(By::new().role(Role::Label).value(&number));
        let mut cells = cells.map(|node| node.rect());
        let cell = cells.find(|r| r.top() > drawer && r.left() < left + 60.0);
        cell.expect("the row is in view").center()
    };
    for (number, modifiers) in [(2, Modifiers::NONE), (4, Modifiers::COMMAND)] {
        let pos = row(&window, number);
        click_at(&mut window, pos, modifiers);
    }
    let ledger = &runs(&window).case.ledger;
    let sum = ledger.message(1) + ledger.message(3);
    let start = format!("2 selected: {} tok", wording::short(sum));
    assert!(text(&window, &start).is_some(), "{start}");
    let pos = row(&window, 4);
    secondary_click(&mut window, pos);
    let text = copied(&mut window, "Copy text");
    assert!(text.contains("\n\n"), "both texts: {text}");
    // Without Ctrl, one message is selected again.
    let pos = row(&window, 2);
    click_at(&mut window, pos, Modifiers::NONE);
    assert!(self::text(&window, "137 of 137").is_some());
}

#[test]
fn figures_of_a_lane_are_copied() {
    let mut window = window();
    let sent = runs(&window).lanes[0].sent;
    let lane = window.get_by_label_contains("Focus lane 1: ").rect();
    let labels = window.get_all_by_label("peak");
    let labels: Vec<Rect> = labels.map(|node| node.rect()).collect();
    let label = labels.into_iter().find(|label| lane.contains_rect(*label));
    let place = label.expect("the figure").center();
    secondary_click(&mut window, place);
    let text = copied(&mut window, "Copy all figures of this lane");
    let start = format!("sent: {} (", wording::short(sent));
    assert!(text.starts_with("Truncate\npeak: ") && text.contains(&start), "{text}");
}
