//! Esc key: cancels a drag, or closes the topmost open item. One item per press.

use crate::app::App;
use crate::app::command::Command;
use crate::app::insights::list::InsightFilter;
use crate::app::messages::order::Filter;
use crate::app::messages::state::MessagesCommand;
use crate::app::open::command::OpenCommand;
use crate::app::selection::SelectCommand;
use crate::app::sessions::list::SessionsCommand;
use crate::app::view::{Tab, ViewCommand};
use egui::{Context, Key, Modifiers, Popup};

impl App {
    /// Returns the command of Esc in this frame and consumes the key.
    pub(in crate::app) fn escape(&self, ctx: &Context, is_drag_cancelled: bool) -> Option<Command> {
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
                if sessions.search.is_active() {
                    SessionsCommand::SearchText(String::new())
                } else if sessions.filter.is_empty() {
                    SessionsCommand::Close
                } else {
                    SessionsCommand::Filter(String::new())
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
        let has_detail = selection.message.is_some() || selection.written.is_some();
        match view.tab {
            Tab::Messages if !view.messages.filter.is_empty() => {
                Some(MessagesCommand::Filter(Filter::default()).into())
            }
            Tab::Messages if has_detail => Some(SelectCommand::NoMessage.into()),
            Tab::Insights if view.insights.filter != InsightFilter::default() => {
                Some(ViewCommand::InsightFilter(InsightFilter::default()).into())
            }
            _ => None,
        }
    }
}
