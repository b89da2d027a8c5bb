//! Options that every verb knows, and the words they are made of.

use super::by_hand::ByHandArgs;
use super::output::note;
use crate::engine::{Case, ProviderError};
use crate::exec::{LoadOptions, Loaded, Several, load, load_stream};
use crate::presets::{provider_error, provider_errors};
use crate::tokens::{self, COUNTERS, Counter, Progress};
use crate::units::Tokens;
use anyhow::bail;
use lexopt::Arg;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

/// What to call standard input.
const STDIN: &str = "standard input";

/// What every verb's help ends with.
pub(super) fn shared_help() -> String {
    let counters: Vec<_> = COUNTERS.iter().map(|c| c.name).collect();
    format!(
        "\
Options everywhere, before the verb or after it:
  --window N           context window by hand (200000, 200k, 1M)
  --output-reserve N   room kept for the answer
  --counter NAME       what counts tokens, one of
                       {}
  --conversation N     which conversation of a file that holds several, from 1; the first unless told (sweep, gate: all)
  --restart STEP       the agent's program was started again before this call; again for more
  --error STEP=ERROR   the provider answers this call with an error first: a known one by its name, or its words in full
  --pin N,N-M          messages, from 1, that no strategy takes (real systems know no pins); again for more
  --clear N,N-M        messages whose content goes at the end, whatever the policy does; again for more
  --drop N,N-M         messages that go at the end, each with the calls and results that belong to it; again for more
  --json               the result as JSON
  --no-state           keep no recent files or window layout
  --help, --version

FILE may be - for standard input. Exit codes: 0 done, 1 a check failed, 2 bad input or use.
",
        counters.join(", ")
    )
}

/// A word of the command line.
#[derive(Debug, PartialEq)]
pub(super) enum Word {
    /// An option with its dashes.
    Option(String),
    /// Anything else.
    Operand(OsString),
}

/// The words of the command line, one after another.
pub(super) struct Words(lexopt::Parser);

/// Not a failure, but a wish that ends the reading of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Asked {
    /// `--help`.
    #[error("help")]
    Help,
    /// `--version`.
    #[error("version")]
    Version,
}

/// The wish an error stands for, if it is one.
pub(super) fn asked_for(error: &anyhow::Error) -> Option<Asked> {
    error.downcast_ref().copied()
}

impl Words {
    /// These words, the program's name not among them.
    pub(super) fn new(words: impl Iterator<Item = OsString>) -> Self {
        Self(lexopt::Parser::from_args(words))
    }

    /// The next word.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Word>> {
        Ok(self.0.next()?.map(|arg| match arg {
            Arg::Short(letter) => Word::Option(format!("-{letter}")),
            Arg::Long(name) => Word::Option(format!("--{name}")),
            Arg::Value(value) => Word::Operand(value),
        }))
    }

    /// Reads all that is left. Operands are given back; an option is one of the shared ones, or `take` says whether it was
    /// taken.
    pub(super) fn read(
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
    pub(super) fn raw_value(&mut self, option: &str) -> anyhow::Result<OsString> {
        self.0
            .value()
            .map_err(|_missing| anyhow::anyhow!("{option} needs a value: {}", expected(option)))
    }

    /// The value of the option just read.
    pub(super) fn value(&mut self, option: &str) -> anyhow::Result<String> {
        let value = self.raw_value(option)?;
        value
            .into_string()
            .map_err(|value| anyhow::anyhow!("{option}: {} is not Unicode", value.display()))
    }
}

/// What is to stand behind an option, for those who gave nothing.
fn expected(option: &str) -> &'static str {
    match option {
        "--window" | "--output-reserve" => "a number of tokens such as 200000, 200k or 1M",
        "--counter" => "the name of a counter such as o200k_base",
        "--conversation" | "--at" | "--restart" => "a whole number from 1",
        "--pin" | "--clear" | "--drop" => "numbers of messages such as 3,8-12",
        "--error" => "STEP=NAME such as 12=rate_limit, or STEP=WORDS",
        "--policy" => "the name of a preset such as truncate, or a FILE.toml",
        "--set" => "KNOB=NUMBER such as keep_recent=20",
        "--schedule" => "now or replay",
        "--format" => "the name of a format such as openai_chat",
        "--summarizer" => "digest or text:THE SUMMARY",
        "--size" => "WIDTHxHEIGHT such as 1440x900",
        "--theme" => "dark or light",
        "--prices" => "the name of a TOML file with [[price]] rows",
        "--price-as" => "the name of a model such as claude-sonnet-4-5",
        "--cache-time" => "usual or long",
        "--max-peak" => "a share of usable such as 0.9 or 90%",
        "--max-cost" => "dollars, or +10% for so much above the baseline",
        "--max-at-risk" => "a number, or +10% for so much above the baseline",
        "--max-overflows" => "a whole number from 0",
        "--tolerance" => "percent such as 2",
        "--vary" => "KNOB=MIN..MAX such as keep_recent=5..80, or KNOB=A,B,C",
        "--points" => "how many settings to try, such as 300",
        "--weight" => "a number from 0 (cost alone) to 1 (risk alone)",
        "--curve" => "the name of a new file that ends in .png, .svg or .csv",
        _ => "the name of a new file",
    }
}

/// The options that every verb knows.
#[derive(Debug)]
pub(super) struct Shared {
    /// The context window by hand.
    pub(super) window: Option<Tokens>,
    /// Room for the answer by hand.
    pub(super) output_reserve: Option<Tokens>,
    /// What counts.
    pub(super) counter: &'static Counter,
    /// Index of the conversation, where one was chosen.
    pub(super) conversation: Option<usize>,
    /// Steps before which the program was started again (indices).
    pub(super) restarts: Vec<usize>,
    /// Errors of the provider.
    pub(super) errors: Vec<ProviderError>,
    /// Messages that were marked by hand.
    pub(super) by_hand: ByHandArgs,
    /// Keep no state.
    pub(super) no_state: bool,
    /// Print JSON.
    pub(super) json: bool,
}

impl Shared {
    /// Nothing set.
    pub(super) fn new() -> Self {
        Self {
            window: None,
            output_reserve: None,
            counter: tokens::default_counter(),
            conversation: None,
            restarts: Vec::new(),
            errors: Vec::new(),
            by_hand: ByHandArgs::default(),
            no_state: false,
            json: false,
        }
    }

    /// Takes the shared options that stand before the verb or the first file; gives back the word that follows them.
    pub(super) fn before_verb(&mut self, words: &mut Words) -> anyhow::Result<Option<Word>> {
        loop {
            match words.next()? {
                Some(Word::Option(option)) if self.take(&option, words)? => {}
                word => return Ok(word),
            }
        }
    }

    /// Takes an option if it is a shared one.
    pub(super) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
        match option {
            "--help" | "-h" => return Err(Asked::Help.into()),
            "--version" | "-V" => return Err(Asked::Version.into()),
            "--window" => self.window = Some(at_least_one(option, &words.value(option)?)?),
            "--output-reserve" => self.output_reserve = Some(whole(option, &words.value(option)?)?),
            "--counter" => self.counter = counter(&words.value(option)?)?,
            "--conversation" => {
                self.conversation = Some(ordinal(option, &words.value(option)?)?);
            }
            "--restart" => self.restarts.push(ordinal(option, &words.value(option)?)?),
            "--error" => self.errors.push(error(option, &words.value(option)?)?),
            "--no-state" => self.no_state = true,
            "--json" => self.json = true,
            _ => return self.by_hand.take(option, words),
        }
        Ok(true)
    }

    /// How to read a file.
    pub(super) fn load_options(&self) -> LoadOptions {
        LoadOptions {
            counter: self.counter,
            window: self.window,
            conversation: self.conversation.unwrap_or(0),
        }
    }

    /// Reads the session file, or standard input for `-`.
    pub(super) fn load(&self, file: &OsStr) -> anyhow::Result<Loaded> {
        let (options, progress) = (self.load_options(), Progress::default());
        let mut loaded = if file == "-" {
            let stdin = io::stdin().lock();
            load_stream(STDIN, stdin, &options, &progress)?
        } else {
            load(Path::new(file), &options, &progress)?
        };
        if self.conversation.is_none() && loaded.are_several() {
            let all = loaded.conversations.len();
            let name = file.to_string_lossy();
            note(&format!(
                "{name} holds {all} conversations; this is the first, and --conversation N chooses another"
            ));
        }
        loaded.case = self.marked(&loaded.case)?;
        Ok(loaded)
    }

    /// One of the sessions of a file.
    pub(super) fn case_of(&self, several: &Several, number: usize) -> anyhow::Result<Case> {
        let case = several.case(number, &self.load_options(), &Progress::default())?;
        self.marked(&case)
    }

    /// Whether something was marked that only one session can have.
    pub(super) fn marks_one(&self) -> bool {
        !self.restarts.is_empty() || !self.errors.is_empty() || !self.by_hand.is_empty()
    }

    /// The session with what was marked in it.
    fn marked(&self, case: &Case) -> anyhow::Result<Case> {
        let steps = case.session.steps.len();
        if let Some(step) = self.restarts.iter().find(|step| **step >= steps) {
            bail!("--restart {}: the session has {steps} calls", step + 1);
        }
        if let Some(error) = self.errors.iter().find(|error| error.step >= steps) {
            bail!("--error {}: the session has {steps} calls", error.step + 1);
        }
        let by_hand = self.by_hand.within(case.session.messages.len())?;
        Ok(case
            .with_restarts(&self.restarts)
            .with_errors(&self.errors)
            .with_by_hand(by_hand))
    }
}

/// All the sessions that a session file holds, or standard input for `-`.
pub(super) fn several(file: &OsStr) -> anyhow::Result<Several> {
    let progress = Progress::default();
    Ok(if file == "-" {
        Several::read(STDIN, io::stdin().lock(), &progress)?
    } else {
        Several::open(Path::new(file), &progress)?
    })
}

/// The error for an option that a verb does not have.
pub(super) fn unknown_option(verb: &str, option: &str) -> anyhow::Error {
    let help = if verb.is_empty() {
        "plimsoll --help".to_owned()
    } else {
        format!("plimsoll {verb} --help")
    };
    anyhow::anyhow!("unknown option {option}; `{help}` lists what there is")
}

/// The one file of a verb.
pub(super) fn one_file(verb: &str, files: Vec<OsString>) -> anyhow::Result<OsString> {
    match <[OsString; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) if files.is_empty() => {
            bail!("{verb} needs a session file: plimsoll {verb} FILE")
        }
        Err(files) => bail!("{verb} takes one session file, not {}", files.len()),
    }
}

/// A number from 1, as an index from 0.
pub(super) fn ordinal(option: &str, text: &str) -> anyhow::Result<usize> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n - 1),
        _ => bail!("{option} {text}: give a whole number from 1"),
    }
}

/// An error of the provider at a call. One word is a name; what is no name is what the provider says.
fn error(option: &str, text: &str) -> anyhow::Result<ProviderError> {
    let known = || {
        let names: Vec<_> = provider_errors().iter().map(|e| &*e.name).collect();
        names.join(", ")
    };
    let Some((step, said)) = text.split_once('=') else {
        bail!(
            "{option} {text}: give STEP=NAME or STEP=WORDS; the names are {}",
            known()
        );
    };
    let step = ordinal(option, step)?;
    let said = said.trim();
    let words = match provider_error(said) {
        Some(words) => words,
        None if said.contains(char::is_whitespace) => said,
        None => bail!(
            "{option} {text}: no error is named {said:?}; there are {}, or give its words",
            known()
        ),
    };
    Ok(ProviderError {
        step,
        text: words.into(),
    })
}

/// A number as people write it: `0.75`, `40000`, `40_000`, `40k`, `1.5M`.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.trim().replace('_', "");
    let (digits, unit) = match digits.strip_suffix(['k', 'K']) {
        Some(rest) => (rest, 1e3),
        None => digits
            .strip_suffix(['m', 'M'])
            .map_or((digits.as_str(), 1.0), |rest| (rest, 1e6)),
    };
    // Rust also reads "inf" and "nan", which are no quantities.
    digits
        .parse::<f64>()
        .ok()
        .map(|n| n * unit)
        .filter(|n| n.is_finite())
}

fn whole(option: &str, text: &str) -> anyhow::Result<Tokens> {
    /// Far above any context window; keeps sums of them exact.
    const LARGEST: f64 = 1e12;
    let rounded = number(text).map(|n| (n, n.round()));
    match rounded {
        Some((n, tokens)) if (n - tokens).abs() < 1e-6 && (0.0..=LARGEST).contains(&tokens) => {
            Ok(Tokens(tokens as u64))
        }
        _ => bail!("{option} {text}: give a number of tokens such as 200000, 200k or 1M"),
    }
}

fn at_least_one(option: &str, text: &str) -> anyhow::Result<Tokens> {
    match whole(option, text)? {
        Tokens::ZERO => {
            bail!("{option} {text}: give a number of tokens such as 200000, 200k or 1M")
        }
        tokens => Ok(tokens),
    }
}

fn counter(name: &str) -> anyhow::Result<&'static Counter> {
    tokens::by_name(name).ok_or_else(|| {
        let known: Vec<_> = COUNTERS.iter().map(|c| c.name).collect();
        anyhow::anyhow!(
            "no counter is named {name:?}; there are {}",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let read: Vec<_> = ["200000", "200k", "1M", "0.75", "1_000", "1.5m", "-3"]
            .map(number)
            .into();
        let meant = [
            200_000.0,
            200_000.0,
            1_000_000.0,
            0.75,
            1_000.0,
            1_500_000.0,
            -3.0,
        ];
        assert_eq!(read, meant.map(Some));
        assert_eq!(
            ["", "k", "inf", "NaN", "12x", "1e999"].map(number),
            [None; 6]
        );
    }

    #[test]
    fn a_window_of_nothing_or_of_half_a_token_is_refused() {
        for text in ["0", "-1", "0.5", "1e15", "many"] {
            assert!(at_least_one("--window", text).is_err(), "{text}");
        }
        assert_eq!(at_least_one("--window", "1.5k").unwrap(), Tokens(1_500));
    }

    #[test]
    fn numbers_of_things_start_at_one() {
        assert_eq!(ordinal("--at", "1").unwrap(), 0);
        assert!(ordinal("--at", "0").is_err());
    }
}
