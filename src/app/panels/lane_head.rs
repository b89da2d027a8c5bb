//! The head of a lane: its policy, which can be switched, and its figures.

use super::{PanelInput, belief, preset_menu, small};
use crate::analysis::insight::{Insight, Level};
use crate::app::billing::PriceChoice;
use crate::app::command::Command;
use crate::app::costs::LaneCost;
use crate::app::insight_list::{self, InsightFilter};
use crate::app::loss_view;
use crate::app::losses::LaneLoss;
use crate::app::runs::LaneRun;
use crate::app::state::{MAX_LANES, Tab};
use crate::app::theme::{self, palette};
use crate::app::widgets::{self, Tone};
use crate::app::wording;
use crate::units::Tokens;
use egui::{
    Align, Button, FontId, Layout, Popup, Rect, RichText, Role, Sense, TextStyle, TextWrapMode, Ui,
    UiBuilder, WidgetInfo, vec2,
};

/// Shows the head of a lane in `rect`.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    lane: usize,
    rect: Rect,
    commands: &mut Vec<Command>,
) {
    // Behind the controls: a click anywhere on the head focuses the lane.
    let head = ui.interact(rect, ui.scope_id().with(("lane head", lane)), Sense::CLICK);
    head.widget_info(|| WidgetInfo::labeled(Role::Button, true, spoken_head(input, lane)));
    if head.clicked() {
        commands.push(Command::FocusLane(Some(lane)));
    }
    let inner = rect.shrink2(vec2(if rect.width() < 200.0 { 8.0 } else { 12.0 }, 6.0));
    let mut ui = ui.new_child(
        UiBuilder::new()
            .id_salt(("head", lane))
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
    );
    if input.is_stale {
        ui.multiply_opacity(0.5);
    }
    title(&mut ui, input, lane, has_place(inner), commands);
    ui.add_space(2.0);
    figures(&mut ui, input, lane);
    ui.add_space(2.0);
    ui.spacing_mut().interact_size.y = belief::HEIGHT;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !has_place(inner) && belief::is_any(input) {
                badge(ui, input, lane, commands);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                belief::show(ui, input, lane);
            });
        });
    });
}

/// Whether more than the name has room in the first line.
fn has_place(head: Rect) -> bool {
    head.width() > 206.0
}

fn title(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    lane: usize,
    has_place: bool,
    commands: &mut Vec<Command>,
) {
    let policy = &input.runs.lanes[lane].policy;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().button_padding = vec2(2.0, 1.0);
        ui.spacing_mut().interact_size.y = 20.0;
        let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter()
            .circle_filled(dot.center(), 4.0, palette(ui).lane(lane));
        // The call gives way to the name where both do not fit.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if has_place {
                ui.label(small(ui, place(input)));
            }
            if input
                .config
                .lanes
                .get(lane)
                .is_some_and(|l| l.own.is_some())
                && has_place
            {
                ui.label(small(ui, "own knobs"));
            }
            if has_place || !belief::is_any(input) {
                badge(ui, input, lane, commands);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let label = &input.runs.labels[lane];
                let text = RichText::new(format!("{label} ⏷")).text_style(theme::strong());
                let button = ui.add(Button::new(text).frame_when_inactive(false).truncate());
                let button = button
                    .on_hover_text(&policy.help)
                    .accessible_name(format!("Policy of lane {}", lane + 1));
                menu(&button, input, lane, commands);
            });
        });
    });
}

fn menu(button: &egui::Response, input: &PanelInput<'_>, lane: usize, commands: &mut Vec<Command>) {
    Popup::menu(button).show(|ui| {
        let chosen = input.config.lanes.get(lane).map_or("", |l| &l.policy);
        if let Some(name) = preset_menu::list(ui, input, chosen) {
            commands.push(Command::SetLanePolicy(lane, name));
            commands.push(Command::FocusLane(Some(lane)));
            ui.close();
        }
        ui.separator();
        let n = input.config.lanes.len();
        if ui
            .add_enabled(n < MAX_LANES, Button::new("Add a lane"))
            .clicked()
        {
            commands.push(Command::AddLane);
            commands.push(Command::FocusLane(Some(n)));
        }
        let is_own = input
            .config
            .lanes
            .get(lane)
            .is_some_and(|l| l.own.is_some());
        let own = if is_own {
            "Share the other lanes' knobs"
        } else {
            "Give it knobs of its own"
        };
        if ui.button(own).clicked() {
            commands.push(Command::SetOwnKnobs(lane, !is_own));
            commands.push(Command::FocusLane(Some(lane)));
        }
        if ui
            .add_enabled(n > 1, Button::new("Remove this lane"))
            .clicked()
        {
            commands.push(Command::RemoveLane(lane));
        }
        if ui.button("About this policy").clicked() {
            commands.push(Command::FocusLane(Some(lane)));
            commands.push(Command::ShowTab(Tab::About));
        }
        if ui.button("Export this lane…").clicked() {
            commands.push(Command::StartExport(Some(lane)));
        }
    });
}

/// How much is wrong with the lane, in the tone of the worst; leads to it.
fn badge(ui: &mut Ui, input: &PanelInput<'_>, lane: usize, commands: &mut Vec<Command>) {
    let Some(cost) = cost(input, lane) else {
        return;
    };
    let is_told = |insight: &&Insight| insight.level != Level::Note;
    let all: Vec<&Insight> = cost.insights.iter().filter(is_told).collect();
    let Some(worst) = all.first() else {
        return;
    };
    let badge = widgets::badge(ui, all.len(), widgets::level_tone(worst.level));
    badge.widget_info(|| {
        let count = wording::count(all.len(), "insight");
        let name = format!("{count} about lane {}", lane + 1);
        WidgetInfo::labeled(Role::Button, true, name)
    });
    let badge = badge.on_hover_ui(|ui| {
        for insight in &all {
            let place = insight.step.map_or_else(String::new, |step| {
                format!("call {}: ", wording::number(step))
            });
            ui.label(format!("{place}{}", insight_list::shown(&insight.text)));
        }
    });
    if badge.clicked() {
        let row = insight_list::Row {
            lane: Some(lane),
            insight: worst,
        };
        commands.push(Command::FocusLane(Some(lane)));
        commands.push(Command::SetInsightFilter(InsightFilter::default()));
        commands.push(Command::OpenInsight(row.key()));
        commands.push(Command::ShowTab(Tab::Insights));
    }
}

/// What the lane costs and what its run shows; none while that is worked out.
fn cost<'a>(input: &PanelInput<'a>, lane: usize) -> Option<&'a LaneCost> {
    let run = &input.runs.lanes[lane];
    let cost = input.costs?.of(Some(lane))?;
    cost.is_of(run).then_some(cost)
}

/// One figure of a head.
struct Figure {
    label: &'static str,
    short: &'static str,
    value: String,
    tone: Tone,
    hint: fn(&PanelInput<'_>, usize) -> String,
}

/// The figures of a lane, the most telling first.
fn all_figures(input: &PanelInput<'_>, lane: usize) -> [Figure; 7] {
    let run = &input.runs.lanes[lane];
    let about = wording::about(input.runs.case.ledger.basis);
    let now = input.rows.lanes.get(lane).map_or(Tokens::ZERO, |l| l.total);
    let tokens = |n: Tokens| format!("{about}{}", wording::short(n));
    // Without a call nothing was sent, and nothing could be missed: that is not zero but unknown.
    let of_calls = |said: String| run.peak.map_or_else(|| "–".to_owned(), |_| said);
    let (label, short, tone) = ("", "", Tone::Plain);
    let figure = Figure {
        label,
        short,
        value: String::new(),
        tone,
        hint: |_, _| String::new(),
    };
    [
        Figure {
            label: "peak",
            short: "peak",
            value: run
                .peak
                .map_or_else(|| "–".to_owned(), |(_, peak)| tokens(peak)),
            hint: |input, lane| peak_hint(&input.runs.lanes[lane]),
            ..figure
        },
        Figure {
            label: "compactions",
            short: "comp.",
            value: of_calls(wording::grouped(run.outcome.compactions as u64)),
            hint: |_, _| "Firings that removed something".to_owned(),
            ..figure
        },
        Figure {
            label: "overflows",
            short: "over.",
            value: of_calls(wording::grouped(run.outcome.overflows as u64)),
            tone: if run.outcome.overflows > 0 {
                Tone::Bad
            } else {
                Tone::Plain
            },
            hint: |input, lane| overflow_hint(&input.runs.lanes[lane]),
        },
        Figure {
            label: "cost",
            short: "cost",
            value: cost_value(input, lane),
            hint: cost_hint,
            ..figure
        },
        Figure {
            label: "at risk",
            short: "at risk",
            value: of_calls(
                loss(input, lane).map_or_else(|| "…".to_owned(), loss_view::at_risk_said),
            ),
            tone: loss(input, lane)
                .zip(input.losses)
                .filter(|_| run.peak.is_some())
                .map_or(Tone::Weak, |(loss, all)| {
                    loss_view::tone(loss, &all.recorded)
                }),
            hint: risk_hint,
        },
        Figure {
            label: "sent",
            short: "sent",
            value: of_calls(tokens(run.sent)),
            hint: |input, lane| sent_hint(&input.runs.lanes[lane]),
            ..figure
        },
        Figure {
            label: "now",
            short: "now",
            value: tokens(now),
            hint: |input, _| {
                let n = input.document.session().steps.len();
                format!("The context {}", wording::place(input.rows.step, n))
            },
            ..figure
        },
    ]
}

/// As many figures as fit: with short labels before one is left out, `now` first; the tooltips say all.
fn figures(ui: &mut Ui, input: &PanelInput<'_>, lane: usize) {
    const ROOMS: [(usize, bool, f32); 11] = [
        (7, false, 20.0),
        (7, false, 12.0),
        (7, true, 12.0),
        (6, false, 12.0),
        (6, true, 12.0),
        (5, true, 12.0),
        (5, true, 8.0),
        (4, true, 12.0),
        (3, true, 12.0),
        (3, true, 8.0),
        (3, true, 4.0),
    ];
    let all = all_figures(input, lane);
    let label = |figure: &Figure, is_short: bool| {
        if is_short { figure.short } else { figure.label }
    };
    let (small, strong) = (
        TextStyle::Small.resolve(ui.style()),
        theme::strong().resolve(ui.style()),
    );
    let color = palette(ui).text;
    let width = |(n, is_short, space): (usize, bool, f32)| {
        let width = |text: &str, font: &FontId| {
            let galley = ui
                .painter()
                .layout_no_wrap(text.to_owned(), font.clone(), color);
            galley.size().x
        };
        let one = |f: &Figure| width(label(f, is_short), &small).max(width(&f.value, &strong));
        all[..n].iter().map(one).sum::<f32>() + space * (n - 1) as f32
    };
    let room = ROOMS
        .into_iter()
        .find(|room| width(*room) <= ui.available_width())
        .unwrap_or(ROOMS[ROOMS.len() - 1]);
    let (n, is_short, space) = room;
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space;
        for figure in &all[..n] {
            widgets::figure(ui, label(figure, is_short), &figure.value, figure.tone).on_hover_ui(
                |ui| {
                    ui.label(format!("{}: {}", figure.label, (figure.hint)(input, lane)));
                    for left_out in &all[n..] {
                        let said = (left_out.hint)(input, lane);
                        ui.label(format!("{} {}: {said}", left_out.label, left_out.value));
                    }
                },
            );
        }
    });
}

fn place(input: &PanelInput<'_>) -> String {
    wording::place_label(input.rows.step, input.document.session().steps.len())
}

fn peak_hint(run: &LaneRun) -> String {
    let Some((step, tokens)) = run.peak else {
        return "No calls".to_owned();
    };
    let sample = run.outcome.samples.get(step);
    let pressure = sample.map(|s| wording::of_usable(s.pressure));
    format!(
        "{} tokens at call {}: {}",
        wording::tokens(tokens),
        wording::number(step),
        pressure.unwrap_or_default()
    )
}

fn overflow_hint(run: &LaneRun) -> String {
    format!(
        "Calls whose first try did not fit. They carried {} tokens.",
        wording::tokens(run.outcome.tokens_rejected)
    )
}

fn sent_hint(run: &LaneRun) -> String {
    let summaries = run.outcome.summaries;
    let apart = if summaries.requests == 0 {
        String::new()
    } else {
        format!(
            ". {} apart: {} sent, {} back",
            wording::count(summaries.requests, "summary request"),
            wording::tokens(summaries.sent),
            wording::tokens(summaries.received)
        )
    };
    format!(
        "{} tokens sent by all calls{apart}",
        wording::tokens(run.sent)
    )
}

/// `≈$21.03`: a lane's cost is worked out, not billed. A dash where a price is not known.
fn cost_value(input: &PanelInput<'_>, lane: usize) -> String {
    let total = cost(input, lane).map(|cost| cost.cost.total());
    match total {
        Some(Some(usd)) => format!("≈{}", wording::usd(usd)),
        Some(None) => "–".to_owned(),
        None => "…".to_owned(),
    }
}

fn cost_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let Some((cost, costs)) = cost(input, lane).zip(input.costs) else {
        return "Working it out".to_owned();
    };
    if cost.cost.total().is_some() {
        let recorded = costs.recorded.cost.total().map_or_else(String::new, |usd| {
            format!(" What was recorded comes to {}.", wording::usd(usd))
        });
        let prices = match &input.config.billing.price {
            PriceChoice::Own(_) => "At your own prices",
            PriceChoice::Recorded | PriceChoice::Model(_) => "At list prices",
        };
        return format!("{prices}, with the provider's cache modelled.{recorded}");
    }
    match costs.unknown() {
        Some("") => {
            "The file names no model, so no price is known. Choose one in the tab Cost.".to_owned()
        }
        Some(model) => {
            let model = crate::safe_text::one_line(model, 60);
            format!("No price is known for {model}. Choose one in the tab Cost.")
        }
        None => "No call was billed.".to_owned(),
    }
}

/// What the lane lacked; none while that is worked out.
fn loss<'a>(input: &PanelInput<'a>, lane: usize) -> Option<&'a LaneLoss> {
    let loss = input.losses?.of(Some(lane))?;
    loss.is_of(&input.runs.lanes[lane]).then_some(loss)
}

fn risk_hint(input: &PanelInput<'_>, lane: usize) -> String {
    let Some((loss, all)) = loss(input, lane).zip(input.losses) else {
        return "Looking for what was used again".to_owned();
    };
    let (found, floor) = (&loss.found.at_risk, &all.recorded.found.at_risk);
    let blind = match found.blind_edits.len() {
        0 => String::new(),
        n => format!(
            " {}: their old text was gone.",
            wording::count(n, "blind edit")
        ),
    };
    let predicted = if found.fewest < found.faults.len() {
        " The fewer, if its summaries held what was asked for most."
    } else {
        ""
    };
    format!(
        "Uses by the recorded agent of what this policy had removed, of {}.{predicted}{blind} What was recorded has {} by \
         the same measure: the noise floor.",
        wording::count(found.uses, "use"),
        wording::grouped(floor.faults.len() as u64)
    )
}

/// What a lane's head says to those who cannot see it.
fn spoken_head(input: &PanelInput<'_>, lane: usize) -> String {
    let run = &input.runs.lanes[lane];
    let (label, outcome) = (&input.runs.labels[lane], &run.outcome);
    let peak = run.peak.map_or(Tokens::ZERO, |(_, tokens)| tokens);
    let (compactions, overflows) = (
        wording::count(outcome.compactions, "compaction"),
        wording::count(outcome.overflows, "overflow"),
    );
    format!(
        "Focus lane {}: {label}, peak {}, {compactions}, {overflows}",
        lane + 1,
        wording::short(peak)
    )
}
