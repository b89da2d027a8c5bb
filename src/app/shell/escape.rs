//! Esc key: cancels a drag, or closes the topmost open item. One item per press.

use crate::app::shell::App;
use crate::app::shell::drawer_tabs::tab_of;
use crate::app::state::command::Command;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::sessions::list::{ListPage, SessionsCommand};
use egui::{Context, Key, Modifiers, Popup};

impl App {
    /// Returns the command of Esc in this frame and consumes the key.
    pub(crate) fn escape(&self, ctx: &Context, is_drag_cancelled: bool) -> Option<Command> {
        if !ctx.input(|i| i.key_pressed(Key::Escape)) {
            return None;
        }
        let closed = if is_drag_cancelled { None } else { Some(self.topmost(ctx)?) };
        ctx.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape));
        closed
    }

    /// Returns the command that closes the topmost item. Menus, dialogs and fields handle Esc themselves.
    fn topmost(&self, ctx: &Context) -> Option<Command> {
        let has_dialog = ctx.memory(|memory| memory.top_modal_layer().is_some());
        if Popup::is_any_open(ctx) || has_dialog {
            return None;
        }
        if let Some(sessions) = self.list() {
            return Some(
                if sessions.page == ListPage::Usage {
                    SessionsCommand::Close
                } else if sessions.search.is_active() {
                    SessionsCommand::SearchText(String::new())
                } else if !sessions.filter.is_empty() {
                    SessionsCommand::Filter(String::new())
                } else if sessions.only.is_some() {
                    SessionsCommand::ShowAll
                } else {
                    SessionsCommand::Close
                }
                .into(),
            );
        }
        if self.session.loading.is_some() {
            return Some(OpenCommand::Cancel.into());
        }
        if self.is_typing {
            return None;
        }
        if self.session.problem.is_some() {
            return Some(OpenCommand::DismissError.into());
        }
        self.session.document.as_ref()?;
        let (view, selection) = (&self.session.view, &self.session.selection);
        if selection.compared.is_some() {
            return Some(SelectCommand::Compare(None).into());
        }
        if selection.calls.is_some() {
            return Some(SelectCommand::Calls(None).into());
        }
        tab_of(view.tab).escape(view, selection)
    }
}
