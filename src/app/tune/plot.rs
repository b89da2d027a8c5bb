//! The plot of cost against risk for each setting.

use super::command::TuneCommand;
use super::input::TuneInput;
use super::point_settings::settings;
use super::sweep::Sweep;
use crate::analysis::loss::CheapestWay;
use crate::analysis::tune::{CostUnit, Point, RiskAxis, Score};
use crate::app::command::Commands;
use crate::app::plots::scatter::{Dot, Level, NamedPoint, ScatterInput, scatter};
use crate::app::theme::{self, Palette, palette};
use crate::app::widgets::Tone;
use crate::app::wording;
use crate::units::{Share, Tokens, Usd};
use egui::{Color32, Frame, Margin, RichText, Ui};

/// Peak fill thresholds of the color scale, as shares of the usable window.
const PEAKS: [f64; 3] = [0.6, 0.85, 1.0];

/// Shows the plot. Returns the setting under the pointer.
pub(super) fn show(
    ui: &mut Ui,
    input: &TuneInput<'_>,
    sweep: &Sweep,
    commands: &mut Commands,
) -> Option<usize> {
    // Only replayed settings have a position.
    let (points, dots): (Vec<usize>, Vec<Dot>) = sweep
        .points
        .iter()
        .enumerate()
        .filter_map(|(idx, point)| Some((idx, dot(ui, sweep, idx, point)?)))
        .unzip();
    let dot_of = |point: usize| points.binary_search(&point).ok();
    let front = sweep.trade_off.iter().filter_map(|idx| dot_of(*idx));
    let recommended = sweep.recommended.as_ref().and_then(|r| r.as_ref().ok());
    let ringed = input.view.hovered;
    let ringed = ringed.or(recommended.map(|found| found.point));
    let is_of_references = sweep.risk == RiskAxis::References;
    let losses = input.losses.filter(|_| is_of_references);
    let floor = losses.map(|losses| losses.recorded.found.at_risk.faults.len());
    let axis = sweep.risk.axis_label();
    let plot = ScatterInput {
        dots: &dots,
        front: &front.collect::<Vec<_>>(),
        named: &named_points(ui, input, sweep),
        level: floor.map(|n| Level {
            value: n as f64,
            name: "noise floor",
        }),
        ringed: ringed.and_then(dot_of),
        axes: match sweep.unit {
            CostUnit::Usd => ["cost", &axis],
            CostUnit::Tokens => ["tokens sent", &axis],
        },
        format_x: &|value| format_cost(sweep.unit, value),
    };
    let margin = Margin {
        left: 12,
        right: 12,
        top: 4,
        bottom: 4,
    };
    let shown = Frame::new().inner_margin(margin);
    let shown = shown.show(ui, |ui| scatter(ui, &plot)).inner;
    if let Some(clicked) = shown.clicked {
        commands.push(TuneCommand::Apply(points[clicked]));
    }
    let hovered = shown.hovered.map(|dot| points[dot]);
    if let Some(hovered) = hovered {
        shown
            .response
            .on_hover_ui_at_pointer(|ui| card(ui, sweep, hovered));
    }
    hovered
}

fn dot(ui: &Ui, sweep: &Sweep, idx: usize, point: &Point) -> Option<Dot> {
    let score = point.score.as_ref()?;
    let lane = sweep.lanes[point.subject];
    Some(Dot {
        at: position(sweep.unit, score),
        // Lighter than the text color, so that the edge in the lane's color is visible.
        fill: peak_color(palette(ui), score.peak_share).lerp_to_gamma(Color32::WHITE, 0.3),
        edge: palette(ui).lane(lane),
        shape: lane,
        is_out: point.ruled_out.is_some(),
        is_front: sweep.trade_off.contains(&idx),
    })
}

fn position(unit: CostUnit, score: &Score) -> [f64; 2] {
    [unit.of(score), score.risk.count() as f64]
}

/// Returns the color of a peak: green well below the usable window, amber near it, red above.
pub(super) fn peak_color(palette: &Palette, peak: Share) -> Color32 {
    let [fine, near, beyond] = PEAKS;
    if peak.0 <= near {
        let share = ((peak.0 - fine) / (near - fine)).clamp(0.0, 1.0);
        palette.ok.lerp_to_gamma(palette.warn, share as f32)
    } else {
        let share = ((peak.0 - near) / (beyond - near)).clamp(0.0, 1.0);
        palette.warn.lerp_to_gamma(palette.bad, share as f32)
    }
}

/// Returns the named points: the hindsight optimum, which puts no reference at risk, and the current settings.
fn named_points(ui: &Ui, input: &TuneInput<'_>, sweep: &Sweep) -> Vec<NamedPoint> {
    let mut found = Vec::new();
    let losses = input.losses.filter(|_| sweep.risk == RiskAxis::References);
    if let (Some(losses), Some(bounds)) = (losses, input.bounds) {
        let sent = (bounds.hindsight.tokens_sent()).as_f64();
        let cost = match sweep.unit {
            // What happened may have lost references.
            CostUnit::Usd => losses
                .cheapest
                .filter(|run| run.way != CheapestWay::Recorded)
                .map(|run| run.usd.0),
            CostUnit::Tokens => Some(sent),
        };
        found.extend(cost.map(|cost| NamedPoint {
            at: [cost, 0.0],
            name: "hindsight".to_owned(),
            color: palette(ui).text,
        }));
    }
    for (subject, lane) in sweep.lanes.iter().enumerate() {
        let Some(run) = input.runs.lanes.get(*lane) else {
            continue;
        };
        let is_present = |point: &&Point| point.subject == subject && point.knobs == run.knobs;
        let present = sweep.points.iter().find(is_present);
        let at = present.and_then(|point| Some(position(sweep.unit, point.score.as_ref()?)));
        found.extend(at.map(|at| NamedPoint {
            at,
            name: format!("{} current", input.runs.labels[*lane]),
            color: palette(ui).lane(*lane),
        }));
    }
    found
}

/// Formats a cost.
pub(super) fn format_cost(unit: CostUnit, value: f64) -> String {
    match unit {
        CostUnit::Usd => wording::usd(Usd(value)),
        CostUnit::Tokens => wording::short(Tokens(value.max(0.0) as u64)),
    }
}

/// Shows the details of a setting.
pub(super) fn card(ui: &mut Ui, sweep: &Sweep, idx: usize) {
    let point = &sweep.points[idx];
    ui.spacing_mut().item_spacing.y = 2.0;
    let name = &sweep.subjects[point.subject].lane;
    ui.label(RichText::new(name).text_style(theme::strong()));
    for (knob, value) in settings(sweep, point) {
        ui.label(format!("{knob} {value}"));
    }
    if let Some(score) = &point.score {
        ui.label(figures(sweep.unit, score));
    }
    let (text, tone) = match (point.ruled_out, point.is_now) {
        (Some(why), _) => {
            let why = why.text(&sweep.subjects[point.subject].policy);
            (format!("Ruled out: {why}."), Tone::Bad)
        }
        (None, true) => (
            "Settings at the time of the sweep. Click to restore them.".to_owned(),
            Tone::Weak,
        ),
        (None, false) => (
            "Click to apply these settings to the lane.".to_owned(),
            Tone::Weak,
        ),
    };
    ui.label(RichText::new(text).color(tone.color(palette(ui))));
}

/// Returns the results of a setting: `$4.10 · 12 at risk · 2 blind edits · peak 71 % of usable · 4 compactions`
pub(in crate::app) fn figures(unit: CostUnit, score: &Score) -> String {
    let mut parts = vec![
        format_cost(unit, unit.of(score)),
        match score.risk.lost {
            Some(lost) => format!("{} lost", lost.of_stated()),
            None => format!("{} at risk", score.risk.references_text()),
        },
    ];
    if score.risk.blind_edits > 0 {
        parts.push(wording::count(score.risk.blind_edits, "blind edit"));
    }
    parts.push(format!("peak {}", wording::of_usable(score.peak_share)));
    parts.push(wording::count(score.compactions, "compaction"));
    if score.overflows > 0 {
        parts.push(wording::count(score.overflows, "overflow"));
    }
    if score.into_reserve > 0 {
        let calls = wording::count(score.into_reserve, "call");
        parts.push(format!("{calls} into the reserve"));
    }
    parts.join(" · ")
}
