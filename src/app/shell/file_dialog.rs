//! The system's file and folder dialogs: run on a thread, with answers delivered to the requesting form.

use crate::app::App;
use crate::app::background::task::{self, Background};
use crate::app::command::Place;
use crate::app::export::draft::Draft;
use crate::app::export::job::Export;
use crate::app::open::document::Origin;
use crate::app::report_export::job::{Handout, HandoutDraft};
use crate::exec;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An open system dialog.
pub(in crate::app) struct FileDialog {
    wanted: Wanted,
    answer: Background<Option<PathBuf>>,
    since: Instant,
}

/// A dialog that closes within this time was never shown.
const AT_ONCE: Duration = Duration::from_millis(400);

/// The purpose of a file or folder dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Wanted {
    /// A session to open.
    Session,
    /// A folder whose sessions to list.
    Folder,
    /// A path in the export form.
    Export(Place),
    /// The output path of a report or chart.
    Handout,
    /// The output path of a conversion.
    Conversion,
}

impl App {
    /// Shows the system's dialog unless one is open.
    pub(in crate::app) fn ask_for_file(&mut self, ctx: &egui::Context, wanted: Wanted) {
        if self.dialog.is_some() {
            return;
        }
        let now = PathBuf::from(self.named(wanted).trim());
        let answer = task::start_awaited("file dialog", ctx, move || ask(wanted, &now));
        let since = Instant::now();
        self.dialog = Some(FileDialog {
            wanted,
            answer,
            since,
        });
    }

    /// Returns the current text of the field that a dialog fills.
    fn named(&self, wanted: Wanted) -> &str {
        let draft = self.export.as_ref().map(|export| &export.draft);
        let converted = self.conversion.as_ref().map(|conversion| &conversion.draft);
        let named = match wanted {
            Wanted::Session | Wanted::Folder => None,
            Wanted::Handout => self.handout.as_ref().map(|handout| &handout.draft.output),
            Wanted::Conversion => converted.map(|draft| &draft.output),
            Wanted::Export(place) => draft.map(|draft| match place {
                Place::Output => &draft.output,
                Place::Files => &draft.files,
                Place::Log => &draft.model.log,
                Place::Replay => &draft.replay,
                Place::CaFile => &draft.model.connection.ca_file,
            }),
        };
        named.map_or("", String::as_str)
    }

    pub(in crate::app) fn receive_dialog(&mut self, ctx: &egui::Context) {
        let Some(FileDialog {
            wanted,
            answer,
            since,
        }) = self.dialog.take()
        else {
            return;
        };
        match answer.take() {
            Ok(Some(Some(path))) => self.take_path(ctx, wanted, path),
            // An immediate answer means that this system has no dialog.
            Ok(_)
                if matches!(wanted, Wanted::Session | Wanted::Folder)
                    && since.elapsed() < AT_ONCE =>
            {
                self.view.asks_path = true;
            }
            Ok(_) => {
                self.toasts
                    .info("No file chosen. If no dialog appeared, type the path into the field.");
            }
            Err(answer) => {
                self.dialog = Some(FileDialog {
                    wanted,
                    answer,
                    since,
                });
            }
        }
    }

    fn take_path(&mut self, ctx: &egui::Context, wanted: Wanted, path: PathBuf) {
        let text = path.display().to_string();
        if wanted == Wanted::Conversion {
            return self.converted_at(text);
        }
        match (wanted, &self.document, &mut self.export, &mut self.handout) {
            (Wanted::Session, ..) => self.open(ctx, Origin::Path(path), 0),
            (Wanted::Folder, ..) => self.open_path(ctx, path),
            (Wanted::Export(place), Some(document), Some(export), _) => {
                let draft = placed(export, place, text);
                export.edit(document, draft);
            }
            (Wanted::Handout, Some(document), _, Some(handout)) => {
                let draft = handout_at(handout, text);
                handout.edit(document, draft);
            }
            // The form was closed in the meantime.
            _ => {}
        }
    }
}

fn handout_at(handout: &Handout, output: String) -> HandoutDraft {
    HandoutDraft {
        output,
        ..handout.draft.clone()
    }
}

fn placed(export: &Export, place: Place, path: String) -> Draft {
    let mut draft = export.draft.clone();
    let field = match place {
        Place::Output => &mut draft.output,
        Place::Files => &mut draft.files,
        Place::Log => &mut draft.model.log,
        Place::Replay => &mut draft.replay,
        Place::CaFile => &mut draft.model.connection.ca_file,
    };
    *field = path;
    draft
}

fn ask(wanted: Wanted, now: &Path) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match wanted {
        Wanted::Session => dialog
            .set_title("Open a session")
            .add_filter("Sessions", &["jsonl", "json"])
            .add_filter("All files", &["*"])
            .pick_file(),
        Wanted::Folder => dialog
            .set_title("List the sessions of a folder")
            .pick_folder(),
        Wanted::Export(Place::Output) => save(dialog, "Export to", now),
        Wanted::Export(Place::Log) => save(dialog, "Log requests and answers in", now),
        Wanted::Handout | Wanted::Conversion => save(dialog, "Write to", now),
        Wanted::Export(Place::Files) => at(dialog, now).set_title("Folder for files").pick_folder(),
        Wanted::Export(Place::CaFile) => at(dialog, now)
            .set_title("Certificates to trust")
            .add_filter("Certificates", &["pem", "crt", "cer"])
            .add_filter("All files", &["*"])
            .pick_file(),
        Wanted::Export(Place::Replay) => {
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
