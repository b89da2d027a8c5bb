//! The command line: one file or folder per command, one row per command in `commands!`.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done; 1 a check failed; 2 invalid
//! input or usage, or a failed model request, with one line on standard error and no result written. Without a command
//! it returns what the window opens ([`Invocation::Window`]).
//!
//! # How to write a command
//!
//! 1. Add a file, or a folder with `json_output.rs` and `text.rs` like `tools`, with `struct Args` and `fn run(&self, &GlobalOptions) -> anyhow::Result<Status>`. The doc comment of `Args`
//!    is its line in the list of commands. `after_help` ends with examples that work in a checkout: a test runs them.
//! 2. Declare the file as a module, and add a row to `commands!`. Rows after `;` are commands about the command line, without
//!    JSON output; their `run` takes the `clap::Command`.
//! 3. Every other command prints JSON with `--json`: add a type that derives `Serialize` and `JsonSchema`, a row to `SCHEMAS`
//!    in `schema.rs` (re-export the type from the command), and a row to `EXAMPLES` in `tests/cli/json_schemas.rs`. Each field has a doc comment, which says when
//!    the field is null.
//! 4. Add a section to `docs/command-line.md` and a row under *Features* in `README.md`, and write
//!    `docs/json-output.md` again: `UPDATE_DOCS=1 cargo test --test cli json_page`.
//! 5. Test it in `tests/cli/NAME.rs`, declared in `tests/cli/main.rs`.
//!
//! An operation of `presets` or `state` is a variant of `Action` in the `mod.rs` of that command instead. Its rows in
//! `SCHEMAS` and `EXAMPLES` have names like `presets save`. Describe it in the command's section of
//! `docs/command-line.md`.
//!
//! | the command takes | use | example |
//! |---|---|---|
//! | one session | `args::FileArg`, read by `GlobalOptions::load` | `find` |
//! | many sessions in files, archives and folders | `args::InputArgs`, read by `targets::Targets` with its progress, or as a list with `many_files::FilesProgress` | `gate`, `sessions` |
//! | policies | `lanes::LaneArgs`, replayed by `played::play` | `replay` |
//! | a model that writes summaries | `model::ModelArgs` | `compact` |
//! | calls, tokens, numbers of rows | `value_parser` from `args/values.rs` | `context`, `find` |
//!
//! Commands write through `output`: `print` or `print_wrapped` for text, `json`, and `note`. Text from files goes
//! through `output::clean`. `output::{counted, grouped, percent, tokens}` format numbers.

mod args;
mod billing;
mod compact;
mod compare;
mod completions;
mod context;
mod convert;
mod cost_json;
mod curve;
mod diagnose;
mod evaluate;
mod figures;
mod find;
mod found;
mod gate;
mod help;
mod hook;
mod inspect;
mod json_values;
mod lanes;
mod lazy_list;
mod man;
mod manual_edits;
mod many_files;
mod mcp;
mod model;
mod output;
mod played;
mod presets;
mod recorded_call;
mod replay;
mod report;
mod rereads;
mod restore;
mod schema;
mod session_files;
mod sessions;
mod settings;
mod state;
mod status;
mod sweep;
mod table;
mod targets;
mod theme;
mod tools;
mod usage;
mod window;
mod wrap;

pub use lanes::Lane;
pub use manual_edits::ManualEditArgs;
pub use status::Picture;
pub use theme::Theme;
pub use window::WindowArgs;

use args::GlobalOptions;
use clap::{CommandFactory as _, FromArgMatches as _};
use status::Status;
use std::ffi::OsString;
use std::io;

/// Declares the commands: the variant, the module with its `Args`. Commands after `;` are about the command line itself.
macro_rules! commands {
    ($($name:ident: $module:ident,)*; $($about:ident: $about_module:ident,)*) => {
        /// A command with its options.
        #[derive(Debug, clap::Subcommand)]
        enum Command {
            $($name($module::Args),)*
            $($about($about_module::Args),)*
        }

        impl Command {
            fn run(self, shared: &GlobalOptions) -> anyhow::Result<Status> {
                match self {
                    $(Self::$name(args) => args.run(shared),)*
                    $(Self::$about(args) => args.run(command_line()),)*
                }
            }
        }
    };
}

// In the order of the help text.
commands! {
    Inspect: inspect,
    Find: find,
    Tools: tools,
    Replay: replay,
    Diagnose: diagnose,
    Compare: compare,
    Evaluate: evaluate,
    Sweep: sweep,
    Gate: gate,
    Compact: compact,
    Restore: restore,
    Convert: convert,
    Context: context,
    Report: report,
    Sessions: sessions,
    Usage: usage,
    Table: table,
    Mcp: mcp,
    Hook: hook,
    Presets: presets,
    State: state,
    Schema: schema,
    ;
    Help: help,
    Completions: completions,
    Man: man,
}

/// Inspect, replay and fix context compaction in recorded LLM-agent sessions.
#[derive(Debug, clap::Parser)]
#[command(
    name = "plimsoll",
    version,
    disable_help_subcommand = true,
    max_term_width = 120,
    override_usage = "plimsoll [FILE|FOLDER]... [OPTIONS]\n       plimsoll COMMAND [OPTIONS]",
    after_help = "Examples:\n  plimsoll replay sample_sessions/compacted.jsonl --policy prune"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: window::Args,
    #[command(flatten)]
    shared: GlobalOptions,
}

/// The help of a command. `after-help` ends with examples.
const HELP: &str = "{about-with-newline}
{usage-heading} {usage}

{all-args}

`plimsoll help options` lists further options, such as --json and --window.{after-help}";

/// Returns the command line with all commands and their help. The help of the program omits the options of the window.
fn command_line() -> clap::Command {
    with_help(Cli::command().mut_args(|arg| arg.hide(true)))
}

fn with_help(command: clap::Command) -> clap::Command {
    command.help_template(HELP).mut_subcommands(with_help)
}

/// Returns the command line with the options that its help omits.
fn with_all_options(cli: clap::Command) -> clap::Command {
    cli.mut_args(|arg| arg.hide(false))
}

/// Parses the command line.
fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = command_line().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// The action that is left to the caller.
#[derive(Debug)]
pub enum Invocation {
    /// Exit with this code.
    Finished(u8),
    /// Open the window, or render it to a picture.
    Window(Box<WindowArgs>),
    /// Paint a drawing.
    Paint(Box<Picture>),
}

/// Parses the command line (the program's own name first) and runs the command. The caller opens the window.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Invocation {
    let args: Vec<OsString> = args.into_iter().collect();
    if hook::handled(&args) {
        return Invocation::Finished(0);
    }
    let mut parsed = match parse(args) {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => {
            return Invocation::Finished(fail(&args::one_line(&error)));
        }
        Err(help) => return printed(&help.render().to_string()),
    };
    let tables = parsed.shared.install_tables();
    if let Err(error) = tables.and_then(|()| parsed.shared.read_risk_model()) {
        return Invocation::Finished(fail(&format!("{error:#}")));
    }
    let result = match parsed.command {
        Some(_) if parsed.window.are_given() => Err(anyhow::anyhow!(
            "options and files follow the command: plimsoll COMMAND FILE [OPTIONS]"
        )),
        Some(command) => command.run(&parsed.shared).map(|status| match status {
            Status::Done => Invocation::Finished(0),
            Status::CheckFailed => Invocation::Finished(1),
            Status::Paints(picture) => Invocation::Paint(picture),
        }),
        None => {
            let args = parsed.window.run(&parsed.shared, &verbs(&command_line()));
            args.map(|args| Invocation::Window(Box::new(args)))
        }
    };
    result.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return Invocation::Finished(0);
        }
        Invocation::Finished(fail(&format!("{error:#}")))
    })
}

/// Returns the names of the commands.
fn verbs(cli: &clap::Command) -> Vec<String> {
    let visible = cli.get_subcommands().filter(|c| !c.is_hide_set());
    visible.map(|c| c.get_name().to_owned()).collect()
}

/// Prints an error as one line on standard error and returns its exit code.
pub fn fail(message: &str) -> u8 {
    output::error(message);
    2
}

/// Explains on standard error how to work without a display and returns the exit code of an error.
pub fn without_display() -> u8 {
    let help = command_line().render_help().to_string();
    output::explain(&format!(
        "there is no display to open a window on. Without one:\n  \
         plimsoll FILE --screenshot OUT.png   render the window to a picture\n  \
         plimsoll inspect FILE                summarize a session; more commands are listed below\n  \
         xvfb-run -a plimsoll FILE            open the window on a virtual display\n\n{help}"
    ));
    2
}

/// Prints a note as one line on standard error.
pub fn note(message: &str) {
    output::note(message);
}

fn printed(text: &str) -> Invocation {
    match output::print(text) {
        Err(error) if !is_broken_pipe(&error) => Invocation::Finished(fail(&format!("{error:#}"))),
        _ => Invocation::Finished(0),
    }
}

/// Returns true if the reader of the output closed it early (`| head`), which is not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declarations_of_all_options_are_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_fits_one_screen() {
        let mut cli = command_line().term_width(100);
        cli.build();
        assert_fits(&mut cli);
    }

    fn assert_fits(command: &mut clap::Command) {
        let lines = command.render_help().to_string().lines().count();
        assert!(lines <= 40, "{}: {lines} lines", command.get_name());
        command.get_subcommands_mut().for_each(assert_fits);
    }
}
