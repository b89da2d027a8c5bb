//! Executes commands of the dialog of a report or chart file.

use super::job::{ReportCommand, ReportDraft, ReportExport};
use crate::app::App;
use crate::app::shell::file_dialog::DialogPurpose;

impl App {
    /// Executes a command of the dialog of a report or chart file.
    pub(in crate::app) fn execute_report(&mut self, ctx: &egui::Context, command: ReportCommand) {
        let (Some(document), Some(runs)) = (&self.document, self.derived.shared_runs()) else {
            return;
        };
        match (command, &mut self.report) {
            (ReportCommand::Start(format), report) => {
                let is_dark = ctx.global_style().visuals.dark_mode;
                *report = Some(ReportExport::new(document, format, is_dark));
            }
            (ReportCommand::Edit(draft), Some(report)) => report.edit(document, draft),
            (ReportCommand::Browse, Some(_)) => self.ask_for_file(ctx, DialogPurpose::Report),
            (ReportCommand::Write, Some(report)) => {
                report.write(ctx, self.work, document, runs, &self.config.notes);
            }
            (ReportCommand::Close, report) => *report = None,
            (_, None) => {}
        }
    }

    /// Receives the path chosen in the system's dialog.
    pub(in crate::app) fn report_path_chosen(&mut self, output: String) {
        if let (Some(report), Some(document)) = (&mut self.report, &self.document) {
            let draft = ReportDraft {
                output,
                ..report.draft.clone()
            };
            report.edit(document, draft);
        }
    }
}
