//! The command line as the program runs it, except that it opens no window: for tests that compare both.

#[path = "../../src/window.rs"]
#[expect(dead_code, reason = "opens no window")]
mod window;

use plimsoll::cli::{self, Invocation};
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(std::env::args_os()) {
        Invocation::Finished(code) => ExitCode::from(code),
        Invocation::Paint(picture) => window::save(&picture),
        Invocation::Window(_) => ExitCode::FAILURE,
    }
}
