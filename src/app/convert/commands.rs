//! Commands of the dialog that converts a session to another format.

use super::conversion::{Conversion, ConversionDraft, ConversionWish};
use crate::app::App;
use crate::app::shell::file_dialog::Wanted;

impl App {
    /// Executes a command of the conversion dialog.
    pub(in crate::app) fn convert_wish(&mut self, ctx: &egui::Context, wish: ConversionWish) {
        let Some(document) = &self.document else {
            return;
        };
        match (wish, &mut self.conversion) {
            (ConversionWish::Start, conversion) => {
                *conversion = Conversion::start(ctx, self.work, document);
            }
            (ConversionWish::Edit(draft), Some(conversion)) => {
                conversion.edit(ctx, self.work, document, draft);
            }
            (ConversionWish::Browse, Some(_)) => self.ask_for_file(ctx, Wanted::Conversion),
            (ConversionWish::Write, Some(conversion)) => {
                conversion.write(ctx, self.work, document);
            }
            (ConversionWish::Close, conversion) => *conversion = None,
            (_, None) => {}
        }
    }

    /// Receives the path chosen in the system's dialog.
    pub(in crate::app) fn converted_at(&mut self, output: String) {
        if let Some(conversion) = &mut self.conversion {
            conversion.draft = ConversionDraft {
                output,
                is_output_chosen: true,
                ..conversion.draft.clone()
            };
        }
    }
}
