//! `plimsoll presets`: bundled and saved presets.

mod native;
mod own;
mod show;
mod show_json;
mod stage_words;

use super::args::GlobalOptions;
use super::lanes::LaneArgs;
use super::output::{clean, json, note, print_wrapped};
use super::settings::{Set, set};
use super::status::Status;
use crate::engine::{Policy, PolicyKind, Proof};
use crate::exec::OwnPresets;
use crate::presets::forms::Form;
use crate::presets::{self, PRESETS};
use schemars::JsonSchema;
use serde::Serialize;
use show::show_preset;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub(super) use native::{ExportedSettings, ImportedSettings};
pub(super) use own::OwnPresetFile;
pub(super) use show_json::PresetOutput;

/// List, show, export, import, save or remove presets
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  plimsoll presets list coding\n  plimsoll presets show claude-code"
)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<PresetsAction>,
}

/// Operations on presets.
#[derive(Debug, clap::Subcommand)]
enum PresetsAction {
    /// List the presets (default)
    #[command(
        after_help = "Examples:\n  plimsoll presets list coding\n  plimsoll presets list proven"
    )]
    List {
        /// List only presets whose name, kind, proof or description contains all these words
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Show the settings, stages and sources of a preset
    #[command(after_help = "Examples:\n  plimsoll presets show claude-code")]
    Show {
        /// Preset
        name: String,
    },
    /// Print the settings in the system's own form: environment variables, JSON, YAML, TOML or a Python program
    #[command(
        after_help = "Examples:\n  plimsoll presets export digitorn -o digitorn.yaml\n  plimsoll presets export truncate --for pydantic-ai\n  plimsoll presets export prune --set prune_protect=20000 --as python"
    )]
    Export {
        /// Preset
        name: String,
        /// Export truncate, prune or summarize as the nearest construct of this framework
        #[arg(long = "for", value_name = "FRAMEWORK")]
        framework: Option<String>,
        /// Form: settings (the system's own), toml (policy file), python, typescript or hook
        #[arg(long = "as", value_name = "FORM", value_parser = form, default_value = "settings", conflicts_with = "framework")]
        form: Form,
        /// Set a setting (repeatable)
        #[arg(long = "set", value_name = "SETTING=VALUE", value_parser = set)]
        sets: Vec<Set>,
        /// Write them to a new file instead
        #[arg(short, long, value_name = "OUT")]
        output: Option<PathBuf>,
    },
    /// Convert a system's own configuration to a preset with settings
    #[command(
        after_help = "Examples:\n  plimsoll presets export digitorn -o settings.yaml\n  plimsoll presets import settings.yaml"
    )]
    Import {
        /// Configuration file, or - for standard input
        file: PathBuf,
        /// Also write it as a new policy file
        #[arg(short, long, value_name = "OUT.toml")]
        output: Option<PathBuf>,
    },
    /// Save a policy with its settings as a preset of your own
    #[command(
        after_help = "Examples:\n  plimsoll presets save truncate --as mine --set keep_recent=4"
    )]
    Save {
        /// Preset or policy file
        #[arg(value_name = "NAME|FILE.toml")]
        policy: String,
        /// Name of the new preset
        #[arg(long = "as", value_name = "NAME")]
        name: String,
        /// Set a setting (repeatable)
        #[arg(long = "set", value_name = "SETTING=VALUE", value_parser = set)]
        sets: Vec<Set>,
        /// Replace your own preset of this name
        #[arg(long)]
        replace: bool,
    },
    /// Remove a preset of your own
    #[command(
        after_help = "Examples:\n  plimsoll presets save prune --as old\n  plimsoll presets remove old"
    )]
    Remove {
        /// Preset
        name: String,
    },
}

/// The bundled presets, then your own.
pub(super) type PresetList<'a> = Vec<PresetEntry<'a>>;

/// A preset.
#[derive(Serialize, JsonSchema)]
pub(super) struct PresetEntry<'a> {
    /// Name that `--policy` takes.
    name: &'a str,
    /// Name for display.
    label: &'a str,
    /// Description as a sentence.
    help: &'a str,
    /// Kind of system; null for a preset of your own that names none.
    kind: Option<PolicyKind>,
    /// Evidence for the behaviour; null for strategies of Plimsoll and for your own presets.
    proof: Option<Proof>,
    /// Names of the settings.
    settings: Vec<&'a str>,
    /// Ids of the stages.
    stages: Vec<&'a str>,
    /// Path of your own preset; null for a bundled one.
    path: Option<Cow<'a, str>>,
}

impl Args {
    pub(super) fn run(self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let list_all = PresetsAction::List { words: Vec::new() };
        match self.action.unwrap_or(list_all) {
            PresetsAction::List { words } => list(&words, shared.json)?,
            PresetsAction::Show { name } => show_preset(&name, shared.json)?,
            PresetsAction::Export { name, framework, form, sets, output } => {
                let lanes = LaneArgs::of(&name, sets);
                native::export(&lanes, (form, framework.as_deref()), output.as_deref(), shared)?;
            }
            PresetsAction::Import { file, output } => {
                native::import(&file, output.as_deref(), shared)?;
            }
            PresetsAction::Save { policy, name, sets, replace } => {
                own::save(&name, &LaneArgs::of(&policy, sets), replace, shared)?;
            }
            PresetsAction::Remove { name } => own::remove(&name, shared)?,
        }
        Ok(Status::Done)
    }
}

/// Parses the name of a form.
fn form(text: &str) -> Result<Form, String> {
    let found = Form::ALL.into_iter().find(|form| form.name() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = Form::ALL.iter().map(|form| form.name()).collect();
        format!("there is no form {text:?}; supported: {}", names.join(", "))
    })
}

fn entry<'a>(policy: &'a Policy, path: Option<&'a Path>) -> PresetEntry<'a> {
    PresetEntry {
        name: &policy.name,
        label: &policy.label,
        help: &policy.help,
        kind: policy.kind,
        proof: policy.proof.clone(),
        settings: policy.knobs.iter().map(|knob| knob.name.as_str()).collect(),
        stages: policy.stages.iter().map(|stage| stage.id.as_str()).collect(),
        path: path.map(Path::to_string_lossy),
    }
}

fn list(words: &[String], as_json: bool) -> anyhow::Result<()> {
    let bundled = PRESETS.iter().filter_map(|p| presets::by_name(p.name));
    let bundled: Vec<Policy> = bundled.filter(|policy| policy.matches(words)).collect();
    let mut own = OwnPresets::here().all();
    // A file that cannot be read is listed, so that its user learns of it.
    own.retain(|own| own.policy.as_ref().map_or(words.is_empty(), |p| p.matches(words)));
    if as_json {
        let bundled = bundled.iter().map(|policy| entry(policy, None));
        let own = own.iter();
        let own = own.filter_map(|own| Some(entry(own.policy.as_ref().ok()?, Some(&own.path))));
        return json(&bundled.chain(own).collect::<PresetList<'_>>());
    }
    let mut groups: Vec<String> = Vec::new();
    for kind in PolicyKind::ALL {
        let of_kind = bundled.iter().filter(|policy| policy.kind == Some(kind));
        let rows: String = of_kind.map(row).collect();
        if !rows.is_empty() {
            groups.push(format!("{}\n{rows}", kind.title()));
        }
    }
    if !own.is_empty() {
        let rows = own.iter().map(|own| match &own.policy {
            Ok(policy) => row(policy),
            Err(error) => {
                format!("  {}\n      {}\n", clean(own.name().unwrap_or("?")), clean(error))
            }
        });
        groups.push(format!("Your own\n{}", rows.collect::<String>()));
    }
    if groups.is_empty() {
        note(&format!("no preset matches {}", clean(&words.join(" "))));
    }
    print_wrapped(&groups.join("\n"))
}

/// Returns the lines of a preset: its name, its label and how it is known, then the first sentence of its description.
fn row(policy: &Policy) -> String {
    let proof = policy.proof.as_ref().map_or_else(String::new, |proof| format!(", {proof}"));
    let (name, label) = (clean(&policy.name), clean(&policy.label));
    let help = clean(policy.first_sentence());
    format!("  {name:<24} {label}{proof}\n      {help}\n")
}
