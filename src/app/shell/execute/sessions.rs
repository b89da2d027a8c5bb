//! Executes commands of the session list.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::messages::order::Filter;
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::document::Origin;
use crate::app::state::model::session_list::is_list;
use crate::app::state::session_tabs::target_tab::TargetTab;
use crate::app::state::sessions::list::{OpenedMessage, Sessions, SessionsCommand};
use crate::app::state::sessions::search::FoundRow;
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::ui::repaint::repaint_of;
use std::io;
use std::path::PathBuf;

impl App {
    /// Opens a file, or lists the sessions of a folder or database.
    pub(crate) fn open_path(&mut self, ctx: &egui::Context, path: PathBuf) {
        if is_list(&path, 0) {
            self.execute_sessions(ctx, SessionsCommand::Show(Some(path)));
        } else {
            self.open(ctx, Origin::Path(path), 0);
        }
    }

    /// Executes a command of the session list.
    pub(crate) fn execute_sessions(&mut self, ctx: &egui::Context, command: SessionsCommand) {
        match command {
            SessionsCommand::Show(folder) => {
                if let Some(listed) = &folder {
                    let warning = self.saved.add_recent_list(listed);
                    self.warn(warning);
                }
                let (keeps_state, index) = (self.saved.keeps_state(), self.index.clone());
                let (repaint, usage) = (repaint_of(ctx), self.saved.usage_view());
                let sessions =
                    Sessions::start(&repaint, self.work, folder, keeps_state, index, usage);
                self.session.sessions = Some(sessions);
            }
            SessionsCommand::Choose => self.ask_for_file(ctx, DialogPurpose::Folder),
            SessionsCommand::Close if self.session.document.is_none() => {
                self.session.sessions = None;
            }
            SessionsCommand::StartSearch => {
                if let Some(sessions) = &mut self.session.sessions {
                    let folder = sessions.folder.clone();
                    sessions.search.start(&repaint_of(ctx), self.work, folder);
                }
            }
            SessionsCommand::OpenFound(row, target) => self.open_found(ctx, row, target),
            SessionsCommand::SwitchIndexOn => {
                let switched = self.index.switch_on();
                self.apply_index_change(ctx, switched);
            }
            SessionsCommand::RemoveIndex => self.remove_index(ctx),
            SessionsCommand::Usage(command) => self.execute_usage(ctx, command),
            command => {
                if let Some(sessions) = &mut self.session.sessions {
                    sessions.execute(command);
                }
            }
        }
    }

    /// Executes a command of the page *Usage*. Shows the sessions of this machine if none are listed.
    fn execute_usage(&mut self, ctx: &egui::Context, command: UsageCommand) {
        if self.session.sessions.is_none() && command == UsageCommand::Show {
            self.execute_sessions(ctx, SessionsCommand::Show(None));
        }
        if let Some(sessions) = &mut self.session.sessions {
            sessions.execute_usage(&repaint_of(ctx), self.work, command);
            let warning = self.saved.set_usage_view(&sessions.usage.view);
            self.warn(warning);
        }
    }

    /// Opens the session of a row of the search results; its message is shown once the session is loaded.
    fn open_found(&mut self, ctx: &egui::Context, row: FoundRow, target: TargetTab) {
        let Some(sessions) = &self.session.sessions else {
            return;
        };
        let (FoundRow::Session(idx) | FoundRow::Message(idx, _) | FoundRow::More(idx)) = row;
        let message = match row {
            FoundRow::Message(_, message) => message,
            FoundRow::Session(_) | FoundRow::More(_) => 0,
        };
        let search = &sessions.search;
        let Some(session) = search.result.sessions.get(idx) else {
            return;
        };
        let Some(message) = session.messages.get(message) else {
            return;
        };
        let opened = OpenedMessage {
            path: session.found.path.clone(),
            conversation: session.conversation.unwrap_or(0),
            hit: message.hit,
            query: search.searched.clone().unwrap_or_default(),
        };
        let (origin, conversation) = (Origin::Path(opened.path.clone()), opened.conversation);
        let pending = self.session.found_message.replace(opened.clone());
        if target == TargetTab::New {
            if self.show_tab_of(ctx, &origin, conversation) {
                return;
            }
            self.session.found_message = pending;
            if !self.new_tab(ctx) {
                return;
            }
            self.session.found_message = Some(opened);
        }
        self.open(ctx, origin, conversation);
    }

    /// Shows the message with which the open session was found, if it was.
    pub(crate) fn show_found_message(&mut self) {
        let opened = self.session.found_message.take();
        let (Some(opened), Some(document)) = (opened, &self.session.document) else {
            return;
        };
        if !document.is_from(&Origin::Path(opened.path), opened.conversation) {
            return;
        }
        let mut filter = Filter::default();
        filter.set_text(opened.query);
        self.execute_messages(MessagesCommand::Filter(filter));
        self.execute_messages(MessagesCommand::Show(opened.hit));
    }

    fn remove_index(&mut self, ctx: &egui::Context) {
        // Windows cannot remove an open file.
        if let Some(sessions) = &mut self.session.sessions {
            sessions.search.cancel();
        }
        let removed = self.index.clear().map(|_was_on| ());
        self.apply_index_change(ctx, removed);
    }

    /// Reports a failed change of the index. Searches again, or adds the listed sessions to an index that is on.
    fn apply_index_change(&mut self, ctx: &egui::Context, changed: io::Result<()>) {
        if let Err(error) = changed {
            self.warn(Some(format!("Cannot change the search index: {error}")));
        }
        if let Some(sessions) = &mut self.session.sessions {
            let (folder, search) = (sessions.folder.clone(), &mut sessions.search);
            search.measure_index();
            if search.is_active() {
                search.start(&repaint_of(ctx), self.work, folder);
            } else {
                search.update_index(&repaint_of(ctx), self.work, folder);
            }
        }
    }
}
