//! The tab Tune: a sweep over many settings, with the cost, the expected re-reads and the peak of each, and a
//! recommendation.

use super::command::TuneCommand;
use super::input::TuneInput;
use super::state::TuneView;
use super::sweep::Sweep;
use crate::app::command::Commands;
use crate::app::shell::open_session::OpenSession;
use crate::app::shell::resizable_panel::{Edge, ResizablePanel, Side};
use crate::app::theme::palette;
use crate::app::view::ViewCommand;
use crate::app::widgets::text::{padded, small, weak};
use crate::app::{widgets, wording};
use egui::{Frame, Rangef, ScrollArea, Ui};

/// Width of the controls at the right, in points.
const CONTROLS: f32 = 230.0;
/// Initial and minimum width of the recommendation with the list, and minimum width of the plot, in points.
const BEST: f32 = 500.0;
const MIN_BEST: f32 = 200.0;
const MIN_PLOT: f32 = 280.0;

/// Shows the button that starts or stops a sweep, at the right of the drawer's tabs, from right to left.
pub(in crate::app) fn controls(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &TuneInput::new(session);
    ui.spacing_mut().interact_size.y = 22.0;
    let running = input.sweep.filter(|sweep| sweep.is_running());
    if let Some(sweep) = running {
        if ui.button("Stop").clicked() {
            commands.push(TuneCommand::Cancel);
        }
        let (done, all) = (sweep.n_done, sweep.points.len());
        let share = done as f32 / all.max(1) as f32;
        ui.add(
            egui::ProgressBar::new(share)
                .fill(palette(ui).accent)
                .desired_width(120.0)
                .desired_height(8.0),
        );
        let text = format!("{} of {}", wording::grouped(done as u64), wording::grouped(all as u64));
        ui.label(small(ui, text));
    } else {
        let button = widgets::secondary_button(ui, "Sweep", "Ctrl+R");
        if button.on_hover_text("Try many settings of the selected lanes").clicked() {
            commands.push(TuneCommand::Start);
        }
        if let Some(text) = input.sweep.map(|sweep| state(sweep, input)) {
            ui.label(small(ui, text));
        }
    }
}

/// Describes how a sweep ended.
fn state(sweep: &Sweep, input: &TuneInput<'_>) -> String {
    if !sweep.holds_for(input.config) {
        return "outdated: sweep again".to_owned();
    }
    let done = wording::count(sweep.n_done, "setting");
    let how = if sweep.is_cancelled { ", stopped" } else { "" };
    format!("{done}{how}")
}

/// Shows the plot, with the recommendation, the list of best settings and the choice of settings next to it.
pub(in crate::app) fn show(ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
    let input = &TuneInput::new(session);
    let (mut controls, edge) = right_panel(ui, ("tune controls", CONTROLS), 160.0);
    super::controls::show(&mut controls, input, commands);
    edge.beside(ui, |ui| match input.sweep {
        Some(sweep) => results(ui, input, sweep, commands),
        None => padded(ui, |ui| {
            ui.label(weak(
                ui,
                "Sweep tries many settings of each lane on this session and compares their cost, with the price of expected re-reads, and their peak fill.",
            ));
        }),
    });
}

/// Shows the plot, and next to it the recommendation and the list of best settings.
fn results(ui: &mut Ui, input: &TuneInput<'_>, sweep: &Sweep, commands: &mut Commands) {
    let (mut best, edge) = right_panel(ui, ("tune best", BEST), MIN_BEST);
    let mut hovered = None;
    ScrollArea::vertical().id_salt("tune best").auto_shrink(false).show(&mut best, |ui| {
        super::recommended::show(ui, input, sweep, commands);
        hovered = super::best::show(ui, sweep, commands);
        super::recommended::more(ui, sweep);
    });
    let in_plot = edge.beside(ui, |ui| super::plot::show(ui, input, sweep, commands));
    let hovered = in_plot.or(hovered);
    if hovered != input.view.hovered {
        let view = input.view.clone();
        commands.push(ViewCommand::Tune(Box::new(TuneView { hovered, ..view })));
    }
}

/// Places a panel at the right of the plot, given its name and its usual and minimum width.
fn right_panel(ui: &mut Ui, (name, usual): (&'static str, f32), least: f32) -> (Ui, Edge) {
    let panel = ResizablePanel {
        name,
        side: Side::Right,
        usual,
        range: Rangef::new(least, (ui.available_width() - MIN_PLOT).max(least)),
        frame: Frame::new().fill(palette(ui).panel),
    };
    panel.place(ui)
}
