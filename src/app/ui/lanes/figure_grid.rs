//! Layout and drawing of the figures of a lane's head, in the same order at every width.

use crate::app::state::command::Commands;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::ui::lanes::figure::{Difference, Figure};
use crate::app::ui::lanes::figures::all_figures;
use crate::app::ui::lanes::hints;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::small;
use crate::app::ui::{theme, widgets};
use egui::{Response, Sense, TextStyle, TextWrapMode, Ui, WidgetText, vec2};

/// Height of the figures with the differences below them, in points.
pub(crate) const HEIGHT: f32 = 42.0;
/// Range of the space between two figures, in points.
const SPACE: egui::Rangef = egui::Rangef { min: 8.0, max: 20.0 };
/// Number of figures that every head shows, before alarming ones: peak, which is red if a call overflows, and cost.
const LEAST: usize = 2;

/// The figures that fit in one row of a head, identical in every head.
pub(crate) struct Grid {
    /// Index of each shown figure in all figures, and the width of its column in points.
    columns: Vec<(usize, f32)>,
    space: f32,
}

/// The figures of all lanes, most important first: index in all figures, and the largest width in points.
pub(crate) struct RankedFigures(Vec<(usize, f32)>);

impl RankedFigures {
    /// Measures the figures of all lanes. A figure that is alarming in any lane comes before those that are not.
    pub(crate) fn new(ui: &Ui, input: &OpenSession<'_>) -> Self {
        let mut figures: Vec<(bool, f32)> = Vec::new();
        for lane in input.columns() {
            let all = all_figures(input, lane);
            figures.resize(all.len(), (false, 0.0));
            for ((is_alarming, width), figure) in figures.iter_mut().zip(all) {
                *is_alarming |= figure.tone == Tone::Bad;
                *width = width.max(figure.width(ui));
            }
        }
        let mut ranked: Vec<_> = figures.into_iter().enumerate().collect();
        ranked.sort_by_key(|(nth, (is_alarming, _))| *nth >= LEAST && !is_alarming);
        Self(ranked.into_iter().map(|(nth, (_, width))| (nth, width)).collect())
    }

    /// Returns the width of the figures that every head shows, in points.
    pub(crate) fn least_width(&self) -> f32 {
        let widths = self.0.iter().take(LEAST).map(|(_, width)| width + SPACE.min);
        widths.sum::<f32>() - SPACE.min
    }

    /// Returns the figures that fit in this width, in their usual order.
    pub(crate) fn grid(&self, room: f32) -> Grid {
        let mut used = 0.0;
        let n_fitting = self.0.iter().take_while(|(_, width)| {
            used += width + SPACE.min;
            used - SPACE.min <= room
        });
        let n_shown = n_fitting.count().max(LEAST).min(self.0.len());
        let mut columns = self.0[..n_shown].to_vec();
        columns.sort_by_key(|(nth, _)| *nth);
        let free = room - columns.iter().map(|(_, width)| width).sum::<f32>();
        let gaps = columns.len().saturating_sub(1).max(1);
        let space = SPACE.clamp(free / gaps as f32);
        Grid { columns, space }
    }
}

impl Figure {
    fn show(&self, ui: &mut Ui) -> Response {
        let shown = ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            widgets::figure(ui, self.label, &self.value, self.tone);
            if let Some(Difference { text, note, tone, .. }) = &self.difference {
                let color = palette(ui).tone(*tone);
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
        let value =
            if self.value == "…" && self.label == "cost" { "≈$0.00" } else { &self.value };
        let difference = self.difference.as_ref();
        width(self.label, TextStyle::Small)
            .max(width(value, theme::strong()))
            .max(difference.map_or(0.0, |by| width(&by.text, TextStyle::Small)))
    }
}

/// Shows the figures of a lane with their differences from the recorded one, hover texts and menus.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    grid: &Grid,
    commands: &mut Commands,
) {
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    let all = all_figures(input, lane);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = grid.space;
        for (nth, width) in &grid.columns {
            let figure = &all[*nth];
            let shown = ui.allocate_ui(vec2(*width, HEIGHT), |ui| {
                ui.set_min_size(vec2(*width, HEIGHT));
                figure.show(ui)
            });
            let response = shown.inner.interact(Sense::CLICK);
            if response.clicked() {
                commands.push(SelectCommand::Lane(lane));
            }
            response.context_menu(|ui| menu(ui, input, lane, Some(figure), commands));
            response.on_hover_ui(|ui| {
                ui.label(format!("{}: {}", figure.label, (figure.hint)(input, lane)));
                if let Some(by) = figure.difference.as_ref().filter(|by| by.is_within_error) {
                    ui.label(hints::within_error(input, &by.text));
                }
            });
        }
    });
}

/// Shows the menu that copies a figure or all of the lane.
pub(crate) fn menu(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    figure: Option<&Figure>,
    commands: &mut Commands,
) {
    if let Some(figure) = figure
        && ui.button(format!("Copy {}", figure.label)).clicked()
    {
        commands.push(ShellCommand::Copy("the figure", figure.value.clone()));
        ui.close();
    }
    if ui.button("Copy all figures of this lane").clicked() {
        let label = input.runs.label(lane).to_owned();
        let text = format!("{label}\n{}", lines(input, lane).join("\n"));
        commands.push(ShellCommand::Copy("the figures", text));
        ui.close();
    }
}

/// Returns all figures of a lane, a line each: `peak: 118k (−42k)`.
pub(crate) fn lines(input: &OpenSession<'_>, lane: Option<usize>) -> Vec<String> {
    let all = all_figures(input, lane);
    all.iter().map(Figure::line).collect()
}
