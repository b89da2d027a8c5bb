//! Counts of tokens as files report them, and which of them can be none.
//!
//! A number that no count can be (negative, or beyond all bounds) is read as an impossible one
//! rather than passed over, so that whoever uses it can say on which line it stands.

use super::json;
use crate::session::Usage;
use crate::units::Tokens;
use serde_json::{Number, Value};

/// No call and no window is larger: a hundred times the largest windows there are.
const MOST: Tokens = Tokens(100_000_000);
/// What a number reads as that cannot be a count. Sums with it stay impossible, since they saturate.
const IMPOSSIBLE: Tokens = Tokens(u64::MAX);

/// A count of tokens; `None` where there stands no number. May be impossible, see [`checked`].
pub(super) fn tokens_at(value: &Value, path: &[&str]) -> Option<Tokens> {
    json::at(value, path)?.as_number().map(tokens_of)
}

/// The count that a number says. May be impossible, see [`checked`].
pub(super) fn tokens_of(number: &Number) -> Tokens {
    json::u64_of(number).map_or(IMPOSSIBLE, Tokens)
}

/// The count that a number says which is written so. May be impossible, see [`checked`].
pub(super) fn tokens_written(number: &str) -> Option<Tokens> {
    let usual = number.parse().map(Tokens).ok();
    usual.or_else(|| number.parse().as_ref().map(tokens_of).ok())
}

/// A context window: a count that is not zero. May be impossible, see [`checked`].
pub(super) fn window_at(value: &Value, path: &[&str]) -> Option<Tokens> {
    tokens_at(value, path).filter(|window| *window > Tokens::ZERO)
}

/// The whole context of a call where the file does not say whether its input includes what was cached. Nothing that it
/// includes can be larger than it: what was read from the cache may be included, and what was written may be beside it.
pub(super) fn whole_input(input: Tokens, read: Option<Tokens>, write: Option<Tokens>) -> Tokens {
    let (read, write) = (read.unwrap_or_default(), write.unwrap_or_default());
    if read > input {
        input + read + write
    } else if read + write > input {
        input + write
    } else {
        input
    }
}

/// Whether a count can be right.
pub(super) fn is_possible(tokens: Tokens) -> bool {
    tokens <= MOST
}

/// The count if it can be right, else what to tell about it; `what` names it.
pub(super) fn checked(tokens: Option<Tokens>, what: &str) -> Result<Option<Tokens>, String> {
    match tokens {
        Some(tokens) if !is_possible(tokens) => Err(refused(what)),
        tokens => Ok(tokens),
    }
}

/// What a provider reported for a call if all of it can be right, else what to tell about it.
pub(super) fn checked_usage(usage: Option<Usage>) -> Result<Option<Usage>, String> {
    let is_right = |usage: &Usage| {
        let beside = [
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_hour,
            usage.output,
            usage.reasoning,
        ];
        is_possible(usage.input) && beside.into_iter().flatten().all(is_possible)
    };
    match usage {
        Some(usage) if !is_right(&usage) => Err(refused("what this call reports of its tokens")),
        usage => Ok(usage),
    }
}

fn refused(what: &str) -> String {
    format!(
        "{what} cannot be right (negative, or above {} million) and was left out",
        MOST.0 / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: &str) -> Option<Tokens> {
        let value = serde_json::from_str(&format!("{{\"n\":{number}}}")).unwrap();
        tokens_at(&value, &["n"])
    }

    #[test]
    fn a_count_is_the_same_from_its_text() {
        for number in [
            "0",
            "-0",
            "12",
            "12.4",
            "1e3",
            "-1",
            "1e400",
            "18446744073709551616",
        ] {
            assert_eq!(tokens_written(number), read(number), "{number}");
        }
        assert_eq!(tokens_written("twelve"), None);
    }

    #[test]
    fn a_number_that_is_no_count_is_told_from_none() {
        for absurd in [
            "99999999999999999999999999",
            "18446744073709551615",
            "1000000000000",
            "1e400",
            "1e30",
            "-1",
            "-0.6",
            "100000001",
        ] {
            assert!(checked(read(absurd), "x").is_err(), "{absurd}");
        }
        for fine in ["0", "1e3", "12.4", "-0.0", "100000000"] {
            assert!(
                checked(read(fine), "x").is_ok_and(|t| t.is_some()),
                "{fine}"
            );
        }
        for nothing in ["null", "\"12\"", "[]"] {
            assert_eq!(checked(read(nothing), "x"), Ok(None), "{nothing}");
        }
    }

    #[test]
    fn what_was_cached_is_added_unless_the_input_may_include_it() {
        let whole = |input, read, write| {
            whole_input(Tokens(input), Some(Tokens(read)), Some(Tokens(write))).0
        };
        assert_eq!(whole(5_000, 4_000, 900), 5_000);
        assert_eq!(whole(4_004, 4_000, 900), 4_904);
        assert_eq!(whole(4, 4_000, 900), 4_904);
        assert_eq!(whole(4, 0, 900), 904);
        assert_eq!(whole_input(Tokens(7), None, None), Tokens(7));
    }

    #[test]
    fn one_absurd_count_makes_all_of_a_call_doubtful() {
        let usage = Usage {
            input: Tokens(10),
            reasoning: Some(IMPOSSIBLE),
            ..Usage::default()
        };
        assert!(checked_usage(Some(usage)).is_err());
        let usage = Usage {
            reasoning: Some(Tokens(5)),
            ..usage
        };
        assert_eq!(checked_usage(Some(usage)), Ok(Some(usage)));
    }
}
