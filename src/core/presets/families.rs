//! Families of models: their vendors and caching rules, from `assets/model_families.toml`.

use crate::session::{begins_with_key, model_key};
use serde::Deserialize;
use std::sync::LazyLock;

/// Models of one vendor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    #[serde(rename = "match")]
    words: Vec<String>,
    /// Names of the vendor in litellm's price map, the best first.
    pub(super) litellm: Vec<String>,
    /// Only the vendor offers the models, so that prices of others are those of resellers.
    #[serde(default)]
    pub(super) closed: bool,
    /// Name of the vendor for OpenTelemetry.
    pub(super) vendor: Option<String>,
    caching: String,
    writes: Option<String>,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct FamilyTable {
        family: Vec<Family>,
    }
    let text = include_str!("../assets/model_families.toml");
    let mut table: FamilyTable = toml::from_str(text).expect("the bundled table is read by a test");
    for family in &mut table.family {
        for word in &mut family.words {
            *word = model_key(word);
        }
    }
    table.family
});

impl Family {
    /// Returns the family of a model by its key.
    pub(super) fn of(key: &str) -> Option<&'static Self> {
        let words =
            FAMILIES.iter().flat_map(|family| family.words.iter().map(move |word| (word, family)));
        let matching = words.filter(|(word, _)| begins_with_key(key, word));
        matching.max_by_key(|(word, _)| word.len()).map(|(_, family)| family)
    }

    /// Returns the name of the caching rule.
    pub(super) fn caching(&self, has_write_price: bool) -> &str {
        let writes = self.writes.as_ref().filter(|_| has_write_price);
        writes.unwrap_or(&self.caching)
    }
}
