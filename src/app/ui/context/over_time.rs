//! The recorded contexts of all calls: a stacked bar for each call, divided by group.

use crate::analysis::attribution::GroupOverTime;
use crate::app::state::command::Commands;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{Palette, palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::safe_text;
use crate::units::Tokens;
use egui::{Color32, Rect, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

/// Width of the list of groups, in points.
const LEGEND: f32 = 260.0;
/// Smallest width of the bars, in points; a narrower panel shows only the list.
const MIN_BARS: f32 = 120.0;
/// Share of a group's color in its area.
// As calm as the areas of the timeline.
const AREA_MIX: f32 = 0.62;

/// Draws the groups of all calls, and a list with their sizes at the selected call.
pub(super) fn show(
    ui: &mut Ui,
    session: &OpenSession<'_>,
    groups: &[GroupOverTime],
    commands: &mut Commands,
) {
    let n_calls = groups.first().map_or(0, |group| group.tokens.len());
    if n_calls == 0 {
        padded(ui, |ui| ui.label(weak(ui, "The session has no call.")));
        return;
    }
    let call = session.selection.call.min(n_calls - 1);
    let total: Tokens = groups.iter().map(|group| group.tokens[call]).sum();
    padded(ui, |ui| {
        let text = format!(
            "Recorded contexts by source. Call {}: {} tokens. Click a call to select it.",
            wording::number(call),
            wording::tokens(total)
        );
        ui.label(small(ui, text));
    });
    let area = ui.available_rect_before_wrap().shrink2(vec2(space::L, space::XS));
    let has_bars = area.width() > LEGEND + MIN_BARS;
    let split = if has_bars { area.right() - LEGEND } else { area.left() };
    if has_bars {
        let place = Rect::from_min_max(area.min, pos2(split - space::L, area.bottom()));
        bars(ui, groups, place, call, commands);
    }
    let list = Rect::from_min_max(pos2(split, area.top()), area.max);
    ui.scope_builder(UiBuilder::new().max_rect(list), |ui| legend(ui, groups, call, total));
    ui.advance_cursor_after_rect(area);
}

/// Returns the color of a group. Colors repeat after the last, darker.
fn color(colors: &Palette, group: usize) -> Color32 {
    let n_before = (0..group).filter(|before| colors.lane(*before) == colors.lane(group)).count();
    colors.background.lerp_to_gamma(colors.lane(group), AREA_MIX / (n_before + 1) as f32)
}

/// Draws one bar a call, or one of the largest call of each column of pixels.
fn bars(ui: &mut Ui, groups: &[GroupOverTime], place: Rect, call: usize, commands: &mut Commands) {
    let colors = palette(ui);
    let n_calls = groups[0].tokens.len();
    let sum = |call: usize| groups.iter().map(|group| group.tokens[call].as_f64()).sum::<f64>();
    let top = (0..n_calls).map(sum).fold(1.0, f64::max);
    let n_columns = n_calls.min(place.width().max(1.0) as usize);
    let width = place.width() / n_columns as f32;
    let first_of = |column: usize| column * n_calls / n_columns;
    for column in 0..n_columns {
        let calls = first_of(column)..first_of(column + 1).max(first_of(column) + 1);
        let Some(shown) = calls.max_by(|a, b| sum(*a).total_cmp(&sum(*b))) else { continue };
        let left = place.left() + width * column as f32;
        let mut bottom = place.bottom();
        for (at, group) in groups.iter().enumerate() {
            let height = (group.tokens[shown].as_f64() / top) as f32 * place.height();
            let bar = Rect::from_min_max(pos2(left, bottom - height), pos2(left + width, bottom));
            ui.painter().rect_filled(bar, 0.0, color(colors, at));
            bottom -= height;
        }
    }
    let x = place.left() + (call as f32 + 0.5) / n_calls as f32 * place.width();
    ui.painter().vline(x, place.y_range(), Stroke::new(1.0, colors.accent));
    let response = ui.interact(place, ui.scope_id().with("calls"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Contexts by source"));
    let at = |x: f32| {
        let share = ((x - place.left()) / place.width()).clamp(0.0, 1.0);
        ((share * n_calls as f32) as usize).min(n_calls - 1)
    };
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.clicked()) {
        commands.push(SelectCommand::Call(at(pointer.x)));
    }
    if let Some(pointer) = response.hover_pos() {
        let over = at(pointer.x);
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(format!(
                "call {}: {} tokens",
                wording::number(over),
                wording::tokens(Tokens(sum(over) as u64))
            ));
            for group in groups.iter().filter(|group| group.tokens[over] > Tokens::ZERO).rev() {
                let name = safe_text::one_line(&group.group, 40);
                ui.label(small(ui, format!("{name}  {}", wording::tokens(group.tokens[over]))));
            }
        });
    }
}

/// Lists the groups, the topmost first, with their tokens at a call.
fn legend(ui: &mut Ui, groups: &[GroupOverTime], call: usize, total: Tokens) {
    let colors = palette(ui);
    ScrollArea::vertical().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (at, group) in groups.iter().enumerate().rev() {
            ui.horizontal(|ui| {
                let (mark, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
                ui.painter().rect_filled(mark, 2.0, color(colors, at));
                let tokens = group.tokens[call];
                let largest = group.tokens.iter().copied().max().unwrap_or_default();
                let name = safe_text::one_line(&group.group, 32);
                let share = wording::percent(tokens.share_of(total));
                let label = ui.label(small(ui, format!("{name}  {}", wording::tokens(tokens))));
                label.on_hover_text(format!(
                    "{share} of the context of this call; at most {} tokens in a call",
                    wording::tokens(largest)
                ));
            });
        }
    });
}
