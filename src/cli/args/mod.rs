//! Options that every verb knows, and the words they are made of.

mod help;
mod values;
mod words;

pub(super) use help::shared_help;
pub(super) use values::{number, ordinal};
pub(super) use words::{Asked, Word, Words, asked_for, unknown_option};

use super::by_hand::ByHandArgs;
use super::output::{counted, note};
use crate::engine::{Case, ProviderError};
use crate::exec::{LoadOptions, Loaded, Several, load, load_stream};
use crate::tokens::{self, Counter, Progress};
use crate::units::Tokens;
use anyhow::bail;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use values::{at_least_one, counter, error, whole};

/// What to call standard input.
const STDIN: &str = "standard input";

/// The options that every verb knows.
#[derive(Debug)]
pub(in crate::cli) struct Shared {
    /// The context window by hand.
    pub(in crate::cli) window: Option<Tokens>,
    /// Room for the answer by hand.
    pub(in crate::cli) output_reserve: Option<Tokens>,
    /// What counts.
    pub(in crate::cli) counter: &'static Counter,
    /// Index of the conversation, where one was chosen.
    pub(in crate::cli) conversation: Option<usize>,
    /// Steps before which the program was started again (indices).
    pub(in crate::cli) restarts: Vec<usize>,
    /// Errors of the provider.
    pub(in crate::cli) errors: Vec<ProviderError>,
    /// Messages that were marked by hand.
    pub(in crate::cli) by_hand: ByHandArgs,
    /// Keep no state.
    pub(in crate::cli) no_state: bool,
    /// Print JSON.
    pub(in crate::cli) json: bool,
}

impl Shared {
    /// Nothing set.
    pub(in crate::cli) fn new() -> Self {
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
    pub(in crate::cli) fn before_verb(
        &mut self,
        words: &mut Words,
    ) -> anyhow::Result<Option<Word>> {
        loop {
            match words.next()? {
                Some(Word::Option(option)) if self.take(&option, words)? => {}
                word => return Ok(word),
            }
        }
    }

    /// Takes an option if it is a shared one.
    pub(in crate::cli) fn take(&mut self, option: &str, words: &mut Words) -> anyhow::Result<bool> {
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
    pub(in crate::cli) fn load_options(&self) -> LoadOptions {
        LoadOptions {
            counter: self.counter,
            window: self.window,
            conversation: self.conversation.unwrap_or(0),
        }
    }

    /// Reads the session file, or standard input for `-`.
    pub(in crate::cli) fn load(&self, file: &OsStr) -> anyhow::Result<Loaded> {
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
    pub(in crate::cli) fn case_of(&self, several: &Several, number: usize) -> anyhow::Result<Case> {
        let case = several.case(number, &self.load_options(), &Progress::default())?;
        self.marked(&case)
    }

    /// Whether something was marked that only one session can have.
    pub(in crate::cli) fn marks_one(&self) -> bool {
        !self.restarts.is_empty() || !self.errors.is_empty() || !self.by_hand.is_empty()
    }

    /// The session with what was marked in it.
    fn marked(&self, case: &Case) -> anyhow::Result<Case> {
        let steps = case.session.steps.len();
        let calls = counted(steps, "call");
        if let Some(step) = self.restarts.iter().find(|step| **step >= steps) {
            bail!("--restart {}: the session has {calls}", step + 1);
        }
        if let Some(error) = self.errors.iter().find(|error| error.step >= steps) {
            bail!("--error {}: the session has {calls}", error.step + 1);
        }
        let by_hand = self.by_hand.within(case.session.messages.len())?;
        Ok(case
            .with_restarts(&self.restarts)
            .with_errors(&self.errors)
            .with_by_hand(by_hand))
    }
}

/// All the sessions that a session file holds, or standard input for `-`.
pub(in crate::cli) fn several(file: &OsStr) -> anyhow::Result<Several> {
    let progress = Progress::default();
    Ok(if file == "-" {
        Several::read(STDIN, io::stdin().lock(), &progress)?
    } else {
        Several::open(Path::new(file), &progress)?
    })
}

/// The one file of a verb.
pub(in crate::cli) fn one_file(verb: &str, files: Vec<OsString>) -> anyhow::Result<OsString> {
    match <[OsString; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) if files.is_empty() => {
            bail!("{verb} needs a session file: plimsoll {verb} FILE")
        }
        Err(files) => bail!("{verb} takes one session file, not {}", files.len()),
    }
}
