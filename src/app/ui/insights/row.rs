//! One insight: a line with its severity sign, call, lane and sentence, and its details while open.

use crate::analysis::facts::FactKind;
use crate::analysis::insight::{Certainty, Insight, InsightKind};
use crate::analysis::{FindingKind, MessageName};
use crate::app::state::command::{Command, Commands};
use crate::app::state::cost::state::{CostPage, CostView};
use crate::app::state::evaluate::state::{EvaluatePage, EvaluateView};
use crate::app::state::insights::list::{Row, shown};
use crate::app::state::messages::order::Sort;
use crate::app::state::messages::state::MessagesCommand;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::text::{small, weak};
use crate::engine::Halt;
use crate::safe_text;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align, Color32, Galley, Label, Layout, Rect, Response, Role, Sense, Shape, TextStyle, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use std::sync::Arc;

/// Height of a line whose sentence is not wrapped, in points.
const LINE: f32 = 26.0;
/// Horizontal positions of the sign, the call and the lane in a line, in points.
const SIGN: f32 = 16.0;
const CALL: f32 = 40.0;
const LANE: f32 = 116.0;
/// Width from which a line shows the name of the lane and the certainty, in points.
const WIDE: f32 = 640.0;
/// Horizontal position of the sentence in a narrow and in a wide line, in points.
const SENTENCE: [f32; 2] = [136.0, 228.0];
/// Width of the certainty at the right, in points.
const CERTAINTY: f32 = 72.0;
/// Width of the labels in the details, in points.
const NAMES: f32 = 92.0;
/// Maximum number of listed ranges of calls with a halt. The tab Events lists all.
const MAX_HALTS: usize = 20;

/// Shows an insight. Returns the response of its line.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    row: &Row<'_>,
    is_open: bool,
    commands: &mut Commands,
) -> Response {
    let is_wide = ui.available_width() > WIDE;
    let left = SENTENCE[usize::from(is_wide)];
    let right = space::L + if is_wide { CERTAINTY } else { 0.0 };
    let width = (ui.available_width() - left - right).max(120.0);
    let galley = sentence(ui, row.insight, width, is_open);
    let size = vec2(ui.available_width(), (galley.size().y + 9.0).max(LINE));
    let background = ui.painter().add(Shape::Noop);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListBoxOption, true, is_open, accessible_text(input, row))
    });
    if ui.is_rect_visible(rect) {
        line(ui, input, row, rect, is_wide);
        let at = rect.min + vec2(left, 4.5);
        ui.painter().galley(at, galley, palette(ui).text);
    }
    let mut all = rect;
    if is_open {
        let below = ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing = vec2(space::S, 2.0);
            ui.spacing_mut().interact_size.y = 18.0;
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(width);
                body(ui, input, row, commands);
                ui.add_space(space::S);
            });
        });
        all = all.with_max_y(below.response.rect.bottom());
    }
    if let Some(fill) = fill(ui, is_open, &response) {
        ui.painter().set(background, Shape::rect_filled(all, 0.0, fill));
    }
    response
}

fn fill(ui: &Ui, is_open: bool, response: &Response) -> Option<Color32> {
    if is_open {
        return Some(palette(ui).raised);
    }
    let is_hot = response.hovered() || response.has_focus();
    is_hot.then(|| palette(ui).hover.gamma_multiply(0.5))
}

/// Lays out the sentence, on one line while closed.
fn sentence(ui: &Ui, insight: &Insight, width: f32, is_open: bool) -> Arc<Galley> {
    let text = wording::with_grouped(&shown(&insight.text));
    let font = TextStyle::Body.resolve(ui.style());
    let mut job = LayoutJob::simple(text, font, palette(ui).text, width);
    if !is_open {
        job.wrap = TextWrapping::truncate_at_width(width);
    }
    ui.painter().layout_job(job)
}

/// Shows the parts of a line next to the sentence.
fn line(ui: &mut Ui, input: &OpenSession<'_>, row: &Row<'_>, rect: Rect, is_wide: bool) {
    let first = rect.with_max_y(rect.top() + LINE);
    let mut part = |from: f32, to: f32| {
        let x = rect.left() + from..=rect.left() + to;
        let builder = UiBuilder::new().max_rect(Rect::from_x_y_ranges(x, first.y_range()));
        let mut part = ui.new_child(builder.layout(Layout::left_to_right(Align::Center)));
        part.spacing_mut().item_spacing.x = 6.0;
        part
    };
    widgets::level_sign(&mut part(SIGN, CALL), row.insight.level);
    let mut call = part(CALL, LANE);
    let place = match (row.insight.call, row.insight.message) {
        (Some(call), _) => format!("call {}", wording::number(call)),
        (None, Some(message)) => format!("message {}", wording::number(message)),
        (None, None) => "file".to_owned(),
    };
    let text = weak(&call, place);
    call.add(Label::new(text).truncate());
    let mut lane = part(LANE, SENTENCE[usize::from(is_wide)] - space::S);
    if let Some(idx) = row.lane {
        let color = palette(&lane).lane(idx);
        widgets::swatch(&mut lane, color);
        if is_wide {
            lane.add(Label::new(input.runs.label(row.lane)).truncate());
        }
    } else if is_wide {
        let text = weak(&lane, "session");
        lane.label(text);
    }
    if is_wide && row.insight.certainty != Certainty::Certain {
        let font = TextStyle::Small.resolve(ui.style());
        let at = pos2(rect.right() - space::L, first.center().y);
        let (label, color) = (row.insight.certainty.name(), palette(ui).weak);
        ui.painter().text(at, egui::Align2::RIGHT_CENTER, label, font, color);
    }
}

/// Shows evidence, advice, certainty and links to related views.
fn body(ui: &mut Ui, input: &OpenSession<'_>, row: &Row<'_>, commands: &mut Commands) {
    let insight = row.insight;
    fact(ui, "evidence", &wording::with_grouped(&shown(&insight.evidence)));
    fact(ui, "advice", insight.advice);
    fact(ui, "certainty", wording::certainty(insight.certainty));
    if insight.kind == InsightKind::Finding(FindingKind::GivesUp) {
        halts(ui, input, row.lane, commands);
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::L;
        links(ui, input, row, commands);
    });
}

fn fact(ui: &mut Ui, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let size = vec2(NAMES, 0.0);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
            ui.set_min_width(NAMES);
            ui.label(weak(ui, name));
        });
        ui.add(Label::new(text).wrap());
    });
}

fn links(ui: &mut Ui, input: &OpenSession<'_>, row: &Row<'_>, commands: &mut Commands) {
    let insight = row.insight;
    if let Some(call) = insight.call {
        let link = ui.link(format!("Show call {}", wording::number(call)));
        if link.clicked() {
            commands.push(SelectCommand::Spot(Spot {
                lane: row.lane,
                call: Some(call),
                message: insight.message,
            }));
        }
    }
    if let Some(message) = insight.message {
        let name = MessageName::of(&input.runs.case, message).to_string();
        let name = safe_text::one_line(&name, 60);
        let link = ui.link(format!("Open message {}", wording::number(message)));
        if link.on_hover_text(name).clicked() {
            commands.push(SelectCommand::Message(message));
        }
    }
    view_link(ui, input, row, commands);
}

/// Shows a link to the view that lists what the insight is about, if there is one.
fn view_link(ui: &mut Ui, input: &OpenSession<'_>, row: &Row<'_>, commands: &mut Commands) {
    let evaluate = |view: EvaluateView| Command::from(ViewCommand::new(view));
    let cost = |page: CostPage| {
        let view = input.view.cost();
        Command::from(ViewCommand::new(CostView { page, ..view }))
    };
    let (text, view, tab) = match row.insight.kind {
        InsightKind::ExpectedRereads => {
            let view =
                evaluate(EvaluateView { page: EvaluatePage::Rereads, ..input.view.evaluate() });
            ("Show expected re-reads", view, Tab::EVALUATE)
        }
        InsightKind::BlindEdits => {
            let view =
                evaluate(EvaluateView { page: EvaluatePage::AtRisk, ..input.view.evaluate() });
            ("Show references at risk", view, Tab::EVALUATE)
        }
        InsightKind::InstructionGone => {
            let view = evaluate(EvaluateView {
                page: EvaluatePage::Facts,
                kind: Some(FactKind::Constraint),
                ..input.view.evaluate()
            });
            ("Show user constraints", view, Tab::EVALUATE)
        }
        InsightKind::CacheBreaks => ("Show all cache misses", cost(CostPage::Cache), Tab::COST),
        InsightKind::NotPaid => ("Show compaction costs", cost(CostPage::Compactions), Tab::COST),
        InsightKind::DeadResults | InsightKind::FewMessages => {
            let sort = MessagesCommand::Sort(Sort::BY_CUMULATIVE);
            let text = "Show messages by cumulative tokens";
            (text, sort.into(), Tab::MESSAGES)
        }
        _ => return,
    };
    if ui.link(text).clicked() {
        if tab == Tab::EVALUATE {
            commands.extend(row.lane.map(|lane| SelectCommand::Lane(Some(lane))));
        }
        commands.push(view);
        commands.push(ShellCommand::ShowTab(tab));
    }
}

/// Lists where the system would have stopped after the first halt: each error once per range of calls.
fn halts(ui: &mut Ui, input: &OpenSession<'_>, lane: Option<usize>, commands: &mut Commands) {
    let Some(run) = lane.and_then(|lane| input.runs.lanes.get(lane)) else {
        return;
    };
    let is_next = |a: &Halt, b: &Halt| a.why == b.why && b.call <= a.call + 1;
    let mut runs = run.outcome.halts.chunk_by(is_next).skip(1);
    for halts in runs.by_ref().take(MAX_HALTS) {
        let Some(first) = halts.first() else { continue };
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            ui.spacing_mut().interact_size.y = 18.0;
            if ui.link(format!("call {}", wording::number(first.call))).clicked() {
                commands.push(SelectCommand::Spot(Spot {
                    lane,
                    call: Some(first.call),
                    message: None,
                }));
            }
            if halts.len() > 1 {
                let times = wording::grouped(halts.len() as u64);
                ui.label(small(ui, format!("{times}×")));
            }
            let why = safe_text::one_line(&first.why, 300);
            ui.add(Label::new(why).truncate());
        });
    }
    let more = runs.count();
    if more > 0 {
        ui.label(small(ui, format!("and {}", wording::count(more, "more time"))));
    }
}

/// Returns the accessible text of a line.
fn accessible_text(input: &OpenSession<'_>, row: &Row<'_>) -> String {
    let insight = row.insight;
    let lane = match row.lane {
        Some(_) => format!(", {}", input.runs.label(row.lane)),
        None => String::new(),
    };
    let call =
        insight.call.map_or_else(String::new, |call| format!(", call {}", wording::number(call)));
    let level = wording::level(insight.level);
    format!("{level}{lane}{call}: {}", shown(&insight.text))
}
