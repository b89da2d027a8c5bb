//! `plimsoll presets export` and `import`: settings in a system's own format.

use crate::cli::args::Shared;
use crate::cli::lanes::LaneArgs;
use crate::cli::output::{clean, json, note, plain, print};
use crate::engine::KnobValues;
use crate::exec::{load_configuration, save_policy};
use crate::presets::native::{self, Imported};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Prints the settings of a preset in the system's own format.
pub(super) fn export(lanes: &LaneArgs, shared: &Shared) -> anyhow::Result<()> {
    let lane = lanes.one("presets export", shared)?;
    let exported = native::export(&lane.policy, &lane.knobs).map_err(anyhow::Error::msg)?;
    if shared.json {
        return json(&json!({
            "preset": lane.policy.name,
            "file": exported.file,
            "text": exported.text,
            "notes": exported.notes,
        }));
    }
    for line in &exported.notes {
        note(&clean(line));
    }
    print(&exported.text)
}

/// Reads a system's configuration and prints the corresponding preset and settings.
pub(super) fn import(file: &Path, output: Option<&Path>, shared: &Shared) -> anyhow::Result<()> {
    let text = load_configuration(file)?;
    let imported =
        native::import(&text).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
    if let Some(output) = output {
        let policy = imported.to_toml().map_err(anyhow::Error::msg)?;
        save_policy(output, &policy)?;
    }
    if shared.json {
        return json(&shape(&imported));
    }
    for line in &imported.notes {
        note(&clean(line));
    }
    print(&sentence(&imported))
}

fn shape(imported: &Imported) -> Value {
    let knobs = imported.knobs.iter();
    let knobs: serde_json::Map<_, _> = knobs
        .map(|(name, value)| (name.to_owned(), plain(value)))
        .collect();
    json!({
        "preset": imported.policy.name,
        "knobs": knobs,
        "set": imported.set,
        "unread": imported.unread,
        "notes": imported.notes,
        "options": options(imported),
        "toml": imported.toml,
    })
}

/// Returns the equivalent options of `replay` and `compact`.
fn options(imported: &Imported) -> String {
    let knob = |name: &str| imported.policy.knob(name).map(|k| k.value);
    let differs = |values: &KnobValues, name: &str| values.get(name) != knob(name);
    let mut options = format!("--policy {}", imported.policy.name);
    for (name, value) in imported.knobs.iter() {
        if differs(&imported.knobs, name) {
            let _ = write!(options, " --set {name}={}", plain(value));
        }
    }
    options
}

fn sentence(imported: &Imported) -> String {
    let mut text = format!("{}\n", imported.policy.label);
    for name in &imported.set {
        let value = imported.knobs.get(name).unwrap_or_default();
        let _ = writeln!(text, "  {name} = {}", plain(value));
    }
    if !imported.unread.is_empty() {
        let unread: Vec<_> = imported.unread.iter().map(|key| clean(key)).collect();
        let _ = writeln!(text, "Not a setting here: {}", unread.join(", "));
    }
    if imported.toml.is_some() {
        let more = "It defines its own hooks, which no setting can express: write it with -o OUT.toml and use --policy OUT.toml.";
        let _ = writeln!(text, "\n{more}");
    } else {
        let _ = writeln!(text, "\nplimsoll replay FILE {}", options(imported));
    }
    text
}
