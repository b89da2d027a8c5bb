//! The hover card: details of the call under the pointer.

use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::theme::Palette;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::compared;
use crate::app::ui::widgets::text::small;
use crate::figure::whole_percent;
use crate::session::Kind;
use crate::units::Tokens;
use egui::{
    Align, Align2, Area, Color32, Frame, Grid, Id, Label, Layout, Margin, Order, RichText, Sense,
    TextStyle, Ui, Vec2, pos2, vec2,
};

/// Maximum width of a line of text.
const MAX_WIDTH: f32 = 240.0;
/// Distance between the card and its call.
const DISTANCE: f32 = 10.0;
/// Distance between the card and the chip of the selected calls.
const CHIP_DISTANCE: f32 = 4.0;
/// Space between parts of the card, and between the columns of a table.
const GAPS: Vec2 = vec2(14.0, 2.0);

/// Returns the id of the area of the selected calls' chip, at the bottom of the plot. The card leaves it free.
pub(crate) fn chip_id() -> Id {
    Id::unique("selected calls")
}

/// Shows the card right of the call, or left if there is no room: title, lines of the caller, kinds of the stack, lanes.
pub(crate) fn show(ui: &Ui, id: Id, chart: &Chart<'_>, call: usize) {
    let (id, plot, x) = (id.with("card"), chart.areas.plot, chart.x(call));
    let rect_of = |id| ui.ctx().memory(|memory| memory.area_rect(id));
    let size = rect_of(id).map_or(vec2(MAX_WIDTH, 0.0), |rect| rect.size());
    let (align, x) = if x + DISTANCE + size.x <= plot.right() {
        (Align::Min, x + DISTANCE)
    } else {
        (Align::Max, x - DISTANCE)
    };
    // In a low plot the card extends over what is above it instead of covering the chip.
    let chip = rect_of(chip_id()).filter(|_| chart.input.range.is_some());
    let bottom = chip.map_or(f32::INFINITY, |chip| chip.top() - CHIP_DISTANCE);
    let top = (plot.top() + 8.0).min(bottom - size.y);
    let pivot = Align2([align, Align::Min]);
    let frame =
        Frame::popup(ui.style()).fill(chart.palette.raised).inner_margin(Margin::symmetric(10, 7));
    Area::new(id)
        .order(Order::Tooltip)
        .interactable(false)
        .fade_in(false)
        .pivot(pivot)
        .fixed_pos(pos2(x, top))
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| content(ui, chart, call));
        });
}

fn content(ui: &mut Ui, chart: &Chart<'_>, call: usize) {
    ui.set_max_width(MAX_WIDTH);
    ui.spacing_mut().item_spacing = GAPS;
    ui.spacing_mut().interact_size.y = ui.text_style_height(&TextStyle::Small);
    let title = RichText::new(title(chart, call)).text_style(theme::small_strong());
    ui.label(title.color(chart.palette.text));
    for line in (chart.input.hover_text)(call) {
        ui.add(Label::new(small(ui, line)).truncate());
    }
    table(ui, "kinds", 2, &kinds(chart, call), chart.palette);
    table(ui, "lanes", 1, &lanes(chart, call), chart.palette);
}

/// A name with its mark and value.
struct Row<'a> {
    mark: Color32,
    is_square: bool,
    name: &'a str,
    value: Tokens,
    color: Color32,
}

/// Shows rows in a number of columns, filled one after another.
fn table(ui: &mut Ui, id: &str, columns: usize, rows: &[Row<'_>], palette: &Palette) {
    let lines = rows.len().div_ceil(columns);
    if lines == 0 {
        return;
    }
    ui.add_space(2.0);
    Grid::new(id).spacing(GAPS).min_col_width(0.0).show(ui, |ui| {
        for line in 0..lines {
            for row in rows.iter().skip(line).step_by(lines) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 5.0;
                    mark(ui, row);
                    ui.label(RichText::new(row.name).small().color(palette.weak));
                });
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    ui.label(RichText::new(row.value.short()).small().color(row.color));
                });
            }
            ui.end_row();
        }
    });
}

/// Draws a square for a kind or a disc for a lane.
fn mark(ui: &mut Ui, row: &Row<'_>) {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(8.0), Sense::hover());
    let radius = if row.is_square { 2.0 } else { 4.0 };
    ui.painter().rect_filled(rect, radius, row.mark);
}

/// Returns the kinds of the stack at a call, from the bottom up, with content that is not recorded as a separate row.
fn kinds(chart: &Chart<'_>, call: usize) -> Vec<Row<'static>> {
    let Some(sample) = chart.input.area.get(call) else {
        return Vec::new();
    };
    let tokens = |kind: Kind| Tokens::from(sample.by_kind[kind.index()]);
    let unrecorded = (chart.input.unrecorded)(call).min(tokens(Kind::System));
    let row = |kind: Kind, name: &'static str, value: Tokens| Row {
        mark: chart.palette.kind(kind),
        is_square: true,
        name,
        value,
        color: chart.palette.text,
    };
    let mut rows = vec![row(Kind::System, wording::NOT_RECORDED, unrecorded)];
    rows.extend(Kind::ALL.into_iter().map(|kind| match kind {
        Kind::System => row(kind, wording::kind(kind), tokens(kind) - unrecorded),
        _ => row(kind, wording::kind(kind), tokens(kind)),
    }));
    rows.retain(|row| row.value > Tokens::ZERO);
    rows
}

/// Returns the context size of each lane and of a compared session.
fn lanes<'a>(chart: &Chart<'a>, call: usize) -> Vec<Row<'a>> {
    let row = |lane: &crate::app::ui::timeline::plot::LaneLine<'a>| {
        let sample = lane.samples.get(call)?;
        Some(Row {
            mark: lane.color,
            is_square: false,
            name: lane.name,
            value: sample.tokens,
            // The cross on the line shows an overflow without color.
            color: if sample.overflows {
                chart.palette.bad
            } else if sample.is_into_reserve() {
                chart.palette.warn
            } else {
                chart.palette.text
            },
        })
    };
    let compared = chart.input.compared_session.and_then(|other| {
        let there = compared::call_at(chart.axis, other, call)?;
        Some(Row {
            mark: other.color,
            is_square: false,
            name: other.name,
            value: other.contexts[there],
            color: chart.palette.text,
        })
    });
    let lanes = chart.input.lanes.iter().filter_map(row);
    lanes.chain(compared).collect()
}

/// Returns the title: `Call 212 · 143.1k · 85 % of usable`.
pub(crate) fn title(chart: &Chart<'_>, call: usize) -> String {
    let name = format!("Call {}", call + 1);
    let Some(tokens) = chart.input.tokens_at(call) else {
        return name;
    };
    let share = whole_percent(chart.input.budget(call).pressure(tokens));
    let share = share.replace(' ', "\u{2009}");
    let tokens = precise(tokens);
    format!("{name} · {tokens} · {share} of usable")
}

/// Formats tokens with one more decimal than elsewhere, since the card shows a single call.
fn precise(tokens: Tokens) -> String {
    if (100_000..1_000_000).contains(&tokens.0) {
        format!("{:.1}k", tokens.as_f64() / 1e3)
    } else {
        tokens.short()
    }
}
