//! `plimsoll presets export` and `import`: settings in a system's own format.

use crate::cli::args::{GlobalOptions, is_stdin};
use crate::cli::json_values::Settings;
use crate::cli::lanes::LaneArgs;
use crate::cli::output::{clean, grouped, json, note, print};
use crate::cli::report::written;
use crate::cli::settings::value_text;
use crate::engine::KnobValues;
use crate::exec::{
    OwnPresets, load_configuration, policy_text, read_configuration, save_policy, write_file,
};
use crate::presets::forms::{Form, Tuned};
use crate::presets::native::{self, Imported};
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of listed keys that correspond to no setting.
const MAX_UNREAD: usize = 20;

/// Settings in a system's own format.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportedSettings<'a> {
    /// Name of the preset.
    preset: &'a str,
    /// Name of the file that the text belongs in; null if it belongs elsewhere or the name is free.
    file: Option<&'a str>,
    /// Place that the text belongs in, in words.
    place: &'a str,
    /// The settings in the system's format.
    text: &'a str,
    /// Settings that the system cannot express, and other remarks.
    notes: &'a [String],
}

/// A system's own configuration as a preset with settings.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportedSettings<'a> {
    /// Name of the preset.
    preset: &'a str,
    /// Values of all settings.
    settings: Settings,
    /// Names of the settings that the configuration sets.
    set: &'a [String],
    /// Context window that the configuration sets, in tokens; null if it sets none.
    window: Option<u64>,
    /// Keys of the configuration that correspond to no setting.
    unread: &'a [String],
    /// Remarks.
    notes: &'a [String],
    /// Equivalent options of `replay` and `compact`.
    options: String,
    /// Policy file, if the configuration defines hooks that no setting can express; null otherwise.
    toml: Option<&'a str>,
}

/// Prints or writes the settings of a preset in the system's own format.
pub(super) fn export(
    lanes: &LaneArgs,
    (form, framework): (Form, Option<&str>),
    output: Option<&Path>,
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    let has_window = framework.is_some() || matches!(form, Form::Python | Form::TypeScript);
    if shared.window.is_some() && !has_window {
        bail!(
            "--window has no effect on --as {}, which states no context window; it applies to --for and to --as python and typescript",
            form.name()
        );
    }
    let mut lane = lanes.one_or_none("presets export", shared)?;
    let mut notes = Vec::new();
    if let Some(framework) = framework {
        let nearest = native::nearest(&lane.policy, &lane.knobs, framework, shared.window);
        let nearest = nearest.map_err(anyhow::Error::msg)?;
        (lane.policy, lane.knobs, notes) = (nearest.policy, nearest.knobs, nearest.notes);
    }
    let toml = if form == Form::Settings {
        String::new()
    } else {
        policy_text(&lane.word, &OwnPresets::here())?
    };
    let tuned = Tuned {
        policy: &lane.policy,
        toml: &toml,
        knobs: &lane.knobs,
        window: shared.window.map(|w| w.0),
    };
    let mut exported = form.write(tuned).map_err(anyhow::Error::msg)?;
    notes.append(&mut exported.notes);
    if let Some(output) = output {
        write_file(output, exported.text.as_bytes()).map_err(anyhow::Error::msg)?;
    }
    if shared.json {
        return json(&ExportedSettings {
            preset: &lane.policy.name,
            file: exported.file_name(),
            place: exported.place,
            text: &exported.text,
            notes: &notes,
        });
    }
    for line in &notes {
        note(&clean(line));
    }
    match output {
        Some(output) => print(&written(output, &exported.text)),
        None => print(&exported.text),
    }
}

/// Reads a system's configuration and prints the corresponding preset and settings.
pub(super) fn import(
    file: &Path,
    output: Option<&Path>,
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    let text = if is_stdin(file) {
        read_configuration(std::io::stdin())?
    } else {
        load_configuration(file)?
    };
    let imported =
        native::import(&text).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
    if let Some(output) = output {
        let policy = imported.to_toml().map_err(anyhow::Error::msg)?;
        save_policy(output, &policy)?;
    }
    if shared.json {
        return json(&json_output(&imported));
    }
    for line in &imported.notes {
        note(&clean(line));
    }
    print(&sentence(&imported))
}

fn json_output(imported: &Imported) -> ImportedSettings<'_> {
    ImportedSettings {
        preset: &imported.policy.name,
        settings: Settings::from(&imported.knobs),
        set: &imported.set,
        window: imported.window,
        unread: &imported.unread,
        notes: &imported.notes,
        options: options(imported),
        toml: imported.toml.as_deref(),
    }
}

/// Returns the equivalent options of `replay` and `compact`.
fn options(imported: &Imported) -> String {
    let default = |name: &str| imported.policy.knob(name).map(|knob| knob.value);
    let differs = |values: &KnobValues, name: &str| values.get(name) != default(name);
    let mut options = format!("--policy {}", imported.policy.name);
    if let Some(window) = imported.window {
        let _ = write!(options, " --window {window}");
    }
    for (name, value) in imported.knobs.iter() {
        if differs(&imported.knobs, name) {
            let value = value_text(imported.policy.knob(name), value);
            let quote = if value.contains(' ') { "'" } else { "" };
            let _ = write!(options, " --set {quote}{name}={value}{quote}");
        }
    }
    options
}

fn sentence(imported: &Imported) -> String {
    let mut text = format!("{}\n", imported.policy.label);
    for name in &imported.set {
        let value = imported.knobs.get(name).unwrap_or_default();
        let value = value_text(imported.policy.knob(name), value);
        let _ = writeln!(text, "  {name} = {value}");
    }
    if let Some(window) = imported.window {
        let _ = writeln!(text, "  context window = {}", grouped(window));
    }
    if !imported.unread.is_empty() {
        let unread = imported.unread.iter().take(MAX_UNREAD).map(|key| clean(key));
        let unread = unread.collect::<Vec<_>>().join(", ");
        let more = imported.unread.len().saturating_sub(MAX_UNREAD);
        let more = match more {
            0 => String::new(),
            n => format!(" and {} more (--json lists all)", grouped(n as u64)),
        };
        let _ = writeln!(text, "Not a setting here: {unread}{more}");
    }
    if imported.toml.is_some() {
        let more = "It defines its own hooks, which no setting can express: write it with -o OUT.toml and use --policy OUT.toml.";
        let _ = writeln!(text, "\n{more}");
    } else {
        let _ = writeln!(text, "\nplimsoll replay FILE {}", options(imported));
    }
    text
}
