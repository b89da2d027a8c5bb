//! The page *Usage* of the list of sessions, compared with the command line, and the times of the list.

use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, click, copied, open, options, plimsoll, press, sample, says,
    secondary_click, sized, tab, type_into,
};
use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::Options;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Returns a session of Claude Code with a call at each of these times.
fn claude(session: &str, first: usize, times: &[&str]) -> String {
    let mut lines = String::new();
    for (n, time) in times.iter().enumerate() {
        let n = n + first;
        let parent = match n {
            n if n == first => "null".to_owned(),
            n => format!("\"a{session}{}\"", n - 1),
        };
        let common = format!(
            r#""sessionId":"{session}","cwd":"/home/me/ledger","version":"2.1.300","timestamp":"{time}""#
        );
        let _ = write!(
            lines,
            r#"{{"type":"user","uuid":"u{session}{n}","parentUuid":{parent},{common},"message":{{"role":"user","content":"Question {n} of {session}"}}}}
{{"type":"assistant","uuid":"a{session}{n}","parentUuid":"u{session}{n}",{common},"message":{{"id":"msg_{session}{n}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","stop_reason":"end_turn","content":[{{"type":"text","text":"Answer {n}"}}],"usage":{{"input_tokens":{},"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":50}}}}}}
"#,
            1_000 * (n + 1)
        );
    }
    lines
}

/// Creates a folder with sessions of several days and models, one without times, and a sub-agent.
fn store() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |path: &str, content: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("a folder");
        fs::write(path, content).expect("it is written");
    };
    let two_days = ["2026-03-01T10:00:00.000Z", "2026-03-04T10:00:00.000Z"];
    put("one.jsonl", &claude("one", 0, &two_days));
    put("two.jsonl", &claude("two", 2, &["2026-03-04T11:00:00.000Z"]));
    let agent = claude("one", 7, &["2026-03-04T10:01:00.000Z"])
        .replace("{\"type\":\"user\"", "{\"isSidechain\":true,\"agentId\":\"x1\",\"type\":\"user\"")
        .replace(
            "{\"type\":\"assistant\"",
            "{\"isSidechain\":true,\"agentId\":\"x1\",\"type\":\"assistant\"",
        );
    put("one/subagents/agent-x1.jsonl", &agent);
    for name in [COMPACTED, MANY_RESULTS, "handoff.json"] {
        fs::copy(sample(name), folder.path().join(name)).expect("a copy");
    }
    folder
}

/// Opens the page *Usage* of a folder.
fn usage_of(folder: &Path) -> Window {
    let mut window = sized(folder.to_owned(), vec2(1440.0, 900.0));
    window.run_ok();
    tab(&mut window, "Usage");
    window.run_ok();
    window
}

/// Returns the lines of a table with the cells of each, without the head.
fn rows_of_text(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    let rows = text.lines().skip(1).map(cells);
    rows.take_while(|row| row.len() == 11).collect()
}

/// Returns the rows of the table that the window copies.
fn shown_rows(window: &mut Window) -> Vec<Vec<String>> {
    let head = window.get_by_label("Sort by sessions").rect().center();
    secondary_click(window, head);
    let text = copied(window, "Copy table as CSV");
    let rows = text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect());
    rows.collect()
}

/// Makes cells comparable: the command line has no thousands separators and thin spaces, and whole percents.
fn comparable(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut rows = rows;
    for row in &mut rows {
        for cell in &mut row[..] {
            *cell = cell.replace('"', "");
        }
        // Shares are rounded differently.
        row.remove(9);
        row.remove(4);
    }
    rows.sort();
    rows
}

#[test]
fn the_page_shows_the_figures_of_the_command_line_by_each_key() {
    let folder = store();
    let mut window = usage_of(folder.path());
    for by in ["day", "week", "month", "block", "project", "model", "agent"] {
        click(&mut window, &format!("Usage by {by}"));
        let args = ["usage", folder.path().to_str().expect("a path"), "--by", by];
        let expected = rows_of_text(&plimsoll(folder.path(), &args));
        assert!(expected.len() > 1, "{by}: {expected:?}");
        let shown = shown_rows(&mut window);
        assert_eq!(shown[0][0], "total", "the total is the first row");
        assert_eq!(comparable(shown), comparable(expected), "{by}");
    }
    assert!(says(&window, "without recorded usage: counted from the text"));
}

#[test]
fn the_table_is_below_the_chart() {
    let folder = store();
    let window = usage_of(folder.path());
    let chart = window.get_by_label("Chart: Cost by day").rect();
    let head = window.get_by_label("Sort by sessions").rect();
    assert!(chart.height() > 100.0 && chart.bottom() <= head.top(), "{chart} {head}");
}

#[test]
fn chosen_days_limit_the_calls_and_a_wrong_day_is_explained() {
    let folder = store();
    let mut window = usage_of(folder.path());
    click(&mut window, "Days");
    click(&mut window, "from … to …");
    type_into(&mut window, (Role::TextInput, "First day"), "2026-03-02");
    type_into(&mut window, (Role::TextInput, "Last day"), "2026-03-31");
    let path = folder.path().to_str().expect("a path");
    let days = ["--since", "2026-03-02", "--until", "2026-03-31"];
    let args = [&["usage", path], &days[..]].concat();
    let expected = rows_of_text(&plimsoll(folder.path(), &args));
    assert_eq!(expected.len(), 2, "a day and the total");
    assert_eq!(comparable(shown_rows(&mut window)), comparable(expected));
    type_into(&mut window, (Role::TextInput, "First day"), "2026-03-32");
    assert!(says(&window, "2026-03-32 is no day"));
    type_into(&mut window, (Role::TextInput, "First day"), "2026-03-30");
    assert!(says(&window, "No session has a call on these days."));
    click(&mut window, "Show all days");
    assert!(shown_rows(&mut window).len() > 3);
}

#[test]
fn the_choices_are_kept_when_the_list_is_opened_again() {
    let folder = store();
    let mut window = usage_of(folder.path());
    click(&mut window, "Usage by project");
    click(&mut window, "Bars: input");
    click(&mut window, "Close");
    let list = Options { size: vec2(1440.0, 900.0), ..options(folder.path().to_owned()) };
    crate::screen::drop_file(&mut window, list.paths[0].clone());
    tab(&mut window, "Usage");
    window.get_by_label("Input tokens by project");
    window.get_by_label("Sort by project");
    // Another window starts with the defaults, since this one saves nothing.
    let mut other = open(list);
    other.run_ok();
    tab(&mut other, "Usage");
    other.get_by_label("Cost by day");
}

#[test]
fn keys_highlight_a_row_and_enter_lists_its_sessions() {
    let folder = store();
    let mut window = usage_of(folder.path());
    let highlighted = |window: &Window| {
        let list = window.get_by_label("Usage rows");
        list.accesskit_node().value()
    };
    let mut days = Vec::new();
    while days.last().is_none_or(|day: &String| day != "2026-03-01") {
        press(&mut window, Modifiers::NONE, Key::ArrowDown);
        days.push(highlighted(&window).expect("a highlighted row"));
        assert!(days.len() < 10, "{days:?}");
    }
    assert!(days.is_sorted_by(|a, b| a > b), "the newest day is first: {days:?}");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("1 of 6 sessions");
    window.get_by_label("List all sessions");
    assert!(says(&window, "Question 0 of one"));
    press(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("6 sessions");
}

#[test]
fn a_row_with_sub_agents_shows_their_number_and_they_stay_in_the_list() {
    let folder = store();
    let mut window = sized(folder.path().to_owned(), vec2(1440.0, 900.0));
    window.run_ok();
    assert!(says(&window, "Question 0 of one  (1 sub-agent)"));
    assert!(says(&window, "(sub-agent of "));
    tab(&mut window, "Usage");
    click(&mut window, "2026-03-04");
    window.get_by_label("3 of 6 sessions");
    click(&mut window, "List all sessions");
    window.get_by_label("6 sessions");
}

#[test]
fn sessions_are_sorted_by_their_last_call_and_those_without_a_time_are_last() {
    let folder = store();
    // The time of a file has no effect.
    let one = fs::File::options().append(true).open(folder.path().join("one.jsonl"));
    let later = SystemTime::now() + Duration::from_hours(24);
    one.and_then(|file| file.set_modified(later)).expect("the time is set");
    let mut window = sized(folder.path().to_owned(), vec2(1440.0, 900.0));
    window.run_ok();
    let titles = |window: &mut Window| -> Vec<String> {
        let head = window.get_by_label("Sort by title").rect().center();
        secondary_click(window, head);
        let text = copied(window, "Copy table as CSV");
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let descending = titles(&mut window);
    assert!(descending.last().is_some_and(|last| last.starts_with("–,")), "{descending:?}");
    let position = |rows: &[String], part: &str| {
        rows.iter().position(|row| row.contains(part)).expect("it is listed")
    };
    let two = position(&descending, "Question 2 of two");
    assert!(two < position(&descending, "Question 0 of one"), "{descending:?}");
    click(&mut window, "Sort by last call");
    let ascending = titles(&mut window);
    assert!(ascending.last().is_some_and(|last| last.starts_with("–,")), "{ascending:?}");
    assert!(position(&ascending, "Question 0 of one") < position(&ascending, "Question 2 of two"));
}
