//! The user's tables of models and prices: options, and files in the data folder.

use super::policy_file::one_line;
use crate::exec::State;
use crate::exec::files::{LoadError, must_exist, read_text};
use crate::presets::models::Models;
use crate::presets::prices::Prices;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum size of a table, in bytes. litellm's price map has 3.5 MB.
const MAX_BYTES: u64 = 1 << 25;

/// Names in the data folder, those that take precedence last.
const MAP: &str = "model_prices_and_context_window.json";
const MODELS: &str = "models.toml";
const PRICES: &str = "prices.toml";

/// Returns the existing tables in the data folder.
pub fn kept_tables() -> Vec<PathBuf> {
    let path = State::path();
    let folder = path.as_deref().and_then(Path::parent);
    let paths = [MAP, MODELS, PRICES].map(|name| Some(folder?.join(name)));
    paths.into_iter().flatten().filter(|path| path.is_file()).collect()
}

/// Reads the user's tables and installs them for the whole program: files in the data folder if `uses_kept`, and the
/// given ones, which take precedence. Returns one sentence for each kept file that cannot be used.
///
/// # Errors
/// Returns one line that names a given file and the problem.
pub fn install_tables(
    models: Option<&Path>,
    prices: Option<&Path>,
    uses_kept: bool,
) -> Result<Vec<String>, LoadError> {
    let (mut windows, mut rates) = (None, None);
    let mut notes = Vec::new();
    for path in if uses_kept { kept_tables() } else { Vec::new() } {
        let is = |name: &str| path.ends_with(name);
        let mut read = || -> Result<(), LoadError> {
            if is(MAP) || is(MODELS) {
                windows = Some(with_models(windows.as_ref(), &path)?);
            }
            if is(MAP) || is(PRICES) {
                rates = Some(with_prices(rates.as_ref(), &path)?);
            }
            Ok(())
        };
        if let Err(error) = read() {
            notes.push(format!("{error}; the file is ignored"));
        }
    }
    if let Some(path) = models {
        windows = Some(with_models(windows.as_ref(), path)?);
    }
    if let Some(path) = prices {
        rates = Some(with_prices(rates.as_ref(), path)?);
    }
    if let Some(windows) = windows {
        windows.install();
    }
    if let Some(rates) = rates {
        rates.install();
    }
    Ok(notes)
}

fn with_models(base: Option<&Models>, path: &Path) -> Result<Models, LoadError> {
    let what = "table of models; give litellm's price map or a TOML file with [models]";
    let text = read(path, what)?;
    let base = base.unwrap_or(Models::bundled()).clone();
    base.with(&text).map_err(|error| wrong(path, &error.to_string()))
}

fn with_prices(base: Option<&Prices>, path: &Path) -> Result<Prices, LoadError> {
    let what = "table of prices; give litellm's price map or a TOML file with [[price]] rows";
    let text = read(path, what)?;
    let base = base.unwrap_or(Prices::bundled()).clone();
    base.with(&text, &day_of(path)).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, error: &str) -> LoadError {
    LoadError(format!("{}: {}", path.display(), one_line(error)))
}

fn read(path: &Path, what: &str) -> Result<String, LoadError> {
    let metadata = must_exist(path)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(LoadError(format!("{} is not a {what}", path.display())));
    }
    read_text(path, MAX_BYTES)
}

/// Returns the day on which a file was written: `2026-11-28`.
fn day_of(path: &Path) -> String {
    let time = path.metadata().and_then(|metadata| metadata.modified());
    let time = humantime::format_rfc3339(time.unwrap_or(SystemTime::UNIX_EPOCH)).to_string();
    time.chars().take(10).collect()
}
