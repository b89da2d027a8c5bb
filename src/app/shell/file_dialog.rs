//! The system's file and folder dialogs: run on a thread, with answers delivered to the requesting form.

use crate::app::App;
use crate::app::background::task::{self, Background};
use crate::app::compare::command::CompareCommand;
use crate::app::export::command::ExportPath;
use crate::app::export::draft::ExportDraft;
use crate::app::export::job::Export;
use crate::app::export::requests::ModelPath;
use crate::app::measure::draft::MeasurePath;
use crate::app::open::document::Origin;
use crate::app::report_export::job::{ReportDraft, ReportExport};
use crate::app::restore::restoring::RestorePath;
use crate::exec;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An open system dialog.
pub(in crate::app) struct FileDialog {
    purpose: DialogPurpose,
    answer: Background<Option<PathBuf>>,
    since: Instant,
}

/// A dialog that closes within this time was never shown.
const AT_ONCE: Duration = Duration::from_millis(400);

/// The purpose of a file or folder dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum DialogPurpose {
    /// A session to open.
    Session,
    /// A session to compare with the open one.
    Comparison,
    /// A folder whose sessions to list.
    Folder,
    /// A path in the export form.
    Export(ExportPath),
    /// A path in the settings of a measurement.
    Measure(MeasurePath),
    /// The output path of a report or chart.
    Report,
    /// The output path of a conversion.
    Conversion,
    /// A path of the dialog that restores a source.
    Restore(RestorePath),
}

impl App {
    /// Shows the system's dialog unless one is open.
    pub(in crate::app) fn ask_for_file(&mut self, ctx: &egui::Context, purpose: DialogPurpose) {
        if self.dialog.is_some() {
            return;
        }
        let now = PathBuf::from(self.named(purpose).trim());
        let answer = task::start_awaited("file dialog", ctx, move || ask(purpose, &now));
        let since = Instant::now();
        self.dialog = Some(FileDialog {
            purpose,
            answer,
            since,
        });
    }

    /// Returns the current text of the field that a dialog fills.
    fn named(&self, purpose: DialogPurpose) -> &str {
        let draft = self.export.as_ref().map(|export| &export.draft);
        let converted = self.conversion.as_ref().map(|conversion| &conversion.draft);
        let measured = self.measurement.as_ref().map(|measured| &measured.draft);
        let named = match purpose {
            DialogPurpose::Session | DialogPurpose::Comparison | DialogPurpose::Folder => None,
            DialogPurpose::Report => self.report.as_ref().map(|report| &report.draft.output),
            DialogPurpose::Conversion => converted.map(|draft| &draft.output),
            DialogPurpose::Measure(path) => measured.map(|draft| path.of(draft)),
            DialogPurpose::Restore(path) => {
                let restoring = self.restoring.as_ref();
                restoring.map(|restoring| restoring.draft.path(path))
            }
            DialogPurpose::Export(place) => draft.map(|draft| match place {
                ExportPath::Output => &draft.output,
                ExportPath::Files => &draft.files,
                ExportPath::Model(path) => path.of(&draft.model),
                ExportPath::Replay => &draft.replay,
            }),
        };
        named.map_or("", String::as_str)
    }

    pub(in crate::app) fn receive_dialog(&mut self, ctx: &egui::Context) {
        let Some(FileDialog {
            purpose,
            answer,
            since,
        }) = self.dialog.take()
        else {
            return;
        };
        match answer.take() {
            Ok(Some(Some(path))) => self.take_path(ctx, purpose, path),
            // An immediate answer means that this system has no dialog.
            Ok(_)
                if matches!(
                    purpose,
                    DialogPurpose::Session | DialogPurpose::Comparison | DialogPurpose::Folder
                ) && since.elapsed() < AT_ONCE =>
            {
                self.view.asks_path = true;
                self.view.asks_compared = purpose == DialogPurpose::Comparison;
            }
            Ok(_) => {
                self.toasts
                    .info("No file chosen. If no dialog appeared, type the path into the field.");
            }
            Err(answer) => {
                self.dialog = Some(FileDialog {
                    purpose,
                    answer,
                    since,
                });
            }
        }
    }

    fn take_path(&mut self, ctx: &egui::Context, purpose: DialogPurpose, path: PathBuf) {
        let text = path.display().to_string();
        if purpose == DialogPurpose::Conversion {
            return self.converted_at(text);
        }
        if purpose == DialogPurpose::Comparison {
            return self.execute_compare(ctx, CompareCommand::Open(path, 0));
        }
        if let DialogPurpose::Measure(path) = purpose {
            return self.measured_with(path, text);
        }
        if let DialogPurpose::Restore(path) = purpose {
            return self.restore_path_chosen(path, text);
        }
        match (purpose, &self.document, &mut self.export, &mut self.report) {
            (DialogPurpose::Session, ..) => self.open(ctx, Origin::Path(path), 0),
            (DialogPurpose::Folder, ..) => self.open_path(ctx, path),
            (DialogPurpose::Export(place), Some(document), Some(export), _) => {
                let draft = placed(export, place, text);
                export.edit(document, draft);
            }
            (DialogPurpose::Report, Some(document), _, Some(report)) => {
                let draft = report_at(report, text);
                report.edit(document, draft);
            }
            // The form was closed in the meantime.
            _ => {}
        }
    }
}

fn report_at(report: &ReportExport, output: String) -> ReportDraft {
    ReportDraft {
        output,
        ..report.draft.clone()
    }
}

fn placed(export: &Export, place: ExportPath, path: String) -> ExportDraft {
    let mut draft = export.draft.clone();
    let field = match place {
        ExportPath::Output => &mut draft.output,
        ExportPath::Files => &mut draft.files,
        ExportPath::Model(path) => path.of_mut(&mut draft.model),
        ExportPath::Replay => &mut draft.replay,
    };
    *field = path;
    draft
}

fn ask(purpose: DialogPurpose, now: &Path) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match purpose {
        DialogPurpose::Session | DialogPurpose::Comparison => dialog
            .set_title("Open a session")
            .add_filter("Sessions", &["jsonl", "json"])
            .add_filter("All files", &["*"])
            .pick_file(),
        DialogPurpose::Folder => dialog
            .set_title("List the sessions of a folder")
            .pick_folder(),
        DialogPurpose::Export(ExportPath::Output) => save(dialog, "Export to", now),
        DialogPurpose::Export(ExportPath::Model(ModelPath::Log))
        | DialogPurpose::Measure(MeasurePath::Model(ModelPath::Log)) => {
            save(dialog, "Log requests and answers in", now)
        }
        DialogPurpose::Restore(RestorePath::Managed) => at(dialog, now)
            .set_title("Managed conversation")
            .pick_file(),
        DialogPurpose::Report
        | DialogPurpose::Conversion
        | DialogPurpose::Restore(RestorePath::Output) => save(dialog, "Write to", now),
        DialogPurpose::Export(ExportPath::Files) => {
            at(dialog, now).set_title("Folder for files").pick_folder()
        }
        DialogPurpose::Export(ExportPath::Model(ModelPath::CaFile))
        | DialogPurpose::Measure(MeasurePath::Model(ModelPath::CaFile)) => at(dialog, now)
            .set_title("Certificates to trust")
            .add_filter("Certificates", &["pem", "crt", "cer"])
            .add_filter("All files", &["*"])
            .pick_file(),
        DialogPurpose::Export(ExportPath::Replay) | DialogPurpose::Measure(MeasurePath::Replay) => {
            let logs = exec::logs_folder().filter(|_| now.as_os_str().is_empty());
            let dialog = match logs.filter(|folder| exec::is_folder(folder)) {
                Some(folder) => dialog.set_directory(folder),
                None => at(dialog, now),
            };
            let dialog = dialog.set_title("Log of an earlier run");
            dialog.add_filter("Logs", &["jsonl"]).pick_file()
        }
    }
}

fn save(dialog: rfd::FileDialog, title: &str, now: &Path) -> Option<PathBuf> {
    let mut dialog = at(dialog, now).set_title(title);
    if let Some(name) = now.file_name() {
        dialog = dialog.set_file_name(name.to_string_lossy());
    }
    dialog.save_file()
}

/// Starts the dialog in the folder of the current path.
fn at(dialog: rfd::FileDialog, now: &Path) -> rfd::FileDialog {
    match now.parent().filter(|folder| exec::is_folder(folder)) {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}
