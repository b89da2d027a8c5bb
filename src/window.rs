//! Connects the arguments of the command line to the window.

use plimsoll::app::state::model::marks::RequestedMarks;
use plimsoll::app::{self, LaneOption, Options};
use plimsoll::cli::{self, Picture, Theme, WindowArgs};
use std::process::ExitCode;
use std::sync::Arc;

/// Saves a curve as a picture.
pub(super) fn save(picture: &Picture) -> ExitCode {
    let is_dark = picture.theme == Theme::Dark;
    match app::ui::picture::save_drawing(&picture.drawing, is_dark, &picture.output) {
        Ok(()) => {
            cli::note(&format!("the curve is in {}", picture.output.display()));
            ExitCode::SUCCESS
        }
        Err(error) => ExitCode::from(cli::fail(&error)),
    }
}

/// Opens the window, or renders it to a picture.
pub(super) fn open(mut args: WindowArgs) -> ExitCode {
    let screenshot = args.screenshot.take();
    if screenshot.is_none() && !app::has_display() {
        return ExitCode::from(cli::without_display());
    }
    let shown = options(args).and_then(|options| {
        match screenshot {
            Some(output) => app::screenshot(options, &output),
            None => app::run(options),
        }
        .map_err(|error| format!("{error:#}"))
    });
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(cli::fail(&error)),
    }
}

/// Returns the options of the window. Fails if there are too many lanes.
pub(super) fn options(args: WindowArgs) -> Result<Options, String> {
    let lanes = args.lanes.into_iter().map(|lane| {
        let (word, policy) = (lane.word, lane.policy);
        (LaneOption { word, policy }, lane.knobs)
    });
    let marks = args.manual_edits;
    let marks = (!marks.is_empty()).then(|| {
        let within = move |n| marks.within(n).map_err(|error| format!("{error:#}"));
        RequestedMarks(Arc::new(within))
    });
    // A default is not a choice: it must not replace the tokenizer of a workspace.
    let counter = args.load.chosen_counter();
    let options = Options {
        paths: args.paths,
        compared: args.compared,
        size: args.size.map_or(egui::vec2(1440.0, 900.0), |[w, h]| egui::vec2(w as f32, h as f32)),
        theme: args.theme.map(|theme| match theme {
            Theme::Dark => egui::ThemePreference::Dark,
            Theme::Light => egui::ThemePreference::Light,
        }),
        no_state: args.no_state,
        conversation: args.load.conversation,
        window: args.load.window,
        output_reserve: args.output_reserve,
        reread_model: args.reread_model,
        counter,
        restarts: args.restarts,
        errors: args.errors,
        without: args.without,
        marks,
        workspaces: args.workspaces,
        index: args.index,
        own_presets: args.own_presets,
        ..Options::default()
    };
    options.compare(lanes.collect())
}
