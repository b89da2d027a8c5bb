//! The window as a whole: it owns all state, draws the panels, and executes their commands after the frame.
//!
//! `App::session` is the state of the shown tab, `App::tabs` has the hidden ones. The other fields of `App` belong to no
//! session.

pub mod action;
pub mod action_table;
pub mod command_palette;
pub mod dispatch;
pub mod drawer;
pub mod drawer_tabs;
pub mod escape;
pub mod execute;
pub mod file_dialog;
pub mod fit;
pub mod focus;
pub mod key_context;
pub mod keys;
pub mod layout;
pub mod options;
pub mod paste;
pub mod saved_state;
pub mod session_tab;
pub mod shortcuts;
pub mod start;
pub mod start_error;
pub mod toasts;
pub mod typed_ahead;

pub use options::Options;
pub use start::{has_display, run, screenshot};

use crate::app::state::command::Commands;
use crate::app::state::command_palette::state::PaletteState;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::config::Config;
use crate::app::state::model::document::Origin;
use crate::app::state::model::policies::Policies;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::open::followed_file::FollowedFile;
use crate::app::state::open::opening::Opening;
use crate::app::state::open_session::{FrameRequests, OpenSession};
use crate::app::state::results;
use crate::app::state::results::Inputs;
use crate::app::state::run_logs::list::RunLogs;
use crate::app::state::sessions::list::{Sessions, SessionsCommand};
use crate::app::state::settings_panel::preset_saving::PresetSaving;
use crate::app::state::workspace::saver::Saver;
use crate::app::state::workspace::visits::Visits;
use crate::app::ui::bar::input::BarInput;
use crate::app::ui::open::welcome::WelcomeInput;
use crate::app::ui::repaint::repaint_of;
use crate::exec::{IndexFolder, OwnPresets};
use saved_state::SavedState;
use session_tab::{SessionTab, Tabs};
use std::path::PathBuf;

/// The window.
pub struct App {
    work: WorkMode,
    /// The configuration of a session without a workspace: the defaults, and the lanes and settings given at startup.
    initial: Config,
    policies: Policies,
    own_presets: OwnPresets,
    /// The preset dialog, while it is open.
    saving: Option<PresetSaving>,
    /// The session of the shown tab, with its view and dialogs.
    session: SessionTab,
    /// The dialog of run logs, while it is open.
    logs: Option<RunLogs>,
    /// The command palette, while it is open.
    palette: Option<PaletteState>,
    /// The session to compare with the first one, until that is loaded.
    requested_comparison: Option<PathBuf>,
    /// The hidden tabs, and which one is shown.
    tabs: Tabs,
    /// The system's file dialog, while it is open.
    dialog: Option<file_dialog::FileDialog>,
    /// A pending request for the clipboard.
    pasting: Option<crate::app::shell::paste::ClipboardRequest>,
    paste_keys: crate::app::shell::paste::PasteKeys,
    toasts: toasts::Toasts,
    fit: fit::Fit,
    /// State saved between runs of the program.
    saved: SavedState,
    saver: Saver,
    /// The folder of the search index.
    index: IndexFolder,
    /// Lanes, settings or marks were given at startup: workspaces are neither read nor kept.
    replaces_workspaces: bool,
    visits: Visits,
    /// Marks requested before the first session was loaded.
    requested_marks: Option<crate::app::state::model::marks::RequestedMarks>,
    /// The error in the requested marks.
    rejected_edit: Option<String>,
    /// One-time messages to panels for the next frame.
    once: FrameRequests,
    focus: focus::Focus,
    typed_ahead: typed_ahead::TypedAhead,
    /// A text field had the focus in the last frame.
    is_typing: bool,
}

impl App {
    /// Creates an empty window and starts to open the first path.
    pub fn new(ctx: &egui::Context, options: &Options) -> Self {
        crate::app::ui::theme::apply(ctx);
        let saved = SavedState::new(options.no_state, options.paths.get(1..).unwrap_or_default());
        ctx.set_theme(options.theme.unwrap_or_else(|| saved.theme().preference()));
        let (own, broken): (Vec<_>, Vec<_>) =
            options.own_presets.all().into_iter().map(|own| own.policy).partition(Result::is_ok);
        let own = own.into_iter().filter_map(Result::ok).collect();
        let mut initial = options.config();
        initial.reset_session();
        let mut app = Self {
            work: options.work,
            initial,
            policies: Policies::new(&options.lanes, own),
            own_presets: options.own_presets.clone(),
            saving: None,
            session: SessionTab::new(options.config(), options.work),
            logs: None,
            palette: None,
            requested_comparison: options.compared.clone(),
            tabs: Tabs::default(),
            dialog: None,
            pasting: None,
            paste_keys: crate::app::shell::paste::PasteKeys::default(),
            toasts: toasts::Toasts::default(),
            fit: fit::Fit::new(saved.zoom()),
            saved,
            saver: Saver::new(options.kept_workspaces()),
            index: options.index.clone(),
            replaces_workspaces: options.replaces_workspaces(),
            visits: Visits::default(),
            requested_marks: options.marks.clone(),
            rejected_edit: None,
            once: FrameRequests::default(),
            focus: focus::Focus::default(),
            typed_ahead: typed_ahead::TypedAhead::default(),
            is_typing: false,
        };
        for why in broken.into_iter().filter_map(Result::err) {
            app.warn(Some(why));
        }
        // A picture has no use for a notice.
        let is_window = options.work == WorkMode::AsNeeded;
        if is_window && options.replaces_workspaces() && options.workspaces.is_kept() {
            app.toasts.info(
                "Started with options: changes are not kept for the next start. Save workspace… in the menu writes them to a file.",
            );
        }
        match options.paths.first() {
            Some(path)
                if crate::app::state::model::session_list::is_list(path, options.conversation) =>
            {
                app.execute_sessions(ctx, SessionsCommand::Show(Some(path.clone())));
            }
            Some(path) => app.open(ctx, Origin::Path(path.clone()), options.conversation),
            None => {}
        }
        app
    }

    /// Returns the current runs, once replayed.
    pub fn runs(&self) -> Option<&Runs> {
        self.session.derived.runs()
    }

    /// Draws one frame and then executes its commands.
    pub fn show(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        if let Some(scale) = self.fit.apply(&ctx) {
            self.toasts.zoomed(scale);
        }
        let warning = self.saved.set_zoom(self.fit.chosen());
        self.warn(warning);
        self.hold_typed_ahead(&ctx);
        self.receive(&ctx);
        self.follow(&ctx);
        let session = &mut self.session;
        if let Some(document) = &session.document {
            let inputs = Inputs {
                repaint: &repaint_of(&ctx),
                is_dragging: ctx.input(|i| i.pointer.any_down()),
                policies: &self.policies,
                config: &session.config,
                view: &session.view,
                tabs: &drawer_tabs::update,
            };
            results::update(&mut session.derived, document, &session.selection, inputs);
        }
        self.find_if_ready();
        self.update_comparison(&ctx);
        let session = &mut self.session;
        let (sweep, hovered) = (session.sweep.as_ref(), session.view.tune().hovered);
        session.derived.update_tried_setting(&repaint_of(&ctx), sweep, hovered);
        let is_drag_cancelled = crate::app::ui::widgets::drag::cancelled(&ctx).is_some();
        let escaped = self.escape(&ctx, is_drag_cancelled);
        self.focus.reveal(&ctx);
        let mut commands = self.panels(ui);
        commands.extend(escaped);
        commands.extend(self.toasts.show(ui, &self.session.config));
        if commands.open_field() {
            self.typed_ahead.await_chosen_field(&ctx);
        }
        let was_covered = self.is_covered();
        for command in commands {
            self.execute(&ctx, command);
        }
        self.execute_keys(&ctx, was_covered);
        let session = &mut self.session;
        if is_drag_cancelled && session.history.is_ahead(&session.config) {
            session.config.clone_from(session.history.settled());
            ctx.request_repaint();
        }
        if let Some(copied) = crate::app::ui::widgets::take_copied_table(&ctx) {
            self.toasts.done(copied);
        }
        self.is_typing = ctx.text_edit_focused();
        self.focus.show(&ctx);
        if !ctx.input(|i| i.pointer.any_down()) {
            self.session.history.settle(&self.session.config);
            self.keep_price();
            self.keep_workspace(&ctx);
        }
    }

    /// Returns whether a dialog covers the panels.
    fn is_covered(&self) -> bool {
        let session = &self.session;
        let is_writing = session.export.is_some()
            || session.report.is_some()
            || session.conversion.is_some()
            || session.restoring.is_some();
        let measures = session.measurement.as_ref().is_some_and(|m| m.is_open);
        let lists = self.logs.is_some() || self.list().is_some();
        let asks = self.saving.is_some() || session.note.is_some() || session.view.asks_path;
        let helps = self.palette.is_some() || session.view.shows_shortcuts;
        is_writing || measures || lists || asks || helps
    }

    /// Returns the session list while it covers the session.
    fn list(&self) -> Option<&Sessions> {
        self.session.sessions.as_ref().filter(|list| list.is_shown)
    }

    fn panels(&mut self, ui: &mut egui::Ui) -> Commands {
        let mut commands = Commands::default();
        let once = std::mem::take(&mut self.once);
        let session = &self.session;
        let document = session.document.as_deref();
        let bar = BarInput {
            document,
            conversation_usage: session.derived.conversation_usage(),
            config: &session.config,
            live: session.live.as_ref().and_then(FollowedFile::state),
            recent: self.saved.recent(),
            list: session.sessions.as_ref(),
            call: session.selection.call,
            can_undo: session.history.can_undo() || session.history.is_ahead(&session.config),
            can_redo: session.history.can_redo(),
        };
        crate::app::ui::session_tabs::panel::show(
            ui,
            &self.tab_labels(),
            self.tabs.index(),
            &mut commands,
        );
        crate::app::ui::bar::panel::show(ui, &bar, self.runs(), &mut commands);
        if let Some(list) = self.list() {
            crate::app::ui::sessions::panel::show(ui, list, document, &mut commands);
        } else {
            self.session_panels(ui, once, &mut commands);
        }
        self.dialogs(ui, &mut commands);
        commands
    }

    /// Draws the open session with its dialogs, or the start screen.
    fn session_panels(&self, ui: &mut egui::Ui, once: FrameRequests, commands: &mut Commands) {
        let tab = &self.session;
        let problem = tab.problem.as_deref();
        let opening = Opening {
            loading: tab.loading.as_ref(),
            // The path dialog shows the error itself.
            problem: problem.filter(|_| !tab.view.asks_path),
        };
        let (Some(document), Some(session)) = (&tab.document, self.open_session(once)) else {
            let welcome = WelcomeInput {
                opening,
                recent: self.saved.recent(),
                path: &tab.view.path,
                focuses_path: once.focuses_path,
                is_replaying: tab.document.is_some(),
            };
            crate::app::ui::open::welcome::show(ui, &welcome, commands);
            return;
        };
        layout::show_all(ui, &session, &opening, commands);
        if let Some(export) = &tab.export {
            crate::app::ui::export::dialog::show(ui, &session, export, commands);
        }
        if let Some(measurement) = tab.measurement.as_ref().filter(|m| m.is_open) {
            crate::app::ui::measure::dialog::show(ui, session.runs, measurement, commands);
        }
        if let Some(report) = &tab.report {
            crate::app::ui::report_export::dialog::show(ui, report, commands);
        }
        if let Some(conversion) = &tab.conversion {
            crate::app::ui::convert::dialog::show(ui, document, conversion, commands);
        }
        if let Some(note) = &tab.note {
            crate::app::ui::parts::note::show(ui, note, &tab.config, commands);
        }
    }

    /// Returns the open session once it was replayed.
    fn open_session(&self, once: FrameRequests) -> Option<OpenSession<'_>> {
        let session = &self.session;
        let document = session.document.as_deref()?;
        let runs = self.runs().filter(|runs| runs.document == document.id)?;
        Some(OpenSession {
            document,
            runs,
            rows: session.derived.rows()?,
            config: &session.config,
            selection: session.selection,
            view: &session.view,
            policies: &self.policies,
            derived: &session.derived,
            sweep: session.sweep.as_ref(),
            comparison: session.comparison.as_ref(),
            own_price: self.saved.price(),
            is_covered: self.is_covered(),
            once,
        })
    }

    /// Draws the dialogs that need no open session.
    fn dialogs(&self, ui: &mut egui::Ui, commands: &mut Commands) {
        let session = &self.session;
        if let Some(logs) = &self.logs {
            crate::app::ui::run_logs::dialog::show(ui, logs, session.document.is_some(), commands);
        }
        if let Some(restoring) = &session.restoring {
            crate::app::ui::restore::dialog::show(ui, restoring, commands);
        }
        if let Some(saving) = &self.saving {
            crate::app::ui::settings_panel::preset_dialog::show(
                ui,
                saving,
                &self.policies,
                commands,
            );
        }
        if session.view.asks_path {
            crate::app::ui::open::path_dialog::show(
                ui,
                &session.view,
                session.problem.as_deref(),
                commands,
            );
        }
        if session.view.shows_shortcuts {
            shortcuts::show(ui, commands);
        }
        if let Some(palette) = &self.palette {
            let entries = self.palette_entries(&palette.text);
            command_palette::dialog::show(ui, palette, &entries, commands);
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
        if ui.input(|input| input.viewport().close_requested()) {
            let ctx = ui.ctx().clone();
            self.finish_workspaces(&ctx);
        }
    }
}
