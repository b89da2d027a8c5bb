//! Runs the program in a folder that is its home, without settings of this machine.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Path of the program. The tests of the window, a package of their own, have the command line only.
pub(crate) const PROGRAM: &str = {
    let of_window_tests = option_env!("CARGO_BIN_EXE_plimsoll-window-tests");
    match (option_env!("CARGO_BIN_EXE_plimsoll"), of_window_tests) {
        (Some(program), _) | (None, Some(program)) => program,
        (None, None) => panic!("cargo builds one of them"),
    }
};

/// Variables that name folders of the user who runs the tests.
const FOLDER_VARIABLES: [&str; 5] =
    ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"];

/// Runs the program.
pub(crate) fn plimsoll(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the program starts")
}

/// Returns the command of a run.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    for variable in FOLDER_VARIABLES {
        command.env_remove(variable);
    }
    // Text is wrapped to it.
    command.env_remove("COLUMNS");
    command.args(args).current_dir(folder).env("HOME", folder).stdin(Stdio::null());
    command
}
