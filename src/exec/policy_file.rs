//! Reads a policy of one's own from a TOML file, or an agent's own configuration.

use super::load::{LoadError, must_exist, read_text};
use super::own_presets::OwnPresets;
use super::place::{cannot_create, refuse_nowhere, write_new};
use crate::engine::Policy;
use crate::presets::{self, prices::Prices};
use std::path::Path;

/// Nobody writes a policy this long; more is another kind of file.
const LONGEST: u64 = 1 << 20;

/// Reads and checks a policy.
///
/// # Errors
/// One line that says what is wrong with the file.
pub fn load_policy(path: &Path) -> Result<Policy, LoadError> {
    let what = "policy; give a TOML file as in `plimsoll presets show truncate`";
    let text = read_settings(path, what)?;
    let shown = path.display();
    presets::parse(&text)
        .map_err(|error| LoadError(format!("{shown}: {}", one_line(&error.to_string()))))
}

/// The text of a policy, by what was typed for it: the name of a preset, bundled or of one's own, or a file.
///
/// # Errors
/// One line that says what is wrong with the file.
pub fn policy_text(word: &str, own: &OwnPresets) -> Result<String, LoadError> {
    match presets::PRESETS.iter().find(|preset| preset.name == word) {
        Some(preset) => Ok(preset.toml.to_owned()),
        None => own
            .text(word)
            .unwrap_or_else(|| read_settings(Path::new(word), "policy")),
    }
}

/// Reads prices of one's own; they come before the bundled ones.
///
/// # Errors
/// One line that says what is wrong with the file.
pub fn load_prices(path: &Path) -> Result<Prices, LoadError> {
    let text = read_settings(
        path,
        "table of prices; give a TOML file with [[price]] rows",
    )?;
    let shown = path.display();
    Prices::with_own(&text)
        .map_err(|error| LoadError(format!("{shown}: {}", one_line(&error.to_string()))))
}

/// Reads a configuration of an agent.
///
/// # Errors
/// One line that says what is wrong with the file.
pub fn load_configuration(path: &Path) -> Result<String, LoadError> {
    read_settings(path, "configuration of an agent")
}

/// Writes a policy as a new file.
///
/// # Errors
/// One line; nothing that exists is written over.
pub fn save_policy(output: &Path, toml: &str) -> Result<(), LoadError> {
    refuse_nowhere(output).map_err(LoadError)?;
    write_new(output, toml.as_bytes()).map_err(|error| LoadError(cannot_create(output, &error)))
}

fn read_settings(path: &Path, what: &str) -> Result<String, LoadError> {
    let metadata = must_exist(path)?;
    let shown = path.display();
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(LoadError(format!("{shown} is no {what}")));
    }
    read_text(path, LONGEST)
}

/// Errors of the TOML reader quote the file over several lines; position and reason are enough.
fn one_line(error: &str) -> String {
    let is_quote = |line: &&str| {
        line.trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start()
            .starts_with('|')
    };
    error
        .lines()
        .filter(|line| !is_quote(line))
        .collect::<Vec<_>>()
        .join(": ")
}
