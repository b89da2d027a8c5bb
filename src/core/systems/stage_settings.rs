//! Makes actions from the table `do` of a stage, and reads the texts, lists and choices in it.
//!
//! The parser of presets has already removed the numbers and `answer_tokens` from the table.

use crate::chat::{PendingRequest, Replies};
use crate::engine::{Rewrite, RewriteInput, Rewritten};
use std::fmt;
use std::sync::Arc;
use toml::{Table, Value};

/// Runs an action that never requests a summary.
type Run = fn(&RewriteInput<'_>) -> Rewritten;
/// Runs an action that may request summaries.
type RunWithRequests = fn(&RewriteInput<'_>, &mut Replies<'_>) -> Result<Rewritten, PendingRequest>;

/// An action whose settings are all numbers.
enum NumbersOnly {
    Run(Run),
    WithRequests(RunWithRequests),
}

impl fmt::Debug for NumbersOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NumbersOnly")
    }
}

impl Rewrite for NumbersOnly {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        replies: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        match self {
            Self::Run(run) => Ok(run(&input)),
            Self::WithRequests(run) => run(&input, replies),
        }
    }
}

/// Makes an action whose settings are all numbers, for [`crate::engine::NamedAction::make`]. Returns an error if the table
/// has any other key.
pub(super) fn numbers_only(table: &Table, run: Run) -> Result<Arc<dyn Rewrite>, String> {
    check_keys(table, &[])?;
    Ok(Arc::new(NumbersOnly::Run(run)))
}

/// Makes an action as [`numbers_only`] does, for a function that may request summaries.
pub(super) fn summarizing(table: &Table, run: RunWithRequests) -> Result<Arc<dyn Rewrite>, String> {
    check_keys(table, &[])?;
    Ok(Arc::new(NumbersOnly::WithRequests(run)))
}

/// Joins lists of names of numbers. `N` is their total length.
pub(super) const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut n, mut list) = (0, 0);
    while list < lists.len() {
        let mut nth = 0;
        while nth < lists[list].len() {
            all[n] = lists[list][nth];
            n += 1;
            nth += 1;
        }
        list += 1;
    }
    all
}

/// Returns an error if a table has an unknown key.
pub(super) fn check_keys(table: &Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown key `{key}`")),
        None => Ok(()),
    }
}

/// Returns a text; `None` if the key is missing.
pub(super) fn text_setting<'a>(table: &'a Table, key: &str) -> Result<Option<&'a str>, String> {
    let text = |value: &'a Value| {
        let text = value.as_str();
        text.ok_or_else(|| format!("`{key}` must be a text"))
    };
    table.get(key).map(text).transpose()
}

/// Returns a list of names; `None` if the key is missing.
pub(super) fn names_setting(table: &Table, key: &str) -> Result<Option<Vec<String>>, String> {
    let names = |value: &Value| {
        let names = value.as_array().into_iter().flatten().map(Value::as_str);
        let names: Option<Vec<&str>> = value.as_array().and(names.collect());
        let names = names.ok_or_else(|| format!("`{key}` must be a list of names"))?;
        Ok(names.into_iter().map(str::to_owned).collect())
    };
    table.get(key).map(names).transpose()
}

/// Returns the choice that a word names; `None` if the key is missing.
pub(super) fn choice_setting<T: Copy>(
    table: &Table,
    key: &str,
    choices: &[(&str, T)],
) -> Result<Option<T>, String> {
    let Some(given) = table.get(key) else {
        return Ok(None);
    };
    let found = choices.iter().find(|(word, _)| given.as_str() == Some(word));
    let words = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>();
    let unknown = || format!("`{key}` must be one of {}", words().join(", "));
    found.map(|(_, choice)| Some(*choice)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_another_type_are_rejected() {
        let table: Table = "a = ['x', 'y']\nb = [1]\nc = 'x'\nd = []".parse().unwrap();
        let both = vec!["x".to_owned(), "y".to_owned()];
        assert_eq!(names_setting(&table, "a"), Ok(Some(both)));
        assert_eq!(names_setting(&table, "d"), Ok(Some(Vec::new())));
        assert_eq!(names_setting(&table, "other"), Ok(None));
        let error = Err("`b` must be a list of names".to_owned());
        assert_eq!(names_setting(&table, "b"), error);
        assert!(names_setting(&table, "c").is_err());
        assert_eq!(text_setting(&table, "c"), Ok(Some("x")));
        assert_eq!(text_setting(&table, "other"), Ok(None));
        assert_eq!(text_setting(&table, "a"), Err("`a` must be a text".to_owned()));
    }

    #[test]
    fn a_choice_is_one_of_its_words() {
        let table: Table = "a = 'x'\nb = 'z'\nc = 1".parse().unwrap();
        let choice = |key| choice_setting(&table, key, &[("x", 1), ("y", 2)]);
        assert_eq!(choice("a"), Ok(Some(1)));
        assert_eq!(choice("other"), Ok(None));
        let error = |key| Err(format!("`{key}` must be one of x, y"));
        assert_eq!((choice("b"), choice("c")), (error("b"), error("c")));
    }

    #[test]
    fn an_action_with_numbers_only_rejects_other_settings() {
        let make = |table: &str| {
            let done = |_: &RewriteInput<'_>| Rewritten::default();
            numbers_only(&table.parse().unwrap(), done).map(|_| ())
        };
        assert_eq!(make(""), Ok(()));
        assert_eq!(make("keeep = 3"), Err("unknown key `keeep`".to_owned()));
    }

    #[test]
    fn unknown_keys_are_rejected() {
        let table: Table = "a = 1\nb = 2".parse().unwrap();
        assert_eq!(check_keys(&table, &["a", "b", "c"]), Ok(()));
        assert_eq!(check_keys(&table, &["a"]), Err("unknown key `b`".to_owned()));
    }
}
