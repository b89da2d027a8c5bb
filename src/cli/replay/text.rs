//! The result of `plimsoll replay` as text.

use crate::analysis::rereads::ExpectedRereads;
use crate::cli::output::{clean, counted, grouped, percent, tokens, width};
use crate::cli::played::compactions;
use crate::cli::rereads::rereads_line;
use crate::cli::settings::value_text;
use crate::engine::{ActionKind, Budget, Case, Effect, Event, Hook};
use crate::exec::Loaded;
use crate::report::{Played, accuracy_sentence, window_source};
use crate::units::Tokens;
use std::fmt::Write as _;

/// Maximum number of events that are listed of one lane.
const MAX_EVENTS: usize = 12;

/// Characters of a lane's name that leave space for the figures in a terminal of 80 columns.
const SHORT_NAME: usize = 14;
/// Characters of the figures after a lane's name.
const FIGURES: usize = 66;

/// Returns the table of lanes, followed by the events and findings of each.
pub(super) fn table(
    loaded: &Loaded,
    reserve: Tokens,
    played: &[Played],
    expected: &[ExpectedRereads],
) -> String {
    let case = &loaded.case;
    let budget = Budget { window: case.windows.largest(), output_reserve: reserve };
    let mut text = format!(
        "{} · {} · {} · window {} ({}), reserve {}, usable {} · {}\n\n",
        clean(&case.session.title),
        case.session.source.format,
        counted(case.session.calls.len(), "call"),
        tokens(budget.window),
        window_source(case),
        tokens(reserve),
        tokens(budget.usable()),
        accuracy_sentence(case),
    );
    let names = played.iter().map(|lane| clean(&lane.lane).chars().count());
    let longest = names.max().unwrap_or_default().max(SHORT_NAME);
    let fits = width().is_none_or(|width| longest + FIGURES <= width);
    let row = |text: &mut String, cells: [&str; 7]| {
        let [lane, peak, call, share, compactions, overflows, sent] = cells;
        // The figures of a long name follow in the next line if the terminal is too narrow for both.
        let (mut lane, name_width) = (lane, if fits { longest } else { SHORT_NAME });
        if lane.chars().count() > name_width {
            let _ = writeln!(text, "{lane}");
            lane = "";
        }
        let _ = writeln!(
            text,
            "{lane:<name_width$} {peak:>11} {call:>7} {share:>10} {compactions:>11} {overflows:>9} {sent:>12}"
        );
    };
    row(
        &mut text,
        ["lane", "peak", "at call", "of usable", "compactions", "overflows", "tokens sent"],
    );
    for lane in played {
        let outcome = &lane.outcome;
        let [peak, call, share] = outcome.peak().map_or_else(
            || ["–".to_owned(), "–".to_owned(), "–".to_owned()],
            |peak| {
                let call = peak.call.map(|idx| grouped(idx as u64 + 1));
                [
                    tokens(peak.tokens),
                    call.unwrap_or_else(|| "end".to_owned()),
                    percent(outcome.peak_share()),
                ]
            },
        );
        let (compactions, overflows) = (
            compactions(case, lane).map_or_else(|| "–".to_owned(), |n| n.to_string()),
            outcome.overflows.to_string(),
        );
        let sent = tokens(outcome.tokens_sent());
        row(&mut text, [&clean(&lane.lane), &peak, &call, &share, &compactions, &overflows, &sent]);
    }
    asides(&mut text, played);
    waiting(&mut text, case, played);
    let lanes = played.iter().map(|lane| &*lane.lane).zip(expected);
    let _ = writeln!(text, "{}", rereads_line(lanes));
    let has_entries = |l: &&Played| {
        !(l.outcome.events.is_empty() && l.outcome.warnings.is_empty() && l.findings.is_empty())
    };
    for lane in played.iter().filter(has_entries) {
        events(&mut text, lane);
    }
    text
}

/// Adds the contexts at the end, and the calls that reach into the output reserve.
fn asides(text: &mut String, played: &[Played]) {
    let of_lanes = |figure: &dyn Fn(&Played) -> Option<String>| {
        let named = |lane: &Played| Some(format!("{} {}", clean(&lane.lane), figure(lane)?));
        played.iter().filter_map(named).collect::<Vec<_>>().join(", ")
    };
    let ends = of_lanes(&|lane| {
        let has_calls = !lane.outcome.samples.is_empty();
        has_calls.then(|| tokens(lane.outcome.end))
    });
    let into_reserve = of_lanes(&|lane| {
        let n = lane.outcome.into_reserve();
        (n > 0).then(|| counted(n, "call"))
    });
    for (name, figures) in [("at the end", ends), ("into the reserve", into_reserve)] {
        if !figures.is_empty() {
            let _ = writeln!(text, "{name}: {figures}");
        }
    }
}

/// Names the lanes that never acted because they act only after a rejected call.
fn waiting(text: &mut String, case: &Case, played: &[Played]) {
    let last = case.session.calls.len().saturating_sub(1);
    let waits = |lane: &&Played| {
        let Some(policy) = lane.policy.as_ref().filter(|_| lane.outcome.events.is_empty()) else {
            return false;
        };
        policy.stages.iter().any(|stage| stage.at == Hook::OverflowError)
            && policy.trigger(&lane.knobs, case, last).is_none()
    };
    for lane in played.iter().filter(waits) {
        let name = clean(&lane.lane);
        let _ = writeln!(
            text,
            "{name} did not act: with these settings it acts only after a rejected call (`plimsoll presets show`)"
        );
    }
}

fn events(text: &mut String, lane: &Played) {
    let settings: Vec<String> = lane
        .knobs
        .iter()
        .map(|(name, value)| {
            let knob = lane.policy.as_ref().and_then(|policy| policy.knob(name));
            format!("{}={}", clean(name), value_text(knob, value))
        })
        .collect();
    let _ = writeln!(text, "\n{}  {}", clean(&lane.lane), settings.join(" "));
    let changing = lane.outcome.events.iter().filter(|e| e.effect != Effect::Logged);
    let all: Vec<&Event> = changing.collect();
    // Repeats at consecutive calls share one line.
    let is_routine = |e: &Event| e.effect == Effect::Nothing || e.action == ActionKind::Repair;
    let continues = |a: &&Event, b: &&Event| {
        let is_same = a.stage == b.stage && a.effect == b.effect && is_routine(a);
        is_same && b.call == a.call + 1
    };
    let rows: Vec<&[&Event]> = all.chunk_by(continues).collect();
    for row in rows.iter().take(MAX_EVENTS) {
        let event = row[0];
        let (call, stage, action) = (event.call + 1, clean(&event.stage), event.action);
        let (before, after) = (tokens(event.before), tokens(event.after));
        let messages = counted(event.n_messages(), "message");
        let _ = writeln!(
            text,
            "  call {call:>6}  {stage} ({action})  {before} → {after}, {messages}{}{}",
            if event.effect == Effect::Nothing { ": nothing changed" } else { "" },
            match row.len() {
                1 => String::new(),
                2 => " (and at the next call)".to_owned(),
                n => format!(" (and at the next {} calls)", n - 1),
            }
        );
    }
    if rows.len() > MAX_EVENTS {
        let _ = writeln!(text, "  and {} more (--json lists all)", rows.len() - MAX_EVENTS);
    }
    for finding in &lane.findings {
        let (call, finding) = (finding.call + 1, clean(&finding.text));
        let _ = writeln!(text, "  finding at call {call}: {finding}");
    }
    for warning in &lane.outcome.warnings {
        let _ = writeln!(text, "  warning: {}", clean(&warning.to_string()));
    }
}
