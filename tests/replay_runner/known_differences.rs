//! The list of cases that do not agree yet, with the reasons.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reasons by the name of the case.
pub(crate) fn known_differences() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replays/known_differences.toml");
    let text = fs::read_to_string(path).expect("the list exists");
    let systems: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(&text).expect("the list has a table for each system");
    let cases = systems.into_iter().flat_map(|(system, cases)| {
        let named = move |(case, why)| (format!("{system}/{case}"), why);
        cases.into_iter().map(named)
    });
    cases.collect()
}
