//! The tab Evaluate: expected re-reads of each lane; a matrix of the facts that it kept, and the facts that it lost;
//! references at risk. Facts and references match texts and do not measure quality, so every count is shown with the
//! recorded one.

use crate::analysis::facts::Facts;
use crate::app::state::command::Commands;
use crate::app::state::evaluate::state::{EvaluatePage, EvaluateView};
use crate::app::state::measure::command::MeasureCommand;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::evaluate::{lost_facts, matrix};
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::resizable_panel::{Edge, ResizablePanel, Side};
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::{Frame, Panel, Rangef, Ui};

/// The tab Evaluate.
pub(crate) struct EvaluateTab;

impl DrawerTab for EvaluateTab {
    fn tab(&self) -> Tab {
        Tab::EVALUATE
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }
}

/// Default width of the lanes with references at risk and with expected re-reads, in points.
const LANES: f32 = 500.0;
const REREAD_LANES: f32 = 430.0;
/// Minimum width of a list, in points.
const MIN_LIST: f32 = 380.0;
/// Width of a list in which most facts are not truncated, in points.
const LIST: f32 = 600.0;
/// Height that the list below the matrix needs, in points. In lower drawers, it is at the right of the matrix.
const LIST_BELOW: f32 = 260.0;

/// Window width in points below which the controls have short names, so that they fit beside the tabs.
const NARROW: f32 = 1_000.0;

/// Shows buttons for the page, the call and the measurement at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let view = session.view.evaluate();
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let is_narrow = ui.ctx().content_rect().width() < NARROW;
    for page in EvaluatePage::ALL.into_iter().rev() {
        let name = page.name();
        let name = if is_narrow { name.strip_prefix("references ").unwrap_or(name) } else { name };
        let label = ui.selectable_label(view.page == page, small(ui, name));
        let label =
            label.on_hover_text(page.help()).accessible_name(format!("Show {}", page.name()));
        if label.clicked() {
            commands.push(ViewCommand::new(EvaluateView { page, ..view }));
        }
    }
    if view.page != EvaluatePage::Facts {
        return;
    }
    ui.add_space(space::M);
    let call = wording::number(session.selection.call);
    for (at_selected_call, text, name, help) in [
        (
            true,
            format!("at call {call}"),
            "Count facts at the selected call",
            "Count the facts in the context of the selected call",
        ),
        (
            false,
            "at the end".to_owned(),
            "Count facts at the last call",
            "Count the facts in the context of the last call",
        ),
    ] {
        let is_chosen = view.at_selected_call == at_selected_call;
        let label = ui.selectable_label(is_chosen, small(ui, text));
        if label.on_hover_text(help).accessible_name(name).clicked() {
            let view = EvaluateView { at_selected_call, ..view };
            commands.push(ViewCommand::new(view));
        }
    }
    ui.add_space(space::M);
    let help = "Ask a model questions about removed facts with the context of each lane. Nothing is sent before you confirm";
    let name = "Measure with a model…";
    let text = if is_narrow { "Measure…" } else { name };
    let button = ui.button(small(ui, text)).on_hover_text(help);
    if button.accessible_name(name).clicked() {
        commands.push(MeasureCommand::Open);
    }
}

/// Shows the chosen page.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    match input.view.evaluate().page {
        EvaluatePage::Rereads => rereads(ui, input, commands),
        EvaluatePage::Facts => facts(ui, input, commands),
        EvaluatePage::AtRisk => at_risk(ui, input, commands),
    }
}

fn facts(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(facts) = input.derived.facts() else {
        sentence(ui, "Step 1 of 2: finding facts…");
        return;
    };
    if let Some(why) = not_judged(input, facts) {
        sentence(ui, why);
        return;
    }
    let Some(evaluation) = input.derived.evaluation() else {
        let n_lanes = wording::count(input.runs.lanes.len() + 1, "lane");
        let n_facts = wording::count(facts.all().len(), "fact");
        sentence(ui, &format!("Step 2 of 2: following {n_facts} through {n_lanes}…"));
        return;
    };
    let list = |ui: &mut Ui, commands: &mut Commands| {
        ui.spacing_mut().item_spacing.y = 0.0;
        lost_facts::show(ui, input, facts, evaluation, commands);
    };
    let rows = matrix::height(matrix::kinds(evaluation).count());
    if ui.available_height() >= rows + LIST_BELOW {
        let frame = Frame::new().fill(palette(ui).panel);
        Panel::top("survival above").exact_size(rows).frame(frame).show(ui, |ui| {
            matrix::show(ui, input, facts, evaluation, commands);
        });
        widgets::clip_to_rest(ui);
        list(ui, commands);
    } else {
        let (n, width) = (input.runs.lanes.len(), ui.available_width());
        // The list gets the width of the bars first.
        let wide = matrix::width(n).min(width - LIST).max(matrix::narrow_width(n));
        let (mut content, edge) = left_panel(ui, "survival", wide);
        matrix::show(&mut content, input, facts, evaluation, commands);
        edge.beside(ui, |ui| list(ui, commands));
    }
}

/// Places the panel at the left of a list.
fn left_panel(ui: &mut Ui, name: &'static str, usual: f32) -> (Ui, Edge) {
    let panel = ResizablePanel {
        name,
        side: Side::Left,
        usual,
        range: Rangef::new(200.0, (ui.available_width() - MIN_LIST).max(240.0)),
        frame: Frame::new().fill(palette(ui).panel),
    };
    panel.place(ui)
}

/// Returns why survival cannot be judged, if it cannot.
fn not_judged(input: &OpenSession<'_>, facts: &Facts) -> Option<&'static str> {
    if input.document.session().calls.is_empty() {
        return Some("This file has no model calls, so survival cannot be judged.");
    }
    facts.all().is_empty().then_some(
        "No rule finds a fact in this session (constraints, files, commands, errors, values), so survival cannot be judged.",
    )
}

fn rereads(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(losses) = input.derived.losses() else {
        sentence(ui, "Searching for files that were read…");
        return;
    };
    let (mut content, edge) = left_panel(ui, "reread lanes", REREAD_LANES);
    crate::app::ui::evaluate::reread_lanes::show(&mut content, input, losses, commands);
    edge.beside(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        crate::app::ui::evaluate::reread_files::show(ui, input, losses, commands);
    });
}

fn at_risk(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(losses) = input.derived.losses() else {
        sentence(ui, "Searching for references…");
        return;
    };
    let (mut content, edge) = left_panel(ui, "loss lanes", LANES);
    crate::app::ui::evaluate::lanes::show(&mut content, input, losses, commands);
    edge.beside(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        crate::app::ui::evaluate::at_risk::show(ui, input, losses, commands);
    });
}

fn sentence(ui: &mut Ui, text: &str) {
    padded(ui, |ui| ui.label(weak(ui, text)));
}
