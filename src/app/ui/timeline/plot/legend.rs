//! The timeline's legend: kinds that occur, reported usage, the focused lane's own count, and a compared session.
//!
//! A click on a kind shows only this kind in the stacked area. A second click shows all.

use crate::app::state::wording;
use crate::app::ui::timeline::plot::chart::Chart;
use crate::app::ui::timeline::plot::lanes::COUNT_DASH;
use crate::session::Kind;
use egui::{
    Align2, Color32, CursorIcon, Rect, Response, Role, Sense, Shape, Stroke, TextStyle, Ui,
    WidgetInfo, pos2, vec2,
};

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
    /// The curve of another session.
    Compared,
}

impl Entry {
    fn name<'a>(self, chart: &Chart<'a>) -> &'a str {
        match self {
            Self::Kind(Kind::System) => chart.session.lowest,
            Self::Kind(kind) => wording::kind(kind),
            Self::Reported => "reported",
            Self::Count(_) => "its own count",
            Self::Compared => chart.input.compared_session.map_or("", |other| other.name),
        }
    }

    /// Returns the width of the mark before the name.
    fn mark_width(self) -> f32 {
        match self {
            Self::Kind(_) => 15.0,
            Self::Reported => 12.0,
            Self::Count(_) | Self::Compared => 22.0,
        }
    }
}

/// Shows the entries that fit, and the number of hidden ones. Returns the kind that was clicked.
pub(crate) fn show(ui: &Ui, chart: &Chart<'_>) -> Option<Kind> {
    let row = chart.areas.legend;
    let entries = entries(chart);
    let widths: Vec<f32> =
        entries.iter().map(|entry| entry.mark_width() + width(ui, entry.name(chart))).collect();
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
    let (mut x, mut clicked) = (left, None);
    for (entry, width) in entries.iter().zip(&widths).take(n_shown) {
        let place = Rect::from_x_y_ranges(x..=x + width, row.y_range());
        clicked = show_entry(ui, chart, *entry, place).or(clicked);
        x += width + gap;
    }
    if n_shown < entries.len() {
        let names: Vec<&str> = entries[n_shown..].iter().map(|it| it.name(chart)).collect();
        let place = Rect::from_x_y_ranges(x..=x + more, row.y_range());
        text(ui, place, &format!("+{}", names.len()), chart.palette.weak);
        let more = ui.interact(place, ui.scope_id().with("more"), Sense::hover());
        more.on_hover_text(names.join(", "));
    }
    clicked
}

fn entries(chart: &Chart<'_>) -> Vec<Entry> {
    let kinds = chart.session.kinds.iter().map(|kind| Entry::Kind(*kind));
    let has_reported = !chart.input.recorded_usage.is_empty();
    let counting = chart.input.counting();
    // First, since entries at the end may not fit.
    let compared = chart.input.compared_session.map(|_| Entry::Compared);
    compared
        .into_iter()
        .chain(kinds)
        .chain(has_reported.then_some(Entry::Reported))
        .chain(counting.map(|lane| Entry::Count(lane.color)))
        .collect()
}

/// Shows an entry. Returns its kind if it was clicked.
fn show_entry(ui: &Ui, chart: &Chart<'_>, entry: Entry, place: Rect) -> Option<Kind> {
    let (x, middle) = (place.left(), place.center().y);
    let (mut clicked, mut color) = (None, chart.palette.weak);
    match entry {
        Entry::Kind(kind) => {
            let is_shown = chart.input.isolated.is_none_or(|only| only == kind);
            let button = button(ui, chart, kind, place);
            let strength = if is_shown { 1.0 } else { 0.4 };
            clicked = button.clicked().then_some(kind);
            let swatch = Rect::from_center_size(pos2(x + 4.5, middle), vec2(9.0, 9.0));
            let fill = chart.palette.kind(kind).gamma_multiply(strength);
            ui.painter().rect_filled(swatch, 2.0, fill);
            color =
                if button.hovered() { chart.palette.text } else { color.gamma_multiply(strength) };
        }
        Entry::Reported => {
            let at = pos2(x + 4.5, middle);
            ui.painter().circle_filled(at, 2.0, chart.palette.recorded);
        }
        Entry::Count(lane) => {
            let ends = [pos2(x, middle), pos2(x + 17.0, middle)];
            let [dash, space] = COUNT_DASH;
            let stroke = Stroke::new(1.25, lane);
            ui.painter().extend(Shape::dashed_line(&ends, stroke, dash, space));
        }
        Entry::Compared => {
            let session = chart.input.compared_session.map(|other| other.color);
            let stroke = Stroke::new(2.0, session.unwrap_or_default());
            ui.painter().hline(x..=x + 17.0, middle, stroke);
        }
    }
    let place = place.with_min_x(x + entry.mark_width());
    text(ui, place, entry.name(chart), color);
    clicked
}

fn text(ui: &Ui, place: Rect, text: &str, color: Color32) {
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter().text(place.left_center(), Align2::LEFT_CENTER, text, font, color);
}

/// Adds the button of a kind.
fn button(ui: &Ui, chart: &Chart<'_>, kind: Kind, place: Rect) -> Response {
    let name = Entry::Kind(kind).name(chart);
    let id = ui.scope_id().with(("legend", kind.index()));
    let button = ui.interact(place, id, Sense::CLICK);
    let is_only = chart.input.isolated == Some(kind);
    button.widget_info(|| {
        let label = format!("Show only: {name}");
        WidgetInfo::selected(Role::Button, ui.is_enabled(), is_only, label)
    });
    let mut help = if is_only {
        "Show all kinds".to_owned()
    } else {
        format!("Show only the kind “{}”", wording::kind(kind))
    };
    if name != wording::kind(kind) {
        help = format!("{}\n{help}", wording::NOT_RECORDED_HELP);
    }
    let button = button.on_hover_cursor(CursorIcon::PointingHand);
    button.on_hover_text(help)
}

fn width(ui: &Ui, text: &str) -> f32 {
    let font = TextStyle::Small.resolve(ui.style());
    ui.painter().layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER).size().x
}
