//! Reads the tool definitions of a file.

use crate::exec::LoadError;
use crate::exec::files::read_text;
use crate::formats::definitions_in;
use crate::json;
use std::path::Path;

/// Maximum size of a file of tool definitions.
// Chosen: a thousand tools of 16 KiB each. The largest known server defines a hundred.
const MAX_BYTES: u64 = 16 << 20;

/// Reads the tool definitions of a file, each a name and its JSON.
///
/// # Errors
/// [`LoadError`] if the file cannot be read, is not JSON, or defines no tool.
pub fn load_tool_definitions(path: &Path) -> Result<Vec<(String, String)>, LoadError> {
    let shown = path.display();
    let text = read_text(path, MAX_BYTES)?;
    let document =
        json::from_str(&text).map_err(|why| LoadError(format!("{shown} is not JSON: {why}")))?;
    let tools = definitions_in(&document);
    if tools.is_empty() {
        return Err(LoadError(format!(
            "{shown} defines no tools; give a list of definitions, or an object with `tools`"
        )));
    }
    Ok(tools)
}
