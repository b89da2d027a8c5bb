//! The system's file and folder dialogs. Each runs on a thread; the chosen path is passed to the form that asked for it.

use crate::app::shell::App;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::export::command::ExportPath;
use crate::app::state::measure::draft::MeasurePath;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::document::Origin;
use crate::app::state::model_form::draft::ModelPath;
use crate::app::state::restore::restoring::RestorePath;
use crate::app::ui::repaint::repaint_of;
use crate::exec;
use crate::exec::stores::SESSION_EXTENSIONS;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An open system dialog.
pub(crate) struct FileDialog {
    purpose: DialogPurpose,
    answer: Background<Option<PathBuf>>,
    since: Instant,
}

/// Time within which an answer means that the dialog was never shown.
const NEVER_SHOWN: Duration = Duration::from_millis(400);

/// The purpose of a file or folder dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialogPurpose {
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

impl DialogPurpose {
    /// Returns whether the path can also be typed into the path dialog, for systems without a file dialog.
    fn has_path_dialog(self) -> bool {
        matches!(self, Self::Session | Self::Comparison | Self::Folder)
    }
}

impl App {
    /// Shows the system's dialog unless one is open.
    pub(crate) fn ask_for_file(&mut self, ctx: &egui::Context, purpose: DialogPurpose) {
        if self.dialog.is_some() {
            return;
        }
        let current = PathBuf::from(self.current_path(purpose).trim());
        let answer =
            task::start_awaited("file dialog", &repaint_of(ctx), move || ask(purpose, &current));
        self.dialog = Some(FileDialog { purpose, answer, since: Instant::now() });
    }

    /// Returns the text of the field that a dialog fills.
    fn current_path(&self, purpose: DialogPurpose) -> &str {
        let path = match purpose {
            DialogPurpose::Session | DialogPurpose::Comparison | DialogPurpose::Folder => None,
            DialogPurpose::Report => {
                let report = self.session.report.as_ref();
                report.map(|report| &report.draft.output)
            }
            DialogPurpose::Conversion => {
                let conversion = self.session.conversion.as_ref();
                conversion.map(|conversion| &conversion.draft.output)
            }
            DialogPurpose::Measure(path) => {
                let measurement = self.session.measurement.as_ref();
                measurement.map(|measurement| path.of(&measurement.draft))
            }
            DialogPurpose::Restore(path) => {
                let restoring = self.session.restoring.as_ref();
                restoring.map(|restoring| path.of(&restoring.draft))
            }
            DialogPurpose::Export(path) => {
                let export = self.session.export.as_ref();
                export.map(|export| path.of(&export.draft))
            }
        };
        path.map_or("", String::as_str)
    }

    /// Receives the chosen path, once the dialog is closed.
    pub(crate) fn receive_dialog(&mut self, ctx: &egui::Context) {
        let Some(dialog) = self.dialog.take() else {
            return;
        };
        let (purpose, since) = (dialog.purpose, dialog.since);
        match dialog.answer.take() {
            Ok(Some(Some(path))) => self.take_path(ctx, purpose, path),
            Ok(_) if purpose.has_path_dialog() && since.elapsed() < NEVER_SHOWN => {
                self.session.view.asks_path = true;
                self.session.view.asks_compared = purpose == DialogPurpose::Comparison;
            }
            Ok(_) => {
                self.toasts
                    .info("No file chosen. If no dialog appeared, type the path into the field.");
            }
            Err(answer) => self.dialog = Some(FileDialog { answer, ..dialog }),
        }
    }

    /// Passes a chosen path to the form that asked for it. Does nothing if the form was closed in the meantime.
    fn take_path(&mut self, ctx: &egui::Context, purpose: DialogPurpose, path: PathBuf) {
        let text = path.display().to_string();
        match purpose {
            DialogPurpose::Session => self.open(ctx, Origin::Path(path), 0),
            DialogPurpose::Folder => self.open_path(ctx, path),
            DialogPurpose::Comparison => self.execute_compare(ctx, CompareCommand::Path(path)),
            DialogPurpose::Report => self.report_path_chosen(text),
            DialogPurpose::Conversion => self.conversion_path_chosen(text),
            DialogPurpose::Export(path) => self.export_path_chosen(path, text),
            DialogPurpose::Measure(path) => self.measure_path_chosen(path, text),
            DialogPurpose::Restore(path) => self.restore_path_chosen(path, text),
        }
    }
}

/// Shows a dialog and waits for its answer. Starts at the current path of the field.
fn ask(purpose: DialogPurpose, current: &Path) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match purpose {
        DialogPurpose::Session | DialogPurpose::Comparison => dialog
            .set_title("Open a session")
            .add_filter("Sessions", SESSION_EXTENSIONS)
            .add_filter("All files", &["*"])
            .pick_file(),
        DialogPurpose::Folder => dialog.set_title("List the sessions of a folder").pick_folder(),
        DialogPurpose::Export(ExportPath::Output) => save(dialog, "Export to", current),
        DialogPurpose::Export(ExportPath::Model(ModelPath::Log))
        | DialogPurpose::Measure(MeasurePath::Model(ModelPath::Log)) => {
            save(dialog, "Log requests and answers in", current)
        }
        DialogPurpose::Restore(RestorePath::Managed) => {
            in_folder_of(dialog, current).set_title("Managed conversation").pick_file()
        }
        DialogPurpose::Report
        | DialogPurpose::Conversion
        | DialogPurpose::Restore(RestorePath::Output) => save(dialog, "Write to", current),
        DialogPurpose::Export(ExportPath::Files) => {
            in_folder_of(dialog, current).set_title("Folder for files").pick_folder()
        }
        DialogPurpose::Export(ExportPath::Model(ModelPath::CaFile))
        | DialogPurpose::Measure(MeasurePath::Model(ModelPath::CaFile)) => {
            in_folder_of(dialog, current)
                .set_title("Certificates to trust")
                .add_filter("Certificates", &["pem", "crt", "cer"])
                .add_filter("All files", &["*"])
                .pick_file()
        }
        DialogPurpose::Export(ExportPath::Replay) | DialogPurpose::Measure(MeasurePath::Replay) => {
            let logs = exec::logs_folder().filter(|_| current.as_os_str().is_empty());
            let dialog = match logs.filter(|folder| exec::is_folder(folder)) {
                Some(folder) => dialog.set_directory(folder),
                None => in_folder_of(dialog, current),
            };
            let dialog = dialog.set_title("Log of an earlier run");
            dialog.add_filter("Logs", &["jsonl"]).pick_file()
        }
    }
}

fn save(dialog: rfd::FileDialog, title: &str, current: &Path) -> Option<PathBuf> {
    let mut dialog = in_folder_of(dialog, current).set_title(title);
    if let Some(name) = current.file_name() {
        dialog = dialog.set_file_name(name.to_string_lossy());
    }
    dialog.save_file()
}

/// Sets the folder of a path as the first folder of a dialog.
fn in_folder_of(dialog: rfd::FileDialog, current: &Path) -> rfd::FileDialog {
    match current.parent().filter(|folder| exec::is_folder(folder)) {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}
