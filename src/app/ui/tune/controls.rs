//! The controls of a sweep: the lanes and knobs to vary, and the number of settings.

use crate::app::state::command::Commands;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::tune::state::{POINTS, TuneView};
use crate::app::state::wording;
use crate::app::ui::plots::scatter::marker;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::small;
use egui::{CollapsingHeader, Frame, Margin, ScrollArea, Sense, Stroke, Ui, vec2};

/// Shows the controls.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let mut view = input.view.tune().clone();
    ScrollArea::vertical().id_salt("tune controls").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(14, 8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            ui.spacing_mut().interact_size.y = 20.0;
            widgets::section(ui, "Sweep");
            lanes(ui, input, &mut view);
            n_settings(ui, &mut view);
        });
    });
    if view != *input.view.tune() {
        commands.push(ViewCommand::new(view));
    }
}

fn lanes(ui: &mut Ui, input: &OpenSession<'_>, view: &mut TuneView) {
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
            ui.painter().add(marker(rect.center(), 4.0, lane, color, edge));
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
fn knobs(ui: &mut Ui, input: &OpenSession<'_>, lane: usize, view: &mut TuneView) {
    let policy = &input.runs.lanes[lane].policy;
    let varying = view.varying(policy);
    let n = varying.iter().filter(|varies| **varies).count();
    let title = small(ui, wording::count(n, "varying setting"));
    ui.indent(("tune knobs", lane), |ui| {
        CollapsingHeader::new(title).id_salt(("tune knobs", lane, &policy.name)).show_unindented(
            ui,
            |ui| {
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
            },
        );
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
