//! Reads a policy of one's own from a TOML file.

use super::load::{LoadError, must_exist};
use crate::engine::Policy;
use std::fs;
use std::path::Path;

/// Nobody writes a policy this long; more is another kind of file.
const LONGEST: u64 = 1 << 20;

/// Reads and checks a policy.
///
/// # Errors
/// One line that says what is wrong with the file.
pub fn load_policy(path: &Path) -> Result<Policy, LoadError> {
    let metadata = must_exist(path)?;
    let shown = path.display();
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(LoadError(format!(
            "{shown} is no policy; give a TOML file as in `plimsoll presets show truncate`"
        )));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| LoadError(format!("{shown} cannot be read ({error})")))?;
    Policy::parse(&text)
        .map_err(|error| LoadError(format!("{shown}: {}", one_line(&error.to_string()))))
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
