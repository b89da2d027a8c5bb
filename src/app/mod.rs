//! The window, drawn from document, config, view and selection. Panels read state and send commands, which `dispatch.rs`
//! executes after the frame. Sessions are analyzed in [`crate::analysis`].
//!
//! `App::session` is the state of the shown tab, `App::tabs` has the hidden ones. The other fields of `App` belong to no
//! session.
//!
//! # How to write a drawer tab
//!
//! `about.rs` is a tab of one file, `events` one with a table, a filter and a result that is computed in the background.
//!
//! 1. Add a file, or a folder with `panel.rs`: `show(&mut Ui, &OpenSession, &mut Commands)` draws the tab, `controls` the right
//!    end of the tab row. The labels of all tabs must fit in a window of 900 points. Tests of the window are in `tests/window`.
//! 2. Declare it below. Add a row to `drawer_tabs!` in `view.rs` and to `drawer_tab` in `shell/drawer.rs`. Workspaces,
//!    keys and the command palette use the row. The keys Alt+1 to Alt+9 open the first nine tabs.
//!
//! A panel draws what `OpenSession` (`shell/open_session.rs`) contains, and sends commands:
//!
//! | a tab with | uses | example |
//! |---|---|---|
//! | figures of the session | `session.runs.case`: the session, counted by the selected tokenizer | `import.rs` |
//! | figures of a lane | `session.runs.focused(&session.selection)` | `about.rs` |
//! | work that may take longer than a frame | a row of `results!` in `derived/mod.rs`; its key in `derived/keys.rs`; an `update_` function in `derived/requests.rs` or, for results about messages, `derived/message_requests.rs`; its call in `Derived::update` | `messages/cumulative.rs` |
//! | a filter, an order or pages | a type in `state.rs` of the tab, a field of `View`, and a variant of `ViewCommand` (`view.rs`); a field of `KeptView` if workspaces store it | `cost` |
//! | links to calls, messages and lanes | `SelectCommand` (`selection.rs`) | `events` |
//! | other commands | a type in `command.rs`, a row of `commands!` in `command.rs` of this folder, an `execute_` function, and its call in `dispatch.rs` | `tune` |
//!
//! Panels share `widgets::table` (tables that sort and copy), `widgets::text` (margins and text styles), `wording` (numbers,
//! units and names as text) and `theme` (colors and spacing). Files may not import each other in a circle of more than
//! three, so keep `state.rs` free of panels, and let the panel of a folder take its input from `OpenSession` in `input.rs`.

mod about;
pub mod background;
pub mod bar;
pub mod changes;
pub mod command;
pub mod command_palette;
pub mod compare;
pub mod config;
pub mod convert;
pub mod cost;
pub mod derived;
mod dispatch;
pub mod evaluate;
pub mod events;
pub mod export;
mod import;
pub mod insights;
pub mod lanes;
pub mod manual_edits;
pub mod measure;
pub mod messages;
pub mod notes;
pub mod open;
mod options;
pub mod picture;
pub mod plots;
pub mod report_export;
pub mod restore;
pub mod run_logs;
pub mod runs;
pub mod selection;
pub mod session_tabs;
pub mod sessions;
pub mod settings_panel;
pub mod shell;
mod start;
mod start_error;
pub mod theme;
pub mod timeline;
pub mod tune;
mod verdict;
pub mod view;
pub mod widgets;
pub mod wording;
mod workspace;

pub use options::{LaneOption, Options};
pub use start::{has_display, run, screenshot};

use crate::app::background::latest_result::WorkMode;
use crate::app::bar::input::BarInput;
use crate::app::command::Commands;
use crate::app::command_palette::state::PaletteState;
use crate::app::config::Config;
use crate::app::open::document::Origin;
use crate::app::open::followed_file::FollowedFile;
use crate::app::open::opening::Opening;
use crate::app::open::welcome::WelcomeInput;
use crate::app::run_logs::list::RunLogs;
use crate::app::runs::replays::Runs;
use crate::app::session_tabs::session_tab::{SessionTab, Tabs};
use crate::app::sessions::list::{Sessions, SessionsCommand};
use crate::app::settings_panel::policies::Policies;
use crate::app::settings_panel::preset_saving::PresetSaving;
use crate::app::shell::open_session::{FrameRequests, OpenSession};
use crate::app::shell::saved_state::SavedState;
use crate::app::workspace::saver::Saver;
use crate::app::workspace::visits::Visits;
use crate::exec::{IndexFolder, OwnPresets};
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
    dialog: Option<shell::file_dialog::FileDialog>,
    /// A pending request for the clipboard.
    pasting: Option<open::paste::ClipboardRequest>,
    paste_keys: open::paste::PasteKeys,
    toasts: shell::toasts::Toasts,
    fit: shell::fit::Fit,
    /// State saved between runs of the program.
    saved: SavedState,
    saver: Saver,
    /// The folder of the search index.
    index: IndexFolder,
    /// Lanes, settings or marks were given at startup: workspaces are neither read nor kept.
    replaces_workspaces: bool,
    visits: Visits,
    /// Marks requested before the first session was loaded.
    requested_marks: Option<manual_edits::marks::RequestedMarks>,
    /// The error in the requested marks.
    rejected_edit: Option<String>,
    /// One-time messages to panels for the next frame.
    once: FrameRequests,
    focus: shell::focus::Focus,
    typed_ahead: shell::typed_ahead::TypedAhead,
    /// A text field had the focus in the last frame.
    is_typing: bool,
}

impl App {
    /// Creates an empty window and starts to open the first path.
    pub fn new(ctx: &egui::Context, options: &Options) -> Self {
        theme::apply(ctx);
        let saved = SavedState::new(options.no_state, options.paths.get(1..).unwrap_or_default());
        ctx.set_theme(options.theme.unwrap_or_else(|| saved.theme()));
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
            paste_keys: open::paste::PasteKeys::default(),
            toasts: shell::toasts::Toasts::default(),
            fit: shell::fit::Fit::new(saved.zoom()),
            saved,
            saver: Saver::new(options.kept_workspaces()),
            index: options.index.clone(),
            replaces_workspaces: options.replaces_workspaces(),
            visits: Visits::default(),
            requested_marks: options.marks.clone(),
            rejected_edit: None,
            once: FrameRequests::default(),
            focus: shell::focus::Focus::default(),
            typed_ahead: shell::typed_ahead::TypedAhead::default(),
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
            Some(path) if sessions::list::is_list(path, options.conversation) => {
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
            session.derived.update(
                &ctx,
                document,
                &self.policies,
                &session.config,
                &session.selection,
                &session.view,
            );
        }
        self.find_if_ready();
        self.update_comparison(&ctx);
        let session = &mut self.session;
        let (sweep, hovered) = (session.sweep.as_ref(), session.view.tune.hovered);
        session.derived.update_tried_setting(&ctx, sweep, hovered);
        let is_drag_cancelled = widgets::drag::cancelled(&ctx).is_some();
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
        if let Some(copied) = widgets::take_copied_table(&ctx) {
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
            config: &session.config,
            live: session.live.as_ref().and_then(FollowedFile::state),
            recent: self.saved.recent(),
            list: session.sessions.as_ref(),
            call: session.selection.call,
            can_undo: session.history.can_undo() || session.history.is_ahead(&session.config),
            can_redo: session.history.can_redo(),
        };
        session_tabs::panel::show(ui, &self.tab_labels(), self.tabs.index(), &mut commands);
        bar::panel::show(ui, &bar, self.runs(), &mut commands);
        if let Some(list) = self.list() {
            sessions::panel::show(ui, list, document, &mut commands);
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
            open::welcome::show(ui, &welcome, commands);
            return;
        };
        shell::layout::show_all(ui, &session, &opening, commands);
        if let Some(export) = &tab.export {
            export::dialog::show(ui, &session, export, commands);
        }
        if let Some(measurement) = tab.measurement.as_ref().filter(|m| m.is_open) {
            measure::dialog::show(ui, session.runs, measurement, commands);
        }
        if let Some(report) = &tab.report {
            report_export::dialog::show(ui, report, commands);
        }
        if let Some(conversion) = &tab.conversion {
            convert::dialog::show(ui, document, conversion, commands);
        }
        if let Some(note) = &tab.note {
            notes::dialog::show(ui, note, &tab.config, commands);
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
            run_logs::dialog::show(ui, logs, session.document.is_some(), commands);
        }
        if let Some(restoring) = &session.restoring {
            restore::dialog::show(ui, restoring, commands);
        }
        if let Some(saving) = &self.saving {
            settings_panel::preset_dialog::show(ui, saving, &self.policies, commands);
        }
        if session.view.asks_path {
            open::path_dialog::show(ui, &session.view, session.problem.as_deref(), commands);
        }
        if session.view.shows_shortcuts {
            shell::shortcuts::show(ui, commands);
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
