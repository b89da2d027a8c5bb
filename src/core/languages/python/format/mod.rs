//! Python's `str.format` with named integers, as used by the `log` action.

mod number;
mod spec;

use crate::json::{Value, json};
use crate::languages::python::PythonError;
use crate::languages::python::python_str;

/// Maximum nesting depth of fields within format specifications.
// As in `CPython`: `str.format` rejects fields that are nested deeper.
const MAX_DEPTH: usize = 2;

/// Fills the fields of a template.
///
/// # Errors
/// As the original raises: unknown names, positions, broken braces, formats that do not fit.
pub(crate) fn format_text(template: &str, fields: &[(&str, i64)]) -> Result<String, PythonError> {
    expand(template, fields, MAX_DEPTH)
}

fn expand(template: &str, fields: &[(&str, i64)], depth: usize) -> Result<String, PythonError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PythonError::of_value("Max string recursion exceeded"));
    };
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, from) = rest.split_at(at);
        out.push_str(literal);
        if let Some(after) = from.strip_prefix("{{") {
            out.push('{');
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            out.push('}');
            rest = after;
        } else if let Some(after) = from.strip_prefix('{') {
            let (field, after) = Field::parse(after)?;
            out.push_str(&field.fill(fields, depth)?);
            rest = after;
        } else {
            return Err(PythonError::of_value("Single '}' encountered in format string"));
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// A replacement field: `{name!conversion:spec}`.
struct Field<'a> {
    name: &'a str,
    conversion: Option<char>,
    spec: &'a str,
}

impl<'a> Field<'a> {
    /// Parses a field after its opening brace, and returns the rest of the text.
    fn parse(text: &'a str) -> Result<(Self, &'a str), PythonError> {
        if text.is_empty() {
            return Err(PythonError::of_value("Single '{' encountered in format string"));
        }
        let mut in_brackets = false;
        let end = text.find(|c| {
            in_brackets = (in_brackets || c == '[') && c != ']';
            c == '{' || (matches!(c, '}' | ':' | '!') && !in_brackets)
        });
        let unended = || PythonError::of_value("expected '}' before end of string");
        let (name, from) = text.split_at(end.ok_or_else(unended)?);
        if from.starts_with('{') {
            return Err(PythonError::of_value("unexpected '{' in field name"));
        }
        let mut field = Self { name, conversion: None, spec: "" };
        let mut rest = from;
        if let Some(after) = from.strip_prefix('!') {
            let mut chars = after.chars();
            let no_conversion = "end of string while looking for conversion specifier";
            field.conversion =
                Some(chars.next().ok_or_else(|| PythonError::of_value(no_conversion))?);
            rest = chars.as_str();
        }
        let after = field.parse_spec(rest)?;
        Ok((field, after))
    }

    /// Parses the part after name and conversion, and returns the text after the closing brace.
    fn parse_spec(&mut self, rest: &'a str) -> Result<&'a str, PythonError> {
        if let Some(after) = rest.strip_prefix('}') {
            return Ok(after);
        }
        let Some(spec) = rest.strip_prefix(':') else {
            return Err(PythonError::of_value(if rest.is_empty() {
                "unmatched '{' in format spec"
            } else {
                "expected ':' after conversion specifier"
            }));
        };
        let mut open = 1_usize;
        let end = spec.find(|c| {
            match c {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            open == 0
        });
        let unmatched = || PythonError::of_value("unmatched '{' in format spec");
        let (spec, after) = spec.split_at(end.ok_or_else(unmatched)?);
        self.spec = spec;
        Ok(after.strip_prefix('}').unwrap_or_default())
    }

    fn fill(&self, fields: &[(&str, i64)], depth: usize) -> Result<String, PythonError> {
        let value = self.value(fields)?;
        let spec = if self.spec.contains(['{', '}']) {
            expand(self.spec, fields, depth)?
        } else {
            self.spec.to_owned()
        };
        match self.conversion {
            None => number::format_int(value, &spec),
            Some('s' | 'r' | 'a') => number::format_str(&value.to_string(), &spec),
            Some(other) => {
                Err(PythonError::of_value(format!("Unknown conversion specifier {other}")))
            }
        }
    }

    fn value(&self, fields: &[(&str, i64)]) -> Result<i64, PythonError> {
        let end = self.name.find(['.', '[']).unwrap_or(self.name.len());
        let (first, path) = self.name.split_at(end);
        if first.bytes().all(|b| b.is_ascii_digit()) {
            let index = if first.is_empty() { "0" } else { first };
            let why = format!("Replacement index {index} out of range for positional args tuple");
            return Err(PythonError::new("IndexError", why));
        }
        let found = fields.iter().find(|(name, _)| *name == first);
        let Some((_, value)) = found else {
            return Err(PythonError::new("KeyError", quoted(first)));
        };
        match path {
            "" | ".real" | ".numerator" => Ok(*value),
            ".denominator" => Ok(1),
            ".imag" => Ok(0),
            _ => Err(path.strip_prefix('.').map_or_else(
                || PythonError::of_type("'int' object is not subscriptable"),
                |attribute| {
                    let why = format!("'int' object has no attribute '{attribute}'");
                    PythonError::new("AttributeError", why)
                },
            )),
        }
    }
}

/// `repr` of a text.
fn quoted(text: &str) -> String {
    let list = python_str(&Value::Array(vec![json!(text)]));
    let inner = list.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    inner.unwrap_or(text).to_owned()
}
