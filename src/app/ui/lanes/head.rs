//! The head of a lane: its policy with a menu, and its figures.

use crate::analysis::insight::{Insight, Level};
use crate::app::state::command::Commands;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::insights::list::{InsightFilter, InsightsView};
use crate::app::state::lanes::command::LanesCommand;
use crate::app::state::model::config::MAX_LANES;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::settings_panel::command::SettingsCommand;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::lanes::figure_grid::RankedFigures;
use crate::app::ui::lanes::{figure_grid, figures};
use crate::app::ui::parts::preset_menu;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::small;
use crate::app::ui::{theme, widgets};
use egui::{
    Align, Button, Color32, Label, Layout, Popup, PopupCloseBehavior, Rect, RichText, Role, Sense,
    Ui, UiBuilder, WidgetInfo, vec2,
};

/// Height of the name with the space around it, in points.
const NAME: f32 = 32.0;
/// Space below the figures in a window of at least this height, in points. A lower window needs it for messages.
const AIR: f32 = 6.0;
const HIGH_WINDOW: f32 = 720.0;
/// Space above the figures, in points.
const SPACE: f32 = 2.0;

/// The layout of all lane heads.
pub(crate) struct Plan {
    grid: figure_grid::Grid,
    /// Height of each head, in points.
    pub(crate) height: f32,
}

/// Computes the layout for heads of this width.
pub(crate) fn plan(ui: &Ui, figures: &RankedFigures, width: f32) -> Plan {
    Plan { grid: figures.grid(width - 2.0 * margin(width)), height: height(ui) }
}

/// Returns the height of each head, in points.
pub(crate) fn height(ui: &Ui) -> f32 {
    let air = if is_high_window(ui) { AIR } else { 0.0 };
    NAME + SPACE + figure_grid::HEIGHT + air
}

/// Returns whether the window is high enough for space below the figures and for several messages.
pub(crate) fn is_high_window(ui: &Ui) -> bool {
    ui.ctx().content_rect().height() >= HIGH_WINDOW
}

/// Returns the minimum width of a head with these figures, in points.
pub(crate) fn least_width(figures: &RankedFigures) -> f32 {
    figures.least_width() + 2.0 * MARGIN
}

/// Margin of a narrow head, in points.
const MARGIN: f32 = 8.0;

/// Returns the left and right margin of a head of this width, in points.
fn margin(width: f32) -> f32 {
    if width < 208.0 { MARGIN } else { 12.0 }
}

/// Shows the head of a lane in `rect`.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: Option<usize>,
    plan: &Plan,
    rect: Rect,
    commands: &mut Commands,
) {
    // Behind the controls: a click anywhere on the head focuses the lane.
    let head = ui.interact(rect, ui.scope_id().with(("lane head", lane)), Sense::CLICK);
    head.widget_info(|| WidgetInfo::labeled(Role::Button, true, spoken_head(input, lane)));
    if head.clicked() {
        commands.push(SelectCommand::Lane(lane));
    }
    head.context_menu(|ui| figure_grid::menu(ui, input, lane, None, commands));
    head.on_hover_ui(|ui| {
        // Figures that do not fit in the head are shown here.
        for line in figure_grid::lines(input, lane) {
            ui.label(line);
        }
    });
    let inner = rect.shrink2(vec2(margin(rect.width()), 6.0));
    let mut ui = ui.new_child(
        UiBuilder::new()
            .id_salt(("head", lane))
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
    );
    if input.derived.is_stale() {
        ui.multiply_opacity(0.5);
    }
    match lane {
        Some(lane) => title(&mut ui, input, lane, has_space(inner), commands),
        None => recorded_title(&mut ui, input, has_space(inner)),
    }
    ui.add_space(SPACE);
    figure_grid::show(&mut ui, input, lane, &plan.grid, commands);
}

/// Shows the name of the recorded lane and its context size at the selected call.
fn recorded_title(ui: &mut Ui, input: &OpenSession<'_>, has_space: bool) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.spacing_mut().interact_size.y = 20.0;
        dot(ui, palette(ui).recorded);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if has_space {
                position(ui, input, None);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let name = RichText::new("Recorded baseline").text_style(theme::strong());
                let name = ui.add(Label::new(name).truncate());
                name.on_hover_text("The recorded session, from which the differences of the other lanes are computed");
            });
        });
    });
}

/// Draws the dot before a lane's name.
fn dot(ui: &mut Ui, color: Color32) {
    let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    ui.painter().circle_filled(dot.center(), 4.0, color);
}

/// Shows the selected call and a lane's context size there.
fn position(ui: &mut Ui, input: &OpenSession<'_>, lane: Option<usize>) {
    let place = ui.label(small(ui, position_label(input, lane)));
    place.on_hover_ui(|ui| {
        ui.label(figures::now_hint(input, lane));
    });
}

/// Returns whether the first line has space for more than the name.
fn has_space(head: Rect) -> bool {
    head.width() > 240.0
}

fn title(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    lane: usize,
    has_space: bool,
    commands: &mut Commands,
) {
    let policy = &input.runs.lanes[lane].policy;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().button_padding = vec2(2.0, 1.0);
        ui.spacing_mut().interact_size.y = 20.0;
        dot(ui, palette(ui).lane(lane));
        // The call is hidden if it does not fit beside the name.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if has_space {
                position(ui, input, Some(lane));
            }
            if input.config.lanes.get(lane).is_some_and(|l| l.own.is_some()) && has_space {
                ui.label(small(ui, "own settings"));
            }
            badge(ui, input, lane, commands);
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

fn menu(button: &egui::Response, input: &OpenSession<'_>, lane: usize, commands: &mut Commands) {
    let popup = Popup::menu(button).close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    popup.show(|ui| {
        let n_before = commands.count();
        let chosen = input.config.lanes.get(lane).map_or("", |l| &l.policy);
        if let Some(name) = preset_menu::list(ui, input.policies, chosen) {
            commands.push(LanesCommand::SetPolicy(lane, name));
            commands.push(SelectCommand::Lane(Some(lane)));
        }
        ui.separator();
        let n = input.config.lanes.len();
        if ui.add_enabled(n < MAX_LANES, Button::new("Add a lane")).clicked() {
            commands.push(LanesCommand::Add);
            commands.push(SelectCommand::Lane(Some(n)));
        }
        let is_own = input.config.lanes.get(lane).is_some_and(|l| l.own.is_some());
        let own = if is_own { "Use shared settings" } else { "Use own settings" };
        if ui.button(own).clicked() {
            commands.push(SettingsCommand::SetOwn { lane, is_own: !is_own });
            commands.push(SelectCommand::Lane(Some(lane)));
        }
        if ui.add_enabled(n > 1, Button::new("Remove this lane")).clicked() {
            commands.push(LanesCommand::Remove(lane));
        }
        if ui.button("About this policy").clicked() {
            commands.push(SelectCommand::Lane(Some(lane)));
            commands.push(ShellCommand::ShowTab(Tab::ABOUT));
        }
        if ui.button("Export this lane…").clicked() {
            commands.push(ExportCommand::Start(Some(lane)));
        }
        if commands.count() > n_before {
            ui.close();
        }
    });
}

/// Shows a badge with the number of problems of the lane, in the tone of the most severe. A click opens the first.
fn badge(ui: &mut Ui, input: &OpenSession<'_>, lane: usize, commands: &mut Commands) {
    let run = &input.runs.lanes[lane];
    let costs = input.derived.costs().and_then(|costs| costs.of(Some(lane)));
    let Some(cost) = costs.filter(|cost| cost.is_of(run)) else {
        return;
    };
    let is_shown = |insight: &&Insight| insight.level != Level::Note;
    let all: Vec<&Insight> = cost.insights.iter().filter(is_shown).collect();
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
            let place = insight
                .call
                .map_or_else(String::new, |call| format!("call {}: ", wording::number(call)));
            ui.label(format!("{place}{}", crate::app::state::insights::list::shown(&insight.text)));
        }
    });
    if badge.clicked() {
        let row = crate::app::state::insights::list::Row { lane: Some(lane), insight: worst };
        commands.push(SelectCommand::Lane(Some(lane)));
        let view = InsightsView { filter: InsightFilter::default(), open: Some(row.key()) };
        commands.push(ViewCommand::new(view));
        commands.push(ShellCommand::ShowTab(Tab::INSIGHTS));
    }
}

/// Returns the call and context size, such as `call 48, end · 79.2k`.
fn position_label(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let place = wording::place_label(input.rows.call, input.document.session().calls.len());
    format!("{place} · {}", figures::now_text(input, lane))
}

/// Returns the accessible text of a lane's head, with all figures.
fn spoken_head(input: &OpenSession<'_>, lane: Option<usize>) -> String {
    let label = input.runs.label(lane);
    let lane_name = lane.map_or_else(
        || "Focus the recorded lane".to_owned(),
        |lane| format!("Focus lane {}", lane + 1),
    );
    let figures = figure_grid::lines(input, lane).join(", ");
    format!("{lane_name}: {label}, {figures}")
}
