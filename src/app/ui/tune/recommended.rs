//! The recommended settings with the reason and a button that applies them.

use crate::analysis::tune::{Acting, Alternative, Recommendation, ruled_out_counts};
use crate::app::state::command::Commands;
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::tune::command::TuneCommand;
use crate::app::state::tune::sweep::Sweep;
use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::{Frame, Label, Margin, RichText, Ui};

/// Note on a sweep with outdated assumptions.
const CHANGED: &str = "Window, tokenizer, prices or manual edits have changed: sweep again.";

/// Shows the recommendation.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, sweep: &Sweep, commands: &mut Commands) {
    let margin = Margin { left: 16, right: 12, top: 6, bottom: 2 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = egui::vec2(8.0, 1.0);
        recommendation(ui, input, sweep, commands);
        if !sweep.holds_for(input.config) {
            ui.label(small(ui, CHANGED).color(palette(ui).warn));
        }
    });
}

/// Shows the alternatives and the settings that are ruled out.
pub(crate) fn more(ui: &mut Ui, sweep: &Sweep) {
    padded(ui, |ui| {
        alternatives(ui, sweep);
        ruled_out(ui, sweep);
    });
}

/// Shows the recommendation, or the reason for its absence and an alternative.
fn recommendation(ui: &mut Ui, input: &OpenSession<'_>, sweep: &Sweep, commands: &mut Commands) {
    match &sweep.recommended {
        None => {
            ui.label(weak(ui, "Trying…"));
        }
        Some(Err(why)) => {
            let reason = RichText::new(wording::with_grouped(why)).color(palette(ui).warn);
            ui.add(Label::new(reason).wrap());
            if let Some(other) = &sweep.alternative {
                offer(ui, input, other, commands);
            }
        }
        Some(Ok(found)) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = space::S;
                ui.label(RichText::new("Recommended").text_style(theme::strong()));
                adopt(ui, input, sweep, found.point, commands);
            });
            // The comparison refers to the lane's settings at the time of the sweep.
            if found.never_acts || !is_applied(input, sweep, found.point) {
                ui.add(Label::new(wording::with_grouped(&found.text)).wrap());
            }
            if let Some(text) = as_good(found) {
                ui.add(Label::new(weak(ui, text)).wrap());
            }
            if let Some(acting) = &found.acting {
                best_acting(ui, input, sweep, acting, commands);
            }
        }
    }
}

/// Returns how many settings are as good as the recommended one, if there are others.
fn as_good(found: &Recommendation) -> Option<String> {
    let others = found.as_good.checked_sub(1).filter(|others| *others > 0)?;
    let (are, differ) =
        if others == 1 { ("is", "its cost differs") } else { ("are", "their costs differ") };
    let others = wording::count(others, "other setting");
    Some(format!(
        "{others} {are} as good: {differ} by less than 1 % or than the error of the expected re-reads."
    ))
}

/// Offers the best setting that acts.
fn best_acting(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    sweep: &Sweep,
    acting: &Acting,
    commands: &mut Commands,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.label(RichText::new("Best that acts").text_style(theme::strong()));
        adopt(ui, input, sweep, acting.point, commands);
    });
    ui.add(Label::new(wording::with_grouped(&acting.text)).wrap());
}

/// Offers another policy that works.
fn offer(ui: &mut Ui, input: &OpenSession<'_>, other: &Alternative, commands: &mut Commands) {
    let is_compared =
        |lane: &crate::app::state::model::config::LaneConfig| lane.policy == other.policy;
    if !input.config.lanes.iter().any(is_compared)
        && ui
            .button(format!("Compare with {}", other.label))
            .on_hover_text("Add a lane with this policy (can be undone)")
            .clicked()
    {
        commands.push(LanesCommand::Compare(other.policy.clone()));
    }
    ui.add(Label::new(wording::with_grouped(&other.text)).wrap());
}

/// Shows the alternatives.
fn alternatives(ui: &mut Ui, sweep: &Sweep) {
    let found = sweep.recommended.as_ref().and_then(|r| r.as_ref().ok());
    if let Some(others) = found.and_then(|found| found.others.as_ref()) {
        ui.add(Label::new(weak(ui, wording::with_grouped(others))).wrap());
    }
}

/// Shows a button that applies a setting, unless the lane has it already.
fn adopt(ui: &mut Ui, input: &OpenSession<'_>, sweep: &Sweep, idx: usize, commands: &mut Commands) {
    if is_applied(input, sweep, idx) {
        ui.label(weak(ui, "The lane has these settings."));
    } else if ui
        .button("Apply")
        .on_hover_text("Apply these settings to this lane only (can be undone)")
        .clicked()
    {
        commands.push(TuneCommand::Apply(idx));
    }
}

/// Returns whether the lane has the settings of this point.
fn is_applied(input: &OpenSession<'_>, sweep: &Sweep, idx: usize) -> bool {
    let point = &sweep.points[idx];
    let lane = input.runs.lanes.get(sweep.lanes[point.subject]);
    lane.is_some_and(|lane| lane.knobs == point.knobs)
}

/// Shows how many settings are ruled out for each reason.
fn ruled_out(ui: &mut Ui, sweep: &Sweep) {
    for count in ruled_out_counts(&sweep.points) {
        ui.add(Label::new(small(ui, wording::with_grouped(&count.sentence()))).wrap());
    }
}
