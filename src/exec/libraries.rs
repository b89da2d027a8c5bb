//! Shared libraries of the system.

use std::env;
use std::fs;
use std::path::Path;

/// The loader's list of libraries.
const CACHE: &str = "/etc/ld.so.cache";

/// Returns those of the shared libraries that the loader does not find. Returns none if the system has no list of them.
pub fn missing_libraries<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let Ok(known) = fs::read(CACHE) else {
        return Vec::new();
    };
    let own = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&own).collect();
    let is_there = |name: &str| {
        // The list holds each name with a zero byte before and after it.
        let entry = [&b"\0"[..], name.as_bytes(), b"\0"].concat();
        let is_listed = known.windows(entry.len()).any(|part| part == entry);
        is_listed || folders.iter().any(|folder| Path::new(folder).join(name).exists())
    };
    names.iter().copied().filter(|name| !is_there(name)).collect()
}
