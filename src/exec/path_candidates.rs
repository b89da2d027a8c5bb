//! Paths that complete a typed one.

use std::fs;
use std::path::{self, Path};

/// Maximum number of paths: a folder may hold any number.
const MAX_PATHS: usize = 1_000;

/// Returns the folders, which end with `/`, and the files with an offered name whose paths begin with `prefix`, sorted.
/// Hidden ones are among them only if a name with a dot is typed.
pub fn paths_from(prefix: &str, is_offered: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (folder, typed) = prefix
        .rsplit_once(path::is_separator)
        .map_or(("", prefix), |(folder, typed)| (&prefix[..=folder.len()], typed));
    let read = fs::read_dir(if folder.is_empty() { Path::new(".") } else { Path::new(folder) });
    let entries = read.into_iter().flatten().filter_map(Result::ok);
    let paths = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_hidden = name.starts_with('.') && !typed.starts_with('.');
        if is_hidden || !name.starts_with(typed) {
            return None;
        }
        if entry.path().is_dir() {
            return Some(format!("{folder}{name}/"));
        }
        is_offered(&name).then(|| format!("{folder}{name}"))
    });
    let mut paths: Vec<String> = paths.take(MAX_PATHS).collect();
    paths.sort();
    paths
}
