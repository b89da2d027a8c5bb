//! Executes commands of the dialog that converts a session to another format.

use super::conversion::{Conversion, ConversionDraft, ConvertCommand};
use crate::app::App;
use crate::app::shell::file_dialog::DialogPurpose;

impl App {
    /// Executes a command of the conversion dialog.
    pub(in crate::app) fn execute_convert(&mut self, ctx: &egui::Context, command: ConvertCommand) {
        let Some(document) = &self.session.document else {
            return;
        };
        match (command, &mut self.session.conversion) {
            (ConvertCommand::Start, conversion) => {
                *conversion = Conversion::start(ctx, self.work, document);
            }
            (ConvertCommand::Edit(draft), Some(conversion)) => {
                conversion.edit(ctx, self.work, document, draft);
            }
            (ConvertCommand::Browse, Some(_)) => self.ask_for_file(ctx, DialogPurpose::Conversion),
            (ConvertCommand::Write, Some(conversion)) => {
                conversion.write(ctx, self.work, document);
            }
            (ConvertCommand::Close, conversion) => *conversion = None,
            (_, None) => {}
        }
    }

    /// Receives the path chosen in the system's dialog.
    pub(in crate::app) fn conversion_path_chosen(&mut self, output: String) {
        if let Some(conversion) = &mut self.session.conversion {
            conversion.draft =
                ConversionDraft { output, is_output_chosen: true, ..conversion.draft.clone() };
        }
    }
}
