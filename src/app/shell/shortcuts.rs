//! The dialog with the keyboard shortcuts.

use crate::app::shell::action::Action;
use crate::app::shell::keys::sheet;
use crate::app::state::command::Commands;
use crate::app::state::shell_command::ShellCommand;
use crate::app::ui::widgets::dialog::dialog;
use crate::app::ui::{theme, widgets};
use egui::{Grid, Label, RichText, ScrollArea, Ui};

/// Maximum width of the dialog, for two columns of shortcuts, in points.
const WIDTH: f32 = 860.0;
/// Maximum width of the key names, in points.
const KEYS: f32 = 128.0;
/// Space in points between keys and description, between rows, and between columns.
const GAP: [f32; 3] = [12.0, 4.0, 28.0];
/// Height of the dialog without the shortcuts, in points.
const FRAME: f32 = 150.0;

/// Shows the dialog. Two columns and short rows let it fit into the smallest window.
pub fn show(ui: &mut Ui, commands: &mut Commands) {
    let window = ui.ctx().content_rect().size();
    let modal = dialog(ui, "shortcuts").show(ui.ctx(), |ui| {
        ui.set_width((window.x - 80.0).min(WIDTH));
        ui.spacing_mut().interact_size.y = 18.0;
        widgets::section(ui, "Keyboard");
        let all: Vec<_> = sheet().collect();
        let [_, _, between] = GAP;
        ScrollArea::vertical().max_height(window.y - FRAME).show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = between;
            ui.columns(2, |columns| {
                let halves = all.chunks(all.len().div_ceil(2));
                for (nth, (ui, half)) in columns.iter_mut().zip(halves).enumerate() {
                    column(ui, nth, half);
                }
            });
        });
        ui.add_space(theme::space::M);
        ui.spacing_mut().interact_size.y = theme::space::CONTROL;
        widgets::secondary_button(ui, "Close", "Esc").clicked()
    });
    if modal.inner || modal.should_close() {
        commands.push(ShellCommand::CloseShortcuts);
    }
}

fn column(ui: &mut Ui, nth: usize, actions: &[&Action]) {
    let [beside, below, _] = GAP;
    let text = ui.available_width() - KEYS - beside;
    Grid::new(("keys", nth))
        .num_columns(2)
        .spacing([beside, below])
        .min_col_width(KEYS)
        .max_col_width(text)
        .show(ui, |ui| {
            for action in actions {
                ui.label(RichText::new(action.keys).text_style(theme::strong()));
                ui.add(Label::new(action.name).wrap());
                ui.end_row();
            }
        });
}
