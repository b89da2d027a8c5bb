//! The same engine without a window: one file a verb, one row a verb in `VERBS`.
//!
//! Results go to standard output, everything else to standard error. Exit 0: done; 1: a check failed; 2: bad input or
//! use, then exactly one line that says what to do, and nothing was written. Knows no window: without a verb it hands
//! back what to open ([`Invocation::Window`]).

mod args;
mod billing;
mod by_hand;
mod compact;
mod convert;
mod curve;
mod diagnose;
mod gate;
mod inspect;
mod lanes;
mod model;
mod nearest;
mod output;
mod played;
mod presets;
mod replay;
mod report;
mod restore;
mod resume;
mod saw;
mod sessions;
mod state;
mod streamed;
mod sweep;
mod targets;
mod window;

pub use by_hand::ByHandArgs;
pub use curve::Picture;
pub use lanes::Lane;
pub use window::{Theme, WindowArgs};

use args::{Shared, Word, Words};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;

/// One verb of the command line.
#[derive(Debug)]
struct Verb {
    /// What is typed.
    name: &'static str,
    /// One line for the list of verbs.
    summary: &'static str,
    /// Usage and options, for `--help`.
    help: &'static str,
    /// Does it.
    run: fn(&mut Words, Shared) -> anyhow::Result<Status>,
}

/// Every verb, in the order of the help text.
static VERBS: &[Verb] = &[
    inspect::VERB,
    replay::VERB,
    diagnose::VERB,
    sweep::VERB,
    gate::VERB,
    compact::VERB,
    restore::VERB,
    convert::VERB,
    saw::VERB,
    report::VERB,
    sessions::VERB,
    presets::VERB,
    state::VERB,
];

/// How a verb ended.
#[derive(Debug)]
enum Status {
    /// Done.
    Done,
    /// Done, but a check of the result failed.
    CheckFailed,
    /// Done but for a picture, which only the window can paint.
    Paints(Box<Picture>),
}

/// What is left to do after the command line was read.
#[derive(Debug)]
pub enum Invocation {
    /// Nothing: exit with this code.
    Finished(u8),
    /// Open the window, or render it to a picture.
    Window(Box<WindowArgs>),
    /// Paint a drawing.
    Paint(Box<Picture>),
}

/// Reads the command line (the program's own name first) and does what it says, but for the window.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Invocation {
    let mut words = Words::new(args.into_iter().skip(1));
    let (mut shared, mut verb) = (Shared::new(), None);
    let result = shared.before_verb(&mut words).and_then(|first| {
        verb = first.as_ref().and_then(verb_of);
        match verb {
            Some(verb) => (verb.run)(&mut words, shared).map(|status| match status {
                Status::Done => Invocation::Finished(0),
                Status::CheckFailed => Invocation::Finished(1),
                Status::Paints(picture) => Invocation::Paint(picture),
            }),
            None => window::parse(&mut words, shared, first),
        }
    });
    result.unwrap_or_else(|error| match args::asked_for(&error) {
        Some(args::Asked::Help) => printed(&verb.map_or_else(overview, help_of)),
        Some(args::Asked::Version) => {
            printed(concat!("plimsoll ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        None if is_broken_pipe(&error) => Invocation::Finished(0),
        None => Invocation::Finished(fail(&format!("{error:#}"))),
    })
}

/// Says in one line on standard error what went wrong, and gives the exit code for it.
pub fn fail(message: &str) -> u8 {
    output::error(message);
    2
}

/// Says something in one line on standard error that is no failure.
pub fn note(message: &str) {
    output::note(message);
}

fn verb_of(word: &Word) -> Option<&'static Verb> {
    match word {
        Word::Operand(name) => VERBS.iter().find(|verb| name == verb.name),
        Word::Option(_) => None,
    }
}

fn printed(text: &str) -> Invocation {
    match output::print(text) {
        Err(error) if !is_broken_pipe(&error) => Invocation::Finished(fail(&format!("{error:#}"))),
        _ => Invocation::Finished(0),
    }
}

/// Whoever read our output has seen enough (`| head`): not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

fn help_of(verb: &Verb) -> String {
    format!("{}\n\n{}\n{}", verb.summary, verb.help, args::shared_help())
}

fn overview() -> String {
    let mut text = format!(
        "{}\n\nUsage:\n{}\nVerbs:\n",
        env!("CARGO_PKG_DESCRIPTION"),
        window::HELP
    );
    for verb in VERBS {
        let _ = writeln!(text, "  plimsoll {:<9} {}", verb.name, verb.summary);
    }
    let _ = write!(
        text,
        "\n`plimsoll VERB --help` lists a verb's options.\n\n{}",
        args::shared_help()
    );
    text
}
