//! `plimsoll presets show`: a preset with its settings, stages and sources.

use super::names;
use super::stage_words::{boundary, hook, kept, role, sentence, what};
use crate::cli::output::{clean, json, plain, print};
use crate::engine::{Action, Knob, Mutates, Policy, Stage};
use crate::exec::{OwnPresets, policy_text};
use crate::presets::{self, PRESETS};
use anyhow::bail;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints a preset with its settings, stages and sources.
pub(super) fn show(name: &str, as_json: bool) -> anyhow::Result<()> {
    let own = OwnPresets::here();
    let is_known = PRESETS.iter().any(|p| p.name == name) || own.file(name).is_some();
    if !is_known {
        bail!("no preset is named {name:?}; there are {}", names());
    }
    let toml = policy_text(name, &own)?;
    let policy = presets::parse(&toml)?;
    if as_json {
        json(&shape(&policy, &toml))
    } else {
        print(&text(&policy))
    }
}

fn shape(policy: &Policy, toml: &str) -> Value {
    json!({
        "name": policy.name,
        "label": policy.label,
        "help": policy.help,
        "knobs": policy.knobs.iter().map(knob_shape).collect::<Vec<_>>(),
        "let": policy.lets.iter().map(|(name, e)| json!({ "name": name, "expression": e.text })).collect::<Vec<_>>(),
        "stages": policy.stages.iter().map(stage_shape).collect::<Vec<_>>(),
        "sources": policy.sources,
        "unknowns": policy.unknowns,
        "differences": policy.differences,
        "toml": toml,
    })
}

fn knob_shape(knob: &Knob) -> Value {
    json!({
        "name": knob.name,
        "value": plain(knob.value),
        "range": knob.range.map(plain),
        "step": plain(knob.step),
        "unit": knob.unit,
        "help": knob.help,
        "role": knob.role.map(role),
        "key": knob.key,
        "ignored": knob.ignored,
        "choices": knob.choices,
    })
}

fn stage_shape(stage: &Stage) -> Value {
    json!({
        "id": stage.id,
        "at": hook(stage.at),
        "when": stage.when.text,
        "take": {
            "what": what(stage.take.what),
            "keep": stage.take.keep.iter().map(kept).collect::<Vec<_>>(),
            "boundary": boundary(stage.take.boundary),
            "oldest": stage.take.oldest.as_ref().map(|e| e.text.clone()),
            "only": stage.take.results.only,
            "except": stage.take.results.except,
            "repeated": stage.take.results.repeated,
        },
        "do": stage.action.name(),
        "size_only": matches!(&stage.action, Action::Summarize(s) if s.is_opaque),
        "guard": {
            "min_saved": stage.guard.min_saved.as_ref().map(|e| e.text.clone()),
            "must_shrink": stage.guard.must_shrink,
            "cooldown": stage.guard.cooldown.text,
            "cold": stage.guard.cold.as_ref().map(|e| e.text.clone()),
        },
        "mutates": match stage.mutates {
            Mutates::Store => "store",
            Mutates::View => "view",
        },
        "delay": stage.delay.as_ref().map(|e| e.text.clone()),
        "sentence": sentence(stage),
    })
}

fn text(policy: &Policy) -> String {
    let mut text = format!(
        "{} ({})\n{}\n\nSettings\n",
        policy.label, policy.name, policy.help
    );
    for knob in &policy.knobs {
        let ([low, high], value) = (knob.range.map(plain), plain(knob.value));
        let key = knob
            .key
            .as_ref()
            .map_or_else(String::new, |key| format!(" [{key}]"));
        let range = if knob.choices.is_empty() {
            format!("{value} {} ({low} to {high})", knob.unit)
        } else {
            let chosen = knob.choices.get(knob.value as usize);
            format!("{} ({})", chosen.map_or("", |c| c), knob.choices.join(", "))
        };
        let _ = writeln!(text, "  {} = {range}{key}\n      {}", knob.name, knob.help);
        if let Some(why) = &knob.ignored {
            let _ = writeln!(text, "      The shipped code ignores it: {}", clean(why));
        }
    }
    if !policy.lets.is_empty() {
        text.push_str("\nNamed expressions\n");
        policy
            .lets
            .iter()
            .for_each(|(name, e)| _ = writeln!(text, "  {name} = {}", e.text));
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
        ("Differs from the documentation", &policy.differences),
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
