//! `plimsoll presets show`: a preset with its settings, stages and sources.

use super::show_json::json_output;
use super::stage_words::sentence;
use crate::cli::json_values::JsonNumber;
use crate::cli::lanes::known_presets;
use crate::cli::output::{clean, json, print_wrapped};
use crate::cli::settings::value_text;
use crate::engine::Policy;
use crate::exec::{OwnPresets, policy_text};
use crate::names::unknown;
use crate::presets;
use anyhow::bail;
use std::fmt::Write as _;

/// Prints a preset with its settings, stages and sources.
pub(super) fn show_preset(name: &str, as_json: bool) -> anyhow::Result<()> {
    let own = OwnPresets::here();
    let known = known_presets();
    if !known.iter().any(|known| known == name) {
        bail!("{}", unknown("no preset is named", name, &known));
    }
    let toml = policy_text(name, &own)?;
    let policy = presets::parse(&toml)?;
    if as_json { json(&json_output(&policy, &toml)) } else { print_wrapped(&preset_text(&policy)) }
}

fn preset_text(policy: &Policy) -> String {
    let proof = policy.proof.as_ref().map_or_else(String::new, |proof| format!(", {proof}"));
    let mut text =
        format!("{} ({}){proof}\n{}\n\nSettings\n", policy.label, policy.name, policy.help);
    for knob in &policy.knobs {
        let ([low, high], value) = (knob.range.map(JsonNumber), JsonNumber(knob.value));
        let key = knob.key.as_ref().map_or_else(String::new, |key| format!(" [{key}]"));
        let range = if knob.choices.is_empty() {
            format!("{value} {} ({low} to {high})", knob.unit)
        } else {
            let chosen = value_text(Some(knob), knob.value);
            format!("{chosen} ({})", knob.choices.join(", "))
        };
        let _ = writeln!(text, "  {} = {range}{key}\n      {}", knob.name, knob.help);
        if !knob.is_offered {
            text.push_str("      The system offers no such setting: sweeps do not vary it.\n");
        }
        if let Some(sensible) = &knob.sensible {
            let [low, high] = sensible.range.map(JsonNumber);
            let source = clean(&sensible.source);
            let _ = writeln!(text, "      Sensible: {low} to {high} ({source}).");
        }
        if let Some(why) = &knob.ignored {
            let _ = writeln!(text, "      The shipped code ignores it: {}", clean(why));
        }
    }
    if !policy.lets.is_empty() {
        text.push_str("\nNamed expressions\n");
        policy.lets.iter().for_each(|(name, e)| _ = writeln!(text, "  {name} = {}", e.text));
    }
    text.push_str("\nStages\n");
    if policy.stages.is_empty() {
        text.push_str("  none\n");
    }
    policy
        .stages
        .iter()
        .for_each(|stage| _ = writeln!(text, "  {}: {}", stage.id, sentence(stage)));
    for (title, lines) in [
        ("Sources", &policy.sources),
        ("Unknown", &policy.unknowns),
        ("Differences of the documentation from the code", &policy.documentation_differences),
        ("Differences of the replay from the system", &policy.differences),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                let _ = writeln!(text, "  {}", clean(line));
            }
        }
    }
    text
}
