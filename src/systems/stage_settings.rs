//! Values other than numbers that a stage states for its action.

use toml::{Table, Value};

/// Returns an error if a table has an unknown key.
pub(super) fn check_keys(table: &Table, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown key `{key}`")),
        None => Ok(()),
    }
}

/// Returns a text; `None` if the key is missing.
pub(super) fn text<'a>(table: &'a Table, key: &str) -> Result<Option<&'a str>, String> {
    let text = |value: &'a Value| {
        let text = value.as_str();
        text.ok_or_else(|| format!("`{key}` must be a text"))
    };
    table.get(key).map(text).transpose()
}

/// Returns a list of names; `None` if the key is missing.
pub(super) fn names(table: &Table, key: &str) -> Result<Option<Vec<String>>, String> {
    let names = |value: &Value| {
        let names = value.as_array().into_iter().flatten().map(Value::as_str);
        let names: Option<Vec<&str>> = value.as_array().and(names.collect());
        let names = names.ok_or_else(|| format!("`{key}` must be a list of names"))?;
        Ok(names.into_iter().map(str::to_owned).collect())
    };
    table.get(key).map(names).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_another_type_are_rejected() {
        let table: Table = "a = ['x', 'y']\nb = [1]\nc = 'x'\nd = []".parse().unwrap();
        let both = vec!["x".to_owned(), "y".to_owned()];
        assert_eq!(names(&table, "a"), Ok(Some(both)));
        assert_eq!(names(&table, "d"), Ok(Some(Vec::new())));
        assert_eq!(names(&table, "other"), Ok(None));
        let error = Err("`b` must be a list of names".to_owned());
        assert_eq!(names(&table, "b"), error);
        assert!(names(&table, "c").is_err());
        assert_eq!(text(&table, "c"), Ok(Some("x")));
        assert_eq!(text(&table, "other"), Ok(None));
        assert_eq!(text(&table, "a"), Err("`a` must be a text".to_owned()));
    }

    #[test]
    fn unknown_keys_are_rejected() {
        let table: Table = "a = 1\nb = 2".parse().unwrap();
        assert_eq!(check_keys(&table, &["a", "b", "c"]), Ok(()));
        assert_eq!(
            check_keys(&table, &["a"]),
            Err("unknown key `b`".to_owned())
        );
    }
}
