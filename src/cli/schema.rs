//! `plimsoll schema`: JSON schemas of the commands' output, derived from the types that produce it.

use super::args::GlobalOptions;
use super::output::{json, print};
use super::status::Status;
use super::{
    compact, compare, context, convert, diagnose, evaluate, find, gate, hook, inspect, mcp,
    presets, replay, report, restore, sessions, state, sweep, table, tools, usage,
};
use crate::names::unknown;
use anyhow::Context as _;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// Print the JSON schema (draft 2020-12) of a command's --json output
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without COMMAND: list the commands that have a schema. Calls, turns, messages and instructions are numbered from 1; shares are 0 to 1; money is in USD; unknown values are null, never zero.\n\nExamples:\n  plimsoll schema replay"
)]
pub(super) struct Args {
    /// Command, such as replay or presets list
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// Generates a schema.
type Generate = fn() -> Schema;

/// The commands with a schema, each with the function that generates it.
const SCHEMAS: &[(&str, Generate)] = &[
    ("inspect", schema::<inspect::Inspection<'static>>),
    ("find", schema::<find::FindResult<'static>>),
    ("tools", schema::<tools::ToolList<'static>>),
    ("replay", schema::<replay::Replay<'static>>),
    ("diagnose", schema::<diagnose::DiagnosisOutput<'static>>),
    ("diagnose calls", schema::<diagnose::CallRangeOutput<'static>>),
    ("compare", schema::<compare::ComparisonOutput<'static>>),
    ("evaluate", schema::<evaluate::Evaluation<'static>>),
    ("evaluate model", schema::<crate::exec::evaluate::Report>),
    ("sweep", schema::<sweep::Sweep<'static>>),
    ("gate", schema::<gate::Gate<'static>>),
    ("compact", schema::<compact::Compaction<'static>>),
    ("restore", schema::<restore::RestoredFile<'static>>),
    ("convert", schema::<convert::Conversion<'static>>),
    ("context", schema::<context::ContextFile<'static>>),
    ("report", schema::<report::ReportFile<'static>>),
    ("sessions", schema::<sessions::SessionList<'static>>),
    ("sessions search", schema::<sessions::SessionSearch<'static>>),
    ("usage", schema::<usage::UsageOutput<'static>>),
    ("table", schema::<table::TableOutput<'static>>),
    ("mcp", schema::<mcp::McpInstallation>),
    ("hook install", schema::<hook::HookSettings>),
    ("hook uninstall", schema::<hook::HookSettings>),
    ("hook constraints", schema::<hook::HookConstraints>),
    ("hook log", schema::<hook::HookLog>),
    ("presets list", schema::<presets::PresetList<'static>>),
    ("presets show", schema::<presets::PresetOutput<'static>>),
    ("presets export", schema::<presets::ExportedSettings<'static>>),
    ("presets import", schema::<presets::ImportedSettings<'static>>),
    ("presets save", schema::<presets::OwnPresetFile<'static>>),
    ("presets remove", schema::<presets::OwnPresetFile<'static>>),
    ("state list", schema::<state::StateList<'static>>),
    ("state enable", schema::<state::EnabledIndex>),
    ("state disable", schema::<state::ClearedState<'static>>),
    ("state clear", schema::<state::ClearedState<'static>>),
];

impl Args {
    pub(super) fn run(&self, _shared: &GlobalOptions) -> anyhow::Result<Status> {
        let names: Vec<String> = SCHEMAS.iter().map(|(name, _)| (*name).to_owned()).collect();
        if self.command.is_empty() {
            print(&(names.join("\n") + "\n"))?;
            return Ok(Status::Done);
        }
        let name = self.command.join(" ");
        let schema = SCHEMAS.iter().find(|(known, _)| is_meant(known, &name));
        let (command, schema) =
            schema.with_context(|| unknown("no command with a schema is named", &name, &names))?;
        let mut schema = schema();
        schema.insert("title".to_owned(), format!("plimsoll {command} --json").into());
        json(&schema)?;
        Ok(Status::Done)
    }
}

/// Returns true if a command is named, or a command whose default action is named.
fn is_meant(command: &str, typed: &str) -> bool {
    command == typed || command.strip_suffix(" list") == Some(typed)
}

/// Generates the schema of a type.
fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{command_line, verbs};
    use std::collections::BTreeSet;

    #[test]
    fn every_command_with_json_output_has_a_schema() {
        let without = ["schema", "help", "completions", "man"].map(str::to_owned);
        let mut expected: BTreeSet<String> = verbs(&command_line()).into_iter().collect();
        expected.retain(|command| !without.contains(command));
        let first_word = |(name, _): &(&str, _)| name.split(' ').next().map(str::to_owned);
        let with_schema: BTreeSet<String> = SCHEMAS.iter().filter_map(first_word).collect();
        assert_eq!(with_schema, expected);
    }
}
