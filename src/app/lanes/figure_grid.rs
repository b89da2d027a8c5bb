//! Layout and drawing of the figures of a lane's head, in the same order at every width.

use super::figures::{Difference, Figure, N, N_DIFFERENT, all_figures};
use super::input::LanesInput;
use crate::app::command::Commands;
use crate::app::selection::SelectCommand;
use crate::app::shell::command::ShellCommand;
use crate::app::theme::{self, palette};
use crate::app::widgets;
use crate::app::widgets::text::small;
use egui::{Response, Sense, TextStyle, TextWrapMode, Ui, WidgetText, vec2};

/// Possible numbers of figures per row.
const PER_ROW: [usize; 2] = [N, N_DIFFERENT];
/// Height of a row, in points.
const ROW: f32 = 28.0;
/// Height of the differences below the figures of a row, in points.
pub(super) const DIFFERENCE: f32 = 14.0;
/// Space between two rows, in points.
pub(super) const GAP: f32 = 5.0;
/// Range of the space between two figures, in points.
const SPACE: egui::Rangef = egui::Rangef {
    min: 4.0,
    max: 20.0,
};
/// Minimum space between figures, in points; less only with the fewest per row.
const ROOMY: f32 = 10.0;
/// Space between figures in the narrowest lanes, in points.
const CLOSE: f32 = 6.0;

/// The layout of the figures, identical in every head.
pub(super) struct Grid {
    columns: Vec<f32>,
    space: f32,
}

impl Grid {
    /// Computes the layout for figures of these widths in this width.
    pub(super) fn new(widths: &[f32; N], room: f32) -> Self {
        let columns = |per_row: usize| columns(widths, per_row);
        let fits = |columns: &Vec<f32>| {
            columns.iter().sum::<f32>() + ROOMY * (columns.len() - 1) as f32 <= room
        };
        let mut all = PER_ROW.map(columns).into_iter();
        let columns = all.clone().find(fits).or_else(|| all.next_back());
        let columns = columns.unwrap_or_default();
        let free = room - columns.iter().sum::<f32>();
        let space = SPACE.clamp(free / (columns.len() - 1) as f32);
        Self { columns, space }
    }

    /// Returns the height of the rows after the first, in points.
    pub(super) fn more(&self) -> f32 {
        let rows = 1..N.div_ceil(self.columns.len());
        rows.map(|row| self.row(row) + GAP).sum()
    }

    /// Returns the height of a row, in points.
    fn row(&self, nth: usize) -> f32 {
        if nth * self.columns.len() < N_DIFFERENT {
            ROW + DIFFERENCE
        } else {
            ROW
        }
    }
}

/// Returns the width that figures of these widths need with the fewest per row, in points.
pub(super) fn least_width(widths: &[f32; N]) -> f32 {
    let columns = columns(widths, N_DIFFERENT);
    columns.iter().sum::<f32>() + CLOSE * (columns.len() - 1) as f32
}

/// Returns the largest width of each figure in all lanes.
pub(super) fn widths(ui: &Ui, input: &LanesInput<'_>) -> [f32; N] {
    let mut widths = [0.0_f32; N];
    for lane in input.columns() {
        for (width, figure) in widths.iter_mut().zip(all_figures(input, lane)) {
            *width = width.max(figure.width(ui));
        }
    }
    widths
}

/// Returns the width of each column with this number of figures per row.
fn columns(widths: &[f32; N], per_row: usize) -> Vec<f32> {
    let widest = |column: usize| {
        let column = widths.iter().skip(column).step_by(per_row);
        column.copied().fold(0.0, f32::max)
    };
    (0..per_row).map(widest).collect()
}

impl Figure {
    fn show(&self, ui: &mut Ui) -> Response {
        let shown = ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            widgets::figure(ui, self.label, &self.value, self.tone);
            if let Some(Difference { text, note, tone }) = &self.difference {
                let color = tone.color(palette(ui));
                let shown = ui.label(small(ui, text).color(color)).rect;
                // Painted, so that it does not widen the column.
                let note = WidgetText::from(small(ui, *note).color(color));
                let wrap = Some(TextWrapMode::Extend);
                let note = note.into_galley(ui, wrap, f32::INFINITY, TextStyle::Small);
                ui.painter().galley(shown.right_top(), note, color);
            }
        });
        shown.response
    }

    fn width(&self, ui: &Ui) -> f32 {
        let width = |text: &str, style: TextStyle| {
            let (font, color) = (style.resolve(ui.style()), palette(ui).text);
            let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
            galley.size().x
        };
        // Reserves the final width so that other figures do not move when the value arrives.
        let value = if self.value == "…" && self.label == "cost" {
            "≈$0.00"
        } else {
            &self.value
        };
        let difference = self.difference.as_ref();
        width(self.label, TextStyle::Small)
            .max(width(value, theme::strong()))
            .max(difference.map_or(0.0, |by| width(&by.text, TextStyle::Small)))
    }
}

/// Shows the figures of a lane with their differences from the recorded one, hover texts and menus.
pub(super) fn show(
    ui: &mut Ui,
    input: &LanesInput<'_>,
    lane: Option<usize>,
    grid: &Grid,
    commands: &mut Commands,
) {
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    ui.spacing_mut().item_spacing.y = GAP;
    let all = all_figures(input, lane);
    for (nth, row) in all.chunks(grid.columns.len()).enumerate() {
        let height = grid.row(nth);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = grid.space;
            for (figure, width) in row.iter().zip(&grid.columns) {
                let shown = ui.allocate_ui(vec2(*width, height), |ui| {
                    ui.set_min_size(vec2(*width, height));
                    figure.show(ui)
                });
                let response = shown.inner.interact(Sense::CLICK);
                if response.clicked() {
                    commands.push(SelectCommand::Lane(lane));
                }
                response.context_menu(|ui| menu(ui, input, lane, figure, &all, commands));
                response.on_hover_ui(|ui| {
                    ui.label(format!("{}: {}", figure.name, (figure.hint)(input, lane)));
                });
            }
        });
    }
}

/// Shows the menu that copies a figure or all of the lane.
fn menu(
    ui: &mut Ui,
    input: &LanesInput<'_>,
    lane: Option<usize>,
    figure: &Figure,
    all: &[Figure],
    commands: &mut Commands,
) {
    let label = input.runs.label(lane);
    if ui.button(format!("Copy {}", figure.name)).clicked() {
        commands.push(ShellCommand::Copy("the figure", figure.value.clone()));
        ui.close();
    }
    if ui.button("Copy all figures of this lane").clicked() {
        let lines = all.iter().map(Figure::line);
        let text = [label.to_owned()].into_iter().chain(lines);
        let text = text.collect::<Vec<_>>().join("\n");
        commands.push(ShellCommand::Copy("the figures", text));
        ui.close();
    }
}
