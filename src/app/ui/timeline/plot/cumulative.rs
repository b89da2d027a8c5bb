//! The strip below the plot: cumulative tokens of the messages added at each call.

use crate::app::state::messages::cumulative::Heat;
use crate::app::state::wording;
use crate::app::ui::theme::Palette;
use crate::app::ui::timeline::plot::chart::Chart;
use egui::{
    Align2, Color32, CursorIcon, Id, Mesh, Pos2, Rect, Role, Sense, Shape, TextStyle, Ui,
    WidgetInfo, pos2, vec2,
};

/// Minimum and maximum width of a mark.
const MARK: [f32; 2] = [1.5, 8.0];

/// Draws the strip, with the marks in one mesh.
pub(crate) fn draw(chart: &Chart<'_>, shapes: &mut Vec<Shape>) {
    let (strip, heat) = (chart.areas.strip, chart.input.heat);
    if heat.is_empty() {
        return;
    }
    shapes.push(Shape::rect_filled(strip, 0.0, chart.palette.raised));
    let [min, max] = MARK;
    let mut mesh = Mesh::default();
    for call in &chart.visible.hottest {
        let x = chart.x(*call);
        let size = vec2((chart.x(call + 1) - x).clamp(min, max), strip.height());
        let mark = Rect::from_center_size(pos2(x, strip.center().y), size);
        mesh.add_colored_rect(mark, color(chart.palette, heat[*call]));
    }
    shapes.push(Shape::mesh(mesh));
}

/// Shows the name of the strip and handles its input. Returns the clicked call.
pub(crate) fn show(ui: &Ui, id: Id, chart: &Chart<'_>) -> Option<usize> {
    let (strip, heat) = (chart.areas.strip, chart.input.heat);
    if heat.is_empty() {
        return None;
    }
    let font = TextStyle::Small.resolve(ui.style());
    let (at, weak) = (strip.right_center() + vec2(8.0, 0.0), chart.palette.weak);
    ui.painter().text(at, Align2::LEFT_CENTER, "cumulative", font, weak);
    // Larger than the painted strip, so that it is easy to hit.
    let area = strip.expand2(vec2(0.0, 2.0));
    let response = ui.interact(area, id.with("cumulative"), Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "cumulative tokens by call"));
    let call = hottest_near(chart, response.hover_pos()?);
    let is_clicked = response.clicked();
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text_at_pointer(hover_text(heat, call));
    is_clicked.then_some(call)
}

/// Returns the color of the main kind, stronger for more cumulative tokens.
fn color(palette: &Palette, heat: Heat) -> Color32 {
    let strength = 0.12 + 0.88 * heat.share.0.sqrt() as f32;
    let kind = palette.kind(heat.kind);
    palette.raised.lerp_to_gamma(kind, strength)
}

/// Returns the call with the most cumulative tokens within a few pixels.
fn hottest_near(chart: &Chart<'_>, at: Pos2) -> usize {
    let heat = chart.input.heat;
    let call = |by: f32| chart.call_at(at + vec2(by, 0.0)).min(heat.len() - 1);
    let last = call(2.0);
    let near = call(-2.0)..=last;
    near.max_by(|a, b| heat[*a].share.0.total_cmp(&heat[*b].share.0)).unwrap_or(last)
}

fn hover_text(heat: &[Heat], call: usize) -> String {
    let heat = heat[call];
    format!(
        "Messages added at call {}: {} cumulative tokens (tokens × calls that sent them). Largest share: messages of kind “{}”.",
        wording::number(call),
        wording::short(heat.tokens),
        wording::kind(heat.kind)
    )
}
