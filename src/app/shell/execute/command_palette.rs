//! Executes commands of the palette.

use crate::app::shell::App;
use crate::app::state::command_palette::state::{PaletteCommand, PaletteState};

impl App {
    /// Executes a command of the palette.
    pub(crate) fn execute_palette(&mut self, ctx: &egui::Context, command: PaletteCommand) {
        match command {
            PaletteCommand::Show if self.is_covered() => {}
            PaletteCommand::Show => self.palette = Some(PaletteState::default()),
            PaletteCommand::Close => self.palette = None,
            PaletteCommand::Type(text) => {
                self.palette = Some(PaletteState { text, highlighted: 0 });
            }
            PaletteCommand::Enter(entered) => {
                let mut entries = self.palette_entries(&entered.text);
                if entries.is_empty() {
                    self.palette = Some(entered);
                    return;
                }
                let entry = entries.swap_remove(entered.highlighted.min(entries.len() - 1));
                for command in entry.run() {
                    self.execute(ctx, command);
                }
            }
            PaletteCommand::Highlight(entry) => {
                if let Some(palette) = &mut self.palette {
                    palette.highlighted = entry;
                }
            }
        }
    }
}
