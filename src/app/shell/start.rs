//! Starts the window on a display, or renders it to an image.

use crate::app::shell::options::Options;
use crate::app::shell::{App, start_error};
use crate::app::state::compare::comparison::{IS_LIST, OpenComparison};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::session_list::is_list;
use crate::app::ui::picture;
use crate::exec;
use anyhow::Context as _;
use std::path::Path;
use std::sync::Arc;

/// Minimum size of the window, in points. Panels that need more are scaled down.
const MIN_SIZE: [f32; 2] = [640.0, 448.0];

/// Icon of the window. On Wayland, the desktop shows that of the desktop entry.
const ICON: &[u8] = include_bytes!("../../../assets/icons/plimsoll-128.png");

/// Opens the window and returns when it is closed.
///
/// # Errors
///
/// Returns an error with advice if the window cannot be created.
pub fn run(options: Options) -> anyhow::Result<()> {
    let viewport = egui::ViewportBuilder::default()
        .with_app_id("plimsoll")
        .with_icon(eframe::icon_data::from_png_bytes(ICON).unwrap_or_default())
        .with_inner_size(options.size)
        .with_min_inner_size(MIN_SIZE)
        .with_drag_and_drop(true);
    let native = eframe::NativeOptions {
        viewport,
        renderer: eframe::Renderer::Glow,
        ..eframe::NativeOptions::default()
    };
    let opened = start_error::opened(|is_open| {
        eframe::run_native(
            "Plimsoll",
            native,
            Box::new(move |cc| {
                is_open();
                Ok(Box::new(App::new(&cc.egui_ctx, &options)))
            }),
        )
    });
    opened.map_err(anyhow::Error::msg).context("cannot open the window (try --screenshot OUT.png)")
}

/// Renders the window to a PNG without a display.
///
/// # Errors
///
/// Returns an error if the session cannot be opened or the image cannot be written.
pub fn screenshot(mut options: Options, out: &Path) -> anyhow::Result<()> {
    let opened = options.paths.clone();
    // Checked before anything is drawn.
    exec::check_picture(out, &opened).map_err(anyhow::Error::msg)?;
    if options.compared.as_deref().is_some_and(|path| is_list(path, 0)) {
        anyhow::bail!(IS_LIST);
    }
    options.work = WorkMode::InFrame;
    options.no_state = true;
    options.workspaces = exec::Workspaces::default();
    let theme = match options.theme {
        Some(egui::ThemePreference::Light) => egui::Theme::Light,
        _ => egui::Theme::Dark,
    };
    options.theme = Some(theme.into());
    let mut stage = picture::OffscreenWindow::new(options.size, options.pixels_per_point, theme);
    let fonts = egui_system_font_provider::SystemFontProvider::new();
    stage.context().add_font_provider(Arc::new(fonts));
    let mut app = App::new(stage.context(), &options);
    for _ in 0..FRAMES {
        stage.frame(Vec::new(), &mut |ui| app.show(ui));
    }
    let session = app.session;
    if let Some(problem) = session.problem.or(app.rejected_edit) {
        anyhow::bail!(problem);
    }
    let comparison = session.comparison.as_ref();
    if let Some(problem) = comparison.and_then(OpenComparison::problem) {
        anyhow::bail!("the session to compare cannot be opened: {problem}");
    }
    picture::save_png(&stage.image(), out, &opened).map_err(anyhow::Error::msg)
}

/// Frames until layout, scrolling and animations have settled.
const FRAMES: usize = 8;

/// Returns whether there is a display to open a window on.
pub fn has_display() -> bool {
    // Only X11 and Wayland have displays that may be missing.
    cfg!(any(windows, target_os = "macos"))
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()))
}
