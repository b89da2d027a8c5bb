//! `plimsoll presets`: the systems we know, as data.

mod native;
mod own;
mod show;
mod stage_words;

use super::args::{Shared, Word, Words, unknown_option};
use super::lanes::LaneArgs;
use super::output::{clean, json, print};
use super::{Status, Verb};
use crate::engine::Policy;
use crate::exec::OwnPresets;
use crate::presets::{self, PRESETS};
use anyhow::bail;
use serde_json::{Value, json};
use show::show;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const VERB: Verb = Verb {
    name: "presets",
    summary: "List the presets, or show one: knobs, stages, sources.",
    help: "\
plimsoll presets [list] [--json]
plimsoll presets show NAME [--json]
plimsoll presets export NAME [--set KNOB=VALUE]... [--json]
plimsoll presets import FILE [-o OUT.toml] [--json]
plimsoll presets save NAME|FILE.toml --as NAME [--set KNOB=VALUE]... [--json]
plimsoll presets remove NAME [--json]

export writes the settings in the system's own form (environment variables, YAML, a Python dict, JSON), ready to paste;
import reads such a configuration and says which preset and knobs it means; -o writes it as a policy of its own.
save keeps a tuned policy as a preset of your own, for the command line and the window; remove takes it away.

JSON of list: [{name, label, help, knobs[], stages[], path|null}] with names only; path where it is your own.
JSON of show: name, label, help, knobs[{name, value, range[], step, unit, help, role, key}], let[{name, expression}],
stages[{id, at, when, take, do, size_only, guard, mutates, delay, sentence}], sources[], unknowns[], differences[], toml.
JSON of export: preset, file, text, notes[]. JSON of import: preset, knobs{}, set[], unread[], notes[], options, toml.
JSON of save and remove: name, path.
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut operands = Vec::new();
    let mut lanes = LaneArgs::default();
    let mut output = None;
    let mut own_name = None;
    while let Some(word) = words.next()? {
        match word {
            Word::Operand(operand) => operands.push(operand.to_string_lossy().into_owned()),
            Word::Option(option)
                if shared.take(&option, words)?
                    || option == "--set" && lanes.take(&option, words)? => {}
            Word::Option(option) if option == "-o" => output = Some(words.raw_value(&option)?),
            Word::Option(option) if option == "--as" => own_name = Some(words.value(&option)?),
            Word::Option(option) => return Err(unknown_option(VERB.name, &option)),
        }
    }
    match operands.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["list"] => list(shared.json)?,
        ["show", name] => show(name, shared.json)?,
        ["show"] => bail!("presets show needs a NAME; there are {}", names()),
        ["export", name] => native::export(name, lanes, &shared)?,
        ["export"] => bail!("presets export needs a NAME; there are {}", names()),
        ["import", file] => native::import(file, output.as_deref(), &shared)?,
        ["import"] => bail!("presets import needs a FILE"),
        ["save", name] => own::save(name, own_name, lanes, &shared)?,
        ["save"] => bail!("presets save needs the NAME of a preset or a FILE.toml, and --as NAME"),
        ["remove", name] => own::remove(name, &shared)?,
        ["remove"] => bail!("presets remove needs the NAME of a preset of your own"),
        _ => bail!(
            "presets {}: say presets list, show NAME, export NAME, import FILE, save NAME or remove NAME",
            operands.join(" ")
        ),
    }
    Ok(Status::Done)
}

fn names() -> String {
    PRESETS
        .iter()
        .map(|p| p.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let bundled = PRESETS.iter().filter_map(|p| presets::by_name(p.name));
    let own = OwnPresets::here().all();
    if as_json {
        let shape = |policy: &Policy, path: Option<&Path>| {
            let knobs: Vec<_> = policy.knobs.iter().map(|k| k.name.clone()).collect();
            let stages: Vec<_> = policy.stages.iter().map(|s| s.id.clone()).collect();
            let path = path.map(|path| path.to_string_lossy());
            json!({
                "name": policy.name, "label": policy.label, "help": policy.help,
                "knobs": knobs, "stages": stages, "path": path,
            })
        };
        let bundled = bundled.map(|policy| shape(&policy, None));
        let own = own
            .iter()
            .filter_map(|own| Some(shape(own.policy.as_ref().ok()?, Some(&own.path))));
        return json(&Value::Array(bundled.chain(own).collect()));
    }
    let mut text = String::new();
    for policy in bundled {
        let _ = writeln!(text, "{:<20} {}", policy.name, policy.help);
    }
    if !own.is_empty() {
        text.push_str("\nYour own:\n");
    }
    for own in &own {
        let name = own.name().unwrap_or("?");
        let said = own.policy.as_ref().map_or_else(|e| e, |p| &p.label);
        let _ = writeln!(text, "{:<20} {}", clean(name), clean(said));
    }
    print(&text)
}
