//! Connects the command line and the window; everything else is the library.
use plimsoll::app::manual_edits::marks::RequestedMarks;
use plimsoll::app::{self, LaneOption, Options};
use plimsoll::cli::{self, Invocation, Theme};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    match cli::run(std::env::args_os()) {
        Invocation::Finished(code) => ExitCode::from(code),
        Invocation::Paint(picture) => {
            let is_dark = picture.theme == Theme::Dark;
            app::picture::save_drawing(&picture.drawing, is_dark, &picture.output)
                .map_err(|error| cli::fail(&error))
                .map_or_else(ExitCode::from, |()| {
                    cli::note(&format!("the curve is in {}", picture.output.display()));
                    ExitCode::SUCCESS
                })
        }
        Invocation::Window(args) => {
            let args = *args;
            let lanes = args.lanes.into_iter().map(|lane| {
                let (word, policy) = (lane.word, lane.policy);
                (LaneOption { word, policy }, lane.knobs)
            });
            let marks = args.by_hand;
            let by_hand = (!marks.is_empty()).then(|| {
                let within = move |n| marks.within(n).map_err(|error| format!("{error:#}"));
                RequestedMarks(Arc::new(within))
            });
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
                conversation: args.load.conversation,
                window: args.load.window,
                output_reserve: args.output_reserve,
                counter: Some(args.load.counter.name),
                restarts: args.restarts,
                errors: args.errors,
                by_hand,
                own_presets: args.own_presets,
                ..Options::default()
            };
            let done = options
                .compare(lanes.collect())
                .map_err(|refusal| cli::fail(&refusal))
                .and_then(|options| {
                    let done = match args.screenshot {
                        Some(out) => app::screenshot(options, &out),
                        None => app::run(options),
                    };
                    done.map_err(|error| cli::fail(&format!("{error:#}")))
                });
            done.map_or_else(ExitCode::from, |()| ExitCode::SUCCESS)
        }
    }
}
