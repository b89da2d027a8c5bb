//! Commands of dialogs that write files: exports, reports, charts and logs of live runs.

use super::draft::{Draft, What, Who};
use super::job::{Export, Shop};
use crate::app::command::Command;
use crate::app::report_export::job::Handout;
use crate::app::run_logs::list::{LogsWish, RunLogs};
use crate::app::shell::file_dialog::Wanted;
use crate::app::{App, wording};
use crate::exec;
use std::path::Path;

impl App {
    /// Closes the dialogs that write files, because another session was opened.
    pub(in crate::app) fn put_dialogs_away(&mut self) {
        self.export = None;
        self.handout = None;
        self.conversion = None;
    }

    /// Receives files written since the last frame.
    pub(in crate::app) fn receive_files(&mut self) {
        let written = self.export.as_mut().and_then(Export::poll);
        if let Some(resumed) = written.and_then(|written| written.resumed.as_ref()) {
            let text = format!("New session written to {}", resumed.path.display());
            self.toasts.written(text);
        }
        if let Some(conversion) = &mut self.conversion {
            conversion.poll();
        }
        match self.handout.as_mut().and_then(Handout::poll) {
            Some(Ok(path)) => {
                self.handout = None;
                let path = std::path::absolute(&path).unwrap_or(path);
                self.toasts
                    .written(format!("Written to {}", path.display()));
            }
            Some(Err(why)) => self.toasts.failed(why),
            None => {}
        }
        if let Some(why) = self.logs.as_mut().and_then(RunLogs::poll) {
            self.toasts.failed(why);
        }
    }

    /// Executes a command of an export.
    pub(in crate::app) fn export_command(&mut self, ctx: &egui::Context, command: Command) {
        match command {
            Command::StartExport(lane) => self.start_export(lane),
            Command::StartSaw => self.start_saw(),
            Command::CompactAnyway if self.export.is_none() => {
                self.start_export(self.selection.lane.or(Some(0)));
                self.edit_export(ctx, Command::CompactAnyway);
            }
            Command::BrowseExport(place) => self.ask_for_file(ctx, Wanted::Export(place)),
            Command::CloseExport => {
                self.view.export = self.export.take().map(|export| export.draft);
            }
            Command::Logs(wish) => self.logs_command(ctx, wish),
            command => {
                self.handout_command(ctx, &command);
                self.edit_export(ctx, command);
            }
        }
    }

    fn edit_export(&mut self, ctx: &egui::Context, command: Command) {
        let (Some(document), Some(runs), Some(export)) =
            (&self.document, self.derived.runs(), &mut self.export)
        else {
            return;
        };
        let shop = Shop {
            document,
            runs,
            ctx,
            at: self.work,
        };
        match command {
            Command::EditExport(draft) => export.edit(document, *draft),
            Command::RunExport => export.run(shop),
            Command::CompactAnyway => export.compact_anyway(shop),
            Command::LookAtSummaries => export.look(shop),
            Command::SendExport => export.send(ctx, self.work),
            Command::CancelExport => export.cancel(),
            Command::EditSummary(request, text) => export.edit_summary(request, text),
            Command::WriteReviewed => export.write_reviewed(shop),
            Command::PutIntoStore => export.put_into_store(ctx, self.work),
            Command::TypeKey(key) => export.key = key,
            _ => {}
        }
    }

    fn start_export(&mut self, asked: Option<usize>) {
        let (Some(document), Some(runs)) = (&self.document, self.derived.runs()) else {
            return;
        };
        let (n_lanes, keeps_state) = (runs.lanes.len(), self.memory.keeps_state());
        let (draft, selection) = (self.view.export.take(), &self.selection);
        self.export = Some(if let Some(draft) = draft {
            Export::again(draft, document, asked, n_lanes, selection, keeps_state)
        } else {
            let lane = asked.or(selection.lane).unwrap_or(0);
            let lane = lane.min(n_lanes.saturating_sub(1));
            Export::new(document, lane, selection.step, keeps_state)
        });
    }

    /// Starts an export of the context of the focused lane, or of the recorded one.
    fn start_saw(&mut self) {
        self.start_export(None);
        if let (Some(export), Some(document)) = (&mut self.export, &self.document) {
            let draft = Draft {
                what: What::Saw,
                lane: self.selection.lane,
                who: Who::Digest,
                ..export.draft.clone()
            };
            export.edit(document, draft);
        }
    }

    fn handout_command(&mut self, ctx: &egui::Context, command: &Command) {
        if *command == Command::BrowseHandout {
            return self.ask_for_file(ctx, Wanted::Handout);
        }
        let (Some(document), Some(runs)) = (&self.document, self.derived.runs()) else {
            return;
        };
        match (command, &mut self.handout) {
            (Command::StartHandout(form), handout) => {
                let is_dark = ctx.global_style().visuals.dark_mode;
                *handout = Some(Handout::new(document, *form, is_dark));
            }
            (Command::EditHandout(draft), Some(handout)) => handout.edit(document, draft.clone()),
            (Command::WriteHandout, Some(handout)) => {
                handout.write(ctx, self.work, document, runs);
            }
            (Command::CloseHandout, handout) => *handout = None,
            _ => {}
        }
    }

    fn logs_command(&mut self, ctx: &egui::Context, wish: LogsWish) {
        match (wish, &mut self.logs) {
            (LogsWish::Show, logs) => {
                let folder = exec::logs_folder().filter(|_| self.memory.keeps_state());
                *logs = Some(RunLogs::new(folder));
            }
            (LogsWish::Close, logs) => *logs = None,
            (LogsWish::Doom(doomed), Some(logs)) => logs.doomed = doomed,
            (LogsWish::Remove, Some(logs)) => match logs.remove() {
                Ok(n) => {
                    let said = wording::count(n, "log");
                    self.toasts.done(format!("Removed {said}"));
                }
                Err(why) => self.toasts.failed(why),
            },
            (LogsWish::OpenFolder, Some(logs)) => logs.open_folder(ctx),
            (LogsWish::Replay(path), logs) => {
                *logs = None;
                self.replay_from(&path);
            }
            (_, None) => {}
        }
    }

    /// Prepares an export that takes its summaries from a log.
    fn replay_from(&mut self, path: &Path) {
        if self.export.is_none() {
            self.start_export(None);
        }
        if let (Some(export), Some(document)) = (&mut self.export, &self.document) {
            let draft = Draft {
                who: Who::Log,
                replay: path.display().to_string(),
                ..export.draft.clone()
            };
            export.edit(document, draft);
        }
    }
}
