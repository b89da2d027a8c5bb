//! Executes commands of the export dialog, and receives written files.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::export::command::{ExportCommand, ExportPath};
use crate::app::state::export::draft::{ExportContent, ExportDraft, SummarySource};
use crate::app::state::export::job::{Export, ExportInputs};
use crate::app::state::run_logs::list::RunLogs;
use crate::app::ui::repaint::repaint_of;
use crate::app::ui::report_export::job::ReportExport;
use std::path::Path;

impl App {
    /// Receives the results of background work of the dialogs since the last frame: exports, conversions, restored
    /// conversations, reports and run logs.
    pub(crate) fn receive_dialog_results(&mut self) {
        let written = self.session.export.as_mut().and_then(Export::poll);
        if let Some(resumed) = written.and_then(|written| written.resumed.as_ref()) {
            let text = format!("New session written to {}", resumed.path.display());
            self.toasts.written(text);
        }
        if let Some(conversion) = &mut self.session.conversion {
            conversion.poll();
        }
        if let Some(restoring) = &mut self.session.restoring {
            restoring.poll();
        }
        match self.session.report.as_mut().and_then(ReportExport::poll) {
            Some(Ok(path)) => {
                self.session.report = None;
                let path = std::path::absolute(&path).unwrap_or(path);
                self.toasts.written(format!("Written to {}", path.display()));
            }
            Some(Err(why)) => self.toasts.failed(why),
            None => {}
        }
        if let Some(why) = self.logs.as_mut().and_then(RunLogs::poll) {
            self.toasts.failed(why);
        }
    }

    /// Executes a command of the export dialog.
    pub(crate) fn execute_export(&mut self, ctx: &egui::Context, command: ExportCommand) {
        match command {
            ExportCommand::Start(lane) => self.start_export(lane),
            ExportCommand::StartContext => self.start_context_export(),
            ExportCommand::CompactAnyway if self.session.export.is_none() => {
                self.start_export(self.session.selection.lane.or(Some(0)));
                self.edit_export(ctx, ExportCommand::CompactAnyway);
            }
            ExportCommand::Browse(path) => self.ask_for_file(ctx, DialogPurpose::Export(path)),
            ExportCommand::Close => {
                self.session.last_export = self.session.export.take().map(|export| export.draft);
            }
            command => self.edit_export(ctx, command),
        }
    }

    fn edit_export(&mut self, ctx: &egui::Context, command: ExportCommand) {
        let repaint = repaint_of(ctx);
        let session = &mut self.session;
        let runs = session.derived.shared_runs();
        let (Some(document), Some(runs), Some(export)) =
            (&session.document, runs, &mut session.export)
        else {
            return;
        };
        let inputs = ExportInputs { document, runs, repaint: &repaint, work: self.work };
        match command {
            ExportCommand::Edit(draft) => export.edit(document, *draft),
            ExportCommand::Run => export.run(inputs),
            ExportCommand::CompactAnyway => export.compact_anyway(inputs),
            ExportCommand::Preview => export.preview(inputs),
            ExportCommand::Send => export.send(&repaint_of(ctx), self.work),
            ExportCommand::Cancel => export.cancel(),
            ExportCommand::EditSummary(request, text) => export.edit_summary(request, text),
            ExportCommand::WriteReviewed => export.write_reviewed(inputs),
            ExportCommand::WriteToStore => export.write_to_store(&repaint_of(ctx), self.work),
            ExportCommand::SetKey(key) => export.key = key,
            ExportCommand::Start(_)
            | ExportCommand::StartContext
            | ExportCommand::Browse(_)
            | ExportCommand::Close => {}
        }
    }

    /// Opens the dialog with the settings of the previous export, if any. `lane` is the focused one if `None`.
    fn start_export(&mut self, lane: Option<usize>) {
        let session = &mut self.session;
        let (Some(document), Some(runs)) = (&session.document, session.derived.runs()) else {
            return;
        };
        let (n_lanes, keeps_state) = (runs.lanes.len(), self.saved.keeps_state());
        let (draft, selection) = (session.last_export.take(), &session.selection);
        session.export = Some(if let Some(draft) = draft {
            Export::again(draft, document, lane, n_lanes, selection, keeps_state)
        } else {
            let lane = lane.or(selection.lane).unwrap_or(0);
            let lane = lane.min(n_lanes.saturating_sub(1));
            Export::new(document, lane, selection.call, keeps_state)
        });
    }

    /// Starts an export of the context of the focused lane, or of the recorded one.
    fn start_context_export(&mut self) {
        self.start_export(None);
        if let (Some(export), Some(document)) = (&mut self.session.export, &self.session.document) {
            let draft = ExportDraft {
                content: ExportContent::Context,
                lane: self.session.selection.lane,
                summaries: SummarySource::Digest,
                ..export.draft.clone()
            };
            export.edit(document, draft);
        }
    }

    /// Receives a path chosen in the system's dialog.
    pub(crate) fn export_path_chosen(&mut self, path: ExportPath, text: String) {
        if let (Some(export), Some(document)) = (&mut self.session.export, &self.session.document) {
            let mut draft = export.draft.clone();
            *path.of_mut(&mut draft) = text;
            export.edit(document, draft);
        }
    }

    /// Prepares an export that takes its summaries from a log.
    pub(crate) fn replay_from(&mut self, path: &Path) {
        if self.session.export.is_none() {
            self.start_export(None);
        }
        if let (Some(export), Some(document)) = (&mut self.session.export, &self.session.document) {
            let draft = ExportDraft {
                summaries: SummarySource::Log,
                replay: path.display().to_string(),
                ..export.draft.clone()
            };
            export.edit(document, draft);
        }
    }
}
