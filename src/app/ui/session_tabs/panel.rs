//! The row of session tabs at the top of the window. Shown only if there are several.

use crate::app::state::command::Commands;
use crate::app::state::session_tabs::command::TabsCommand;
use crate::app::state::session_tabs::label::TabLabel;
use crate::app::ui::theme::{palette, space};
use crate::safe_text;
use egui::{
    Align2, CornerRadius, Frame, Id, Panel, Rect, Response, Role, Sense, TextStyle, TextWrapMode,
    Ui, WidgetInfo, WidgetText, pos2, vec2,
};

/// Height of the row, in points.
const HEIGHT: f32 = 30.0;
/// Minimum and maximum width of a tab, in points.
const WIDTHS: [f32; 2] = [56.0, 220.0];
/// Width of the close button, in points.
const CLOSE: f32 = 20.0;
/// Width from which a hidden tab shows its close button, in points.
const ROOMY: f32 = 96.0;
/// Width of the button that opens a new tab, in points.
const NEW: f32 = 30.0;
/// Maximum characters of a name.
const NAME: usize = 60;

/// Shows the row.
pub(crate) fn show(ui: &mut Ui, labels: &[TabLabel], shown: usize, commands: &mut Commands) {
    if labels.is_empty() {
        return;
    }
    let frame = Frame::new().fill(palette(ui).background);
    let panel = Panel::top("session tabs").frame(frame).exact_size(HEIGHT);
    panel.show_separator_line(false).show(ui, |ui| {
        let row = ui.available_rect_before_wrap();
        let room = row.width() - space::S - NEW;
        let width = (room / labels.len() as f32).clamp(WIDTHS[0], WIDTHS[1]).floor();
        // More tabs than fit: the shown one stays visible.
        let fitting = ((room / width) as usize).clamp(1, labels.len());
        let first = (shown + 1).saturating_sub(fitting);
        let mut left = row.left() + space::S;
        for (idx, label) in labels.iter().enumerate().skip(first).take(fitting) {
            let place = Rect::from_min_max(
                pos2(left, row.top() + 4.0),
                pos2(left + width - 2.0, row.bottom()),
            );
            tab(ui, place, (idx, label), idx == shown, commands);
            left += width;
        }
        let place = Rect::from_min_size(pos2(left, row.top() + 4.0), vec2(NEW, HEIGHT - 4.0));
        new_tab(ui, place, commands);
    });
}

/// Shows a tab with its close button.
fn tab(
    ui: &Ui,
    place: Rect,
    (idx, label): (usize, &TabLabel),
    is_shown: bool,
    commands: &mut Commands,
) {
    let palette = palette(ui);
    let id = Id::unique(("session tab", idx));
    let response = ui.interact(place, id, Sense::click());
    let name = safe_text::one_line(&label.name, NAME);
    response.widget_info(|| {
        let name = format!("Session {name}");
        WidgetInfo::selected(Role::Tab, ui.is_enabled(), is_shown, name)
    });
    let has_close = is_shown || (response.contains_pointer() && place.width() >= ROOMY);
    let button = Rect::from_center_size(
        pos2(place.right() - CLOSE / 2.0 - 3.0, place.center().y),
        vec2(CLOSE, CLOSE),
    );
    let close = has_close.then(|| close_button(ui, id, button, &name));
    let fill = match (is_shown, response.hovered()) {
        (true, _) => palette.panel,
        (false, true) => palette.hover,
        (false, false) => palette.raised.gamma_multiply(0.6),
    };
    let radius = CornerRadius { nw: space::RADIUS, ne: space::RADIUS, sw: 0, se: 0 };
    ui.painter().rect_filled(place, radius, fill);
    if is_shown {
        let line = Rect::from_min_size(place.min + vec2(2.0, 0.0), vec2(place.width() - 4.0, 2.0));
        ui.painter().rect_filled(line, 1.0, palette.accent);
    }
    let right = if has_close { button.left() } else { place.right() - 6.0 };
    let left = place.left() + 10.0;
    let part = Rect::from_x_y_ranges(left..=right.max(left), place.y_range());
    let text = if label.is_loading { format!("… {name}") } else { name };
    paint_name(ui, part, text, is_shown);
    if let Some(close) = &close {
        paint_close(ui, close);
    }
    if response.middle_clicked() || close.is_some_and(|close| close.clicked()) {
        commands.push(TabsCommand::Close(Some(idx)));
    } else if response.clicked() {
        commands.push(TabsCommand::Show(idx));
    }
    menu(&response, idx, commands);
    if !label.help.is_empty() {
        response.on_hover_text(safe_text::visible(&label.help));
    }
}

/// Paints the name of a tab. It is no label, since the tab itself has the accessible name.
fn paint_name(ui: &Ui, place: Rect, text: String, is_shown: bool) {
    let palette = palette(ui);
    let color = if is_shown { palette.text } else { palette.weak };
    let wrap = Some(TextWrapMode::Truncate);
    let galley = WidgetText::from(text).into_galley(ui, wrap, place.width(), TextStyle::Body);
    let at = place.left_center() - vec2(0.0, galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
}

fn paint_close(ui: &Ui, close: &Response) {
    let (palette, place) = (palette(ui), close.rect);
    let mut ink = palette.weak;
    if close.hovered() {
        ink = palette.text;
        let radius = f32::from(space::RADIUS_SMALL);
        ui.painter().rect_filled(place.shrink(2.0), radius, palette.hover);
    }
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter().text(place.center(), Align2::CENTER_CENTER, "✕", font, ink);
}

fn menu(response: &Response, idx: usize, commands: &mut Commands) {
    response.context_menu(|ui| {
        if ui.button("Close this tab").clicked() {
            commands.push(TabsCommand::Close(Some(idx)));
        }
    });
}

fn close_button(ui: &Ui, id: Id, place: Rect, name: &str) -> Response {
    let close = ui.interact(place, id.with("close"), Sense::click());
    close.widget_info(|| {
        let name = format!("Close the tab {name}");
        WidgetInfo::labeled(Role::Button, ui.is_enabled(), name)
    });
    close.on_hover_text("Close the tab (Ctrl+W, or middle button)")
}

fn new_tab(ui: &Ui, place: Rect, commands: &mut Commands) {
    let button = ui.interact(place, Id::unique("new session tab"), Sense::click());
    button.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), "New tab"));
    let palette = palette(ui);
    let ink = if button.hovered() { palette.text } else { palette.weak };
    let font = TextStyle::Body.resolve(ui.style());
    ui.painter().text(place.center(), Align2::CENTER_CENTER, "+", font, ink);
    if button.on_hover_text("New tab (Ctrl+T)").clicked() {
        commands.push(TabsCommand::New);
    }
}
