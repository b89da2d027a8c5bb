//! Executes commands of the dialog that converts a session to another format.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::convert::conversion::{Conversion, ConversionDraft, ConvertCommand};
use crate::app::ui::repaint::repaint_of;

impl App {
    /// Executes a command of the conversion dialog.
    pub(crate) fn execute_convert(&mut self, ctx: &egui::Context, command: ConvertCommand) {
        let Some(document) = &self.session.document else {
            return;
        };
        match (command, &mut self.session.conversion) {
            (ConvertCommand::Start, conversion) => {
                *conversion = Conversion::start(&repaint_of(ctx), self.work, document);
            }
            (ConvertCommand::Edit(draft), Some(conversion)) => {
                conversion.edit(&repaint_of(ctx), self.work, document, draft);
            }
            (ConvertCommand::Browse, Some(_)) => self.ask_for_file(ctx, DialogPurpose::Conversion),
            (ConvertCommand::Write, Some(conversion)) => {
                conversion.write(&repaint_of(ctx), self.work, document);
            }
            (ConvertCommand::Close, conversion) => *conversion = None,
            (_, None) => {}
        }
    }

    /// Receives the path chosen in the system's dialog.
    pub(crate) fn conversion_path_chosen(&mut self, output: String) {
        if let Some(conversion) = &mut self.session.conversion {
            conversion.draft =
                ConversionDraft { output, is_output_chosen: true, ..conversion.draft.clone() };
        }
    }
}
