//! JSON and text of `plimsoll hook`.

use crate::cli::output::clean;
use crate::exec::hooks::{FileAction, HookChange, HookedAgent};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// A change of an agent's settings.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HookSettings {
    /// Name of the agent.
    agent: &'static str,
    /// Path of the file.
    path: String,
    /// Whether the file differs from what it should be.
    changed: bool,
    /// Effect on the file: `unchanged`, `created`, `changed`, `restored` to what it was before `install`, or `removed`.
    action: &'static str,
    /// Whether the change was written.
    written: bool,
    /// Lines that change, marked with `-` and `+`, with unchanged lines around them.
    difference: Vec<String>,
    /// Next step for you; null if nothing.
    next_step: Option<&'static str>,
}

impl HookSettings {
    pub(super) fn new(agent: &HookedAgent, change: &HookChange, is_dry_run: bool) -> Self {
        let changed = change.is_change();
        let difference = if changed { change.difference() } else { String::new() };
        Self {
            agent: agent.name,
            path: change.path.to_string_lossy().into_owned(),
            changed,
            action: match change.action() {
                FileAction::Unchanged => "unchanged",
                FileAction::Created => "created",
                FileAction::Changed => "changed",
                FileAction::Restored => "restored",
                FileAction::Removed => "removed",
            },
            written: changed && !is_dry_run,
            difference: difference.lines().map(str::to_owned).collect(),
            next_step: change.next_step,
        }
    }

    /// Formats the change.
    pub(super) fn text(&self) -> String {
        let path = clean(&self.path);
        let lines = self.difference.iter().map(|line| format!("{}\n", clean(line)));
        let lines: String = lines.collect();
        let next_step = self.next_step.map(|step| format!("next: {step}\n")).unwrap_or_default();
        match (self.changed, self.written) {
            (false, _) => format!("{path}: nothing to change\n{next_step}"),
            (true, true) => format!("{} {path}\n{next_step}", self.action),
            (true, false) => {
                // `created` to `create`, `restored` to `restore`.
                let verb = self.action.trim_end_matches('d');
                format!("would {verb} {path}\n{lines}{next_step}")
            }
        }
    }
}

/// Your standing instructions in a session.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HookConstraints {
    /// The instructions as whole sentences, oldest first. Keys and passwords are replaced.
    pub(super) constraints: Vec<String>,
}

impl HookConstraints {
    /// Formats the instructions.
    pub(super) fn text(&self) -> String {
        if self.constraints.is_empty() {
            return "no standing instructions\n".to_owned();
        }
        let mut lines = String::new();
        for text in &self.constraints {
            let _ = writeln!(lines, "- {}", clean(text));
        }
        lines
    }
}

/// The log of hooks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HookLog {
    /// Path of the log.
    path: String,
    /// Lines, oldest first: time, agent, event, start of the session's id, result.
    lines: Vec<String>,
}

impl HookLog {
    pub(super) fn new(path: &Path, text: &str) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Formats the lines.
    pub(super) fn text(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| clean(line)).collect();
        lines.join("\n") + if lines.is_empty() { "" } else { "\n" }
    }
}
