//! The chart of the page: a bar per row. Periods without a call are gaps.

use crate::analysis::usage::UsageRow;
use crate::app::state::command::Commands;
use crate::app::state::sessions::list::SessionsCommand;
use crate::app::state::sessions::usage::command::UsageCommand;
use crate::app::state::sessions::usage::page::{UsagePage, UsageSums};
use crate::app::state::sessions::usage::text;
use crate::app::state::sessions::usage::view::BarFigure;
use crate::app::state::wording;
use crate::app::ui::plots::axes::{AxisValues, round_values_between};
use crate::app::ui::sessions::usage::table;
use crate::app::ui::theme::{Palette, palette, space};
use crate::app::ui::widgets::swatch;
use crate::app::ui::widgets::text::small;
use crate::units::{Tokens, Usd};
use egui::text::LayoutJob;
use egui::{
    Align2, Color32, FontId, Galley, Label, Rect, Role, Sense, TextStyle, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};
use std::sync::Arc;

/// Width of the numbers of the vertical axis, in points.
const NUMBERS: f32 = 52.0;
/// Height of the title and of the names below the bars, in points.
const LINE: f32 = 18.0;
/// Maximum width of a bar, and its share of the space of a bar.
const MAX_BAR: f32 = 44.0;
const BAR_SHARE: f32 = 0.72;
/// Minimum distance of the lines of the vertical axis, in points.
const LINE_DISTANCE: f32 = 36.0;
/// Minimum space of a named bar, such as that of a model, and of a bar with its figure above it.
const MIN_NAMED: f32 = 84.0;
const MIN_LABELLED: f32 = 60.0;
/// Share of the accent color in a bar, and in the part that was read from the cache.
const MIX: f32 = 0.78;
const CACHED_MIX: f32 = 0.34;

/// A bar in the chart.
struct Shown<'a> {
    key: &'a str,
    /// The row with its index; `None` for a period without a call.
    row: Option<(usize, &'a UsageRow)>,
    /// Its height, and that of the part at its bottom.
    value: f64,
    part: f64,
}

/// Shows the chart.
pub(super) fn show(
    ui: &mut Ui,
    page: &UsagePage,
    sums: &UsageSums,
    height: f32,
    commands: &mut Commands,
) {
    let figure = page.bar_figure();
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let plot = Rect::from_min_max(
        pos2(area.left() + NUMBERS, area.top() + LINE + space::S),
        pos2(area.right(), area.bottom() - LINE),
    );
    let (bars, n_left_out) = shown_bars(sums, figure, plot.width());
    let title = area.with_max_y(area.top() + LINE);
    // A child of its own: a scope would move what follows the chart up to the end of the title.
    let mut title = ui.new_child(UiBuilder::new().max_rect(title));
    head(&mut title, sums, figure, n_left_out);
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    // Space for the figure above the largest bar.
    let top = if most > 0.0 { most * f64::from(1.0 + 14.0 / plot.height().max(14.0)) } else { 1.0 };
    axis(ui, plot, top, figure);
    let slot = plot.width() / bars.len().max(1) as f32;
    let response =
        ui.interact(plot.with_max_y(area.bottom()), ui.scope_id().with("bars"), Sense::click());
    let name = format!("Chart: {} by {}", title_of(figure), sums.by.name());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    let hovered = response.hover_pos().map(|pointer| ((pointer.x - plot.left()) / slot) as usize);
    let hovered = hovered.filter(|at| *at < bars.len());
    for (at, bar) in bars.iter().enumerate() {
        let left = plot.left() + slot * at as f32;
        let place = Rect::from_x_y_ranges(left..=left + slot, plot.y_range());
        let is_marked = bar.row.is_some_and(|(row, _)| page.highlighted == Some(row));
        draw(ui, bar, place, top, figure, is_marked || hovered == Some(at));
    }
    names(ui, &bars, plot, slot, sums.by.is_time());
    let Some((row, of)) = hovered.and_then(|at| bars[at].row) else {
        return;
    };
    if response.clicked() {
        commands.push(SessionsCommand::Usage(UsageCommand::ShowSessions(row)));
    }
    response.on_hover_ui_at_pointer(|ui| {
        table::hover(ui, of, "Click to list the sessions of this bar.");
    });
}

/// Returns the bars that fit, and the number of others. Bars with names are sorted by size, and the smallest are left out.
fn shown_bars(sums: &UsageSums, figure: BarFigure, width: f32) -> (Vec<Shown<'_>>, usize) {
    let bars = sums.bars.iter().map(|bar| {
        let row = bar.row.map(|row| (row, &sums.table.rows[row]));
        let (value, part) = row.map_or((0.0, 0.0), |(_, row)| match figure {
            BarFigure::Cost => (row.usd.0, row.miss_usd.0.clamp(0.0, row.usd.0.max(0.0))),
            BarFigure::Input => (row.input.as_f64(), row.cache_read.as_f64()),
        });
        Shown { key: &bar.key, row, value, part }
    });
    let mut bars: Vec<Shown<'_>> = bars.collect();
    // At most one bar per two points: the newest periods, or the largest of others.
    let n_most = if sums.by.is_time() {
        (width / 2.0) as usize
    } else {
        bars.sort_by(|a, b| b.value.total_cmp(&a.value));
        (width / MIN_NAMED) as usize
    };
    let n_left_out = bars.len().saturating_sub(n_most.max(1));
    if sums.by.is_time() {
        bars.drain(..n_left_out);
    } else {
        bars.truncate(n_most.max(1));
    }
    (bars, n_left_out)
}

fn title_of(figure: BarFigure) -> &'static str {
    match figure {
        BarFigure::Cost => "Cost",
        BarFigure::Input => "Input tokens",
    }
}

/// Returns the colors of a bar and of the part at its bottom.
fn colors(colors: &Palette, figure: BarFigure) -> [Color32; 2] {
    let accent = |share: f32| colors.background.lerp_to_gamma(colors.accent, share);
    match figure {
        BarFigure::Cost => [accent(MIX), colors.background.lerp_to_gamma(colors.warn, MIX)],
        BarFigure::Input => [accent(MIX), accent(CACHED_MIX)],
    }
}

/// Shows the title and what the colors mean.
fn head(ui: &mut Ui, sums: &UsageSums, figure: BarFigure, n_left_out: usize) {
    let [rest, part] = colors(palette(ui), figure);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        ui.label(small(ui, format!("{} by {}", title_of(figure), sums.by.name())));
        ui.add_space(space::M);
        let total = &sums.table.total;
        let parts: &[(Color32, &str)] = match figure {
            BarFigure::Cost if total.miss_cost().is_none() => &[],
            BarFigure::Input if total.cached_share().is_none() => &[],
            BarFigure::Cost => &[(part, "cache misses"), (rest, "everything else")],
            BarFigure::Input => &[(part, "read from the cache"), (rest, "everything else")],
        };
        for (color, name) in parts {
            swatch(ui, *color);
            ui.label(small(ui, *name));
            ui.add_space(space::S);
        }
        if n_left_out > 0 {
            let n = wording::grouped(n_left_out as u64);
            let which = if sums.by.is_time() { "earlier" } else { "smaller" };
            ui.add(Label::new(small(ui, format!("{n} {which} in the table only"))).truncate());
        }
    });
}

/// Draws the vertical axis.
fn axis(ui: &Ui, plot: Rect, top: f64, figure: BarFigure) {
    let (palette, font) = (palette(ui), TextStyle::Small.resolve(ui.style()));
    let n_lines = f64::from((plot.height() / LINE_DISTANCE).floor().max(1.0));
    let values = match figure {
        BarFigure::Cost => AxisValues::Any,
        BarFigure::Input => AxisValues::Whole,
    };
    for mark in round_values_between((0.0, top), top / n_lines, values) {
        let y = (plot.bottom() - (mark.value / top) as f32 * plot.height()).round() - 0.5;
        ui.painter().hline(plot.x_range(), y, palette.line());
        let number = match figure {
            _ if mark.value == 0.0 => "0".to_owned(),
            BarFigure::Cost => wording::usd(Usd(mark.value)),
            BarFigure::Input => wording::short(Tokens(mark.value as u64)),
        };
        let at = pos2(plot.left() - space::S, y);
        ui.painter().text(at, Align2::RIGHT_CENTER, number, font.clone(), palette.weak);
    }
}

/// Draws a bar, and its figure above it if there is space.
fn draw(ui: &Ui, bar: &Shown<'_>, place: Rect, top: f64, figure: BarFigure, is_marked: bool) {
    let palette = palette(ui);
    if is_marked {
        ui.painter().rect_filled(place, 0.0, palette.hover);
    }
    let Some((_, row)) = bar.row else {
        return;
    };
    let height = |value: f64| (value / top) as f32 * place.height();
    let width = (place.width() * BAR_SHARE).clamp(1.0, MAX_BAR);
    let rect = Rect::from_x_y_ranges(
        place.center().x - width / 2.0..=place.center().x + width / 2.0,
        // A bar of a small value is visible.
        place.bottom() - height(bar.value).max(1.0)..=place.bottom(),
    );
    let [color, marked_part] = colors(palette, figure);
    let radius = if width >= 8.0 { 2.0 } else { 0.0 };
    ui.painter().rect_filled(rect, radius, color);
    if bar.part > 0.0 {
        let bottom = rect.with_min_y(rect.bottom() - height(bar.part).min(rect.height()));
        ui.painter().rect_filled(bottom, 0.0, marked_part);
    }
    if place.width() >= MIN_LABELLED {
        let label = match figure {
            BarFigure::Cost => row.cost().map(wording::usd),
            BarFigure::Input => Some(wording::short(row.input)),
        };
        let at = pos2(place.center().x, rect.top() - 2.0);
        let font = TextStyle::Small.resolve(ui.style());
        let label = label.unwrap_or_else(|| text::NONE.to_owned());
        ui.painter().text(at, Align2::CENTER_BOTTOM, label, font, palette.text);
    }
}

/// Draws the names below the bars: all, or as many as fit.
fn names(ui: &Ui, bars: &[Shown<'_>], plot: Rect, slot: f32, is_period: bool) {
    let (color, font) = (palette(ui).weak, TextStyle::Small.resolve(ui.style()));
    let most = if is_period { f32::INFINITY } else { slot - space::S };
    let galley = |bar: &Shown<'_>| elided(ui, short_name(bar.key), &font, color, most);
    let widest = bars.iter().take(40).map(|bar| galley(bar).size().x).fold(0.0, f32::max);
    let every = if is_period { ((widest + space::L) / slot).ceil().max(1.0) as usize } else { 1 };
    for (at, bar) in bars.iter().enumerate().step_by(every) {
        let galley = galley(bar);
        let center = plot.left() + slot * (at as f32 + 0.5);
        let half = galley.size().x / 2.0;
        let left = (center - half).clamp(plot.left() - NUMBERS, plot.right() - 2.0 * half);
        ui.painter().galley(pos2(left, plot.bottom() + 4.0), galley, color);
        if every > 1 {
            let tick = plot.bottom()..=plot.bottom() + 3.0;
            ui.painter().vline(center.round() - 0.5, tick, palette(ui).line());
        }
    }
}

/// Returns the last part of a path, or the whole name.
fn short_name(key: &str) -> String {
    let key = text::key_text(key);
    let last = key.rsplit(['/', '\\']).find(|part| !part.is_empty());
    match last {
        Some(last) if key.starts_with(['/', '~']) || key.contains('\\') => last.to_owned(),
        _ => key,
    }
}

fn elided(ui: &Ui, name: String, font: &FontId, color: Color32, width: f32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(name, font.clone(), color);
    job.wrap.max_width = width;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    ui.painter().layout_job(job)
}
