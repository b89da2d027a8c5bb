//! The sheet of shortcuts.

use crate::app::command::Command;
use crate::app::keys::sheet;
use crate::app::theme;
use crate::app::widgets;
use egui::{Grid, RichText, Ui};

/// Shows the sheet over everything.
pub fn show(ui: &mut Ui, commands: &mut Vec<Command>) {
    let modal = super::dialog(ui, "shortcuts").show(ui.ctx(), |ui| {
        ui.set_width(420.0);
        ui.spacing_mut().interact_size.y = 20.0;
        widgets::section(ui, "Keyboard");
        Grid::new("keys")
            .num_columns(2)
            .spacing([24.0, 6.0])
            .show(ui, |ui| {
                for (keys, what) in sheet() {
                    ui.label(RichText::new(keys).text_style(theme::strong()));
                    ui.label(what);
                    ui.end_row();
                }
            });
        ui.add_space(theme::space::M);
        widgets::secondary_button(ui, "Close", "Esc").clicked()
    });
    if modal.inner || modal.should_close() {
        commands.push(Command::ShowKeys(false));
    }
}
