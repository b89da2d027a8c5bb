//! The window, drawn from document, config, view and selection. Panels read state and send commands, which one place
//! executes after the frame. All analysis of sessions is in the engine.

mod about;
pub mod background;
pub mod bar;
pub mod changes;
pub mod command;
pub mod convert;
pub mod cost;
pub mod derived;
mod dispatch;
pub mod events;
pub mod export;
mod import;
pub mod insights;
pub mod lanes;
pub mod loss;
pub mod manual_edits;
pub mod messages;
pub mod open;
mod options;
pub mod picture;
pub mod plots;
pub mod policy_panel;
pub mod report_export;
pub mod run_logs;
pub mod runs;
pub mod sessions;
pub mod shell;
mod start;
pub mod state;
pub mod theme;
pub mod timeline;
pub mod tune;
mod verdict;
pub mod widgets;
pub mod wording;

pub use options::{LaneOption, Options};
pub use start::{run, screenshot};

use crate::app::background::latest_result::Where;
use crate::app::command::Command;
use crate::app::convert::conversion::Conversion;
use crate::app::derived::Derived;
use crate::app::export::job::Export;
use crate::app::open::document::{Document, Origin};
use crate::app::open::followed_file::Live;
use crate::app::open::loading::Loading;
use crate::app::policy_panel::policies::Policies;
use crate::app::policy_panel::preset_saving::PresetSaving;
use crate::app::report_export::job::Handout;
use crate::app::run_logs::list::RunLogs;
use crate::app::runs::replays::Runs;
use crate::app::sessions::list::{Sessions, SessionsWish};
use crate::app::shell::history::History;
use crate::app::shell::layout::{Frame, PanelInput};
use crate::app::shell::saved_state::Memory;
use crate::app::state::{Config, Selection, View};
use crate::app::tune::sweep::Tuning;
use crate::exec::OwnPresets;
use crate::units::Tokens;
use std::path::PathBuf;
use std::sync::Arc;

/// The window.
pub struct App {
    work: Where,
    policies: Policies,
    own_presets: OwnPresets,
    /// The preset dialog, while it is open.
    saving: Option<PresetSaving>,
    document: Option<Arc<Document>>,
    loading: Option<Loading>,
    /// The open file, which may still be growing.
    live: Option<Live>,
    /// The error of the last attempt to open a file.
    problem: Option<String>,
    config: Config,
    history: History<Config>,
    selection: Selection,
    view: View,
    derived: Derived,
    export: Option<Export>,
    /// The session list: in front, or behind a session that was opened from it.
    sessions: Option<Sessions>,
    handout: Option<Handout>,
    conversion: Option<Conversion>,
    logs: Option<RunLogs>,
    tuning: Option<Tuning>,
    dialog: Option<shell::file_dialog::FileDialog>,
    /// A pending request for the clipboard.
    pasting: Option<open::paste::Wish>,
    paste_keys: open::paste::Keys,
    toasts: shell::toasts::Toasts,
    fit: shell::fit::Fit,
    memory: Memory,
    /// Marks requested before the first session was loaded.
    wish: Option<manual_edits::marks::Wish>,
    /// The error in the requested marks.
    refused: Option<String>,
    /// One-time messages to panels for the next frame.
    once: shell::layout::Once,
    focus: shell::focus::Focus,
    /// A text field had the focus in the last frame.
    is_typing: bool,
}

impl App {
    /// Creates an empty window and starts to open the first path.
    pub fn new(ctx: &egui::Context, options: &Options) -> Self {
        theme::apply(ctx);
        let memory = Memory::new(options.no_state, options.paths.get(1..).unwrap_or_default());
        ctx.set_theme(options.theme.unwrap_or_else(|| memory.theme()));
        let names: Vec<_> = options
            .lanes
            .iter()
            .map(|lane| lane.policy.name.clone())
            .collect();
        let mut config = Config::new(&names);
        config.knobs.clone_from(&options.knobs);
        config.window = options.window.filter(|w| *w > Tokens::ZERO);
        if let Some(reserve) = options.output_reserve {
            config
                .knobs
                .insert(policy_panel::knobs::output_reserve(), reserve.as_f64());
        }
        config.counter = options.counter.unwrap_or(config.counter);
        config.restarts.clone_from(&options.restarts);
        config.restarts.sort_unstable();
        config.restarts.dedup();
        for error in &options.errors {
            config.set_error(error.step, Some(Arc::clone(&error.text)));
        }
        let (own, broken): (Vec<_>, Vec<_>) = options
            .own_presets
            .all()
            .into_iter()
            .map(|own| own.policy)
            .partition(Result::is_ok);
        let own = own.into_iter().filter_map(Result::ok).collect();
        let mut app = Self {
            work: options.work,
            policies: Policies::new(&options.lanes, own),
            own_presets: options.own_presets.clone(),
            saving: None,
            document: None,
            loading: None,
            live: None,
            problem: None,
            history: History::new(config.clone()),
            config,
            selection: Selection {
                lane: Some(0),
                ..Selection::default()
            },
            view: View::default(),
            derived: Derived::new(options.work),
            export: None,
            sessions: None,
            handout: None,
            conversion: None,
            logs: None,
            tuning: None,
            dialog: None,
            pasting: None,
            paste_keys: open::paste::Keys::default(),
            toasts: shell::toasts::Toasts::default(),
            fit: shell::fit::Fit::default(),
            memory,
            wish: options.by_hand.clone(),
            refused: None,
            once: shell::layout::Once::default(),
            focus: shell::focus::Focus::default(),
            is_typing: false,
        };
        for why in broken.into_iter().filter_map(Result::err) {
            app.complain(Some(why));
        }
        match options.paths.first() {
            Some(path) if sessions::commands::is_list(path, options.conversation) => {
                app.sessions_wish(ctx, SessionsWish::Show(Some(path.clone())));
            }
            Some(path) => app.open(ctx, Origin::Path(path.clone()), options.conversation),
            None => {}
        }
        app
    }

    /// Returns the current runs, once replayed.
    pub fn runs(&self) -> Option<&Runs> {
        self.derived.runs().map(Arc::as_ref)
    }

    /// Draws one frame and then executes its commands.
    pub fn show(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        self.fit.apply(&ctx);
        self.receive(&ctx);
        self.follow(&ctx);
        if let Some(document) = &self.document {
            self.derived.update(
                &ctx,
                document,
                &self.policies,
                &self.config,
                &self.selection,
                &self.view,
            );
        }
        let hovered = self.view.tune.hovered;
        self.derived
            .update_ghost(&ctx, self.tuning.as_ref(), hovered);
        let is_drag_cancelled = widgets::drag::cancelled(&ctx).is_some();
        let escaped = self.escape(&ctx, is_drag_cancelled);
        self.focus.reveal(&ctx);
        let mut commands = self.panels(ui);
        commands.extend(escaped);
        self.toasts.show(ui);
        let is_covered = self.is_covered();
        let keyed = self.document.as_ref().map(|_| shell::keys::Place {
            selection: &self.selection,
            order: self.derived.order(),
            lanes: self.config.lanes.len(),
        });
        commands.extend(shell::keys::commands(&ctx, keyed, is_covered));
        for command in commands {
            self.carry_out(&ctx, command);
        }
        if is_drag_cancelled && self.history.is_ahead(&self.config) {
            self.config.clone_from(self.history.settled());
            ctx.request_repaint();
        }
        self.is_typing = ctx.text_edit_focused();
        self.focus.show(&ctx);
        if !ctx.input(|i| i.pointer.any_down()) {
            self.history.settle(&self.config);
            self.keep_price();
        }
    }

    /// Returns whether a dialog covers the panels.
    fn is_covered(&self) -> bool {
        let is_writing =
            self.export.is_some() || self.handout.is_some() || self.conversion.is_some();
        let lists = self.logs.is_some() || self.list().is_some();
        let asks = self.saving.is_some() || self.view.asks_path;
        is_writing || lists || asks || self.view.shows_keys
    }

    /// Returns the session list while it is in front.
    fn list(&self) -> Option<&Sessions> {
        self.sessions.as_ref().filter(|list| list.is_shown)
    }

    fn panels(&mut self, ui: &mut egui::Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        let once = std::mem::take(&mut self.once);
        let frame = Frame {
            document: self.document.as_deref(),
            loading: self.loading.as_ref(),
            problem: self.problem.as_deref(),
            recent: self.memory.recent(),
            list: self.sessions.as_ref(),
            config: &self.config,
            live: self.live.as_ref().and_then(Live::state),
            step: self.selection.step,
            view: &self.view,
            can_undo: self.history.can_undo() || self.history.is_ahead(&self.config),
            can_redo: self.history.can_redo(),
        };
        bar::panel::show(
            ui,
            &frame,
            self.derived.runs().map(Arc::as_ref),
            &mut commands,
        );
        if let Some(list) = self.list() {
            sessions::panel::show(ui, list, &frame, &mut commands);
        } else {
            self.session_panels(ui, &frame, once, &mut commands);
        }
        if let Some(logs) = &self.logs {
            run_logs::dialog::show(ui, logs, self.document.is_some(), &mut commands);
        }
        if let Some(saving) = &self.saving {
            policy_panel::preset_dialog::show(ui, saving, &self.policies, &mut commands);
        }
        if self.view.asks_path {
            open::path_dialog::show(ui, &self.view, self.problem.as_deref(), &mut commands);
        }
        if self.view.shows_keys {
            shell::shortcuts::show(ui, &mut commands);
        }
        commands
    }

    /// Draws the open session with its dialogs, or the empty window.
    fn session_panels(
        &self,
        ui: &mut egui::Ui,
        frame: &Frame<'_>,
        once: shell::layout::Once,
        commands: &mut Vec<Command>,
    ) {
        match (&self.document, self.derived.runs(), self.derived.rows()) {
            (Some(document), Some(runs), Some(rows)) if runs.document == document.id => {
                let input = PanelInput {
                    document,
                    runs,
                    rows,
                    order: self.derived.order(),
                    config: &self.config,
                    selection: self.selection,
                    view: &self.view,
                    policies: &self.policies,
                    is_stale: self.derived.is_stale(),
                    is_covered: self.is_covered(),
                    revision: self.derived.revision(),
                    text: self.derived.text(document, &self.selection, &self.view),
                    changes: self.derived.changes(&self.selection, &self.view),
                    events: self.derived.events(),
                    carried: self.derived.carried(),
                    costs: self.derived.costs(),
                    insights: self.derived.insights(),
                    losses: self.derived.losses(),
                    reach: self.derived.reach().map(Arc::as_ref),
                    survivals: self.derived.survivals(),
                    tuning: self.tuning.as_ref(),
                    ghost: self
                        .derived
                        .ghost(self.tuning.as_ref(), self.view.tune.hovered),
                    calls: self.derived.calls(),
                    own_price: self.memory.price(),
                    once,
                };
                shell::layout::show_all(ui, &input, frame, commands);
                if let Some(export) = &self.export {
                    export::dialog::show(ui, &input, export, commands);
                }
                if let Some(handout) = &self.handout {
                    report_export::dialog::show(ui, handout, commands);
                }
                if let Some(conversion) = &self.conversion {
                    convert::dialog::show(ui, document, conversion, commands);
                }
            }
            _ => open::welcome::show(ui, frame, self.document.is_some(), commands),
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }
}

/// Returns the path of a file dropped on the window.
fn dropped(ctx: &egui::Context) -> Option<PathBuf> {
    ctx.input(|i| {
        i.raw
            .dropped_files
            .first()
            .map(|file| file.path().to_owned())
    })
    .filter(|p| !p.as_os_str().is_empty())
}
