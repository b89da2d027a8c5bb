//! Parses exceptions of case files: `repr()`, with the class and the arguments but no other field.

use plimsoll::languages::python::PythonError;
use plimsoll::systems::baseagent::{Failure, code_of_status};

/// Parses `RuntimeError('boom')`: class and `str()`.
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

/// Returns the failure of a call that raised the exception; `None` if the case does not state its code.
pub(super) fn read_failure(repr: &str) -> Option<Failure> {
    let error = read_exception(repr);
    Some(match &*error.kind {
        "CostLimitExceeded" => Failure::CostLimit(error.text),
        "LLMError" => {
            Failure::Llm { code: client_code(&error.text)?.to_owned(), message: error.text }
        }
        _ => Failure::Other(error),
    })
}

/// Returns the code of an `LLMError`, which its `repr` omits: by the status in its text, or else by words in its text.
/// Returns `None` if the text contains neither.
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
    let contains_any = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if contains_any(&["auth", "key"]) {
        Some(code_of_status(401))
    } else if contains_any(&["rate_limit", "rate limit"]) {
        Some(code_of_status(429))
    } else if contains_any(&["timeout", "timed out"]) {
        Some("timeout")
    } else if contains_any(&["overloaded"]) {
        Some(code_of_status(503))
    } else {
        None
    }
}

/// Returns the text of a quoted literal; `None` for anything else.
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
