//! Settings as typed: `[LANE.]SETTING=VALUE`.

use super::args::{number, share_number};
use super::json_values::JsonNumber;
use super::output::clean;
use crate::engine::{Knob, Policy};
use crate::names::unknown;
use anyhow::bail;
use std::collections::BTreeSet;

/// A setting as typed: `[LANE.]SETTING=VALUE`.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) lane: Option<String>,
    pub(super) name: String,
    /// A number, or the name of a choice.
    pub(super) value: String,
}

impl Set {
    /// Returns true if the setting applies to the lane of this name.
    pub(super) fn is_of(&self, lane: &str) -> bool {
        self.lane.as_ref().is_none_or(|name| *name == lane)
    }

    /// Fails if no lane has the name that was typed.
    pub(super) fn check_lane<'a>(
        &self,
        lanes: impl Iterator<Item = &'a str>,
    ) -> anyhow::Result<()> {
        let Some(name) = &self.lane else {
            return Ok(());
        };
        let known: Vec<String> = lanes.map(str::to_owned).collect();
        if !known.contains(name) {
            bail!("{}", unknown("no lane is named", name, &known));
        }
        Ok(())
    }
}

/// Parses a setting.
pub(super) fn set(text: &str) -> anyhow::Result<Set> {
    let (lane, name, value) = assignment(text)
        .ok_or_else(|| anyhow::anyhow!("give SETTING=VALUE such as keep_recent=20"))?;
    Ok(Set { lane, name, value })
}

/// Splits `[LANE.]SETTING=VALUE` into its parts; `None` without a value. Lane names hold no `=`, names of settings no
/// `.`.
pub(super) fn assignment(text: &str) -> Option<(Option<String>, String, String)> {
    let (name, value) = text.split_once('=')?;
    let (lane, name) = match name.rsplit_once('.') {
        Some((lane, name)) => (Some(lane.to_owned()), name),
        None => (None, name),
    };
    let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
    (!value.is_empty()).then_some((lane, name, value))
}

/// Parses the value of a setting of `option`.
pub(super) fn value_of(option: &str, knob: &Knob, text: &str) -> anyhow::Result<f64> {
    let choice = knob.choices.iter().position(|c| c.eq_ignore_ascii_case(text));
    let is_share = knob.unit.starts_with("share");
    let typed = if is_share { share_number } else { number };
    let value = choice.map(|at| at as f64).or_else(|| typed(text));
    value.ok_or_else(|| match &*knob.choices {
        [] => {
            let (name, usual) = (&knob.name, knob.value);
            let or_percent = if is_share { ", or a percentage such as 75%" } else { "" };
            anyhow::anyhow!(
                "{option} {name}={text}: give SETTING=NUMBER such as {name}={usual}{or_percent}"
            )
        }
        choices => {
            let (name, choices) = (&knob.name, choices.join(", "));
            anyhow::anyhow!("{option} {name}={text}: give one of {choices}")
        }
    })
}

/// Formats the value of a setting as [`value_of`] reads it: a choice by its name.
pub(super) fn value_text(knob: Option<&Knob>, value: f64) -> String {
    let choices = knob.map_or(&[][..], |knob| &knob.choices);
    choices
        .get(value as usize)
        .map_or_else(|| JsonNumber(value).to_string(), |choice| clean(choice).into_owned())
}

/// Returns the names of the settings of policies, sorted.
pub(super) fn setting_names<'a>(policies: impl Iterator<Item = &'a Policy>) -> Vec<String> {
    let knobs = policies.flat_map(|policy| &policy.knobs);
    let names: BTreeSet<&str> = knobs.map(|knob| knob.name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}
