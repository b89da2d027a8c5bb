//! Executes commands of the dialog of a report or chart file.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::report_export::{ReportCommand, ReportDraft};
use crate::app::ui::report_export::job::ReportExport;

impl App {
    /// Executes a command of the dialog of a report or chart file.
    pub(crate) fn execute_report(&mut self, ctx: &egui::Context, command: ReportCommand) {
        let session = &mut self.session;
        let (Some(document), Some(runs)) = (&session.document, session.derived.shared_runs())
        else {
            return;
        };
        match (command, &mut session.report) {
            (ReportCommand::Start(format), report) => {
                let is_dark = ctx.global_style().visuals.dark_mode;
                *report = Some(ReportExport::new(document, format, is_dark));
            }
            (ReportCommand::Edit(draft), Some(report)) => report.edit(document, draft),
            (ReportCommand::Browse, Some(_)) => self.ask_for_file(ctx, DialogPurpose::Report),
            (ReportCommand::Write, Some(report)) => {
                report.write(ctx, self.work, document, runs, &session.config.notes);
            }
            (ReportCommand::Close, report) => *report = None,
            (_, None) => {}
        }
    }

    /// Receives the path chosen in the system's dialog.
    pub(crate) fn report_path_chosen(&mut self, output: String) {
        if let (Some(report), Some(document)) = (&mut self.session.report, &self.session.document) {
            let draft = ReportDraft { output, ..report.draft.clone() };
            report.edit(document, draft);
        }
    }
}
