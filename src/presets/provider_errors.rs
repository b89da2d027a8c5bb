//! Errors of providers that a person can place at a call, in the words that agents see (`assets/provider_errors.toml`).

use serde::Deserialize;
use std::sync::LazyLock;

/// One of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownError {
    /// Name on the command line.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// What it says.
    pub text: String,
    /// Who says so.
    pub source: String,
}

#[derive(Deserialize)]
struct Table {
    error: Vec<KnownError>,
}

static TABLE: LazyLock<Vec<KnownError>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../../assets/provider_errors.toml"))
        .expect("the bundled table of errors is well-formed; a test reads it");
    table.error
});

/// All of them.
pub fn provider_errors() -> &'static [KnownError] {
    &TABLE
}

/// The text of the error with this name.
pub fn provider_error(name: &str) -> Option<&'static str> {
    let known = TABLE.iter().find(|known| known.name == name);
    known.map(|known| &*known.text)
}

/// The known error that says this.
pub fn known_error(text: &str) -> Option<&'static KnownError> {
    TABLE.iter().find(|known| known.text == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_error_has_a_name_and_words_of_its_own() {
        let names: HashSet<_> = provider_errors().iter().map(|e| &e.name).collect();
        let texts: HashSet<_> = provider_errors().iter().map(|e| &e.text).collect();
        assert!(names.len() == provider_errors().len() && texts.len() == names.len());
        assert!(names.len() > 5);
    }
}
