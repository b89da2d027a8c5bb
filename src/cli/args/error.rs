//! Command-line errors in one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;

/// Formats an error of the parser as one line: the problem, valid values, and the usage.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let invalid = context(ContextKind::InvalidArg).map(|arg| arg.split(' ').next().unwrap_or(arg));
    if let (ErrorKind::ValueValidation, Some(option), Some(source)) =
        (error.kind(), invalid, error.source())
    {
        let value = context(ContextKind::InvalidValue).unwrap_or_default();
        return format!("{option} {value}: {source}");
    }
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    // Drops the tip that suggests `--` before a value, which is rarely what was meant.
    let message: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass "))
        .map(|line| line.trim_start_matches("error: ").trim_start_matches("tip: "))
        .collect();
    let usage = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("Usage: "))
        .map_or_else(String::new, |usage| format!(" (usage: {usage})"));
    format!("{}{usage}", message.join("; ").replace(":; ", ": "))
}
