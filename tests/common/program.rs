//! The program itself, as tests run it: in a folder that is its home, with nothing that this machine would tell it.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Variables that lead to folders of the person who runs the tests.
const OF_THIS_MACHINE: [&str; 5] = [
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
];

/// What comes of a run.
pub(crate) fn plimsoll(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the program starts")
}

/// A run to be changed before it starts.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    for variable in OF_THIS_MACHINE {
        command.env_remove(variable);
    }
    command
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null());
    command
}
