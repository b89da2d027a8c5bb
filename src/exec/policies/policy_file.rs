//! Reads policies, prices and configurations of agents from files, and writes policies.

use crate::engine::Policy;
use crate::exec::files::{
    LoadError, must_exist, read_text, require_parent, write_error, write_new,
};
use crate::presets::{self, native};
use std::io::Read;
use std::path::Path;

/// Maximum size of a settings file, in bytes; a larger one is another kind of file.
const MAX_BYTES: u64 = 1 << 20;

/// Reads and validates a policy.
///
/// # Errors
/// Returns one line that names the file and the problem.
pub fn load_policy(path: &Path) -> Result<Policy, LoadError> {
    let what = "policy; give a TOML file as in `plimsoll presets show truncate`";
    let text = read_settings(path, what)?;
    let shown = path.display();
    presets::parse(&text).map_err(|error| {
        let hint = match native::import(&text) {
            Ok(_) => {
                format!("; for a system's own configuration use `plimsoll presets import {shown}`")
            }
            Err(_) => String::new(),
        };
        LoadError(format!("{shown}: {}{hint}", one_line(&error.to_string())))
    })
}

/// Reads the configuration of an agent.
///
/// # Errors
/// Returns one line that names the file and the problem.
pub fn load_configuration(path: &Path) -> Result<String, LoadError> {
    read_settings(path, "configuration of an agent")
}

/// Reads the configuration of an agent from a stream such as standard input.
///
/// # Errors
/// Returns one line if it cannot be read, is too large or is no text.
pub fn read_configuration(stream: impl Read) -> Result<String, LoadError> {
    let mut text = String::new();
    let read = stream.take(MAX_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| LoadError(format!("standard input: {error}")))?;
    if text.len() as u64 > MAX_BYTES {
        let why = "standard input is too large for a configuration of an agent";
        return Err(LoadError(why.to_owned()));
    }
    Ok(text)
}

/// Writes a policy as a new file.
///
/// # Errors
/// Returns one line if the file cannot be written. Existing files are never overwritten.
pub fn save_policy(output: &Path, toml: &str) -> Result<(), LoadError> {
    require_parent(output).map_err(LoadError)?;
    write_new(output, toml.as_bytes()).map_err(|error| LoadError(write_error(output, &error)))
}

/// Reads a settings file; `what` names the expected kind.
pub(super) fn read_settings(path: &Path, what: &str) -> Result<String, LoadError> {
    let metadata = must_exist(path)?;
    let shown = path.display();
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(LoadError(format!("{shown} is not a {what}")));
    }
    read_text(path, MAX_BYTES)
}

/// Reduces an error of the TOML parser to position and reason, without the quoted lines.
pub(super) fn one_line(error: &str) -> String {
    let is_quote = |line: &&str| {
        line.trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start()
            .starts_with('|')
    };
    error.lines().filter(|line| !is_quote(line)).collect::<Vec<_>>().join(": ")
}
