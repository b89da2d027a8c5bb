//! The settings of a policy: common settings first, then the system's own settings in groups.

use crate::app::state::command::Commands;
use crate::app::state::model::knobs;
use crate::app::state::model::knobs::KnobKey;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::wording;
use crate::app::ui::settings_panel::knob_effect::KnobLane;
use crate::app::ui::settings_panel::{knob_curve, knob_effect};
use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{first_sentence, weak};
use crate::app::ui::widgets::{KnobSpec, knob_choice, knob_slider};
use crate::engine::{Knob, Policy};
use egui::{CollapsingHeader, Id, Margin, TextEdit, Ui};

/// Number of knobs above which a search field is shown and the system's own settings are folded.
const MANY: usize = 12;
/// Number of common knobs below which a single group of own settings is open.
const FEW: usize = 4;
/// Remark beside a setting that all lanes without settings of their own share.
pub(crate) const ALL_LANES: &str = "all lanes";

/// Note on a setting that the shipped code does not read.
const IGNORED: &str = "The shipped code ignores this setting.";

/// Shows all knobs of a lane.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: KnobLane<'_>,
    commands: &mut Commands,
) {
    let knobs = &lane.policy.knobs;
    if knobs.len() <= MANY {
        for knob in knobs {
            show_knob(ui, input, lane, knob, commands);
        }
        return;
    }
    let sought = find(ui, lane.policy);
    if !sought.is_empty() {
        let mut found = knobs.iter().filter(|knob| is_found(knob, &sought)).peekable();
        if found.peek().is_none() {
            ui.label(weak(ui, "No setting matches."));
        }
        for knob in found {
            show_knob(ui, input, lane, knob, commands);
        }
        return;
    }
    let common = || knobs.iter().filter(|knob| knob.role.is_some());
    for knob in common() {
        show_knob(ui, input, lane, knob, commands);
    }
    let groups = groups(lane.policy);
    let is_only = groups.len() == 1 && common().count() < FEW;
    for (title, group) in groups {
        let is_changed = |knob: &&&Knob| lane.values.get(&knob.name) != Some(knob.value);
        let n_changed = group.iter().filter(is_changed).count();
        let changed = match n_changed {
            0 => String::new(),
            n => format!(", {n} changed"),
        };
        let n = group.len();
        CollapsingHeader::new(format!("{title} ({n}{changed})"))
            .id_salt((&lane.policy.name, &title))
            .default_open(is_only)
            .show_unindented(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::M;
                for knob in group {
                    show_knob(ui, input, lane, knob, commands);
                }
            });
    }
}

/// Shows the search field and returns its text in lower case.
fn find(ui: &mut Ui, policy: &Policy) -> String {
    let id = Id::unique(("find a setting", &policy.name));
    let mut text: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let edit = TextEdit::singleline(&mut text)
        .hint_text(format!("Find in {} settings…", policy.knobs.len()))
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(6, 3));
    let response = ui.add(edit).accessible_name("Find a setting");
    if response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Escape)) {
        text.clear();
    }
    ui.data_mut(|data| data.insert_temp(id, text.clone()));
    text.trim().to_lowercase()
}

fn is_found(knob: &Knob, sought: &str) -> bool {
    let key = knob.key.as_deref().unwrap_or_default();
    [&*knob.name, key, &*knob.help].iter().any(|text| text.to_lowercase().contains(sought))
}

/// Groups a system's own settings by their section of its configuration, in the order of the preset.
fn groups(policy: &Policy) -> Vec<(String, Vec<&Knob>)> {
    let mut groups: Vec<(String, Vec<&Knob>)> = Vec::new();
    for knob in policy.knobs.iter().filter(|knob| knob.role.is_none()) {
        let section = knob.key.as_deref().and_then(|key| key.rsplit_once('.'));
        let title = section.map_or("Other settings", |(section, _)| section);
        match groups.iter_mut().find(|(name, _)| name == title) {
            Some((_, knobs)) => knobs.push(knob),
            None => groups.push((title.to_owned(), vec![knob])),
        }
    }
    groups
}

/// Shows one knob and sends its changes as commands.
pub(crate) fn show_knob(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: KnobLane<'_>,
    knob: &Knob,
    commands: &mut Commands,
) {
    let value = lane.values.get(&knob.name).unwrap_or(knob.value);
    let effect = knob_effect::effect(input, lane, knob);
    let hint = hint(knob);
    let has_own = input.config.lanes.get(lane.index).is_some_and(|l| l.own.is_some());
    let is_shared = knob.role.is_some() && !has_own;
    let spec = KnobSpec {
        label: &knob.name,
        value,
        range: knob.range[0]..=knob.range[1],
        step: knob.step,
        is_logarithmic: is_wide(knob),
        unit: wording::knob_unit(&knob.unit),
        scope: if is_shared { ALL_LANES } else { "" },
        help: first_sentence(&knob.help),
        hint: &hint,
        note: knob.ignored.as_ref().map_or("", |_| IGNORED),
        is_noted: value != knob.value,
        default: knob.value,
        consequence: effect.text,
        tone: effect.tone,
    };
    let response = if knob.choices.is_empty() {
        knob_slider(ui, &spec)
    } else {
        knob_choice(ui, &spec, &knob.choices)
    };
    knob_curve::show(ui, input, knob, &spec);
    let key = KnobKey::of(lane.policy, knob);
    if response.is_reset {
        commands.push(SettingsCommand::SetInLane(lane.index, key, None));
    } else if let Some(value) = response.changed {
        let value = Some(knobs::snapped(knob, value));
        commands.push(SettingsCommand::SetInLane(lane.index, key, value));
    }
}

/// Returns the full description of a knob.
fn hint(knob: &Knob) -> String {
    let mut hint = knob.help.clone();
    if let Some(key) = &knob.key {
        hint.push_str("\n\nName in its configuration: ");
        hint.push_str(key);
    }
    if let Some(why) = &knob.ignored {
        hint.push_str("\n\nIgnored by the shipped code: ");
        hint.push_str(why);
    }
    hint
}

/// Shows the heading above another lane's knobs.
pub(crate) fn lane_head(ui: &mut Ui, color: egui::Color32, label: &str) {
    ui.horizontal(|ui| {
        widgets::swatch(ui, color);
        widgets::section(ui, label);
    });
}

/// Returns whether a knob needs a logarithmic rail, on which 10 and 20 are as far apart as 100 and 200.
fn is_wide(knob: &Knob) -> bool {
    let [low, high] = knob.range;
    match &*knob.unit {
        "tokens" => high > 20.0 * low.max(1_000.0),
        "messages" => high >= 100.0,
        _ => false,
    }
}
