//! The timeline's legend: kinds that occur, reported usage, and the focused lane's own count.

use super::chart::Chart;
use super::lanes::COUNT_DASH;
use crate::app::wording;
use crate::session::Kind;
use egui::{Align2, Color32, Rect, Sense, Shape, Stroke, TextStyle, Ui, pos2, vec2};

/// Maximum extension of the legend to the left of the plot.
const LEFT_OVERHANG: f32 = 48.0;
/// Minimum and maximum gap between entries.
const GAP: [f32; 2] = [8.0, 20.0];

/// An entry of the legend.
#[derive(Clone, Copy)]
enum Entry {
    Kind(Kind),
    /// Dots of reported usage.
    Reported,
    /// Own count of the focused lane, in its color.
    Count(Color32),
}

impl Entry {
    fn name<'a>(self, chart: &Chart<'a>) -> &'a str {
        match self {
            Self::Kind(Kind::System) => chart.session.lowest,
            Self::Kind(kind) => wording::kind(kind),
            Self::Reported => "reported",
            Self::Count(_) => "its own count",
        }
    }

    /// Returns the width of the mark before the name.
    fn mark_width(self) -> f32 {
        match self {
            Self::Kind(_) => 15.0,
            Self::Reported => 12.0,
            Self::Count(_) => 22.0,
        }
    }
}

/// Shows the entries that fit, and the number of hidden ones.
pub(super) fn show(ui: &Ui, chart: &Chart<'_>) {
    let row = chart.areas.legend;
    let entries = entries(chart);
    let widths: Vec<f32> = entries
        .iter()
        .map(|entry| entry.mark_width() + width(ui, entry.name(chart)))
        .collect();
    let needed = |n: usize| widths[..n].iter().sum::<f32>() + GAP[0] * n as f32;
    // A narrow legend starts left of the plot.
    let left = (row.right() - needed(entries.len())).clamp(row.left() - LEFT_OVERHANG, row.left());
    let available = row.right() - left;
    let more = width(ui, "+9");
    let n_shown = if needed(entries.len()) <= available {
        entries.len()
    } else {
        let fits = |n: &usize| needed(*n) + more <= available;
        (0..entries.len()).rev().find(fits).unwrap_or(0)
    };
    let rest = if n_shown < entries.len() { more } else { 0.0 };
    let spare = available - needed(n_shown) - rest;
    let gap = (GAP[0] + spare / n_shown.max(1) as f32).clamp(GAP[0], GAP[1]);
    let mut x = left;
    for (entry, width) in entries.iter().zip(&widths).take(n_shown) {
        let place = Rect::from_x_y_ranges(x..=x + width, row.y_range());
        show_entry(ui, chart, *entry, place);
        x += width + gap;
    }
    if n_shown < entries.len() {
        let names: Vec<&str> = entries[n_shown..].iter().map(|it| it.name(chart)).collect();
        let place = Rect::from_x_y_ranges(x..=x + more, row.y_range());
        text(ui, chart, place, &format!("+{}", names.len()));
        hover(ui, place, "more", &names.join(", "));
    }
}

fn entries(chart: &Chart<'_>) -> Vec<Entry> {
    let kinds = chart.session.kinds.iter().map(|kind| Entry::Kind(*kind));
    let has_reported = !chart.input.recorded_usage.is_empty();
    let counting = chart.input.counting();
    kinds
        .chain(has_reported.then_some(Entry::Reported))
        .chain(counting.map(|lane| Entry::Count(lane.color)))
        .collect()
}

fn show_entry(ui: &Ui, chart: &Chart<'_>, entry: Entry, place: Rect) {
    let (x, middle) = (place.left(), place.center().y);
    match entry {
        Entry::Kind(kind) => {
            let swatch = Rect::from_center_size(pos2(x + 4.5, middle), vec2(9.0, 9.0));
            ui.painter()
                .rect_filled(swatch, 2.0, chart.palette.kind(kind));
            if entry.name(chart) != wording::kind(kind) {
                hover(ui, place, "not recorded", wording::NOT_RECORDED_HELP);
            }
        }
        Entry::Reported => {
            let at = pos2(x + 4.5, middle);
            ui.painter().circle_filled(at, 2.0, chart.palette.recorded);
        }
        Entry::Count(color) => {
            let ends = [pos2(x, middle), pos2(x + 17.0, middle)];
            let [dash, space] = COUNT_DASH;
            let stroke = Stroke::new(1.25, color);
            ui.painter()
                .extend(Shape::dashed_line(&ends, stroke, dash, space));
        }
    }
    let place = place.with_min_x(x + entry.mark_width());
    text(ui, chart, place, entry.name(chart));
}

fn text(ui: &Ui, chart: &Chart<'_>, place: Rect, text: &str) {
    let font = TextStyle::Small.resolve(ui.style());
    let color = chart.palette.weak;
    ui.painter()
        .text(place.left_center(), Align2::LEFT_CENTER, text, font, color);
}

fn hover(ui: &Ui, place: Rect, name: &str, help: &str) {
    let entry = ui.interact(place, ui.scope_id().with(name), Sense::hover());
    entry.on_hover_text(help);
}

fn width(ui: &Ui, text: &str) -> f32 {
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter()
        .layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER)
        .size()
        .x
}
