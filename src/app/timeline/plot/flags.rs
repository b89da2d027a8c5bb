//! Vertical marks at calls: recorded compactions, restarts and provider errors, cursors.

use super::layout::place_labels;
use super::scene::Scene;
use egui::{Color32, Rect, Shape, Stroke, TextStyle, Ui, pos2, vec2};

/// Draws recorded compactions: a flag above the plot, a dotted line, and as many labels as fit.
pub(super) fn flags(ui: &Ui, scene: &Scene<'_>) {
    let (painter, palette) = (ui.painter(), scene.palette);
    let font = TextStyle::Small.resolve(ui.style());
    let shown: Vec<_> = scene
        .input
        .recorded_compactions
        .iter()
        .filter(|(step, _)| scene.shows(scene.steps.x(*step)))
        .map(|(step, label)| {
            (
                scene.x(*step),
                painter.layout_no_wrap(label.clone(), font.clone(), palette.weak),
            )
        })
        .collect();
    let places: Vec<_> = shown
        .iter()
        .map(|(x, galley)| (*x, galley.size().x))
        .collect();
    let starts = place_labels(
        &places,
        scene.areas.legend.left() - 40.0,
        scene.areas.handles.right() - 8.0,
    );
    let row = scene.areas.flags;
    let mut before = f32::NEG_INFINITY;
    for ((x, galley), start) in shown.into_iter().zip(starts) {
        if let Some(start) = start {
            painter.galley(
                pos2(start, row.center().y - galley.size().y / 2.0),
                galley,
                palette.weak,
            );
        }
        if x < before + 3.0 {
            continue;
        }
        let tip = pos2(painter.round_to_pixel_center(x), row.center().y + 4.0);
        let corners = vec![tip, tip + vec2(-4.5, -8.0), tip + vec2(4.5, -8.0)];
        painter.add(Shape::convex_polygon(corners, palette.text, Stroke::NONE));
        // In a dense group, only the first flag has a line, so that the plot stays readable.
        let bottom = if x < before + 28.0 {
            row.bottom() + 4.0
        } else {
            scene.areas.plot.bottom()
        };
        let ends = [tip + vec2(0.0, 4.0), pos2(tip.x, bottom)];
        painter.extend(Shape::dashed_line(
            &ends,
            Stroke::new(1.0, palette.weak),
            2.0,
            3.0,
        ));
        before = x;
    }
}

/// Draws restarts and provider errors: a thin line through the plot, with a label at the bottom if it fits.
pub(super) fn placed(ui: &Ui, scene: &Scene<'_>) {
    let (painter, palette, plot) = (ui.painter(), scene.palette, scene.areas.plot);
    let font = TextStyle::Small.resolve(ui.style());
    let mut free = f32::NEG_INFINITY;
    let restarts = scene.input.restarts.iter().map(|step| (*step, "restart"));
    let errors = scene.input.errors.iter().map(|error| (error.step, "error"));
    let mut marks: Vec<(usize, &str)> = restarts.chain(errors).collect();
    marks.sort_unstable();
    marks.retain(|(step, _)| scene.shows(scene.steps.x(*step)));
    for (step, name) in marks {
        let x = painter.round_to_pixel_center(scene.x(step));
        let ends = [pos2(x, plot.top()), pos2(x, plot.bottom())];
        painter.extend(Shape::dashed_line(
            &ends,
            Stroke::new(1.0, palette.text),
            6.0,
            4.0,
        ));
        if x < free {
            continue;
        }
        let name = painter.layout_no_wrap(name.to_owned(), font.clone(), palette.text);
        let size = name.size() + vec2(10.0, 2.0);
        free = x + size.x + 4.0;
        let left = (x + 3.0).min(plot.right() - size.x);
        let tag = Rect::from_min_size(pos2(left, plot.bottom() - size.y - 3.0), size);
        painter.rect_filled(tag, 3.0, palette.background.gamma_multiply(0.85));
        painter.galley(tag.min + vec2(5.0, 1.0), name, palette.text);
    }
}

/// Draws the selected call as a line, and the hovered one as a fainter line.
pub(super) fn cursors(ui: &Ui, scene: &Scene<'_>, hovered: Option<usize>) {
    let painter = ui.painter();
    let span = scene.areas.flags.bottom() - 4.0..=scene.areas.plot.bottom();
    let cursor = |step: usize, color: Color32| {
        if !scene.shows(scene.steps.x(step)) {
            return;
        }
        let x = scene.x(step);
        painter.vline(
            painter.round_to_pixel_center(x),
            span.clone(),
            Stroke::new(1.0, color),
        );
        for lane in scene.input.lanes.iter().filter(|lane| !lane.dim) {
            if let Some(sample) = lane.samples.get(step) {
                let at = pos2(x, scene.y(sample.tokens.as_f64()));
                painter.circle(
                    at,
                    3.0,
                    lane.color,
                    Stroke::new(1.0, scene.palette.background),
                );
            }
        }
    };
    if let Some(step) = hovered {
        cursor(step, scene.palette.text.gamma_multiply(0.4));
    }
    if let Some(step) = scene.input.selected {
        cursor(step, scene.palette.accent);
    }
}
