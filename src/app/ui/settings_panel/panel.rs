//! The settings panel of the focused lane: its strategy, its settings and the effect of each.

use crate::app::state::command::Commands;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::model::config::{LaneConfig, numbered};
use crate::app::state::model::knobs;
use crate::app::state::model::knobs::KnobKey;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::settings_panel::preset_saving::PresetCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::parts::preset_menu;
use crate::app::ui::settings_panel::knob_effect::KnobLane;
use crate::app::ui::settings_panel::{knob_list, provider_errors, restarts};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::widgets::{KnobSpec, below_notices, knob_menu, knob_slider};
use crate::app::ui::{theme, widgets};
use crate::engine::{Knob, WindowSource};
use crate::presets::forms::Form;
use crate::units::Tokens;
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, Button, Frame, Layout, Margin, Panel, Role, ScrollArea, TextStyle, Ui, WidgetInfo,
};

/// Height in points below which the choice of the lane scrolls with the settings and the note at the bottom is hidden.
const LOW: f32 = 400.0;

/// Shows the knobs of the focused lane.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    // In a low panel everything scrolls, so that the settings keep some height.
    let is_low = ui.available_height() < LOW;
    let margin = Margin { left: 0, right: 0, top: 8, bottom: 0 };
    Panel::bottom("policy_footer")
        .show_separator_line(false)
        .resizable(false)
        .frame(Frame::new().inner_margin(margin))
        .show(ui, |ui| {
            footer(ui, input, is_low, commands);
            below_notices::keep_clear(ui, ui.min_rect());
        });
    head(ui, input, commands);
    ui.add_space(space::XS);
    let focused = input
        .selection
        .lane
        .and_then(|lane| input.config.lanes.get(lane).map(|config| (lane, config)));
    if !is_low {
        choice(ui, input, focused, commands);
    }
    ui.add_space(space::S);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Keeps the scroll bar clear of the values.
        ui.set_max_width(ui.available_width() - 6.0);
        if is_low {
            choice(ui, input, focused, commands);
        }
        ui.spacing_mut().item_spacing.y = space::M;
        if let Some((lane, config)) = focused {
            let policy = input.policies.get(&config.policy);
            let values = knobs::values(&policy, input.config.lane_settings(lane));
            let shown = KnobLane { index: lane, policy: &policy, values: &values };
            strategy(ui, input, shown, commands);
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

/// Shows the choice of the lane and whether it shares its settings.
fn choice(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    focused: Option<(usize, &LaneConfig)>,
    commands: &mut Commands,
) {
    chips(ui, input, commands);
    if let Some((lane, config)) = focused {
        ownership(ui, lane, config, commands);
    } else {
        ui.add_space(space::XS);
        ui.label(weak(ui, "The recorded lane has no settings. Choose a lane, or press 1 to 6."));
    }
}

/// Shows the lane whose settings are edited, with a button that resets all of them.
fn head(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        let lane = input.selection.lane;
        let labels = labels(input);
        let label = lane.and_then(|lane| labels.get(lane));
        let label = label.map_or("Recorded", String::as_str);
        let palette = palette(ui);
        let font = |style: TextStyle| style.resolve(ui.style());
        let mut title = LayoutJob::default();
        for (text, font, color) in [
            ("Editing: ", font(TextStyle::Body), palette.weak),
            ("● ", font(TextStyle::Body), palette.lane_or_recorded(lane)),
            (label, font(theme::strong()), palette.text),
        ] {
            title.append(text, 0.0, TextFormat::simple(font, color));
        }
        let title = ui.label(title);
        title.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Editing: {label}")));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let is_changed = input.config.has_changed_settings();
            let name = small(ui, "Reset all");
            let button = ui.add_enabled(is_changed, Button::new(name).frame_when_inactive(false));
            let help = "Reset every setting to its preset's default and the context window to the detected one";
            if button.on_hover_text(help).clicked() {
                commands.push(SettingsCommand::Reset);
            }
        });
    });
}

/// Shows whether a lane shares settings with other lanes, and a switch for it.
fn ownership(ui: &mut Ui, lane: usize, config: &LaneConfig, commands: &mut Commands) {
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
        ui.spacing_mut().item_spacing.x = 2.0;
        for (is_own, name, help) in [
            (false, "shared settings", "Changes apply to every lane without settings of its own"),
            (
                true,
                "own settings",
                "Changes apply to this lane only; starts with the shared values",
            ),
        ] {
            let is_chosen = config.own.is_some() == is_own;
            let label = ui.selectable_label(is_chosen, small(ui, name));
            if label.on_hover_text(help).clicked() && !is_chosen {
                commands.push(SettingsCommand::SetOwn { lane, is_own });
            }
        }
    });
}

/// Shows shared knobs that only other lanes have, so that every threshold can be changed from any lane.
fn others(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    focused: Option<(usize, &LaneConfig)>,
    commands: &mut Commands,
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
        // A policy's own settings are shown only when its lane is focused.
        let new =
            |knob: &&Knob| knob.role.is_some() && !shown.contains(&KnobKey::of(&policy, knob));
        let added: Vec<&Knob> = policy.knobs.iter().filter(new).collect();
        if added.is_empty() {
            continue;
        }
        knob_list::lane_head(ui, palette(ui).lane(idx), &policy.label);
        let lane = KnobLane { index: idx, policy: &policy, values: &values };
        // A knob with the same name may be shown above.
        ui.push_id(("others", idx), |ui| {
            for knob in added {
                knob_list::show_knob(ui, input, lane, knob, commands);
                shown.push(KnobKey::of(&policy, knob));
            }
        });
    }
}

/// Returns the labels of the configured lanes.
fn labels(input: &OpenSession<'_>) -> Vec<String> {
    let lanes = input.config.lanes.iter();
    let policies: Vec<_> = lanes.map(|l| input.policies.get(&l.policy)).collect();
    numbered(policies.iter().map(|policy| policy.label.as_str()))
}

/// Shows a chip for each lane that selects it.
fn chips(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(space::XS, space::XS);
        // Three generic names fit on one line.
        ui.spacing_mut().button_padding.x = 5.0;
        for (lane, label) in labels(input).iter().enumerate() {
            let is_shown = input.selection.lane == Some(lane);
            let help = format!("Show the settings of lane {}", lane + 1);
            if widgets::lane_chip(ui, label, is_shown, palette(ui).lane(lane))
                .on_hover_text(help)
                .clicked()
            {
                commands.push(SelectCommand::Lane(Some(lane)));
            }
        }
    });
}

/// Shows the lane's strategy as its first setting.
fn strategy(ui: &mut Ui, input: &OpenSession<'_>, lane: KnobLane<'_>, commands: &mut Commands) {
    let policy = lane.policy;
    let hint = format!(
        "{}\n\nOn the command line: --set strategy={}",
        policy.help,
        input.policies.command_line_name(&policy.name)
    );
    let spec = KnobSpec {
        label: "strategy",
        value: 0.0,
        range: 0.0..=0.0,
        step: 1.0,
        is_logarithmic: false,
        unit: "",
        scope: "",
        help: "",
        hint: &hint,
        note: "",
        is_noted: false,
        default: 0.0,
        consequence: Some(policy.first_sentence().to_owned()),
        tone: Tone::Plain,
    };
    let width = (ui.available_width() * 0.6).round();
    knob_menu(ui, &spec, &policy.label, width, |ui| {
        if let Some(name) = preset_menu::list(ui, input.policies, &policy.name) {
            commands.push(LanesCommand::SetPolicy(lane.index, name));
            ui.close();
        }
    });
}

/// Shows the context window as a knob.
fn window(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let known = input.document.loaded.case.windows.largest();
    let shown = input.config.window.unwrap_or(known);
    let windows = &input.runs.case.windows;
    let mut text = match windows.source {
        WindowSource::Assumed => {
            "assumed: the file does not name it and the model is unknown".to_owned()
        }
        source => wording::window_source(source).to_owned(),
    };
    if windows.varies() {
        text.push_str("; it changes within the session, this is the largest value");
    }
    let tone = if windows.source == WindowSource::Assumed { Tone::Warn } else { Tone::Plain };
    let spec = KnobSpec {
        label: "context_window",
        value: shown.as_f64(),
        range: 2_000.0..=2_000_000.0_f64.max(known.as_f64()),
        step: 1_000.0,
        is_logarithmic: true,
        unit: "tok",
        scope: knob_list::ALL_LANES,
        help: "The model's hard limit.",
        hint: "The model's hard limit.",
        note: "",
        is_noted: false,
        default: known.as_f64(),
        consequence: Some(text),
        tone,
    };
    let response = knob_slider(ui, &spec);
    if response.is_reset {
        commands.push(SettingsCommand::SetWindow(None));
    } else if let Some(value) = response.changed {
        commands.push(SettingsCommand::SetWindow(Some(Tokens(value as u64))));
    }
}

/// Shows the buttons below the settings, and a note if the panel is not low.
fn footer(ui: &mut Ui, input: &OpenSession<'_>, is_low: bool, commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        if widgets::secondary_button(ui, "Copy as command", "")
            .on_hover_text("Copy the command line that gives the same results")
            .clicked()
        {
            commands.push(ShellCommand::CopyCommandLine);
        }
        let lane = input.selection.lane.filter(|lane| *lane < input.runs.lanes.len());
        if let Some(lane) = lane {
            let policy = &input.runs.lanes[lane].policy;
            let forms: Vec<Form> =
                Form::ALL.into_iter().filter(|form| form.applies_to(policy)).collect();
            if !forms.is_empty() {
                ui.menu_button("Copy config", |ui| {
                    for form in forms {
                        if ui.button(form.label()).clicked() {
                            commands.push(LanesCommand::CopyPolicy(lane, form));
                        }
                    }
                })
                .response
                .on_hover_text("Copy this lane's policy in a form that runs it");
            }
        }
        let acts = lane.filter(|lane| !input.runs.lanes[*lane].policy.stages.is_empty());
        if let Some(lane) = acts
            && widgets::secondary_button(ui, "Save preset…", "")
                .on_hover_text(
                    "Save this lane's settings under a name, for the window and the command line",
                )
                .clicked()
        {
            commands.push(PresetCommand::Start(lane));
        }
    });
    if !is_low {
        ui.add_space(space::XS);
        ui.label(small(ui, "All data stays on this machine. Files are never changed."));
    }
}
