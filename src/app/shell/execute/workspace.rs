//! Saves, keeps and restores the workspace of the open session.

use crate::app::shell::{App, drawer_tabs};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::history::History;
use crate::app::state::workspace::contents::{KeptView, SessionSize, Workspace};
use crate::app::state::workspace::kept_comparison::KeptComparison;
use crate::app::state::workspace::reopened::Reopened;
use crate::app::state::workspace::saver::{Output, OwnPolicy, SaveJob, WorkspaceState};
use crate::app::state::workspace::visits::{Visit, VisitState};
use crate::app::ui::repaint::repaint_of;
use crate::app::ui::timeline::plot::kept_zoom;
use crate::app::ui::widgets::resizable_panel;
use crate::exec::default_path_beside;
use crate::{presets, safe_text};
use std::sync::Arc;

impl App {
    /// Saves the workspace of the open session some time after a change.
    pub(crate) fn keep_workspace(&mut self, ctx: &egui::Context) {
        if self.work == WorkMode::InFrame {
            return self.keep_workspace_now(ctx);
        }
        if self.keeps_workspace() {
            let state = self.workspace_state(ctx);
            let due = self.saver.due(&repaint_of(ctx), state);
            self.write_kept_workspace(ctx, due);
        }
        self.report_saved_workspaces();
    }

    /// Saves the workspace of the open session if it changed.
    pub(crate) fn keep_workspace_now(&mut self, ctx: &egui::Context) {
        if self.keeps_workspace() {
            let state = self.workspace_state(ctx);
            let unsaved = self.saver.unsaved(state);
            self.write_kept_workspace(ctx, unsaved);
        }
        self.report_saved_workspaces();
    }

    /// Returns whether the workspace of the open session is kept.
    fn keeps_workspace(&self) -> bool {
        let document = self.session.document.as_ref();
        let origin = document.map(|document| &document.origin);
        matches!(origin, Some(Origin::Path(_))) && self.saver.store().is_kept()
    }

    fn write_kept_workspace(&mut self, ctx: &egui::Context, state: Option<WorkspaceState>) {
        if let (Some(state), Some(document)) = (state, &self.session.document) {
            let output = Output::Kept(self.saver.store().clone());
            self.write_workspace(ctx, Arc::clone(document), &state, output);
        }
    }

    fn report_saved_workspaces(&mut self) {
        for result in self.saver.results() {
            match result {
                Ok(Some(text)) => self.toasts.done(text),
                Ok(None) => {}
                Err(why) => self.warn(Some(why)),
            }
        }
    }

    /// Saves the workspace as a portable file next to the session.
    pub(crate) fn save_workspace(&mut self, ctx: &egui::Context) {
        let Some(document) = self.session.document.as_ref().map(Arc::clone) else {
            return;
        };
        let beside = document.origin.beside();
        let Some(output) = beside.and_then(|p| default_path_beside(p, "workspace", "json")) else {
            self.warn(Some(
                "There is no folder for the workspace: save the session to a file first."
                    .to_owned(),
            ));
            return;
        };
        let state = self.workspace_state(ctx);
        self.write_workspace(ctx, document, &state, Output::Portable(output));
    }

    /// Saves the last changes and waits until they are written.
    pub(crate) fn finish_workspaces(&mut self, ctx: &egui::Context) {
        self.keep_workspace_now(ctx);
        self.saver.finish();
    }

    /// Remembers the state of the open session before it is closed or another one is shown.
    pub(crate) fn leave_session(&mut self, ctx: &egui::Context) {
        self.keep_workspace_now(ctx);
        if let Some(document) = &self.session.document {
            let state = VisitState {
                config: self.session.config.clone(),
                history: self.session.history.clone(),
                selection: self.session.selection,
                zoom: kept_zoom::zoom(ctx),
                comparison: self.kept_comparison(),
            };
            self.visits.push(Visit::new(document, state));
        }
    }

    /// Restores the state of a session that was just opened: from the last visit, else from its workspace.
    pub(crate) fn restore_workspace(
        &mut self,
        ctx: &egui::Context,
        document: &Document,
        reopened: Reopened,
    ) {
        self.saver.reset();
        kept_zoom::request_zoom(ctx, None);
        let visit = self.visits.take(document).filter(|_| reopened.continues_visit);
        let size =
            SessionSize { calls: document.session().calls.len(), messages: document.n_messages() };
        match (visit, reopened.workspace) {
            (Some(Visit { state: visit, .. }), _) if !reopened.is_opened => {
                self.session.config = visit.config;
                self.session.history = visit.history;
                self.session.selection = visit.selection;
                kept_zoom::request_zoom(ctx, visit.zoom);
                self.restore_comparison(ctx, document, visit.comparison);
            }
            (_, Some(Ok(workspace))) => {
                if reopened.is_opened && self.replaces_workspaces {
                    self.toasts.info("The options of the command line replace the workspace.");
                    return;
                }
                let comparison = workspace.view.comparison.clone();
                let is_opened = reopened.is_opened;
                let comparison = comparison.filter(|kept| !is_opened || kept.is_inside());
                self.apply_workspace(ctx, size, workspace);
                self.restore_comparison(ctx, document, comparison);
            }
            (_, Some(Err(why))) => self.warn(Some(why)),
            (_, None) => {}
        }
    }

    fn apply_workspace(&mut self, ctx: &egui::Context, size: SessionSize, workspace: Workspace) {
        for (name, toml) in &workspace.policies {
            let shown = safe_text::one_line(name, 80);
            match presets::parse(toml) {
                Ok(policy) if policy.name == *name => {
                    if !self.policies.add_from_workspace(policy) {
                        self.warn(Some(format!("The policy {shown} of this machine differs from the one in the workspace; the lane uses the one of this machine.")));
                    }
                }
                _ => {
                    self.warn(Some(format!("The policy {shown} of the workspace cannot be read.")));
                }
            }
        }
        let unknown = workspace.policy_names().find(|name| !self.policies.has(name));
        if let Some(name) = unknown.map(|name| safe_text::one_line(name, 80)) {
            self.warn(Some(format!(
                "The lane of the policy {name} is left out: there is no such policy."
            )));
        }
        let view = workspace.view.clone();
        let mut config = self.session.config.clone();
        let selection = workspace.selection(size);
        workspace.apply(&mut config, size, |name| self.policies.has(name));
        self.session.selection = selection;
        self.session.history = History::new(config.clone());
        self.session.config = config;
        self.limit_selected_lane();
        self.session.view.timeline_mut().axis = view.axis;
        if let Some(tab) = view.tab(drawer_tabs::tabs()) {
            self.session.view.tab = tab;
        }
        drawer_tabs::restore(&view.tabs, &mut self.session.view);
        kept_zoom::request_zoom(ctx, view.zoom);
        resizable_panel::set_sizes(ctx, &view.panels);
        self.once.reveals_message = true;
    }

    /// Opens the second session of a comparison again.
    fn restore_comparison(
        &mut self,
        ctx: &egui::Context,
        document: &Document,
        kept: Option<KeptComparison>,
    ) {
        if let Some(kept) = kept {
            let (path, conversation) = kept.place(document);
            self.load_comparison(ctx, Origin::Path(path), conversation);
            self.session.view.compare_mut().is_by_share = kept.is_by_share;
        }
    }

    fn kept_comparison(&self) -> Option<KeptComparison> {
        let document = self.session.document.as_ref()?;
        let comparison = self.session.comparison.as_ref()?;
        if comparison.problem().is_some() {
            return None;
        }
        let second = comparison.source();
        KeptComparison::new(document, second, self.session.view.compare().is_by_share)
    }

    fn workspace_state(&self, ctx: &egui::Context) -> WorkspaceState {
        WorkspaceState {
            config: self.session.config.clone(),
            selection: self.session.selection,
            view: KeptView {
                tab: self.session.view.tab.key.to_owned(),
                axis: self.session.view.timeline().axis,
                zoom: kept_zoom::zoom(ctx),
                panels: resizable_panel::chosen_sizes(ctx),
                comparison: self.kept_comparison(),
                tabs: drawer_tabs::kept(&self.session.view),
            },
        }
    }

    fn write_workspace(
        &mut self,
        ctx: &egui::Context,
        document: Arc<Document>,
        state: &WorkspaceState,
        output: Output,
    ) {
        let mut view = state.view.clone();
        if matches!(output, Output::Portable(_)) {
            view.comparison = view.comparison.filter(KeptComparison::is_inside);
        }
        let workspace = Workspace::new(&state.config, &state.selection, view);
        let is_own = |name: &&str| {
            self.policies.is_saved(name) || self.policies.command_line_name(name) != *name
        };
        let own = workspace.policy_names().filter(is_own);
        let own_policies = own
            .map(|name| OwnPolicy {
                name: name.to_owned(),
                word: self.policies.command_line_name(name).to_owned(),
            })
            .collect();
        let job = SaveJob {
            document,
            workspace,
            own_policies,
            own_presets: self.own_presets.clone(),
            output,
        };
        self.saver.write(&repaint_of(ctx), self.work, job);
    }
}
