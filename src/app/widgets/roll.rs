//! A column of things of unlike heights, of which only those in view are laid out.
//!
//! Until a height is known a guess holds its place, and each frame finds out a few more. While text is selected everything is
//! laid out, a few things more in each frame, since only what is laid out can be copied.

use egui::text_selection::LabelSelectionState;
use egui::{Id, Label, Rect, Role, Stroke, Ui, UiBuilder, WidgetInfo, WidgetText, vec2};
use std::time::{Duration, Instant};

/// What a frame spends on things that are not in view.
const SLICE: Duration = Duration::from_millis(2);

/// What is known of the things, by number.
#[derive(Clone)]
struct Known {
    /// Width and number of what was measured.
    key: (f32, usize),
    heights: Vec<Option<f32>>,
    /// Those that were laid out in the last frame.
    laid: Vec<bool>,
}

/// Shows `n` things below each other; `guess` says how high one may be, by its number.
pub fn roll(
    ui: &mut Ui,
    id: Id,
    n: usize,
    guess: impl Fn(usize) -> f32,
    mut show: impl FnMut(&mut Ui, usize),
) {
    let width = ui.available_width();
    let key = (width, n);
    let known = ui.data(|data| data.get_temp::<Known>(id));
    let mut known = known.filter(|k| k.key == key).unwrap_or_else(|| Known {
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
            // A name of its own, whichever of the others are there.
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

/// A wrapped text that takes part in a selection even where it is not in view: a label gives up the whole selection once an
/// end of it is scrolled away.
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

    /// A frame that is scrolled to a place: what was laid out in it, and how high everything is.
    fn frame(ctx: &Context, offset: f32) -> (Vec<usize>, f32) {
        let (mut shown, mut content) = (Vec::new(), 0.0);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(200.0, 100.0))),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            let area = ScrollArea::vertical().vertical_scroll_offset(offset);
            let area = area.show(ui, |ui| {
                roll(
                    ui,
                    Id::unique("roll"),
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
        assert!(is_settled, "heights were not found out");
        ctx
    }

    #[test]
    fn once_heights_are_known_only_what_is_in_view_is_laid_out() {
        let ctx = settled();
        let (shown, _) = frame(&ctx, 0.0);
        assert_eq!(shown.first(), Some(&0));
        assert!(shown.len() < 10, "{} were laid out", shown.len());
        let before: f32 = (0..300).map(height).sum();
        let (shown, _) = frame(&ctx, before);
        assert!(shown.contains(&300) && shown.len() < 10, "{shown:?}");
    }

    #[test]
    fn the_end_can_be_reached_whatever_is_known_of_what_is_before_it() {
        let ctx = Context::default();
        let mut at_the_end = (0..1_000).map(|_| frame(&ctx, f32::from(u16::MAX)).0);
        assert!(at_the_end.any(|shown| shown.contains(&(N - 1))));
    }
}
