//! The output path of a written file.

use crate::app::state::command::Commands;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::weak;
use egui::{Align, Label, Layout, Ui};
use std::path::Path;

/// Shows the output path and its actions.
pub(crate) fn output_path(ui: &mut Ui, path: &Path, commands: &mut Commands) {
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Open here", "")
                .on_hover_text("Opens it in a new tab of this window")
                .clicked()
            {
                let open = OpenCommand::Path(path.to_owned());
                commands.push(TabsCommand::OpenInNew(open));
            }
            if widgets::secondary_button(ui, "Copy path", "").clicked() {
                commands.push(ShellCommand::Copy("the path", path.display().to_string()));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(weak(ui, "Written to"));
                let name = path.file_name().unwrap_or(path.as_os_str());
                ui.add(Label::new(name.to_string_lossy()).truncate())
                    .on_hover_text(path.display().to_string());
            });
        });
    });
}
