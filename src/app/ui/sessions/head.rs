//! The head of the list: its pages, the listed place, and the button that closes it.

use crate::app::state::command::Commands;
use crate::app::state::sessions::list::{ListPage, Sessions, SessionsCommand};
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::weak;
use crate::safe_text;
use egui::{Align, Label, Layout, Ui};

/// Names of the pages, in order.
const PAGES: [(ListPage, &str); 2] = [(ListPage::Sessions, "Sessions"), (ListPage::Usage, "Usage")];

/// Shows the head. `right` shows the controls of the page before the close button, from right to left.
pub(crate) fn show(
    ui: &mut Ui,
    sessions: &Sessions,
    commands: &mut Commands,
    right: impl FnOnce(&mut Ui, &mut Commands),
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let names = PAGES.map(|(_, name)| (name, ""));
        let shown = PAGES.iter().position(|(page, _)| *page == sessions.page).unwrap_or_default();
        if let Some(clicked) = widgets::tabs(ui, &names, shown) {
            commands.push(SessionsCommand::Usage(match PAGES[clicked].0 {
                ListPage::Sessions => UsageCommand::Hide,
                ListPage::Usage => UsageCommand::Show,
            }));
        }
        ui.add_space(space::XS);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(SessionsCommand::Close);
            }
            right(ui, commands);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let place = match &sessions.folder {
                    Some(folder) => safe_text::one_line(&folder.display().to_string(), 200),
                    None => "sessions on this machine".to_owned(),
                };
                ui.add(Label::new(weak(ui, place)).truncate());
            });
        });
    });
}
