//! The words of the command line, one after another.

use super::Shared;
use super::help::expected;
use lexopt::Arg;
use std::ffi::OsString;

/// A word of the command line.
#[derive(Debug, PartialEq)]
pub(in crate::cli) enum Word {
    /// An option with its dashes.
    Option(String),
    /// Anything else.
    Operand(OsString),
}

/// The words of the command line, one after another.
pub(in crate::cli) struct Words(lexopt::Parser);

/// Not a failure, but a wish that ends the reading of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum Asked {
    /// `--help`.
    #[error("help")]
    Help,
    /// `--version`.
    #[error("version")]
    Version,
}

/// The wish an error stands for, if it is one.
pub(in crate::cli) fn asked_for(error: &anyhow::Error) -> Option<Asked> {
    error.downcast_ref().copied()
}

impl Words {
    /// These words, the program's name not among them.
    pub(in crate::cli) fn new(words: impl Iterator<Item = OsString>) -> Self {
        Self(lexopt::Parser::from_args(words))
    }

    /// The next word.
    pub(in crate::cli) fn next(&mut self) -> anyhow::Result<Option<Word>> {
        Ok(self.0.next()?.map(|arg| match arg {
            Arg::Short(letter) => Word::Option(format!("-{letter}")),
            Arg::Long(name) => Word::Option(format!("--{name}")),
            Arg::Value(value) => Word::Operand(value),
        }))
    }

    /// Reads all that is left. Operands are given back; an option is one of the shared ones, or `take` says whether it was
    /// taken.
    pub(in crate::cli) fn read(
        &mut self,
        verb: &str,
        shared: &mut Shared,
        mut take: impl FnMut(&str, &mut Self) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Vec<OsString>> {
        let mut operands = Vec::new();
        while let Some(word) = self.next()? {
            match word {
                Word::Operand(operand) => operands.push(operand),
                Word::Option(option) => {
                    if !shared.take(&option, self)? && !take(&option, self)? {
                        return Err(unknown_option(verb, &option));
                    }
                }
            }
        }
        Ok(operands)
    }

    /// The value of the option just read, as it is (a path).
    pub(in crate::cli) fn raw_value(&mut self, option: &str) -> anyhow::Result<OsString> {
        self.0
            .value()
            .map_err(|_missing| anyhow::anyhow!("{option} needs a value: {}", expected(option)))
    }

    /// The value of the option just read.
    pub(in crate::cli) fn value(&mut self, option: &str) -> anyhow::Result<String> {
        let value = self.raw_value(option)?;
        value
            .into_string()
            .map_err(|value| anyhow::anyhow!("{option}: {} is not Unicode", value.display()))
    }
}

/// The error for an option that a verb does not have.
pub(in crate::cli) fn unknown_option(verb: &str, option: &str) -> anyhow::Error {
    let help = if verb.is_empty() {
        "plimsoll --help".to_owned()
    } else {
        format!("plimsoll {verb} --help")
    };
    anyhow::anyhow!("unknown option {option}; `{help}` lists what there is")
}
