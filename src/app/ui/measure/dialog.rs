//! The dialog that measures with a model: the form, and then each stage of the measurement.

use crate::analysis::statistics::MIN_CLUSTERS;
use crate::app::state::command::Commands;
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::measure::job::{Asking, Measurement, Stage};
use crate::app::state::measure::run::Consent;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::wording;
use crate::app::ui::measure::{probe, result};
use crate::app::ui::parts::stage_views::{destination, facts};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::{dialog, dialog_title, error_box};
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::exec::evaluate::PlanCost;
use egui::{Label, ProgressBar, RichText, ScrollArea, Ui};
use std::sync::atomic::Ordering;

/// Width of the dialog, in points: with the form, and with results.
const WIDTH: f32 = 580.0;
const WIDE: f32 = 760.0;
/// Height of the title, buttons and margins, in points.
const FRAME: f32 = 190.0;
/// Height of the results while they arrive, in points, so that *Stop* does not move.
const ARRIVING: f32 = 420.0;

/// Shows the dialog.
pub(crate) fn show(ui: &mut Ui, runs: &Runs, measurement: &Measurement, commands: &mut Commands) {
    let modal = dialog(ui, "measure").show(ui.ctx(), |ui| {
        let has_results = matches!(measurement.stage, Stage::Asking(..) | Stage::Done(_));
        ui.set_width(if has_results { WIDE } else { WIDTH });
        dialog_title(ui, "Measure with a model");
        let height = (ui.ctx().content_rect().height() - FRAME).max(120.0);
        let shown = ScrollArea::vertical().max_height(height).show(ui, |ui| {
            if matches!(measurement.stage, Stage::Asking(..)) {
                ui.set_min_height(height.min(ARRIVING));
            }
            content(ui, runs, measurement, commands);
        });
        // A new stage first has the height of the stage before. Its rest must not wait for the next input.
        let inner = shown.inner_rect.height();
        if shown.content_size.y > inner + 1.0 && inner + 1.0 < height {
            ui.ctx().request_repaint();
        }
        if let Stage::Failed(why) = &measurement.stage {
            error_box(ui, "Nothing was measured", why);
        }
        ui.add_space(space::S);
        ui.horizontal(|ui| buttons(ui, measurement, commands));
    });
    if modal.should_close() {
        let is_outside = modal.backdrop_response.clicked();
        let has_probe = measurement.scored().is_some() && measurement.probe.is_some();
        if has_probe && !is_outside {
            commands.push(MeasureCommand::ShowProbe(None));
        } else {
            commands.extend(close_command(measurement, is_outside));
        }
    }
}

/// Returns the command for Esc or for a click outside the dialog (`is_outside`).
fn close_command(measurement: &Measurement, is_outside: bool) -> Option<MeasureCommand> {
    match measurement.stage {
        Stage::Form | Stage::Done(_) | Stage::Failed(_) => Some(MeasureCommand::Close),
        Stage::Planning(_) | Stage::Consent(_) => (!is_outside).then_some(MeasureCommand::Back),
        // An accidental click must not stop requests that were paid for.
        Stage::Asking(..) => (!is_outside).then_some(MeasureCommand::Stop),
    }
}

fn content(ui: &mut Ui, runs: &Runs, measurement: &Measurement, commands: &mut Commands) {
    match &measurement.stage {
        Stage::Form | Stage::Failed(_) => {
            crate::app::ui::measure::form::show(ui, runs, measurement, commands);
        }
        Stage::Planning(_) => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(weak(ui, "Writing questions; nothing is sent…"));
            });
        }
        Stage::Consent(consent) => ask_consent(ui, consent),
        Stage::Asking(asking, _) => {
            progress(ui, asking);
            match (measurement.scored(), measurement.probe) {
                (Some(scored), Some(probe)) => probe::show(ui, &scored, probe, commands),
                (Some(scored), None) => result::partial(ui, &scored, commands),
                (None, _) => {}
            }
        }
        Stage::Done(measured) => match (&measured.scored, measurement.probe) {
            (Some(scored), Some(probe)) => probe::show(ui, scored, probe, commands),
            _ => result::show(ui, measured, commands),
        },
    }
}

/// Shows what would be sent where, its price, and what it can detect.
fn ask_consent(ui: &mut Ui, consent: &Consent) {
    let (cost, endpoint) = (&consent.cost, &consent.model.client.endpoint);
    let title = format!("Send to {}?", endpoint.host());
    ui.label(RichText::new(title).text_style(theme::strong()));
    let sends = format!(
        "{} and {}, about {} tokens with this conversation",
        wording::count(cost.questions, "question"),
        wording::count(cost.summaries, "summary request"),
        wording::short(cost.tokens)
    );
    let price = match cost.cached {
        Some(cached) => format!(
            "{}; with the provider's cache: ≈ {}, at most {}",
            cost.quote,
            wording::usd(cached.sent),
            wording::usd(cached.most)
        ),
        None => cost.quote.to_string(),
    };
    let log = match &consent.model.log {
        Some(path) => path.display().to_string(),
        None => "nothing is logged: a stopped run cannot be continued".to_owned(),
    };
    facts(
        ui,
        &[
            ("model", destination(endpoint)),
            ("lanes", consent.lanes.clone()),
            ("sends", sends),
            ("receives", format!("at most {} tokens", wording::tokens(cost.answers))),
            ("price", price),
            ("detects", detects(cost)),
            ("budget", budget(consent)),
            ("log", log),
        ],
    );
    if cost.detectable.is_none() {
        ui.add_space(space::XS);
        let text = RichText::new(inconclusive(cost)).color(palette(ui).warn);
        ui.add(Label::new(text).wrap());
    }
}

/// Returns the difference that the run can detect.
fn detects(cost: &PlanCost) -> String {
    let pairs = format!(
        "{} after {}",
        wording::count(cost.pairs, "probe"),
        wording::count(cost.clusters, "compaction")
    );
    match cost.detectable {
        Some(difference) => format!(
            "a difference of {:.0} points between two lanes, with {pairs}",
            difference * 100.0
        ),
        None => format!("no difference: {pairs} are too few"),
    }
}

/// Returns the warning of a run that cannot conclude anything, and the way to one that can.
fn inconclusive(cost: &PlanCost) -> String {
    if cost.clusters < MIN_CLUSTERS {
        format!(
            "The result will be inconclusive: a comparison of lanes needs at least {MIN_CLUSTERS} compactions. \
             Choose a longer session, or evaluate several sessions with `plimsoll evaluate`."
        )
    } else {
        "The result will be inconclusive: enter more probes.".to_owned()
    }
}

fn budget(consent: &Consent) -> String {
    match (consent.limit, &consent.budget) {
        (Some(limit), Some(_)) => {
            format!("stops before requests cost more than {}", wording::usd(limit))
        }
        (Some(limit), None) => format!(
            "{} is not applied: requests to this machine have no price",
            wording::usd(limit)
        ),
        (None, _) => "no limit".to_owned(),
    }
}

fn progress(ui: &mut Ui, asking: &Asking) {
    let done = asking.done.load(Ordering::Relaxed);
    let share = done as f32 / asking.planned.max(1) as f32;
    ui.add(
        ProgressBar::new(share.min(1.0))
            .fill(palette(ui).accent)
            .desired_width(WIDE)
            .desired_height(8.0),
    );
    let text = if asking.is_stopped {
        "Stopping; what was answered is scored…".to_owned()
    } else {
        format!(
            "{} of about {} requests",
            wording::grouped(done as u64),
            wording::grouped(asking.planned as u64)
        )
    };
    ui.label(small(ui, text));
}

fn buttons(ui: &mut Ui, measurement: &Measurement, commands: &mut Commands) {
    match &measurement.stage {
        Stage::Form | Stage::Failed(_) => {
            let draft = &measurement.draft;
            let text = if draft.is_replay() { "Show result" } else { "Continue…" };
            ui.add_enabled_ui(draft.is_complete(), |ui| {
                if widgets::primary_button(ui, text).clicked() {
                    commands.push(MeasureCommand::Run);
                }
            });
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(MeasureCommand::Close);
            }
        }
        Stage::Planning(_) => back(ui, commands),
        Stage::Consent(consent) => {
            let host = consent.model.client.endpoint.host();
            if widgets::primary_button(ui, &format!("Send to {host}")).clicked() {
                commands.push(MeasureCommand::Send);
            }
            back(ui, commands);
        }
        Stage::Asking(asking, _) => {
            ui.add_enabled_ui(!asking.is_stopped, |ui| {
                let help =
                    "Closes the connections. What was answered is scored, with wider intervals";
                if widgets::secondary_button(ui, "Stop", "Esc").on_hover_text(help).clicked() {
                    commands.push(MeasureCommand::Stop);
                }
            });
        }
        Stage::Done(measured) => {
            if measured.can_continue() {
                let help =
                    "Sends the rest of the requests. Questions with an answer are not sent again";
                if widgets::primary_button(ui, "Continue").on_hover_text(help).clicked() {
                    commands.push(MeasureCommand::Send);
                }
            }
            let close = if measured.can_continue() {
                widgets::secondary_button(ui, "Close", "Esc")
            } else {
                widgets::primary_button(ui, "Close")
            };
            if close.clicked() {
                commands.push(MeasureCommand::Close);
            }
            if widgets::secondary_button(ui, "Measure again", "").clicked() {
                commands.push(MeasureCommand::Back);
            }
        }
    }
}

fn back(ui: &mut Ui, commands: &mut Commands) {
    if widgets::secondary_button(ui, "Back", "Esc").clicked() {
        commands.push(MeasureCommand::Back);
    }
}
