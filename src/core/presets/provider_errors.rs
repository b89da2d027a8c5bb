//! Provider errors that a user can insert at a call, with the text that agents receive (`assets/provider_errors.toml`).

use serde::Deserialize;
use std::sync::LazyLock;

/// A known provider error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownError {
    /// Name on the command line.
    pub name: String,
    /// Label for display.
    pub label: String,
    /// Its text.
    pub text: String,
    /// The provider that sends it.
    pub source: String,
}

#[derive(Deserialize)]
struct ErrorTable {
    error: Vec<KnownError>,
}

static TABLE: LazyLock<Vec<KnownError>> = LazyLock::new(|| {
    let table: ErrorTable = toml::from_str(include_str!("../assets/provider_errors.toml"))
        .expect("the bundled table is read by a test");
    table.error
});

/// Returns all known provider errors.
pub fn provider_errors() -> &'static [KnownError] {
    &TABLE
}

/// Returns the text of the error with this name.
pub fn provider_error(name: &str) -> Option<&'static str> {
    let known = TABLE.iter().find(|known| known.name == name);
    known.map(|known| &*known.text)
}

/// Returns the known error with this text.
pub fn known_error(text: &str) -> Option<&'static KnownError> {
    TABLE.iter().find(|known| known.text == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_texts_of_errors_are_unique() {
        let names: HashSet<_> = provider_errors().iter().map(|e| &e.name).collect();
        let texts: HashSet<_> = provider_errors().iter().map(|e| &e.text).collect();
        assert!(names.len() == provider_errors().len() && texts.len() == names.len());
        assert!(names.len() > 5);
    }
}
