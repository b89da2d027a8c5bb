//! A field for the path of a file or folder, with a button that opens the system's file dialog.

use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use egui::{Align, Align2, Color32, Id, Layout, Margin, Rect, TextEdit, TextStyle, Ui, vec2};

/// Margin before the text, as in other fields.
const INDENT: i8 = 12;

/// A path field.
pub(crate) struct PathField<'a> {
    /// Unique id of the field.
    pub(crate) id: &'static str,
    /// Id of its label.
    pub(crate) label: Id,
    /// Placeholder text.
    pub(crate) hint: &'a str,
}

impl PathField<'_> {
    /// Shows the field. Returns whether the button for the file dialog was clicked.
    pub(crate) fn show(&self, ui: &mut Ui, path: &mut String) -> bool {
        let size = vec2(ui.available_width(), space::CONTROL);
        let layout = Layout::right_to_left(Align::Center);
        let row = ui.allocate_ui_with_layout(size, layout, |ui| {
            let is_clicked = widgets::secondary_button(ui, "Browse…", "").clicked();
            self.edit(ui, path);
            is_clicked
        });
        row.inner
    }

    fn edit(&self, ui: &mut Ui, path: &mut String) {
        let id = Id::unique(self.id);
        let is_edited = ui.memory(|m| m.has_focus(id)) || path.is_empty();
        let mut edit = TextEdit::singleline(path)
            .id(id)
            .hint_text(self.hint)
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(INDENT, 5));
        if !is_edited {
            edit = edit.text_color(Color32::TRANSPARENT);
        }
        let response = ui.add(edit).labelled_by(self.label);
        if !is_edited {
            paint_tail(ui, path, response.rect.shrink2(vec2(f32::from(INDENT), 0.0)));
            response.on_hover_ui(|ui| {
                ui.label(&*path);
            });
        }
    }
}

/// Draws a path that is not being edited, truncated at its beginning because its end is more informative.
fn paint_tail(ui: &Ui, path: &str, rect: Rect) {
    let font = TextStyle::Body.resolve(ui.style());
    let width = |text: String| {
        let galley = ui.painter().layout_no_wrap(text, font.clone(), palette(ui).text);
        galley.size().x
    };
    let n = path.chars().count();
    let from = |start: usize| {
        let dots = if start > 0 { "…" } else { "" };
        format!("{dots}{}", path.chars().skip(start).collect::<String>())
    };
    // Binary search for the shortest beginning to omit.
    let (mut fits, mut too_long) = (n, None);
    while fits > too_long.map_or(0, |t: usize| t + 1) {
        let middle = usize::midpoint(too_long.map_or(0, |t| t + 1), fits);
        if width(from(middle)) <= rect.width() {
            fits = middle;
        } else {
            too_long = Some(middle);
        }
    }
    ui.painter().text(rect.left_center(), Align2::LEFT_CENTER, from(fits), font, palette(ui).text);
}
