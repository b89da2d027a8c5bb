//! A virtual list with rows of different heights: only visible rows are laid out.
//!
//! Rows that have not been measured use an estimated height. Each frame measures a few more rows. While text is
//! selected, the list gradually lays out all rows, because only laid-out text can be copied.

use egui::text_selection::LabelSelectionState;
use egui::{Id, Label, Rect, Role, Stroke, Ui, UiBuilder, WidgetInfo, WidgetText, vec2};
use std::time::{Duration, Instant};

/// Time budget per frame for rows that are not visible.
const SLICE: Duration = Duration::from_millis(2);

/// Cached measurements of the rows, by index.
#[derive(Clone)]
struct Measurements {
    /// Width at which rows were measured, and their number.
    key: (f32, usize),
    heights: Vec<Option<f32>>,
    /// Rows that were laid out in the previous frame.
    laid: Vec<bool>,
}

/// Shows `n` rows below each other. `guess` estimates the height of a row by its index, in points.
pub fn virtual_list(
    ui: &mut Ui,
    id: Id,
    n: usize,
    guess: impl Fn(usize) -> f32,
    mut show: impl FnMut(&mut Ui, usize),
) {
    let width = ui.available_width();
    let key = (width, n);
    let known = ui.data(|data| data.get_temp::<Measurements>(id));
    let mut known = known.filter(|k| k.key == key).unwrap_or_else(|| Measurements {
        key,
        heights: vec![None; n],
        laid: vec![false; n],
    });
    let selects = ui.ctx().plugin::<LabelSelectionState>();
    let selects = selects.lock().has_selection();
    let start = Instant::now();
    let gap = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
    for nth in 0..n {
        let is_known = known.heights[nth].is_some();
        let size = vec2(width, known.heights[nth].unwrap_or_else(|| guess(nth)));
        let is_due = known.laid[nth] && selects
            || (selects || !is_known) && start.elapsed() < SLICE
            || ui.is_rect_visible(Rect::from_min_size(ui.cursor().min, size));
        known.laid[nth] = is_due;
        if is_due {
            let top = ui.cursor().top();
            // An id that does not depend on which other rows are laid out.
            ui.scope_builder(UiBuilder::new().scope_id(id.with(nth)), |ui| show(ui, nth));
            known.heights[nth] = Some(ui.cursor().top() - top);
        } else {
            ui.allocate_space(size);
        }
    }
    ui.spacing_mut().item_spacing.y = gap;
    let is_whole = known.heights.iter().all(Option::is_some);
    if !is_whole || selects && known.laid.contains(&false) {
        ui.ctx().request_repaint();
    }
    ui.data_mut(|data| data.insert_temp(id, known));
}

/// Shows a wrapped text that keeps its part of a selection while it is not visible. A plain label drops the whole
/// selection when one of its ends is scrolled out of view.
pub fn selectable(ui: &mut Ui, text: impl Into<WidgetText>) {
    let label = Label::new(text).wrap().selectable(true);
    let (at, galley, response) = label.layout_in_ui(ui);
    let is_enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::Label, is_enabled, galley.text()));
    let color = ui.visuals().text_color();
    LabelSelectionState::label_text_selection(ui, &response, at, galley, color, Stroke::NONE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Context, Pos2, RawInput, ScrollArea, Sense, Vec2};

    const N: usize = 600;

    fn height(nth: usize) -> f32 {
        [8.0, 20.0, 44.0][nth % 3]
    }

    /// Runs a frame at a scroll offset. Returns the indices of the laid-out rows and the total height.
    fn frame(ctx: &Context, offset: f32) -> (Vec<usize>, f32) {
        let (mut shown, mut content) = (Vec::new(), 0.0);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(200.0, 100.0))),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            let area = ScrollArea::vertical().vertical_scroll_offset(offset);
            let area = area.show(ui, |ui| {
                virtual_list(
                    ui,
                    Id::unique("list"),
                    N,
                    |_| 30.0,
                    |ui, nth| {
                        shown.push(nth);
                        let size = Vec2::new(10.0, height(nth));
                        ui.allocate_exact_size(size, Sense::hover());
                    },
                );
            });
            content = area.content_size.y;
        });
        output.textures_delta.clear();
        (shown, content)
    }

    fn settled() -> Context {
        let ctx = Context::default();
        let whole: f32 = (0..N).map(height).sum();
        let is_settled = (0..1_000).any(|_| (frame(&ctx, 0.0).1 - whole).abs() < 0.5);
        assert!(is_settled, "heights were not measured");
        ctx
    }

    #[test]
    fn lays_out_only_visible_rows_after_measuring() {
        let ctx = settled();
        let (shown, _) = frame(&ctx, 0.0);
        assert_eq!(shown.first(), Some(&0));
        assert!(shown.len() < 10, "{} were laid out", shown.len());
        let before: f32 = (0..300).map(height).sum();
        let (shown, _) = frame(&ctx, before);
        assert!(shown.contains(&300) && shown.len() < 10, "{shown:?}");
    }

    #[test]
    fn scrolls_to_the_end_before_all_rows_are_measured() {
        let ctx = Context::default();
        let mut at_the_end = (0..1_000).map(|_| frame(&ctx, f32::from(u16::MAX)).0);
        assert!(at_the_end.any(|shown| shown.contains(&(N - 1))));
    }
}
