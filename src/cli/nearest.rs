//! Suggestions for misspelled names.

pub(super) use crate::analysis::nearest;

/// Returns an error message for an unknown name: `problem` and the name, then the nearest known name or all of them.
pub(super) fn unknown(problem: &str, typed: &str, known: &[String]) -> String {
    match nearest(typed, known) {
        Some(near) => format!("{problem} {typed:?}; did you mean {near}?"),
        None => format!("{problem} {typed:?}; choose from {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_all_names_if_none_is_near() {
        let known = ["truncate", "prune"].map(str::to_owned);
        let unknown = |typed| unknown("no preset is named", typed, &known);
        assert_eq!(unknown("prun"), "no preset is named \"prun\"; did you mean prune?");
        assert_eq!(unknown("x"), "no preset is named \"x\"; choose from truncate, prune");
    }
}
