//! Exceptions as case files write them: `repr()`, which holds the class and the arguments but no other field.

use plimsoll::systems::baseagent::PythonError;
use plimsoll::systems::baseagent::agent_loop::{Failure, code_of_status};

/// Reads `RuntimeError('boom')`: class and `str()`.
pub(super) fn read_exception(repr: &str) -> PythonError {
    let Some((kind, arguments)) = repr.strip_suffix(')').and_then(|repr| repr.split_once('('))
    else {
        return PythonError::new("Exception", repr);
    };
    let text = match unquoted(arguments.trim_end_matches(',')) {
        // `str(KeyError('x'))` is the repr of its argument.
        Some(text) if kind != "KeyError" => text,
        None if arguments.contains(',') => format!("({arguments})"),
        _ => arguments.to_owned(),
    };
    PythonError::new(kind.to_owned(), text)
}

/// The failure of a call that such an exception is to the loop; none if the case does not state it in full.
pub(super) fn read_failure(repr: &str) -> Option<Failure> {
    let error = read_exception(repr);
    Some(match &*error.kind {
        "CostLimitExceeded" => Failure::CostLimit(error.text),
        "LLMError" => Failure::Llm {
            code: client_code(&error.text)?.to_owned(),
            message: error.text,
        },
        _ => Failure::Other(error),
    })
}

/// The code that goes with an `LLMError`, which its `repr` leaves out: that of the status in its text if there is one,
/// else what the text says. None if neither says anything.
fn client_code(message: &str) -> Option<&'static str> {
    let status = message
        .split(|c: char| !c.is_ascii_digit())
        .find(|digits| digits.len() == 3)
        .and_then(|digits| digits.parse().ok())
        .filter(|status| (400..600).contains(status));
    if let Some(status) = status {
        return Some(code_of_status(status));
    }
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["auth", "key"]) {
        Some(code_of_status(401))
    } else if says(&["rate_limit", "rate limit"]) {
        Some(code_of_status(429))
    } else if says(&["timeout", "timed out"]) {
        Some("timeout")
    } else if says(&["overloaded"]) {
        Some(code_of_status(503))
    } else {
        None
    }
}

/// The text of one quoted literal; none if it is something else.
fn unquoted(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut chars = literal[1..].chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            c if c == quote => return chars.next().is_none().then_some(text),
            c => text.push(c),
        }
    }
}
