//! A command line that is being typed.

use clap::{Arg, ArgAction, Command};

/// The words before the cursor, and where the last one belongs.
pub(super) struct Typed<'a> {
    /// The command so far.
    pub(super) command: &'a Command,
    /// All words before the last one, without the program's name.
    pub(super) before: Vec<String>,
    /// The last word, which may be empty.
    pub(super) word: String,
    /// Positional arguments before the last word.
    pub(super) n_positional: usize,
    /// The option whose value the last word is, with the part of the word before it: `--policy=` or nothing.
    pub(super) option: Option<(&'a Arg, String)>,
}

impl<'a> Typed<'a> {
    /// Reads the words of a command line; the first is the program's name.
    pub(super) fn new(cli: &'a Command, words: &[String]) -> Self {
        let (word, before) = words.split_last().map_or_else(
            || (String::new(), Vec::new()),
            |(word, before)| (word.clone(), before.iter().skip(1).cloned().collect()),
        );
        let mut command = cli;
        let (mut n_positional, mut open) = (0, None);
        for word in &before {
            if open.take().is_some() {
                continue;
            }
            if word.starts_with('-') && word != "-" {
                open = option(command, word).filter(|arg| takes_value(arg) && !word.contains('='));
            } else if let Some(inner) = command.find_subcommand(word).filter(|_| n_positional == 0)
            {
                command = inner;
            } else {
                n_positional += 1;
            }
        }
        let option = match (open, word.split_once('=')) {
            (Some(arg), _) => Some((arg, String::new())),
            (None, Some((name, _))) if word.starts_with("--") => {
                option(command, name).map(|arg| (arg, format!("{name}=")))
            }
            _ => None,
        };
        Self { command, before, word, n_positional, option }
    }

    /// Returns the values of an option in the words before.
    pub(super) fn values(&self, name: &str) -> Vec<&str> {
        let words = self.before.iter().enumerate();
        let values = words.filter_map(|(at, word)| match word.strip_prefix(name)? {
            "" => self.before.get(at + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        });
        values.collect()
    }

    /// Returns the words that are neither options nor their values, commands included.
    pub(super) fn operands(&self) -> Vec<&str> {
        let mut is_value = false;
        let words = self.before.iter().filter(|word| {
            let is_operand = !is_value && !word.starts_with('-');
            let arg = option(self.command, word).filter(|arg| takes_value(arg));
            is_value = word.starts_with('-') && !word.contains('=') && arg.is_some();
            is_operand
        });
        words.map(String::as_str).collect()
    }
}

/// Returns the option of a command that a word names.
fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.split('=').next()?;
    let is_it = |arg: &&Arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name == format!("-{short}")),
    };
    command.get_arguments().find(is_it)
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Splits a line into words as a shell does. The last word may be unfinished.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut is_escaped) = (None, false);
    for c in line.chars() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => {
                is_escaped = true;
                continue;
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                continue;
            }
            (Some(open), c) if open == c => {
                quote = None;
                continue;
            }
            (None, ' ') => {
                if words.last().is_some_and(|word| !word.is_empty()) {
                    words.push(String::new());
                }
                continue;
            }
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_in_a_shell() {
        assert_eq!(split("p a\\ b 'c d'"), ["p", "a b", "c d"]);
        assert_eq!(split("p --set "), ["p", "--set", ""]);
        assert_eq!(split("p \"a \\\"b"), ["p", "a \"b"]);
    }
}
