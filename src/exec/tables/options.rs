//! Options of tables, and the conditions under which two runs write the same files.

use super::rows::{RowOptions, TABLES, TableLane};
use super::schema::Table;
use crate::analysis::rereads::RereadModel;
use crate::exec::files::sha256;
use crate::exec::load::LoadOptions;
use crate::presets::models;
use crate::presets::prices::Prices;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Version of the tables, increased when the rows of the same file change: a column, its meaning or a figure.
pub const SCHEMA_VERSION: u32 = 2;

/// Format of the written files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet.
    Parquet,
    /// JSON Lines.
    JsonLines,
    /// CSV with a header.
    Csv,
}

impl TableFormat {
    /// Returns the name, which is also the extension of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
        }
    }

    /// Returns whether this build writes the format.
    pub fn is_built(self) -> bool {
        self != Self::Parquet || cfg!(feature = "tables")
    }
}

/// A part of the files, which one of several processes reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: u64,
    /// Number of parts.
    pub of: u64,
}

/// Content, place and format of the tables.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Folder that contains the tables.
    pub output: PathBuf,
    /// Names of the tables.
    pub tables: Vec<&'static str>,
    /// Policies to replay.
    pub lanes: Vec<TableLane>,
    /// The policy without any compaction, whose output reserve the recorded run has.
    pub none: TableLane,
    /// Tokenizer and context window.
    pub load: LoadOptions,
    /// Coefficients of expected re-reads.
    pub reread_model: RereadModel,
    /// Format of the files.
    pub format: TableFormat,
    /// Whether text of the sessions is written.
    pub with_text: bool,
    /// The part to read; all files if not set.
    pub shard: Option<Shard>,
    /// Whether inputs are skipped that the folder already has under the same conditions.
    pub resumes: bool,
    /// Maximum time for one file.
    pub timeout: Option<Duration>,
}

/// Conditions that the content of the files depends on besides the inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conditions {
    pub(super) plimsoll: String,
    pub(super) schema_version: u32,
    pub(super) tables: Vec<String>,
    pub(super) format: String,
    pub(super) text: bool,
    pub(super) counter: String,
    /// Context window that was given.
    pub(super) window_tokens: Option<u64>,
    /// Policies by lane, the first for the output reserve of the recorded run.
    pub(super) lanes: Vec<LaneConditions>,
    /// Hashes of the tables of prices and of context windows, and of the coefficients of expected re-reads.
    pub(super) prices: String,
    pub(super) windows: String,
    pub(super) reread_model: String,
}

/// A lane and its policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LaneConditions {
    pub(super) lane: String,
    pub(super) policy: String,
    pub(super) policy_sha256: String,
    pub(super) settings_json: String,
}

impl TableOptions {
    /// Returns the table of this name.
    pub fn table(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }

    pub(super) fn rows(&self) -> RowOptions<'_> {
        RowOptions {
            tables: &self.tables,
            lanes: &self.lanes,
            reread_model: &self.reread_model,
            with_text: self.with_text,
        }
    }

    pub(super) fn conditions(&self) -> Conditions {
        let lanes = std::iter::once(&self.none).chain(&self.lanes).map(|lane| LaneConditions {
            lane: lane.name.clone(),
            policy: lane.policy.name.clone(),
            policy_sha256: lane.sha256().to_string(),
            settings_json: lane.settings_json.clone(),
        });
        Conditions {
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: SCHEMA_VERSION,
            tables: self.tables.iter().map(|name| (*name).to_owned()).collect(),
            format: self.format.name().to_owned(),
            text: self.with_text,
            counter: self.load.counter.name.to_owned(),
            window_tokens: self.load.window.map(|window| window.0),
            lanes: lanes.collect(),
            prices: format!("{:016x}", Prices::in_use().fingerprint()),
            windows: format!("{:016x}", models::fingerprint()),
            reread_model: sha256(self.reread_model.to_toml().as_bytes()),
        }
    }
}

impl Conditions {
    /// Returns a hash of all conditions.
    pub(super) fn sha256(&self) -> String {
        // Writing to memory does not fail.
        sha256(&serde_json::to_vec(self).unwrap_or_default())
    }
}
