//! `plimsoll presets save` and `remove`: your own presets.

use crate::cli::args::GlobalOptions;
use crate::cli::lanes::LaneArgs;
use crate::cli::output::{clean, json, print};
use crate::exec::{OwnPresets, policy_text};
use crate::presets::own::own;
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;

/// A preset of your own that was saved or removed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OwnPresetFile<'a> {
    /// Name that `--policy` takes.
    name: &'a str,
    /// Path of its file.
    path: Cow<'a, str>,
}

/// Saves a policy with its settings under a new name. Replaces an earlier preset of this name only on request.
pub(super) fn save(
    name: &str,
    lanes: &LaneArgs,
    replace: bool,
    shared: &GlobalOptions,
) -> anyhow::Result<()> {
    refuse_no_state("save", shared)?;
    let lane = lanes.one("presets save", shared)?;
    let presets = OwnPresets::here();
    let own = own(&policy_text(&lane.word, &presets)?, &lane.knobs, name)
        .map_err(|why| anyhow::anyhow!("--as {name}: {why}"))?;
    if let Some(existing) = presets.file(&own.name).filter(|_| !replace) {
        bail!(
            "--as {name}: {} already exists; choose another name, or replace it with --replace",
            existing.display()
        );
    }
    let path = presets.save(&own)?;
    report(shared, "saved as", &own.name, &path)
}

/// Fails with `--no-state`: saved presets are kept between runs.
fn refuse_no_state(action: &str, shared: &GlobalOptions) -> anyhow::Result<()> {
    if shared.no_state {
        bail!(
            "presets {action} changes your saved presets, and --no-state keeps nothing; leave --no-state out"
        );
    }
    Ok(())
}

/// Removes a preset of the user.
pub(super) fn remove(name: &str, shared: &GlobalOptions) -> anyhow::Result<()> {
    refuse_no_state("remove", shared)?;
    let path = OwnPresets::here().remove(name)?;
    report(shared, "removed", name, &path)
}

fn report(shared: &GlobalOptions, action: &str, name: &str, path: &Path) -> anyhow::Result<()> {
    let path = path.to_string_lossy();
    if shared.json {
        return json(&OwnPresetFile { name, path });
    }
    print(&format!("{action} {name}: {}\n", clean(&path)))
}
