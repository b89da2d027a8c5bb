//! Buttons, chips and tabs.

use crate::app::state::model::tone::Tone;
use crate::app::ui::theme;
use crate::app::ui::theme::{chip_padding, palette, space};
use egui::{
    Button, Color32, CornerRadius, Response, RichText, Role, Sense, Shape, Stroke, StrokeKind,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};

/// Shows the main button of a view.
pub fn primary_button(ui: &mut Ui, text: &str) -> Response {
    let palette = palette(ui);
    let text = RichText::new(text).text_style(theme::strong()).color(palette.on_fill);
    let button = Button::new(text).fill(palette.accent).stroke(Stroke::NONE);
    ui.add(button.min_size(vec2(0.0, space::CONTROL)))
}

/// Shows the main button with a narrow menu button at its right. `more` is the accessible name and hover text of the
/// menu button. Returns both responses.
pub fn primary_with_menu(ui: &mut Ui, text: &str, more: &str) -> [Response; 2] {
    let radius = |left, right| CornerRadius { nw: left, sw: left, ne: right, se: right };
    let half = |ui: &mut Ui, text: &str, left, right, width| {
        let palette = palette(ui);
        let text = RichText::new(text).text_style(theme::strong());
        let button = Button::new(text.color(palette.on_fill)).fill(palette.accent);
        let button = button.stroke(Stroke::NONE).corner_radius(radius(left, right));
        ui.add(button.min_size(vec2(width, space::CONTROL)))
    };
    ui.spacing_mut().item_spacing.x = 1.0;
    let main = half(ui, text, space::RADIUS, 0, 0.0);
    let menu = half(ui, "", 0, space::RADIUS, 22.0);
    [main, opens_menu(ui, menu, more)]
}

/// Draws the menu arrow on a button.
fn opens_menu(ui: &Ui, response: Response, name: &str) -> Response {
    let center = response.rect.center() + vec2(0.0, 0.5);
    let corners = [vec2(-4.0, -2.0), vec2(4.0, -2.0), vec2(0.0, 3.0)].map(|by| center + by);
    let ink = palette(ui).on_fill;
    let triangle = Shape::convex_polygon(corners.to_vec(), ink, Stroke::NONE);
    ui.painter().add(triangle);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    response.on_hover_text(name)
}

/// Shows a secondary button, with its shortcut (if any) weak after the text.
pub fn secondary_button(ui: &mut Ui, text: &str, shortcut: &str) -> Response {
    let palette = palette(ui);
    let mut button = Button::new(text).min_size(vec2(0.0, space::CONTROL));
    if !shortcut.is_empty() {
        button = button
            .right_text(RichText::new(shortcut).text_style(TextStyle::Small).color(palette.weak));
    }
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), text));
    response
}

/// Shows a toggle button. While it is on, its outline and text have `color`.
pub fn toggle(ui: &mut Ui, text: &str, is_on: bool, color: Color32) -> Response {
    let palette = palette(ui);
    let ink = if is_on { color } else { palette.text };
    let mut button =
        Button::new(RichText::new(text).color(ink)).min_size(vec2(0.0, space::CONTROL));
    if is_on {
        button = button.stroke(Stroke::new(1.0, color)).fill(palette.panel);
    }
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), is_on, text));
    response
}

/// Shows a button that selects a lane: a dot in the lane's color and the lane's name.
pub fn lane_chip(ui: &mut Ui, name: &str, is_on: bool, color: Color32) -> Response {
    let palette = palette(ui);
    let font = TextStyle::Button.resolve(ui.style());
    let mut job = egui::text::LayoutJob::default();
    for (text, color) in [("● ", color), (name, palette.text)] {
        job.append(text, 0.0, egui::TextFormat::simple(font.clone(), color));
    }
    let mut button = Button::new(job).min_size(vec2(0.0, space::CONTROL));
    if is_on {
        button = button.stroke(Stroke::new(1.0, color)).fill(palette.panel);
    }
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), is_on, name));
    response
}

/// A part of the text of a chip.
#[derive(Clone, Debug)]
pub struct ChipText {
    /// The text.
    pub text: String,
    is_strong: bool,
}

impl ChipText {
    /// Creates weak text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_strong: false }
    }

    /// Creates strong text.
    pub fn strong(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_strong: true }
    }

    /// Returns the text style.
    pub fn style(&self) -> TextStyle {
        if self.is_strong { theme::strong() } else { TextStyle::Body }
    }
}

/// Shows a box around a few words, such as a file name, a model or a state. `dot` adds a colored dot before them.
pub fn chip(ui: &mut Ui, dot: Option<Color32>, texts: &[ChipText]) -> Response {
    let palette = palette(ui);
    let mut job = egui::text::LayoutJob::default();
    for part in texts {
        let color = if part.is_strong { palette.text } else { palette.weak };
        let font = part.style().resolve(ui.style());
        job.append(&part.text, 0.0, egui::TextFormat::simple(font, color));
    }
    let galley = ui.painter().layout_job(job);
    let dot_width = if dot.is_some() { 8.0 + 6.0 } else { 0.0 };
    let size = vec2(galley.size().x + dot_width + 2.0 * chip_padding().x, space::CONTROL - 4.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let fill = if response.hovered() { palette.hover } else { palette.raised };
    ui.painter().rect(
        rect,
        CornerRadius::same(space::RADIUS),
        fill,
        palette.line(),
        StrokeKind::Inside,
    );
    let mut at = rect.left_center() + vec2(chip_padding().x, 0.0);
    if let Some(color) = dot {
        ui.painter().circle_filled(at + vec2(4.0, 0.0), 4.0, color);
        at.x += dot_width;
    }
    ui.painter().galley(at - vec2(0.0, galley.size().y / 2.0), galley, palette.text);
    let text: String = texts.iter().map(|part| part.text.as_str()).collect();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &text));
    response
}

/// Shows a menu item: a name with a note at the right (may be empty), up to two lines of help below it, and a dot if it is
/// chosen.
pub fn choice(ui: &mut Ui, name: &str, note: &str, help: &str, is_chosen: bool) -> Response {
    const INDENT: f32 = 18.0;
    let palette = palette(ui);
    let room = ui.available_width() - INDENT - space::S;
    let text = |text: &str, style: TextStyle, color: Color32, (max_width, max_rows)| {
        let font = style.resolve(ui.style());
        let mut job = egui::text::LayoutJob::simple(text.to_owned(), font, color, max_width);
        job.wrap.max_rows = max_rows;
        ui.painter().layout_job(job)
    };
    let style = if is_chosen { theme::strong() } else { TextStyle::Body };
    let note = text(note, TextStyle::Small, palette.weak, (room / 2.0, 1));
    let title_room = room - note.size().x - space::S;
    let title = text(name, style, palette.text, (title_room, 1));
    let words = text(help, TextStyle::Small, palette.weak, (room, 2));
    let height = title.size().y + words.size().y + 9.0;
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    if response.hovered() || response.has_focus() {
        let radius = f32::from(space::RADIUS_SMALL);
        ui.painter().rect_filled(rect, radius, palette.hover);
    }
    let at = rect.min + vec2(INDENT, 4.0);
    if is_chosen {
        let dot = pos2(rect.left() + 9.0, at.y + title.size().y / 2.0);
        ui.painter().circle_filled(dot, 3.0, palette.accent);
    }
    let below = at + vec2(0.0, title.size().y);
    let right = pos2(at.x + room - note.size().x, below.y - note.size().y);
    ui.painter().galley(at, title, palette.text);
    ui.painter().galley(right, note, palette.weak);
    ui.painter().galley(below, words, palette.weak);
    response
        .widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), is_chosen, name));
    response
}

/// Shows a clickable count of problems: a triangle and a number in the given tone.
pub fn badge(ui: &mut Ui, count: usize, tone: Tone) -> Response {
    let (palette, color) = (palette(ui), palette(ui).tone(tone));
    let font = theme::small_strong().resolve(ui.style());
    let figure = ui.painter().layout_no_wrap(count.to_string(), font, color);
    let size = vec2(figure.size().x + 12.0 + 10.0, 18.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    if response.hovered() {
        ui.painter().rect_filled(rect, f32::from(space::RADIUS_SMALL), palette.hover);
    }
    let at = rect.left_center() + vec2(9.0, 0.0);
    let corners = [vec2(0.0, -4.5), vec2(5.0, 4.0), vec2(-5.0, 4.0)].map(|by| at + by);
    ui.painter().add(Shape::convex_polygon(corners.to_vec(), color, Stroke::NONE));
    let right = rect.right() - 5.0 - figure.size().x;
    let top = rect.center().y - figure.size().y / 2.0;
    ui.painter().galley(pos2(right, top), figure, color);
    response
}
