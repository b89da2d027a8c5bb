//! Python programs that construct the classes of a framework with a policy's settings (`assets/programs.toml`).

use super::{NativeSetting, python};
use crate::json::{Map, Value};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Placeholder for the class that a setting chooses.
const KIND: &str = "KIND";

/// Start of a directive.
const DIRECTIVE: &str = "#! ";

/// A part of a program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    preset: String,
    #[serde(default, rename = "if")]
    conditions: Vec<String>,
    #[serde(default, rename = "unless")]
    exceptions: Vec<String>,
    code: String,
}

#[derive(Deserialize)]
struct ProgramTable {
    program: Vec<Program>,
}

static TABLE: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let table: ProgramTable = toml::from_str(include_str!("../../assets/programs.toml"))
        .expect("the bundled table is read by a test");
    table.program
});

/// Arguments of the calls of a program, and what is switched on.
pub(super) struct ProgramArguments<'a> {
    /// The chosen class.
    kind: &'a str,
    /// Objects that settings switch on.
    switches: Vec<&'a str>,
    /// Arguments by class or variable.
    calls: Map<String, Value>,
}

/// A written program.
pub(super) struct WrittenProgram {
    pub(super) text: String,
    /// Classes that it calls.
    classes: BTreeSet<String>,
    left_out: BTreeSet<String>,
}

impl WrittenProgram {
    /// Returns whether the program has the argument of a setting, or calls the class.
    pub(super) fn has(&self, path: &[&str], kind: &str) -> bool {
        let (owner, rest) = owner(path, kind);
        let name = rest.first().map_or_else(String::new, |name| format!("{owner}.{name}"));
        self.classes.contains(owner) && !self.left_out.contains(&name)
    }
}

/// Splits a path of keys into the class or variable and the rest. A path without one belongs to the chosen class.
fn owner<'a, 'b>(path: &'b [&'a str], kind: &'a str) -> (&'a str, &'b [&'a str]) {
    match path {
        [owner, rest @ ..] if !rest.is_empty() && python::is_owner(owner) => (*owner, rest),
        _ => (kind, path),
    }
}

impl<'a> ProgramArguments<'a> {
    pub(super) fn new(
        kind: &'a str,
        switches: Vec<&'a str>,
        settings: &[NativeSetting<'a>],
    ) -> Self {
        let mut calls = Value::Object(Map::new());
        for setting in settings {
            let (owner, rest) = owner(&setting.path, kind);
            let mut at = &mut calls[owner];
            for key in rest {
                at = &mut at[*key];
            }
            *at = setting.value.clone();
        }
        let calls = match calls {
            Value::Object(calls) => calls,
            _ => Map::new(),
        };
        Self { kind, switches, calls }
    }

    /// Returns an argument by its path with dots.
    fn get(&self, path: &str) -> Option<&Value> {
        let (owner, rest) = path.split_once('.')?;
        let call = self.calls.get(owner)?;
        rest.split('.').try_fold(call, |at, key| at.get(key))
    }

    /// Returns whether one of the alternatives of a condition is met.
    fn holds(&self, condition: &str) -> bool {
        let mut names = condition.split('|').map(|name| name.replace(KIND, self.kind));
        names.any(|name| {
            let is_given = |value: &Value| !value.is_null() && *value != Value::Bool(false);
            name == self.kind
                || self.switches.contains(&&*name)
                || self.get(&name).is_some_and(is_given)
        })
    }

    /// Returns whether the condition of a directive is met.
    fn allows(&self, directive: &str) -> bool {
        match directive.split_once(' ') {
            Some(("with", condition)) => self.holds(condition),
            Some(("without", condition)) => !self.holds(condition),
            _ => true,
        }
    }

    /// Writes the program of a preset; `None` if none applies to these settings.
    pub(super) fn write(mut self, preset: &str) -> Option<WrittenProgram> {
        let applies = |program: &&Program| {
            program.preset == preset
                && program.conditions.iter().all(|name| self.holds(name))
                && !program.exceptions.iter().any(|name| self.holds(name))
        };
        let codes: Vec<String> = TABLE
            .iter()
            .filter(applies)
            .map(|program| program.code.replace(KIND, self.kind))
            .collect();
        if codes.is_empty() {
            return None;
        }
        let lines = || codes.iter().flat_map(|code| code.lines());
        let mut left_out = BTreeSet::new();
        for rule in lines().filter_map(|line| line.strip_prefix(DIRECTIVE)) {
            if let Some((argument, directive)) = rule.split_once(' ')
                && !self.allows(directive)
            {
                self.remove(argument);
                left_out.insert(argument.to_owned());
            }
        }
        let placed: Vec<&str> = lines().flat_map(placeholders).collect();
        let (mut imports, mut text) = (BTreeSet::new(), String::new());
        for code in &codes {
            let (own, body) = split_imports(code);
            imports.extend(own);
            let body: String = body
                .filter(|line| !line.starts_with(DIRECTIVE))
                .filter_map(|line| self.line(line, &placed))
                .collect();
            if !body.trim().is_empty() {
                text = format!("{text}\n{}\n", body.trim());
            }
        }
        let classes = called(&text);
        let imports: String = imports.into_iter().collect();
        Some(WrittenProgram { text: imports + &text, classes, left_out })
    }

    fn remove(&mut self, path: &str) {
        if let Some((owner, name)) = path.split_once('.')
            && let Some(Value::Object(call)) = self.calls.get_mut(owner)
        {
            call.swap_remove(name);
        }
    }

    /// Writes a line of a program; `None` if it is left out.
    fn line(&self, line: &str, placed: &[&str]) -> Option<String> {
        let (line, directive) = line.split_once(DIRECTIVE).unwrap_or((line, ""));
        let line = line.trim_end();
        if !self.allows(directive) {
            return None;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let mut text = line.to_owned();
        for placeholder in placeholders(line) {
            let (path, other) = placeholder.split_once('|').unwrap_or((placeholder, ""));
            let value = self.get(path).map(python::expression);
            if !path.contains('.') {
                return Some(self.arguments(path, indent, placed));
            }
            let value = value.unwrap_or_else(|| other.to_owned());
            if value.is_empty() {
                return None;
            }
            text = text.replace(&format!("{{{placeholder}}}"), &value);
        }
        Some(text + "\n")
    }

    /// Writes a line for each argument of a call that has no place of its own.
    fn arguments(&self, owner: &str, indent: &str, placed: &[&str]) -> String {
        let call = self.calls.get(owner).and_then(Value::as_object);
        let is_placed = |name: &str| {
            let path = format!("{owner}.{name}");
            let mut paths = placed.iter().filter_map(|placed| placed.split('|').next());
            paths.any(|placed| placed == path || placed.starts_with(&format!("{path}.")))
        };
        let mut lines = String::new();
        for (name, value) in call.into_iter().flatten() {
            if !is_placed(name) {
                lines += &[indent, name, "=", &python::expression(value), ",\n"].concat();
            }
        }
        lines
    }
}

/// Returns the statements that import, and the other lines.
fn split_imports(code: &str) -> (Vec<String>, impl Iterator<Item = &str>) {
    let mut imports: Vec<String> = Vec::new();
    let mut rest = Vec::new();
    let mut is_open = false;
    for line in code.trim_start().lines() {
        match imports.last_mut().filter(|_| is_open) {
            Some(import) => import.extend([line, "\n"]),
            None if line.starts_with("from ") => imports.push(format!("{line}\n")),
            None => {
                rest.push(line);
                continue;
            }
        }
        is_open = (is_open || line.ends_with('(')) && !line.ends_with(')');
    }
    (imports, rest.into_iter())
}

/// Returns the placeholders of a line without their braces. Braces of a dictionary begin with a quote.
fn placeholders(line: &str) -> Vec<&str> {
    let parts = line.split('{').skip(1);
    let inner = parts.filter_map(|part| Some(part.split_once('}')?.0));
    inner.filter(|text| text.starts_with(|c: char| c.is_ascii_alphabetic())).collect()
}

/// Returns the names that a program calls or assigns.
fn called(text: &str) -> BTreeSet<String> {
    let is_outside = |c: char| !(c.is_alphanumeric() || c == '_');
    let calls = text.match_indices('(').filter_map(|(at, _)| {
        let name = text[..at].rsplit(is_outside).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    let assigned = text.lines().filter_map(|line| {
        let (name, _) = line.split_once(" = ")?;
        Some(name.to_owned())
    });
    calls.chain(assigned).collect()
}

/// Returns the first parts of the modules that the programs of a preset import a class from: the names of packages.
pub(super) fn packages(preset: &str, class: &str) -> BTreeSet<String> {
    let own = TABLE.iter().filter(|program| program.preset == preset);
    let modules = own.filter_map(|program| {
        let code = program.code.replace(KIND, class);
        Some(python::module_of(&code, class)?.split('.').next()?.to_owned())
    });
    modules.collect()
}
