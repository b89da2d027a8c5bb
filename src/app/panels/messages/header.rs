//! The heads of the table's columns, by which it is sorted.

use super::columns::{Col, indent};
use crate::app::command::Command;
use crate::app::message_table::{Column as Key, Sort};
use crate::app::panels::{PanelInput, small};
use crate::app::theme::{self, palette};
use egui::{Button, RichText, Sense, StrokeKind, TextStyle, Ui, vec2};

/// Shows a head; a click on it sorts.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, column: Col, commands: &mut Vec<Command>) {
    let sort = input.view.sort;
    let (title, key, help) = column.head();
    ui.with_layout(column.layout(), |ui| {
        indent(ui, column);
        match key {
            Some(key) if head(ui, (title, help), sort, key) => {
                commands.push(Command::SetSort(sort.clicked(key)));
            }
            Some(_) => {}
            None if help.is_empty() => {}
            None => {
                plain_head(ui, title).on_hover_text(help);
            }
        }
    });
}

/// The head of a column that cannot be sorted by.
fn plain_head(ui: &mut Ui, title: &str) -> egui::Response {
    ui.spacing_mut().button_padding = vec2(0.0, 0.0);
    ui.add(
        Button::new(small(ui, title))
            .frame(false)
            .sense(Sense::hover()),
    )
}

fn head(ui: &mut Ui, (title, help): (&str, &str), sort: Sort, key: Key) -> bool {
    let is_by = sort.column == key;
    let arrow = match (
        is_by && (key != Key::Number || sort.is_descending),
        sort.is_descending,
    ) {
        (true, true) => " ⏷",
        (true, false) => " ⏶",
        _ => "",
    };
    let color = if is_by {
        palette(ui).text
    } else {
        palette(ui).weak
    };
    let text = RichText::new(format!("{title}{arrow}"))
        .text_style(TextStyle::Small)
        .color(color);
    ui.spacing_mut().button_padding = vec2(0.0, 0.0);
    let name = format!("Sort by {}", if title == "#" { "number" } else { title });
    let hint = if help.is_empty() { &name } else { help };
    let response = ui
        .add(Button::new(text).frame(false))
        .on_hover_text(hint)
        .accessible_name(name);
    if response.has_focus() {
        let ring = response.rect.expand2(vec2(3.0, 2.0));
        ui.painter()
            .with_clip_rect(ui.clip_rect().expand(4.0))
            .rect_stroke(ring, 3.0, theme::focus_ring(ui), StrokeKind::Inside);
    }
    response.clicked()
}
