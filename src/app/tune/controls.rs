//! The controls of a sweep: the lanes and knobs to vary, the number of settings, and the weight of cost against risk.

use super::hindsight::hindsight;
use super::input::TuneInput;
use super::plot::peak_color;
use super::state::{POINTS, TuneView};
use crate::analysis::tune::RiskAxis;
use crate::app::command::Commands;
use crate::app::plots::scatter::marker;
use crate::app::theme::{palette, space};
use crate::app::view::ViewCommand;
use crate::app::widgets::text::{small, weak};
use crate::app::{widgets, wording};
use crate::units::Share;
use egui::{
    Align, CollapsingHeader, ComboBox, Frame, Layout, Margin, Rect, ScrollArea, Sense, Slider,
    Stroke, Ui, pos2, vec2,
};

/// Number of segments of the color legend.
const STEPS: usize = 28;

/// Shows the controls.
pub(super) fn show(ui: &mut Ui, input: &TuneInput<'_>, commands: &mut Commands) {
    let mut view = input.view.clone();
    ScrollArea::vertical()
        .id_salt("tune controls")
        .auto_shrink(false)
        .show(ui, |ui| {
            Frame::new()
                .inner_margin(Margin::symmetric(14, 8))
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = space::XS;
                    ui.spacing_mut().interact_size.y = 20.0;
                    preference(ui, &mut view);
                    risk(ui, &mut view);
                    ui.add_space(space::S);
                    widgets::section(ui, "Sweep");
                    lanes(ui, input, &mut view);
                    n_settings(ui, &mut view);
                    ui.add_space(space::S);
                    widgets::section(ui, "Hindsight");
                    ui.checkbox(&mut view.shows_hindsight, "Show on the timeline");
                    // Before a sweep, the plot area shows this instead.
                    if input.sweep.is_some() {
                        ui.scope(|ui| hindsight(ui, input));
                    }
                    saved(ui, input);
                });
        });
    if view != *input.view {
        commands.push(ViewCommand::Tune(Box::new(view)));
    }
}

/// Shows the preference slider, from cheapest to lowest risk, and the color legend of the plot.
fn preference(ui: &mut Ui, view: &mut TuneView) {
    widgets::section(ui, "Preference");
    ui.horizontal(|ui| {
        ui.label(small(ui, "cheap"));
        // Laid out from the right: a slider wider than the remaining width would widen the panel every frame.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(small(ui, "low risk"));
            ui.spacing_mut().slider_width = ui.available_width().max(24.0);
            let slider = Slider::new(&mut view.weight, 0.0..=1.0).show_value(false);
            ui.add(slider)
                .on_hover_text("Weight of risk against cost in the recommendation")
                .accessible_name("Preference");
        });
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        ui.label(small(ui, "peak 60"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(small(ui, "100 % of usable"));
            let size = vec2(ui.available_width().clamp(8.0, 84.0), 8.0);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            for nth in 0..STEPS {
                let share = Share(0.6 + 0.4 * nth as f64 / STEPS as f64);
                let left = rect.left() + rect.width() * nth as f32 / STEPS as f32;
                let part = Rect::from_min_max(
                    pos2(left, rect.top()),
                    pos2(left + rect.width() / STEPS as f32 + 0.5, rect.bottom()),
                );
                ui.painter()
                    .rect_filled(part, 0.0, peak_color(palette(ui), share));
            }
        });
    });
}

/// Shows the choice of the risk.
fn risk(ui: &mut Ui, view: &mut TuneView) {
    ui.horizontal(|ui| {
        ui.label(small(ui, "risk"));
        let combo = ComboBox::from_id_salt("risk").width(ui.available_width());
        let combo = combo.selected_text(view.risk.label()).truncate();
        let menu = combo.show_ui(ui, |ui| {
            for risk in RiskAxis::all() {
                ui.selectable_value(&mut view.risk, risk, risk.label());
            }
        });
        let help = "References to removed content, or facts that the last call lacks. A fact that only a predicted summary may hold counts as lost";
        menu.response.on_hover_text(help).accessible_name("Risk");
    });
}

fn lanes(ui: &mut Ui, input: &TuneInput<'_>, view: &mut TuneView) {
    for (lane, run) in input.runs.lanes.iter().enumerate() {
        if run.policy.stages.is_empty() {
            continue;
        }
        let label = &input.runs.labels[lane];
        let mut is_tried = !view.skipped.contains(label);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let (rect, _) = ui.allocate_exact_size(vec2(11.0, 18.0), Sense::hover());
            let color = palette(ui).lane(lane);
            let edge = Stroke::new(1.0, color);
            ui.painter()
                .add(marker(rect.center(), 4.0, lane, color, edge));
            if ui.checkbox(&mut is_tried, label).changed() {
                if is_tried {
                    view.skipped.remove(label);
                } else {
                    view.skipped.insert(label.clone());
                }
            }
        });
        if is_tried {
            knobs(ui, input, lane, view);
        }
    }
}

/// Shows the knobs of a lane, each with a checkbox for whether it varies.
fn knobs(ui: &mut Ui, input: &TuneInput<'_>, lane: usize, view: &mut TuneView) {
    let policy = &input.runs.lanes[lane].policy;
    let varying = view.varying(policy);
    let n = varying.iter().filter(|varies| **varies).count();
    let title = small(ui, wording::count(n, "varying setting"));
    ui.indent(("tune knobs", lane), |ui| {
        CollapsingHeader::new(title)
            .id_salt(("tune knobs", lane, &policy.name))
            .show_unindented(ui, |ui| {
                for (knob, mut varies) in policy.knobs.iter().zip(varying) {
                    let label = small(ui, &knob.name);
                    let check = ui.checkbox(&mut varies, label);
                    let help = if knob.is_offered {
                        knob.help.clone()
                    } else {
                        format!("{} {} offers no such setting.", knob.help, policy.label)
                    };
                    if check.on_hover_text(help).changed() {
                        let key = (policy.name.clone(), knob.name.clone());
                        view.knobs.insert(key, varies);
                    }
                }
            });
    });
}

fn n_settings(ui: &mut Ui, view: &mut TuneView) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding = vec2(6.0, 1.0);
        for n in POINTS {
            let name = small(ui, wording::grouped(n as u64));
            if ui.selectable_label(view.points == n, name).clicked() {
                view.points = n;
            }
        }
        ui.label(small(ui, "settings"));
    });
}

/// Shows the savings of each lane.
fn saved(ui: &mut Ui, input: &TuneInput<'_>) {
    let Some(losses) = input.losses else {
        return;
    };
    ui.label(small(ui, "Savings relative to the hindsight optimum:"));
    for (lane, loss) in losses.lanes.iter().enumerate() {
        let (Some(saved), Some(label)) = (loss.saved, input.runs.labels.get(lane)) else {
            continue;
        };
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            widgets::swatch(ui, palette(ui).lane(lane));
            ui.label(label);
            ui.label(weak(ui, wording::percent(saved)));
        });
    }
}
