//! Executes commands of the session tabs.

use crate::app::shell::App;
use crate::app::shell::session_tab::SessionTab;
use crate::app::state::model::document::Origin;
use crate::app::state::model::selection::Direction;
use crate::app::state::open::loading::Loading;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::ui::timeline::plot::kept_zoom;

/// Maximum number of tabs. Each keeps its session in memory.
const MAX: usize = 24;

impl App {
    /// Executes a command of the session tabs. Ignored while a dialog that belongs to no session is open: the preset dialog,
    /// the run logs or the command palette.
    pub(crate) fn execute_tabs(&mut self, ctx: &egui::Context, command: TabsCommand) {
        let asks = self.saving.is_some() || self.logs.is_some() || self.palette.is_some();
        if asks {
            return;
        }
        let (n, shown) = (self.tabs.count(), self.tabs.shown);
        match command {
            TabsCommand::New => self.once.focuses_path = self.new_tab(ctx),
            TabsCommand::OpenInNew(open) => {
                let source = open.source();
                let is_open = source.is_some_and(|(origin, conversation)| {
                    self.show_tab_of(ctx, &origin, conversation)
                });
                if !is_open && self.new_tab(ctx) {
                    self.execute_open(ctx, open);
                }
            }
            TabsCommand::Reopen => {
                if let Some((origin, conversation)) = self.tabs.closed.pop()
                    && self.new_tab(ctx)
                {
                    self.open(ctx, origin, conversation);
                }
            }
            TabsCommand::Show(idx) => self.show_session_tab(ctx, idx),
            TabsCommand::Step(direction) => {
                let by = match direction {
                    Direction::Next => 1,
                    Direction::Previous => n - 1,
                };
                self.show_session_tab(ctx, (shown + by) % n);
            }
            TabsCommand::Close(idx) => self.close_tab(ctx, idx.unwrap_or(shown)),
        }
    }

    /// Shows the hidden tab that has or loads a session, with the message that was found in it. Returns whether there is
    /// one. Closes the tab shown before if it is empty and lists no sessions.
    pub(crate) fn show_tab_of(
        &mut self,
        ctx: &egui::Context,
        origin: &Origin,
        conversation: usize,
    ) -> bool {
        let Some(idx) = self.tabs.with(origin, conversation) else {
            return false;
        };
        let is_unused = self.is_empty_tab() && self.session.sessions.is_none();
        let before = is_unused.then_some(self.tabs.shown);
        let found = self.session.found_message.take();
        self.show_session_tab(ctx, idx);
        if let Some(empty) = before {
            self.tabs.remove(empty);
        }
        self.session.hide_list();
        let is_wanted = |loading: &Loading| loading.is_from(origin, conversation);
        if !self.session.loading.as_ref().is_some_and(is_wanted) {
            // The session is open, and another one may be replacing it.
            self.cancel_load();
        }
        self.session.found_message = found;
        if self.session.loading.is_none() {
            self.show_found_message();
        }
        true
    }

    /// Closes a tab. The last one stays, without its session.
    fn close_tab(&mut self, ctx: &egui::Context, idx: usize) {
        let (n, shown) = (self.tabs.count(), self.tabs.shown);
        if idx >= n {
            return;
        }
        self.show_session_tab(ctx, idx);
        if let Some(document) = &self.session.document {
            let closed = (document.origin.clone(), document.conversation);
            self.tabs.closed.push(closed);
        }
        self.close(ctx);
        if n > 1 {
            let next = match shown {
                shown if shown != idx => shown,
                _ if idx + 1 < n => idx + 1,
                _ => idx - 1,
            };
            self.show_session_tab(ctx, next);
            self.tabs.remove(idx);
        }
    }

    /// Shows an empty tab: a new one unless the shown one is empty. Returns false if too many tabs are open.
    pub(crate) fn new_tab(&mut self, ctx: &egui::Context) -> bool {
        if self.is_empty_tab() {
            self.session.hide_list();
            return true;
        }
        let n = self.tabs.count();
        if n >= MAX {
            self.toasts.info(format!("At most {MAX} tabs can be open: close one first."));
            return false;
        }
        let tab = self.empty_tab();
        self.tabs.all.push(Some(Box::new(tab)));
        self.show_session_tab(ctx, n);
        true
    }

    /// Shows the tab with this index, and keeps the session of the shown one.
    fn show_session_tab(&mut self, ctx: &egui::Context, idx: usize) {
        let Some(mut tab) = self.tabs.all.get_mut(idx).and_then(Option::take) else {
            return;
        };
        self.keep_workspace_now(ctx);
        self.session.zoom = kept_zoom::zoom(ctx);
        std::mem::swap(&mut self.session, &mut *tab);
        kept_zoom::request_zoom(ctx, self.session.zoom);
        let before = std::mem::replace(&mut self.tabs.shown, idx);
        self.tabs.all[before] = Some(tab);
        self.saver.reset();
        self.pasting = None;
        self.once.reveals_message = true;
        self.once.reveals_event = true;
        self.once.reveals_insight = true;
        ctx.memory_mut(|memory| {
            if let Some(id) = memory.focused() {
                memory.surrender_focus(id);
            }
        });
    }

    /// Returns whether the shown tab has no session and loads none.
    fn is_empty_tab(&self) -> bool {
        self.session.document.is_none() && self.session.loading.is_none()
    }

    /// Returns a tab without a session, with the view of the shown one.
    fn empty_tab(&self) -> SessionTab {
        let view = &self.session.view;
        SessionTab {
            view: view.of_another_session(),
            ..SessionTab::new(self.initial.clone(), self.work)
        }
    }
}
