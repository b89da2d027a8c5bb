//! `plimsoll presets`: bundled and saved presets.

mod native;
mod own;
mod show;
mod stage_words;

use super::Status;
use super::args::Shared;
use super::lanes::{self, LaneArgs};
use super::output::{clean, json, print};
use crate::engine::Policy;
use crate::exec::OwnPresets;
use crate::presets::{self, PRESETS};
use serde_json::{Value, json};
use show::show;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// List, show, export, import, save or remove presets
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// Operations on presets.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the presets (default)
    List,
    /// Show the settings, stages and sources of a preset
    Show {
        /// Preset
        name: String,
    },
    /// Write the settings in the system's own form: environment variables, YAML, a Python dict, JSON
    Export {
        /// Preset
        name: String,
        /// Set a setting (repeatable)
        #[arg(long = "set", value_name = "SETTING=VALUE", value_parser = lanes::set)]
        sets: Vec<lanes::Set>,
    },
    /// Read a system's own configuration and print the preset and settings that it means
    Import {
        /// Configuration file
        file: PathBuf,
        /// Also write it as a new policy file
        #[arg(short, long, value_name = "OUT.toml")]
        output: Option<PathBuf>,
    },
    /// Save a policy with its settings as a preset of your own
    Save {
        /// Preset or policy file
        #[arg(value_name = "NAME|FILE.toml")]
        policy: String,
        /// Name of the new preset
        #[arg(long = "as", value_name = "NAME")]
        name: String,
        /// Set a setting (repeatable)
        #[arg(long = "set", value_name = "SETTING=VALUE", value_parser = lanes::set)]
        sets: Vec<lanes::Set>,
    },
    /// Remove a preset of your own
    Remove {
        /// Preset
        name: String,
    },
}

impl Args {
    pub(super) fn run(self, shared: &Shared) -> anyhow::Result<Status> {
        match self.action.unwrap_or(Action::List) {
            Action::List => list(shared.json)?,
            Action::Show { name } => show(&name, shared.json)?,
            Action::Export { name, sets } => native::export(&LaneArgs::of(&name, sets), shared)?,
            Action::Import { file, output } => native::import(&file, output.as_deref(), shared)?,
            Action::Save { policy, name, sets } => {
                own::save(&name, &LaneArgs::of(&policy, sets), shared)?;
            }
            Action::Remove { name } => own::remove(&name, shared)?,
        }
        Ok(Status::Done)
    }
}

/// Returns the names of the bundled presets.
fn names() -> String {
    let names: Vec<_> = PRESETS.iter().map(|p| p.name).collect();
    names.join(", ")
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
