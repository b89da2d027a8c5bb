//! Terms of an action's calculation, for its event.

/// Returns terms with owned names.
pub(super) fn terms(terms: &[(&str, f64)]) -> Vec<(String, f64)> {
    let owned = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    terms.iter().map(owned).collect()
}
