//! The focused policy and its knobs, each with what it leads to.

use super::knob_list::{self, Lane};
use super::{PanelInput, preset_menu, provider_errors, restarts, small, weak};
use crate::app::command::Command;
use crate::app::knobs::{self, KnobKey};
use crate::app::preset_saving::PresetWish;
use crate::app::state::{LaneConfig, STRATEGIES};
use crate::app::theme::{palette, space};
use crate::app::widgets::{self, KnobSpec, Tone, knob_slider};
use crate::app::wording;
use crate::engine::{Knob, WindowSource};
use crate::presets::native::Native;
use crate::units::Tokens;
use egui::{Align, Button, ComboBox, Frame, Layout, Margin, Panel, ScrollArea, Ui};

/// Shows the knobs of the focused lane.
pub(super) fn show(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let margin = Margin {
        left: 0,
        right: 0,
        top: 8,
        bottom: 0,
    };
    Panel::bottom("policy_foot")
        .show_separator_line(false)
        .resizable(false)
        .frame(Frame::new().inner_margin(margin))
        .show(ui, |ui| {
            foot(ui, input, commands);
        });
    head(ui, input, commands);
    ui.add_space(space::XS);
    let focused = input
        .selection
        .lane
        .and_then(|lane| input.config.lanes.get(lane).map(|config| (lane, config)));
    if let Some((lane, config)) = focused {
        choice(ui, input, lane, &config.policy, commands);
        ownership(ui, lane, config, commands);
    } else {
        ui.label(weak(
            ui,
            "What was recorded has no knobs. Press 1 to 6 or click a lane to see that lane's.",
        ));
    }
    ui.add_space(space::S);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Keeps the scroll bar off the values.
        ui.set_max_width(ui.available_width() - 6.0);
        ui.spacing_mut().item_spacing.y = space::M;
        if let Some((lane, config)) = focused {
            let policy = input.policies.get(&config.policy);
            let values = knobs::values(&policy, input.config.lane_settings(lane));
            let shown = Lane {
                index: lane,
                policy: &policy,
                values: &values,
            };
            knob_list::show(ui, input, shown, commands);
            if policy.knobs.is_empty() {
                ui.label(weak(ui, &policy.help));
            }
        }
        window(ui, input, commands);
        restarts::show(ui, input, commands);
        provider_errors::show(ui, input, commands);
        others(ui, input, focused, commands);
    });
}

/// The panel's title, with the way back to all defaults.
fn head(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        widgets::section(ui, "Policy");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_changed = input.config.is_changed();
            let name = small(ui, "Reset all");
            let button = ui.add_enabled(is_changed, Button::new(name).frame_when_inactive(false));
            let help = "Every knob back to its preset's default, the window back to what is known";
            if button.on_hover_text(help).clicked() {
                commands.push(Command::ResetKnobs);
            }
        });
    });
}

/// Whether a lane follows the knobs of the others, and the way to the other.
fn ownership(ui: &mut Ui, lane: usize, config: &LaneConfig, commands: &mut Vec<Command>) {
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        for (is_own, name, help) in [
            (
                false,
                "shared knobs",
                "Every lane without knobs of its own moves with these",
            ),
            (
                true,
                "own knobs",
                "Only this lane moves; begins where the shared knobs stand",
            ),
        ] {
            let is_chosen = config.own.is_some() == is_own;
            let label = ui.selectable_label(is_chosen, small(ui, name));
            if label.on_hover_text(help).clicked() && !is_chosen {
                commands.push(Command::SetOwnKnobs(lane, is_own));
            }
        }
    });
}

/// Shared knobs that only other lanes have, so that every threshold is at hand whichever lane is looked at.
fn others(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    focused: Option<(usize, &LaneConfig)>,
    commands: &mut Vec<Command>,
) {
    let mut shown: Vec<KnobKey> = Vec::new();
    if let Some((_, config)) = focused {
        let policy = input.policies.get(&config.policy);
        shown.extend(policy.knobs.iter().map(|knob| KnobKey::of(&policy, knob)));
    }
    let focused = focused.map(|(lane, _)| lane);
    let lanes = input.config.lanes.iter().enumerate();
    for (idx, lane) in lanes.filter(|(idx, lane)| lane.own.is_none() && Some(*idx) != focused) {
        let policy = input.policies.get(&lane.policy);
        let values = knobs::values(&policy, input.config.lane_settings(idx));
        // What only that policy has is shown when it is looked at.
        let new =
            |knob: &&Knob| knob.role.is_some() && !shown.contains(&KnobKey::of(&policy, knob));
        let mine: Vec<&Knob> = policy.knobs.iter().filter(new).collect();
        if mine.is_empty() {
            continue;
        }
        knob_list::lane_head(ui, palette(ui).lane(idx), &policy.label);
        let lane = Lane {
            index: idx,
            policy: &policy,
            values: &values,
        };
        // A knob of the same name may stand above.
        ui.push_id(("others", idx), |ui| {
            for knob in mine {
                knob_list::show_knob(ui, input, lane, knob, commands);
                shown.push(KnobKey::of(&policy, knob));
            }
        });
    }
}

fn choice(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    lane: usize,
    chosen: &str,
    commands: &mut Vec<Command>,
) {
    let policy = input.policies.get(chosen);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        for name in STRATEGIES {
            let strategy = input.policies.get(name);
            if strategy.name == name
                && widgets::toggle(ui, &strategy.label, chosen == name, palette(ui).lane(lane))
                    .on_hover_text(&strategy.help)
                    .clicked()
            {
                commands.push(Command::SetLanePolicy(lane, name.to_owned()));
            }
        }
    });
    ui.add_space(space::XS);
    let combo = ComboBox::from_id_salt("preset")
        // As wide as the sliders below, which leave room for the scroll bar.
        .width(ui.available_width() - 6.0)
        .height(preset_menu::height(ui) + space::XL)
        .selected_text(format!("Preset  {}", policy.label));
    let response = combo.show_ui(ui, |ui| {
        if let Some(name) = preset_menu::list(ui, input, chosen) {
            commands.push(Command::SetLanePolicy(lane, name));
            ui.close();
        }
    });
    response
        .response
        .accessible_name("Preset")
        .on_hover_text(&policy.help);
}

/// The context window, as one more knob.
fn window(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    let known = input.document.loaded.case.windows.largest();
    let shown = input.config.window.unwrap_or(known);
    let windows = &input.runs.case.windows;
    let mut said = match windows.source {
        WindowSource::Assumed => {
            "assumed: the file does not name it and the model is unknown".to_owned()
        }
        source => wording::window_source(source).to_owned(),
    };
    if windows.varies() {
        said.push_str("; it changes within the session, this is the largest");
    }
    let tone = if windows.source == WindowSource::Assumed {
        Tone::Warn
    } else {
        Tone::Plain
    };
    let spec = KnobSpec {
        label: "context_window",
        value: shown.as_f64(),
        range: 2_000.0..=2_000_000.0_f64.max(known.as_f64()),
        step: 1_000.0,
        log: true,
        unit: "tok",
        help: "The model's hard limit, for all lanes.",
        hint: "",
        note: "",
        is_noted: false,
        default: known.as_f64(),
        consequence: Some(said),
        tone,
    };
    let response = knob_slider(ui, &spec);
    if response.reset {
        commands.push(Command::SetWindow(None));
    } else if let Some(value) = response.changed {
        commands.push(Command::SetWindow(Some(Tokens(value as u64))));
    }
}

fn foot(ui: &mut Ui, input: &PanelInput<'_>, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        if widgets::secondary_button(ui, "Copy as command", "")
            .on_hover_text("The command line that gives the same numbers")
            .clicked()
        {
            commands.push(Command::CopyAsCommand);
        }
        let lane = input
            .selection
            .lane
            .filter(|lane| *lane < input.runs.lanes.len());
        let system = lane.filter(|lane| Native::of(&input.runs.lanes[*lane].policy.name).is_some());
        if let Some(lane) = system
            && widgets::secondary_button(ui, "Copy config", "")
                .on_hover_text("This lane's settings in its system's own form, ready to paste")
                .clicked()
        {
            commands.push(Command::CopyConfig(lane));
        }
        let acts = lane.filter(|lane| !input.runs.lanes[*lane].policy.stages.is_empty());
        if let Some(lane) = acts
            && widgets::secondary_button(ui, "Save preset…", "")
                .on_hover_text("Keep this lane's settings under a name of your own, here and for the command line")
                .clicked()
        {
            commands.push(Command::Preset(PresetWish::Start(lane)));
        }
    });
    ui.add_space(space::XS);
    ui.label(small(ui, "A shared knob moves every lane that has it. Everything stays on this machine. Files are never changed."));
}
