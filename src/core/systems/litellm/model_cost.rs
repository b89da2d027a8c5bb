//! The cost map of litellm 1.89.0: longest prompts and answers of models.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A model's row of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelCost {
    /// `max_input_tokens`.
    pub(crate) max_input: Option<u64>,
    /// `max_output_tokens`.
    pub(crate) max_output: Option<u64>,
    /// `litellm_provider`, if it affects the choice of a tokenizer.
    pub(crate) provider: &'static str,
}

static TABLE: LazyLock<HashMap<&'static str, ModelCost>> =
    LazyLock::new(|| include_str!("models.tsv").lines().filter_map(row).collect());

fn row(line: &'static str) -> Option<(&'static str, ModelCost)> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let name = fields.next()?;
    let mut number = || fields.next().and_then(|text| text.parse().ok());
    let (max_input, max_output) = (number(), number());
    let provider = fields.next().unwrap_or_default();
    Some((name, ModelCost { max_input, max_output, provider }))
}

/// Returns the row of exactly this name.
pub(crate) fn exact(name: &str) -> Option<&'static ModelCost> {
    TABLE.get(name)
}

/// Returns the rows of a model in the order in which its names are tried: as written, in lower case, without
/// `/responses/`, without the part before the first `/`, only the last segment.
pub(crate) fn lookup(model: &str) -> impl Iterator<Item = &'static ModelCost> {
    let plain = model.replace("/responses/", "/");
    let mut names = vec![model.to_owned(), plain.clone()];
    if let Some((_, base)) = plain.split_once('/') {
        names.push(base.to_owned());
        names.extend(model.rsplit('/').next().map(str::to_owned));
    }
    names
        .into_iter()
        .flat_map(|name| [name.to_lowercase(), name].into_iter().rev())
        .filter_map(|name| exact(&name))
}

#[cfg(test)]
mod tests {
    use super::{exact, lookup};

    #[test]
    fn a_model_is_found_behind_its_provider_and_route() {
        let window = |name| lookup(name).find_map(|row| row.max_input);
        assert_eq!(window("gpt-4o"), Some(128_000));
        assert_eq!(window("anthropic/claude-opus-4-1-20250805"), Some(200_000));
        assert_eq!(window("OPENAI/responses/GPT-4o"), Some(128_000));
        assert_eq!(window("openai/some-unknown-model"), None);
    }

    #[test]
    fn a_row_may_name_a_provider_only() {
        assert!(exact("gpt-4").is_some_and(|row| row.provider == "openai"));
        assert!(exact("no such model").is_none());
    }
}
