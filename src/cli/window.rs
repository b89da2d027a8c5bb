//! The command line without a verb: what to open, or to render to a picture.

use super::Invocation;
use super::args::{Shared, Word, Words, unknown_option};
use super::by_hand::ByHandArgs;
use super::lanes::{Lane, LaneArgs};
use crate::engine::ProviderError;
use crate::exec::{LoadOptions, OwnPresets, is_folder, must_exist};
use crate::units::Tokens;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// For the overview.
pub(super) const HELP: &str =
    "  plimsoll [FILE...]                      open the window on the first session file; the others are at hand
  plimsoll FOLDER                         open it on a list of the sessions in a folder
  plimsoll [FILE...] --screenshot OUT.png render the same window to a picture, without a display
           [--size WIDTHxHEIGHT]          of the picture; 1440x900 unless told
           [--theme dark|light]
           [--policy NAME|FILE.toml]...   the lanes to compare, as in replay
           [--set KNOB=VALUE]...          sets a knob of every lane that has it; LANE.strategy=NAME what a lane plays
";

/// What the window is to open, and how.
#[derive(Clone, Debug)]
pub struct WindowArgs {
    /// Session files; none opens the empty window.
    pub paths: Vec<PathBuf>,
    /// Render to this picture instead of opening a window.
    pub screenshot: Option<PathBuf>,
    /// Size in points.
    pub size: Option<[u32; 2]>,
    /// Instead of the remembered theme.
    pub theme: Option<Theme>,
    /// The lanes to compare.
    pub lanes: Vec<Lane>,
    /// How to read files.
    pub load: LoadOptions,
    /// Room for the answer by hand.
    pub output_reserve: Option<Tokens>,
    /// Calls before which the program was started again (indices).
    pub restarts: Vec<usize>,
    /// Errors of the provider at calls.
    pub errors: Vec<ProviderError>,
    /// Messages of the first file that are marked by hand.
    pub by_hand: ByHandArgs,
    /// Read and write nothing of the program's own.
    pub no_state: bool,
    /// Where presets of the person's own are kept.
    pub own_presets: OwnPresets,
}

/// Colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
}

/// Reads the words from `first` on; no path may be missing.
pub(super) fn parse(
    words: &mut Words,
    mut shared: Shared,
    first: Option<Word>,
) -> anyhow::Result<Invocation> {
    let (mut paths, mut screenshot, mut size, mut theme) = (Vec::new(), None, None, None);
    let (mut wanted, mut next) = (LaneArgs::default(), first);
    while let Some(word) = next {
        match word {
            Word::Operand(path) => paths.push(PathBuf::from(path)),
            Word::Option(option) => match option.as_str() {
                "--screenshot" => screenshot = Some(picture(words.raw_value(&option)?.into())?),
                "--size" => size = Some(parse_size(&words.value(&option)?)?),
                "--theme" => theme = Some(parse_theme(&words.value(&option)?)?),
                _ if shared.take(&option, words)? || wanted.take(&option, words)? => {}
                _ => return Err(unknown_option("", &option)),
            },
        }
        next = words.next()?;
    }
    if shared.json {
        // The window has no other form; refusing is better than silence.
        bail!("--json needs a verb: plimsoll inspect FILE --json");
    }
    if paths.is_empty() && !shared.by_hand.is_empty() {
        bail!("--pin, --clear and --drop need a session file: plimsoll FILE --drop 12");
    }
    let lanes = wanted.of_window(&shared)?;
    paths.iter().try_for_each(|path| check(path))?;
    let (load, output_reserve, no_state) = (
        shared.load_options(),
        shared.output_reserve,
        shared.no_state,
    );
    Ok(Invocation::Window(Box::new(WindowArgs {
        paths,
        screenshot,
        size,
        theme,
        lanes,
        load,
        output_reserve,
        restarts: shared.restarts,
        errors: shared.errors,
        by_hand: shared.by_hand,
        no_state,
        own_presets: if no_state {
            OwnPresets::default()
        } else {
            OwnPresets::here()
        },
    })))
}

/// A picture is written as PNG: the name of another kind would lie.
fn picture(path: PathBuf) -> anyhow::Result<PathBuf> {
    const OTHERS: [&str; 9] = [
        "bmp", "gif", "jpeg", "jpg", "pdf", "svg", "tif", "tiff", "webp",
    ];
    let end = path.extension().and_then(|end| end.to_str());
    let is = |end: &str| OTHERS.iter().any(|other| end.eq_ignore_ascii_case(other));
    match end {
        Some(end) if is(end) => bail!(
            "--screenshot {}: pictures are written as PNG; give a name that ends in .png",
            path.display()
        ),
        _ => Ok(path),
    }
}

fn check(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        bail!("standard input needs a verb: plimsoll inspect -");
    }
    let shown = path.display().to_string();
    if is_folder(path) {
        return Ok(());
    }
    if let Err(error) = must_exist(path) {
        if shown.contains(['.', '/', '\\']) {
            return Err(error.into());
        }
        let verbs: Vec<_> = super::VERBS.iter().map(|v| v.name).collect();
        bail!(
            "{shown} is neither a file nor a verb; verbs are {}",
            verbs.join(", ")
        );
    }
    Ok(())
}

fn parse_size(text: &str) -> anyhow::Result<[u32; 2]> {
    let sides = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match sides {
        Some(size) if size.iter().all(|side| (200..=8_000).contains(side)) => Ok(size),
        _ => bail!("--size {text}: give WIDTHxHEIGHT such as 1440x900, 200 to 8000 each"),
    }
}

pub(super) fn parse_theme(text: &str) -> anyhow::Result<Theme> {
    match text {
        "dark" => Ok(Theme::Dark),
        "light" => Ok(Theme::Light),
        _ => bail!("--theme {text}: choose dark or light"),
    }
}
