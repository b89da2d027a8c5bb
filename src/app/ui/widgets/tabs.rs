//! A row of tabs.

use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use egui::{Popup, Response, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

/// Space between a name and its remark, in points.
const REMARK_GAP: f32 = 5.0;
/// Width from which the tabs stand further apart, in points: there, ten tabs and the widest controls still fit beside each
/// other.
const WIDE: f32 = 1500.0;
/// Name of the menu of tabs that do not fit.
const MORE: &str = "More ⏷";

/// Shows a row of tabs with the chosen one underlined. Each tab has a name and a remark in amber (or ""). Tabs that do not
/// fit are in a menu at the end; the chosen one is always in the row. Returns the index of the clicked tab.
pub fn tabs(ui: &mut Ui, names: &[(&str, &str)], chosen: usize) -> Option<usize> {
    let mut clicked = None;
    ui.horizontal(|ui| {
        let gap = if ui.available_width() < WIDE { 12.0 } else { 20.0 };
        ui.spacing_mut().item_spacing.x = gap;
        let widths: Vec<f32> = names.iter().map(|(name, remark)| width(ui, name, remark)).collect();
        let more = width(ui, MORE, "");
        let shown = fitting(&widths, gap, more, ui.available_width(), chosen);
        for index in shown.iter().copied() {
            let (name, remark) = names[index];
            if tab(ui, name, remark, index == chosen).clicked() {
                clicked = Some(index);
            }
        }
        if shown.len() < names.len() {
            let button = tab(ui, MORE, "", false).on_hover_text("Tabs that do not fit");
            Popup::menu(&button).show(|ui| {
                for (index, (name, _)) in names.iter().enumerate() {
                    if !shown.contains(&index) && ui.button(*name).clicked() {
                        clicked = Some(index);
                    }
                }
            });
        }
    });
    clicked
}

/// Returns the indices of the tabs in the row: all if they fit, else as many as fit beside the menu. The chosen one takes the
/// place of the last one if it is not among them.
fn fitting(widths: &[f32], gap: f32, more: f32, room: f32, chosen: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..widths.len()).collect();
    let taken = |tabs: &[usize]| -> f32 { tabs.iter().map(|tab| widths[*tab] + gap).sum() };
    if taken(&all) - gap <= room {
        return all;
    }
    let mut shown = all;
    while shown.len() > 1 && taken(&shown) + more > room {
        let last = shown.iter().rposition(|tab| *tab != chosen);
        shown.remove(last.unwrap_or(0));
    }
    shown
}

/// Returns the width of a tab. It is that of the chosen state, so that choosing a tab moves nothing.
fn width(ui: &Ui, name: &str, remark: &str) -> f32 {
    let strong = theme::strong().resolve(ui.style());
    let of = |text: &str| {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), strong.clone(), palette(ui).text);
        galley.size().x
    };
    of(name) + if remark.is_empty() { 0.0 } else { of(remark) + REMARK_GAP }
}

fn tab(ui: &mut Ui, name: &str, remark: &str, is_chosen: bool) -> Response {
    let palette = palette(ui);
    let body = TextStyle::Body.resolve(ui.style());
    let strong = theme::strong().resolve(ui.style());
    let wide = ui.painter().layout_no_wrap(name.to_owned(), strong.clone(), palette.text);
    let galley = if is_chosen {
        std::sync::Arc::clone(&wide)
    } else {
        ui.painter().layout_no_wrap(name.to_owned(), body, palette.weak)
    };
    let remark = (!remark.is_empty())
        .then(|| ui.painter().layout_no_wrap(remark.to_owned(), strong, palette.warn));
    let extra = remark.as_ref().map_or(0.0, |remark| remark.size().x + REMARK_GAP);
    let size = vec2(wide.size().x + extra, 32.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let top = rect.center().y - wide.size().y / 2.0;
    let ink = if response.hovered() { palette.text } else { palette.weak };
    ui.painter().galley_with_override_text_color(
        pos2(rect.left(), top),
        galley,
        if is_chosen { palette.text } else { ink },
    );
    if let Some(remark) = remark {
        ui.painter().galley(
            pos2(rect.left() + wide.size().x + REMARK_GAP, top),
            remark,
            palette.warn,
        );
    }
    if is_chosen {
        let line = egui::Rect::from_min_max(
            pos2(rect.left(), rect.bottom() - 3.0),
            pos2(rect.right(), rect.bottom() - 1.0),
        );
        ui.painter().rect_filled(line, 1.0, palette.accent);
    }
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), is_chosen, name));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_that_do_not_fit_leave_the_row_from_the_end_and_the_chosen_one_stays() {
        let widths = [50.0; 4];
        assert_eq!(fitting(&widths, 10.0, 30.0, 230.0, 0), [0, 1, 2, 3]);
        assert_eq!(fitting(&widths, 10.0, 30.0, 229.0, 0), [0, 1, 2]);
        assert_eq!(fitting(&widths, 10.0, 30.0, 229.0, 3), [0, 1, 3]);
        assert_eq!(fitting(&widths, 10.0, 30.0, 20.0, 2), [2]);
    }
}
