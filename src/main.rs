//! Connects the command line and the window; everything else is the library.
#[cfg(feature = "window")]
mod window;

use plimsoll::cli::{self, Invocation};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run(std::env::args_os()) {
        Invocation::Finished(code) => ExitCode::from(code),
        #[cfg(feature = "window")]
        Invocation::Paint(picture) => window::save(&picture),
        #[cfg(feature = "window")]
        Invocation::Window(args) => window::open(*args),
        #[cfg(not(feature = "window"))]
        Invocation::Paint(_) | Invocation::Window(_) => ExitCode::from(cli::fail(
            "this build has no window and draws no pictures: build it without --no-default-features, or see `plimsoll --help`",
        )),
    }
}
