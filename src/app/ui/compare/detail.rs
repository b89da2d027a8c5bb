//! The text of a message that only one session contains, or the difference of a changed one.

use crate::app::state::command::Commands;
use crate::app::state::compare::comparison::ShownText;
use crate::app::state::compare::state::{CompareView, ShownMessage, Side};
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::compare::both::color;
use crate::app::ui::parts::diff_rows;
use crate::app::ui::parts::section::show_section;
use crate::app::ui::theme::space;
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use egui::{Frame, Id, Margin, RichText, ScrollArea, Ui};

/// Margin around the text.
const INNER: Margin = Margin { left: 12, right: 16, top: 4, bottom: 8 };

/// Shows the message.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    shown: ShownMessage,
    commands: &mut Commands,
) {
    let margin = Margin { bottom: 0, ..INNER };
    Frame::new()
        .inner_margin(margin)
        .show(ui, |ui| head(ui, input.view.compare(), shown, commands));
    let text = input.comparison.and_then(|comparison| comparison.text(input.document, shown));
    let Some(text) = text else {
        ui.set_min_width(ui.available_width());
        Frame::new().inner_margin(INNER).show(ui, |ui| ui.label(weak(ui, "Reading…")));
        return;
    };
    let id = Id::unique(("compared message", input.document.id, shown));
    let area = ScrollArea::vertical().id_salt(id).auto_shrink(false);
    area.show(ui, |ui| {
        Frame::new().inner_margin(INNER).show(ui, |ui| match text {
            ShownText::Whole(text) => {
                for (nth, section) in text.sections.iter().enumerate() {
                    let page = section.page(0).unwrap_or_default();
                    show_section(ui, section, page, id.with(nth), widgets::Highlights::NONE);
                }
                if text.pages() > 1 {
                    ui.label(small(ui, "Shown: the beginning of the message."));
                }
            }
            ShownText::Difference(diff) => {
                if let Some(notice) = &diff.notice {
                    ui.label(weak(ui, notice));
                }
                ui.spacing_mut().item_spacing.y = 0.0;
                diff_rows::show(ui, id, &diff.rows, 0);
            }
        });
    });
}

/// Shows the number of the message, its session, and a button that closes the text.
fn head(ui: &mut Ui, view: CompareView, shown: ShownMessage, commands: &mut Commands) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let title = |text: String| RichText::new(text).text_style(theme::strong());
        match shown {
            ShownMessage::Of(side, message) => {
                let text = format!("Message {} of {}", wording::number(message), side.name());
                ui.label(title(text).color(color(ui, side)));
            }
            ShownMessage::Changed([a, b]) => {
                let [a, b] = [a, b].map(wording::number);
                ui.label(title(format!("Message {a} of A, {b} of B")));
                let [from, to] = Side::ALL.map(Side::name);
                ui.label(weak(ui, format!("− only in {from}, + only in {to}")));
            }
        }
        let close = ui.small_button("✕").accessible_name("Close the text");
        if close.on_hover_text("Close the text").clicked() {
            commands.push(ViewCommand::new(CompareView { shown: None, ..view }));
        }
    });
}
