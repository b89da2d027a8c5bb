//! The plot of cost, with the price of expected re-reads, against peak for each setting.

use crate::analysis::tune::{CostUnit, Point, Score};
use crate::app::state::command::Commands;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::tune::command::TuneCommand;
use crate::app::state::tune::sweep::Sweep;
use crate::app::state::wording;
use crate::app::ui::plots::scatter::{Dot, Level, NamedPoint, ScatterInput, scatter};
use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use crate::app::ui::tune::point_settings::settings;
use crate::units::{Tokens, Usd};
use egui::{Frame, Margin, RichText, Ui};

/// Title of the axis of peaks.
const PEAK: &str = "peak, % of usable";
/// The usable window on the axis of peaks.
const USABLE: Level<'_> = Level { value: 100.0, name: "usable window" };

/// Shows the plot. Returns the setting under the pointer.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
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
    let ringed = input.view.tune().hovered;
    let ringed = ringed.or(recommended.map(|found| found.point));
    let plot = ScatterInput {
        dots: &dots,
        front: &front.collect::<Vec<_>>(),
        named: &named_points(ui, input, sweep),
        level: Some(USABLE),
        ringed: ringed.and_then(dot_of),
        axes: match sweep.unit {
            CostUnit::Usd => ["cost with expected re-reads", PEAK],
            CostUnit::Tokens => ["tokens with expected re-reads", PEAK],
        },
        format_x: &|value| format_cost(sweep.unit, value),
    };
    let margin = Margin { left: 12, right: 12, top: 4, bottom: 4 };
    let shown = Frame::new().inner_margin(margin);
    let shown = shown.show(ui, |ui| scatter(ui, &plot)).inner;
    if let Some(clicked) = shown.clicked {
        commands.push(TuneCommand::Apply(points[clicked]));
    }
    let hovered = shown.hovered.map(|dot| points[dot]);
    if let Some(hovered) = hovered {
        shown.response.on_hover_ui_at_pointer(|ui| card(ui, sweep, hovered));
    }
    hovered
}

fn dot(ui: &Ui, sweep: &Sweep, idx: usize, point: &Point) -> Option<Dot> {
    let score = point.score.as_ref()?;
    let lane = sweep.lanes[point.subject];
    let color = palette(ui).lane(lane);
    let is_front = sweep.trade_off.contains(&idx);
    Some(Dot {
        at: position(sweep.unit, score),
        fill: if is_front { color } else { color.gamma_multiply(0.5) },
        edge: color,
        shape: lane,
        is_out: point.ruled_out.is_some(),
        is_front,
    })
}

fn position(unit: CostUnit, score: &Score) -> [f64; 2] {
    [unit.of(score), 100.0 * score.peak_share.0]
}

/// Returns the named points: the current settings.
fn named_points(ui: &Ui, input: &OpenSession<'_>, sweep: &Sweep) -> Vec<NamedPoint> {
    let mut found = Vec::new();
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
pub(crate) fn format_cost(unit: CostUnit, value: f64) -> String {
    match unit {
        CostUnit::Usd => wording::usd(Usd(value)),
        CostUnit::Tokens => wording::short(Tokens(value.max(0.0) as u64)),
    }
}

/// Shows the details of a setting.
pub(crate) fn card(ui: &mut Ui, sweep: &Sweep, idx: usize) {
    let point = &sweep.points[idx];
    ui.spacing_mut().item_spacing.y = 2.0;
    let name = &sweep.subjects[point.subject].lane;
    ui.label(RichText::new(name).text_style(theme::strong()));
    for (knob, value) in settings(sweep, point) {
        ui.label(format!("{knob} {value}"));
    }
    if let Some(score) = &point.score {
        ui.label(figures(sweep.unit, score));
        ui.label(wording::capitalized(&score.rereads.words()));
    }
    let (text, tone) = match (point.ruled_out, point.is_now) {
        (Some(why), _) => {
            let why = why.text(&sweep.subjects[point.subject].policy);
            (format!("Ruled out: {why}."), Tone::Bad)
        }
        (None, true) => {
            ("Settings at the time of the sweep. Click to restore them.".to_owned(), Tone::Weak)
        }
        (None, false) => ("Click to apply these settings to the lane.".to_owned(), Tone::Weak),
    };
    ui.label(RichText::new(text).color(palette(ui).tone(tone)));
}

/// Returns the results of a setting: `$4.10 with expected re-reads · 2 blind edits · peak 71 % of usable · 4 compactions`
fn figures(unit: CostUnit, score: &Score) -> String {
    let mut parts = vec![format!("{} with expected re-reads", format_cost(unit, unit.of(score)))];
    if let Some(rules) = score.user_rules.filter(|rules| rules.lost > 0) {
        let (lost, stated) = (rules.lost, rules.stated);
        parts.push(format!("loses {lost} of {stated} constraints and decisions"));
    }
    if score.blind_edits > 0 {
        parts.push(wording::count(score.blind_edits, "blind edit"));
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
