//! Dispatches UI commands, and receives results of background work.

use crate::app::shell::App;
use crate::app::state::command::Command;
use crate::app::ui::repaint::repaint_of;

impl App {
    /// Executes one command.
    pub(crate) fn execute(&mut self, ctx: &egui::Context, command: Command) {
        match command {
            Command::Open(command) => self.execute_open(ctx, command),
            Command::Tabs(command) => self.execute_tabs(ctx, command),
            Command::Sessions(command) => self.execute_sessions(ctx, command),
            Command::Select(command) => self.execute_select(command),
            Command::View(command) => self.execute_view(command),
            Command::Messages(command) => self.execute_messages(command),
            Command::Mark(command) => self.execute_mark(command),
            Command::Note(command) => self.execute_note(command),
            Command::Lanes(command) => self.execute_lanes(ctx, command),
            Command::Settings(command) => self.execute_settings(command),
            Command::Preset(command) => self.execute_preset(command),
            Command::Compare(command) => self.execute_compare(ctx, command),
            Command::Tune(command) => self.execute_tune(ctx, command),
            Command::Export(command) => self.execute_export(ctx, command),
            Command::Measure(command) => self.execute_measure(ctx, command),
            Command::Report(command) => self.execute_report(ctx, command),
            Command::Convert(command) => self.execute_convert(ctx, command),
            Command::Restore(command) => self.execute_restore(ctx, command),
            Command::RunLogs(command) => self.execute_run_logs(ctx, command),
            Command::Palette(command) => self.execute_palette(ctx, command),
            Command::Shell(command) => self.execute_shell(ctx, command),
        }
        // A command may need another frame even if no input arrives.
        ctx.request_repaint();
    }

    /// Receives results since the last frame: dropped files, dialog answers, finished work.
    pub(crate) fn receive(&mut self, ctx: &egui::Context) {
        self.receive_dropped_file(ctx);
        self.receive_paste(ctx);
        if let Some(sessions) = &mut self.session.sessions {
            sessions.poll(&repaint_of(ctx), self.work);
        }
        self.receive_dialog(ctx);
        self.receive_session(ctx);
        self.receive_dialog_results();
        if let Some(measurement) = &mut self.session.measurement {
            measurement.poll();
        }
        if let Some(sweep) = &mut self.session.sweep {
            sweep.poll();
        }
    }

    pub(crate) fn warn(&mut self, warning: Option<String>) {
        if let Some(warning) = warning {
            self.toasts.warning(warning);
        }
    }

    /// Limits the selected lane to the lanes that exist.
    pub(crate) fn limit_selected_lane(&mut self) {
        let last = self.session.config.lanes.len() - 1;
        self.session.selection.lane = self.session.selection.lane.map(|lane| lane.min(last));
    }
}
