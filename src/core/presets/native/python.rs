//! Calls of Python classes with keyword arguments: `SummarizationMiddleware(trigger=("tokens", 100000))`.

use crate::json::{Map, Number, Value};

/// Returns whether the first part of a key names what an argument belongs to: a class, or the model.
pub(super) fn is_owner(name: &str) -> bool {
    is_class(name) || name == MODEL
}

/// Variable that the model of an agent is assigned to.
pub(super) const MODEL: &str = "model";

/// Choice of no class.
pub(super) const NO_CLASS: &str = "none";

/// Returns whether a name is that of a class: it begins with a capital letter.
fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Writes the argument of a call: a name of a class becomes its call, `none` the constant.
pub(super) fn expression(value: &Value) -> String {
    match value.as_str() {
        Some(NO_CLASS) => "None".to_owned(),
        Some(class) if is_class(class) => format!("{class}()"),
        _ => literal(value),
    }
}

/// Writes a value as Python does.
pub(super) fn literal(value: &Value) -> String {
    let all = |values: &[Value]| values.iter().map(literal).collect::<Vec<_>>().join(", ");
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        Value::Array(values) if values.first().is_some_and(Value::is_string) => {
            format!("({})", all(values))
        }
        Value::Array(values) => format!("[{}]", all(values)),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| format!("\"{key}\": {}", literal(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns the keyword arguments of the first call of a class or function, or of the call that is assigned to the
/// model; `None` without a call. A value that is not a literal is null.
pub(super) fn arguments(text: &str, name: &str) -> Option<Value> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = text.match_indices(name);
    let rest = places.find_map(|(at, _)| {
        let is_whole = !text[..at].ends_with(is_name);
        let rest = text[at + name.len()..].trim_start();
        let rest = if name == MODEL {
            let call = rest.strip_prefix('=')?.trim_start();
            call.trim_start_matches(|c: char| is_name(c) || c == '.')
        } else {
            rest
        };
        let rest = rest.strip_prefix('(')?;
        (is_whole && !is_comment(&text[..at])).then_some(rest)
    })?;
    Some(Value::Object(PythonReader { rest }.keywords()))
}

/// Returns the module that a program imports a name from.
pub(super) fn module_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut statements = text.match_indices("from ");
    statements.find_map(|(at, _)| {
        let is_statement = text[..at].is_empty() || text[..at].ends_with('\n');
        let (module, names) = text[at..].strip_prefix("from ")?.split_once(" import ")?;
        let names = match names.trim_start().strip_prefix('(') {
            Some(names) => names.split(')').next()?,
            None => names.lines().next()?,
        };
        let is_here = names
            .lines()
            .filter_map(|line| line.split('#').next())
            .flat_map(|line| line.split(','))
            .any(|imported| imported.split_whitespace().next() == Some(name));
        (is_statement && is_here && !module.contains('\n')).then_some(module)
    })
}

/// Returns whether a position in a program, given by the text before it, is in a comment or in a string of one line.
fn is_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mut quoted = None;
    for c in line.chars() {
        match (quoted, c) {
            (None, '#') => return true,
            (None, '"' | '\'') => quoted = Some(c),
            (Some(quote), c) if quote == c => quoted = None,
            _ => {}
        }
    }
    quoted.is_some()
}

/// Maximum depth of nested lists and dictionaries. The parser calls itself for each level, so a file of brackets would
/// overflow the stack. Configurations of agents have far fewer levels.
const MAX_DEPTH: usize = 32;

/// Reads literals from a program.
struct PythonReader<'a> {
    rest: &'a str,
}

impl<'a> PythonReader<'a> {
    /// Reads arguments up to the closing parenthesis. Skips those without a name.
    fn keywords(&mut self) -> Map<String, Value> {
        let mut found = Map::new();
        while !self.accept(')') && !self.is_at_end() {
            let start = self.rest;
            let name = self.word();
            self.skip_space();
            let is_named =
                !name.is_empty() && self.rest.starts_with('=') && !self.rest.starts_with("==");
            if is_named {
                self.rest = &self.rest[1..];
                let value = self.value(0);
                found.insert(name.to_owned(), value);
            } else {
                self.rest = start;
                self.value(0);
            }
            // Another bracket closes the call: the program is broken.
            if !self.accept(',') && self.rest.len() == start.len() {
                break;
            }
        }
        found
    }

    /// Reads a value up to the next comma or closing bracket; null if it is no literal.
    ///
    /// The call of a class without arguments is its name, and a function that compares with a number is that number.
    fn value(&mut self, depth: usize) -> Value {
        self.skip_space();
        let start = self.rest;
        let value = match self.rest.chars().next() {
            Some('(' | '[') if depth < MAX_DEPTH => self.list(depth + 1),
            Some('{') if depth < MAX_DEPTH => self.dictionary(depth + 1),
            Some(quote @ ('"' | '\'')) => self.text(quote),
            _ => match self.word() {
                "True" => Value::Bool(true),
                "False" => Value::Bool(false),
                word => {
                    let number = word.replace('_', "").parse::<f64>().ok();
                    let whole = number.filter(|n| n.fract() == 0.0 && n.abs() < 1e15);
                    let whole = whole.map(|n| Number::from(n as i64));
                    let number = whole.or_else(|| number.and_then(Number::from_f64));
                    number.map_or(Value::Null, Value::Number)
                }
            },
        };
        if !self.skip_expression() {
            return value;
        }
        let expression = start[..start.len() - self.rest.len()].trim();
        match expression.strip_suffix("()") {
            Some(class) if is_class(class) => Value::from(class),
            _ if expression.starts_with("lambda") => threshold(expression),
            _ => Value::Null,
        }
    }

    fn list(&mut self, depth: usize) -> Value {
        let close = if self.rest.starts_with('(') { ')' } else { ']' };
        self.rest = &self.rest[1..];
        let mut values = Vec::new();
        while !self.accept(close) && !self.is_at_end() {
            values.push(self.value(depth));
            if !self.accept(',') && !self.rest.starts_with(close) {
                return Value::Null;
            }
        }
        Value::Array(values)
    }

    fn dictionary(&mut self, depth: usize) -> Value {
        self.rest = &self.rest[1..];
        let mut members = Map::new();
        while !self.accept('}') && !self.is_at_end() {
            self.skip_space();
            let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let key = quote.map(|quote| self.text(quote));
            let Some(Value::String(key)) = key.filter(|_| self.accept(':')) else {
                return Value::Null;
            };
            let value = self.value(depth);
            members.insert(key, value);
            if !self.accept(',') && !self.rest.starts_with('}') {
                return Value::Null;
            }
        }
        Value::Object(members)
    }

    fn text(&mut self, quote: char) -> Value {
        let body = &self.rest[1..];
        let end = body.find([quote, '\\', '\n']);
        match end.filter(|end| body[*end..].starts_with(quote)) {
            Some(end) => {
                self.rest = &body[end + 1..];
                Value::from(&body[..end])
            }
            // Settings have no escapes and no line ends.
            None => Value::Null,
        }
    }

    /// Reads a name or a number.
    fn word(&mut self) -> &'a str {
        self.skip_space();
        let is_outside = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+'));
        let end = self.rest.find(is_outside).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Skips the rest of an expression up to a comma or a closing bracket. Returns whether there was any.
    fn skip_expression(&mut self) -> bool {
        self.skip_space();
        let start = self.rest.len();
        let mut open = 0_usize;
        let mut quoted = None;
        let end = self.rest.char_indices().find(|(_, c)| {
            match (quoted, c) {
                (Some(quote), c) if quote == *c => quoted = None,
                (None, '"' | '\'') => quoted = Some(*c),
                (None, '(' | '[' | '{') => open += 1,
                (None, ')' | ']' | '}') if open > 0 => open -= 1,
                (None, ',' | ')' | ']' | '}') => return open == 0,
                _ => {}
            }
            false
        });
        self.rest = &self.rest[end.map_or(self.rest.len(), |(at, _)| at)..];
        self.rest.len() < start
    }

    fn accept(&mut self, c: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    /// Skips whitespace and comments.
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
        while let Some(comment) = self.rest.strip_prefix('#') {
            let end = comment.find('\n').unwrap_or(comment.len());
            self.rest = comment[end..].trim_start();
        }
    }
}

/// Returns the number that a function compares with: `lambda context: len(context["items"]) >= 10`; null without one.
fn threshold(function: &str) -> Value {
    let number = function.rsplit_once(">=").map(|(_, number)| number.trim());
    number
        .and_then(|number| number.replace('_', "").parse::<i64>().ok())
        .map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn keyword_arguments_of_a_call_are_read() {
        let program = r#"
from somewhere import Middleware  # Middleware(keep=2)
text = "Middleware(keep=3)"
agent = create_agent(model, middleware=[
    NotThisMiddleware(keep=1),
    Middleware(
        model="a",  # any (model), "quoted"
        trigger=[("tokens", 100_000), ("fraction", 0.8)],
        keep={"messages": 20, 'on': True},
        prompt=PROMPT.format(x=[1, 2], y=")"), limit=10 * 1000,
        off=None,
    ),
])"#;
        let expected = json!({
            "model": "a", "trigger": [["tokens", 100_000], ["fraction", 0.8]],
            "keep": {"messages": 20, "on": true}, "prompt": null, "limit": null, "off": null,
        });
        assert_eq!(arguments(program, "Middleware"), Some(expected));
        assert_eq!(arguments(program, "Other"), None);
    }

    #[test]
    fn broken_programs_end() {
        for text in ["C(", "C(a=(", "C(a={\"b\":", "C(a=\"", "C(=,=)", "C(a=[1 2])", "C(a==b)"] {
            assert!(arguments(text, "C").is_some(), "{text}");
        }
        let deep = format!("C(a={}", "[".repeat(100_000));
        assert!(arguments(&deep, "C").is_some());
    }
}
