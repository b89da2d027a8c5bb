//! Connects the command line and the window; everything else is the library.
use plimsoll::app::{self, Options};
use plimsoll::cli::{self, Invocation, Theme};
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(std::env::args_os()) {
        Invocation::Finished(code) => ExitCode::from(code),
        Invocation::Window(args) => {
            let options = Options {
                paths: args.paths,
                size: args.size.map_or(egui::vec2(1440.0, 900.0), |[w, h]| {
                    egui::vec2(w as f32, h as f32)
                }),
                theme: args.theme.map(|t| {
                    if t == Theme::Dark {
                        egui::ThemePreference::Dark
                    } else {
                        egui::ThemePreference::Light
                    }
                }),
                no_state: args.no_state,
                window: args.load.window,
                output_reserve: args.output_reserve,
                counter: Some(args.load.counter.name),
                ..Options::default()
            };
            let done = match args.screenshot {
                Some(out) => app::screenshot(options, &out),
                None => app::run(options),
            };
            done.map_or_else(
                |error| ExitCode::from(cli::fail(&format!("{error:#}"))),
                |()| ExitCode::SUCCESS,
            )
        }
    }
}
