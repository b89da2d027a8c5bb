//! The command line that reproduces the numbers of a config, for "Copy as command".

use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::knobs::output_reserve;
use crate::app::state::model::marks::{Mark, message_numbers};
use crate::app::state::model::policies::Policies;
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::engine::KnobRole;
use crate::exec::shell::{quoted, quoted_path};
use crate::presets::known_error;
use crate::tokens;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the command.
pub(crate) fn command(document: &Document, runs: &Runs, policies: &Policies) -> String {
    let mut line = format!("plimsoll replay {}", path(document));
    if document.loaded.conversations.len() > 1 {
        let _ = write!(line, " --conversation {}", document.conversation + 1);
    }
    let mut set: BTreeSet<String> = BTreeSet::new();
    let reserve = common_reserve(runs);
    // Lanes of one policy have unique names, since their settings may differ.
    for (lane, name) in runs.lanes.iter().zip(runs.config.lane_names()) {
        let name = name.replace(' ', "-");
        let policy = policies.command_line_name(&lane.policy.name);
        let at = if name == lane.policy.name { String::new() } else { format!("@{name}") };
        let _ = write!(line, " --policy {}", quoted(&format!("{policy}{at}")));
        for (knob, value) in changed(lane) {
            if reserve.is_some() && is_reserve(lane, knob) {
                continue;
            }
            let mut all = runs.lanes.iter().filter_map(|l| l.knobs.get(knob));
            let is_shared = all.all(|other| other == value);
            let scope = if is_shared { String::new() } else { format!("{name}.") };
            set.insert(format!("{scope}{knob}={value}"));
        }
    }
    for setting in set {
        let _ = write!(line, " --set {}", quoted(&setting));
    }
    if let Some(reserve) = reserve {
        let _ = write!(line, " --output-reserve {reserve}");
    }
    if let Some(window) = runs.config.window {
        let _ = write!(line, " --window {}", window.0);
    }
    for call in &runs.config.restarts {
        let _ = write!(line, " --restart {}", call + 1);
    }
    for error in &runs.config.errors {
        let text = known_error(&error.text).map_or(&*error.text, |known| &known.name);
        let _ = write!(line, " --error {}", quoted(&format!("{}={text}", error.call + 1)));
    }
    for selector in &runs.config.without {
        let _ = write!(line, " --without {}", quoted(&selector.to_string()));
    }
    for mark in Mark::ALL {
        let messages = mark.list(&runs.config.manual_edits);
        if !messages.is_empty() {
            let _ = write!(line, " {} {}", mark.option(), message_numbers(messages));
        }
    }
    if runs.config.counter != tokens::default_counter().name {
        let _ = write!(line, " --counter {}", quoted(runs.config.counter));
    }
    line
}

/// Returns the changed output reserve if all lanes with this setting have it: it also applies to the recorded lane.
fn common_reserve(runs: &Runs) -> Option<f64> {
    let reserve = *runs.config.knobs.get(&output_reserve())?;
    let mut all = runs.lanes.iter().flat_map(|lane| {
        let own = lane.knobs.iter();
        own.filter(|(name, _)| is_reserve(lane, name))
    });
    all.all(|(_, value)| value == reserve).then_some(reserve)
}

fn is_reserve(lane: &LaneRun, name: &str) -> bool {
    let knob = lane.policy.knob_for(KnobRole::OutputReserve);
    knob.is_some_and(|knob| knob.name == name)
}

/// Returns the changed settings.
fn changed(lane: &LaneRun) -> Vec<(&str, f64)> {
    let defaults = lane.policy.defaults();
    lane.knobs.iter().filter(|(name, value)| defaults.get(name) != Some(*value)).collect()
}

/// Returns the path of the session file as a word of the command.
fn path(document: &Document) -> String {
    match &document.origin {
        Origin::Path(path) => quoted_path(&path.to_string_lossy()),
        Origin::Example(name) => format!("sample_sessions/{name}"),
        // Pasted text is read from standard input.
        Origin::Pasted(_) => "-".to_owned(),
    }
}
