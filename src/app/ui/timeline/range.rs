//! The chip of the selected calls: their growth, messages, cost and cache misses.

use crate::app::state::command::Commands;
use crate::app::state::cost::state::calls_cost_text;
use crate::app::state::model::selection::{CallRange, SelectCommand};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::palette;
use crate::app::ui::timeline::plot::card;
use crate::app::ui::widgets::text::small;
use egui::{Align2, Area, Button, Frame, Label, Margin, Order, Rect, RichText, Ui, vec2};

/// Distance of the chip from the bottom of the plot, in points.
const MARGIN: f32 = 6.0;

/// Shows the chip at the bottom of the calls' part of the plot.
pub(crate) fn show(
    ui: &Ui,
    input: &OpenSession<'_>,
    calls: CallRange,
    place: Rect,
    commands: &mut Commands,
) {
    let frame =
        Frame::popup(ui.style()).fill(palette(ui).raised).inner_margin(Margin::symmetric(8, 2));
    let area = Area::new(card::chip_id())
        .order(Order::Middle)
        .fade_in(false)
        .enabled(!input.is_covered)
        .pivot(Align2::CENTER_BOTTOM)
        .fixed_pos(place.center_bottom() - vec2(0.0, MARGIN))
        .constrain_to(ui.max_rect());
    area.show(ui.ctx(), |ui| {
        frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                ui.spacing_mut().button_padding = vec2(4.0, 0.0);
                ui.spacing_mut().interact_size.y = 18.0;
                let text = small(ui, text(input, calls)).color(palette(ui).text);
                ui.add(Label::new(text).extend()).on_hover_ui(|ui| {
                    ui.label(help(input));
                });
                let zoom = Button::new(small(ui, "Zoom"));
                if ui
                    .add(zoom)
                    .on_hover_text("Zoom the timeline to these calls (Z)")
                    .accessible_name("Zoom to the selected calls")
                    .clicked()
                {
                    commands.push(SelectCommand::ZoomToCalls);
                }
                let close = Button::new(RichText::new("×")).frame_when_inactive(false);
                if ui
                    .add(close)
                    .on_hover_text("Clear the selection (Esc)")
                    .accessible_name("Clear the selected calls")
                    .clicked()
                {
                    commands.push(SelectCommand::Calls(None));
                }
            });
        });
    });
}

/// Returns, for example, `calls 20–34 in Truncate: +82k tokens, 61 messages, ≈$1.90, 2 recorded cache misses`.
fn text(input: &OpenSession<'_>, calls: CallRange) -> String {
    let mut parts = Vec::new();
    let samples = &input.runs.focused(&input.selection).outcome.samples;
    if let Some((before, after)) = calls.growth(samples) {
        parts.push(format!("{} tokens", wording::difference(after, before)));
    }
    let messages = calls.n_messages(input.document.session());
    parts.push(wording::count(messages, "message"));
    if let Some(costs) = input.derived.costs() {
        let lane = input.selection.lane;
        let cost = costs.of(lane).map(|cost| &cost.cost);
        parts.extend(cost.and_then(|cost| calls_cost_text(cost, calls)));
        if let Some(audit) = &costs.audit {
            let n = calls.n_misses(audit);
            let noun = if n == 1 { "miss" } else { "misses" };
            let of = if lane.is_some() { "recorded " } else { "" };
            parts.push(format!("{} {of}cache {noun}", wording::grouped(n as u64)));
        }
    }
    let mut name = wording::calls(calls);
    if input.selection.lane.is_some() {
        name = format!("{name} in {}", input.runs.label(input.selection.lane));
    }
    format!("{name}: {}", parts.join(", "))
}

fn help(input: &OpenSession<'_>) -> String {
    let lane = input.runs.label(input.selection.lane);
    format!(
        "Growth and cost of the lane {lane} and recorded cache misses. The cost includes summary requests. The tables list only these calls."
    )
}
