//! `plimsoll presets save` and `remove`: your own presets.

use crate::cli::args::Shared;
use crate::cli::lanes::LaneArgs;
use crate::cli::output::{clean, json, print};
use crate::exec::{OwnPresets, policy_text};
use crate::presets::own::own;
use serde_json::json;
use std::path::Path;

/// Saves a policy with its settings under a new name.
pub(super) fn save(name: &str, lanes: &LaneArgs, shared: &Shared) -> anyhow::Result<()> {
    let lane = lanes.one("presets save", shared)?;
    let kept = OwnPresets::here();
    let own = own(&policy_text(&lane.word, &kept)?, &lane.knobs, name)
        .map_err(|why| anyhow::anyhow!("--as {name}: {why}"))?;
    let path = kept.save(&own)?;
    told(shared, "saved as", &own.name, &path)
}

/// Removes a preset of the user.
pub(super) fn remove(name: &str, shared: &Shared) -> anyhow::Result<()> {
    let path = OwnPresets::here().remove(name)?;
    told(shared, "removed", name, &path)
}

fn told(shared: &Shared, what: &str, name: &str, path: &Path) -> anyhow::Result<()> {
    if shared.json {
        return json(&json!({ "name": name, "path": path.to_string_lossy() }));
    }
    let path = path.display().to_string();
    print(&format!("{what} {name}: {}\n", clean(&path)))
}
