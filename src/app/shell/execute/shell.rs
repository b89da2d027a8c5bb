//! Executes commands of the window as a whole, and changes of view settings.

use crate::app::shell::App;
use crate::app::state::copy_command;
use crate::app::state::events::list::EventFilter;
use crate::app::state::model::config::Config;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::shell_command::{ShellCommand, ThemeChoice};

impl App {
    /// Executes a command of the window as a whole.
    pub(crate) fn execute_shell(&mut self, ctx: &egui::Context, command: ShellCommand) {
        match command {
            ShellCommand::Undo => {
                let config = self.session.history.undo(&self.session.config);
                self.replace_config(config);
            }
            ShellCommand::Redo => {
                let config = self.session.history.redo(&self.session.config);
                self.replace_config(config);
            }
            ShellCommand::ShowTab(tab) => self.show_tab(tab),
            ShellCommand::ShowShortcuts => self.session.view.shows_shortcuts = true,
            ShellCommand::CloseShortcuts => self.session.view.shows_shortcuts = false,
            ShellCommand::SetTheme(theme) => self.set_theme(ctx, theme),
            ShellCommand::Copy(name, text) => self.copy(ctx, name, text),
            ShellCommand::SaveWorkspace => self.save_workspace(ctx),
            ShellCommand::CopyCommandLine => self.copy_command_line(ctx),
        }
    }

    /// Replaces the view settings of a panel.
    pub(crate) fn execute_view(&mut self, command: ViewCommand) {
        self.once.reveals_event |= command.replaces::<EventFilter>();
        self.session.view.change(command);
    }

    /// Shows a tab of the drawer.
    pub(crate) fn show_tab(&mut self, tab: Tab) {
        // The table does not know about selections made while it was hidden.
        self.once.reveals_message |= tab == Tab::MESSAGES && self.session.view.tab != tab;
        self.session.view.tab = tab;
        self.once.reveals_event = true;
        self.once.reveals_insight = true;
    }

    /// Replaces the configuration after an undo or redo, if there was something to undo or redo.
    fn replace_config(&mut self, config: Option<Config>) {
        if let Some(config) = config {
            self.session.config = config;
            self.limit_selected_lane();
        }
    }

    fn set_theme(&mut self, ctx: &egui::Context, theme: ThemeChoice) {
        ctx.set_theme(theme.preference());
        let warning = self.saved.set_theme(theme);
        self.warn(warning);
    }

    /// Copies a text to the clipboard and shows its name in a notice.
    pub(crate) fn copy(&mut self, ctx: &egui::Context, name: &str, text: String) {
        ctx.copy_text(text);
        self.toasts.done(format!("Copied {name}"));
    }

    fn copy_command_line(&mut self, ctx: &egui::Context) {
        if let (Some(document), Some(runs)) = (&self.session.document, self.runs()) {
            let command = copy_command::command(document, runs, &self.policies);
            self.copy(ctx, "the command", command);
        }
    }
}
