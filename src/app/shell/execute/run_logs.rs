//! Executes commands of the list of run logs.

use crate::app::shell::App;
use crate::app::state::run_logs::list::{RunLogs, RunLogsCommand};
use crate::app::state::wording;
use crate::app::ui::repaint::repaint_of;
use crate::exec;

impl App {
    /// Executes a command of the list of run logs.
    pub(crate) fn execute_run_logs(&mut self, ctx: &egui::Context, command: RunLogsCommand) {
        match (command, &mut self.logs) {
            (RunLogsCommand::Show, logs) => {
                let folder = exec::logs_folder().filter(|_| self.saved.keeps_state());
                *logs = Some(RunLogs::new(folder));
            }
            (RunLogsCommand::Close, logs) => *logs = None,
            (RunLogsCommand::ConfirmDeletion(deletion), Some(logs)) => logs.deletion = deletion,
            (RunLogsCommand::Delete, Some(logs)) => match logs.remove() {
                Ok(n) => {
                    let text = wording::count(n, "log");
                    self.toasts.done(format!("Removed {text}"));
                }
                Err(why) => self.toasts.failed(why),
            },
            (RunLogsCommand::OpenFolder, Some(logs)) => logs.open_folder(&repaint_of(ctx)),
            (RunLogsCommand::Replay(path), logs) => {
                *logs = None;
                self.replay_from(&path);
            }
            (_, None) => {}
        }
    }
}
