//! The command line without a command: opens the window, or renders it to a picture.

use super::args::GlobalOptions;
use super::lanes::{Lane, LaneArgs};
use super::manual_edits::ManualEditArgs;
use super::theme::{Theme, theme};
use crate::analysis::attribution::Selector;
use crate::analysis::rereads::RereadModel;
use crate::engine::ProviderError;
use crate::exec::{IndexFolder, LoadOptions, OwnPresets, Workspaces, is_folder, must_exist};
use crate::names::nearest;
use crate::units::Tokens;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// Options of the window.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Session files or a folder; the first file is opened, the others are listed under Recent
    #[arg(value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Session file to compare with the first one
    #[arg(long, value_name = "FILE", requires = "paths")]
    compare: Option<PathBuf>,
    #[command(flatten)]
    lanes: LaneArgs,
    /// Render the window to a PNG, without a display
    #[arg(long, value_name = "OUT.png", value_parser = picture, help_heading = "Picture")]
    screenshot: Option<PathBuf>,
    /// Size of the window or picture [default: 1440x900]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, help_heading = "Picture")]
    size: Option<WindowSize>,
    /// Theme [default: the one used last]
    #[arg(long, value_parser = theme(), help_heading = "Picture")]
    theme: Option<Theme>,
}

/// Width and height in points.
#[derive(Clone, Copy, Debug)]
struct WindowSize([u32; 2]);

/// Files to open in the window, and options.
#[derive(Clone, Debug)]
pub struct WindowArgs {
    /// Session files; none opens the empty window.
    pub paths: Vec<PathBuf>,
    /// Session file to compare with the first one.
    pub compared: Option<PathBuf>,
    /// Path of the picture to render instead of opening a window.
    pub screenshot: Option<PathBuf>,
    /// Size in points.
    pub size: Option<[u32; 2]>,
    /// Theme (default: the one used last).
    pub theme: Option<Theme>,
    /// The lanes to compare; empty if no policy and no setting is given.
    pub lanes: Vec<Lane>,
    /// Options for reading files.
    pub load: LoadOptions,
    /// Coefficients of expected re-reads (default: the bundled ones).
    pub reread_model: Option<RereadModel>,
    /// Tokens reserved for the answer, if given.
    pub output_reserve: Option<Tokens>,
    /// Indices of the calls before which the agent's program was restarted.
    pub restarts: Vec<usize>,
    /// Errors of the provider at calls.
    pub errors: Vec<ProviderError>,
    /// Sources without which everything is computed.
    pub without: Vec<Selector>,
    /// Manual edits of the first file's messages.
    pub manual_edits: ManualEditArgs,
    /// Neither read nor write the window's state.
    pub no_state: bool,
    /// The user's own presets, read-only with `no_state`.
    pub own_presets: OwnPresets,
    /// Folder of kept workspaces.
    pub workspaces: Workspaces,
    /// Folder of the search index.
    pub index: IndexFolder,
}

impl Args {
    /// Returns true if a window option precedes a command.
    pub(super) fn are_given(&self) -> bool {
        !self.paths.is_empty()
            || self.compare.is_some()
            || self.screenshot.is_some()
            || self.size.is_some()
            || self.theme.is_some()
            || !self.lanes.are_default()
    }

    /// Returns the files to open and the options of the window. Fails if a path is missing.
    pub(super) fn run(
        self,
        shared: &GlobalOptions,
        commands: &[String],
    ) -> anyhow::Result<WindowArgs> {
        self.paths.iter().chain(&self.compare).try_for_each(|path| check(path, commands))?;
        if shared.json {
            bail!("--json requires a command: plimsoll inspect FILE --json");
        }
        if self.paths.is_empty() && !shared.manual_edits.is_empty() {
            bail!("--pin, --clear and --drop need a session file: plimsoll FILE --drop 12");
        }
        if shared.tools.is_some() {
            bail!("--tools requires a command: plimsoll inspect FILE --tools TOOLS.json");
        }
        let lanes = self.lanes.of_window(shared)?;
        Ok(WindowArgs {
            paths: self.paths,
            compared: self.compare,
            screenshot: self.screenshot,
            size: self.size.map(|WindowSize(size)| size),
            theme: self.theme,
            lanes,
            load: shared.load_options(),
            reread_model: shared.given_reread_model.clone(),
            output_reserve: shared.output_reserve,
            restarts: shared.restarts.clone(),
            errors: shared.errors.clone(),
            without: shared.without.clone(),
            manual_edits: shared.manual_edits.clone(),
            no_state: shared.no_state,
            own_presets: if shared.no_state {
                OwnPresets::here().read_only()
            } else {
                OwnPresets::here()
            },
            workspaces: if shared.no_state { Workspaces::default() } else { Workspaces::here() },
            index: if shared.no_state { IndexFolder::default() } else { IndexFolder::here() },
        })
    }
}

/// Parses the path of a picture: pictures are PNG files.
fn picture(text: &str) -> anyhow::Result<PathBuf> {
    const OTHERS: [&str; 9] = ["bmp", "gif", "jpeg", "jpg", "pdf", "svg", "tif", "tiff", "webp"];
    let path = PathBuf::from(text);
    let end = path.extension().and_then(|end| end.to_str());
    match end {
        Some(end) if OTHERS.iter().any(|other| end.eq_ignore_ascii_case(other)) => {
            bail!("pictures are PNG files; give a name that ends in .png")
        }
        _ => Ok(path),
    }
}

/// Checks that a path exists, and suggests a command for a misspelled one.
fn check(path: &Path, commands: &[String]) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        bail!("standard input requires a command: plimsoll inspect -");
    }
    if is_folder(path) {
        return Ok(());
    }
    let Err(error) = must_exist(path) else {
        return Ok(());
    };
    let shown = path.display().to_string();
    if shown.contains(['.', '/', '\\']) {
        return Err(error.into());
    }
    if let Some(near) = nearest(&shown, commands) {
        bail!("no file or command is named {shown:?}; did you mean {near}?");
    }
    bail!("no file or command is named {shown:?}; commands are {}", commands.join(", "));
}

fn size(text: &str) -> anyhow::Result<WindowSize> {
    let sides =
        text.split_once(['x', 'X']).and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match sides {
        Some(size) if size.iter().all(|side| (200..=8_000).contains(side)) => Ok(WindowSize(size)),
        _ => bail!("give WIDTHxHEIGHT such as 1440x900, 200 to 8000 each"),
    }
}
