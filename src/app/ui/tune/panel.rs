//! The tab Tune: a sweep over many settings, with the cost, the expected re-reads and the peak of each, and a
//! recommendation.

use crate::app::state::command::Commands;
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::tune::command::TuneCommand;
use crate::app::state::tune::state::TuneView;
use crate::app::state::tune::sweep::Sweep;
use crate::app::state::wording;
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets;
use crate::app::ui::widgets::resizable_panel::{Edge, ResizablePanel, Side};
use crate::app::ui::widgets::text::{padded, small, weak};
use egui::{Frame, Rangef, ScrollArea, Ui};

/// The tab Tune.
pub(crate) struct TuneTab;

impl DrawerTab for TuneTab {
    fn tab(&self) -> Tab {
        Tab::TUNE
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }
}

/// Width of the controls at the right, in points.
const CONTROLS: f32 = 230.0;
/// Initial and minimum width of the recommendation with the list, and minimum width of the plot, in points.
const BEST: f32 = 500.0;
const MIN_BEST: f32 = 200.0;
const MIN_PLOT: f32 = 280.0;

/// Shows the button that starts or stops a sweep, at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
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
fn state(sweep: &Sweep, input: &OpenSession<'_>) -> String {
    if !sweep.holds_for(input.config) {
        return "outdated: sweep again".to_owned();
    }
    let done = wording::count(sweep.n_done, "setting");
    let how = if sweep.is_cancelled { ", stopped" } else { "" };
    format!("{done}{how}")
}

/// Shows the plot, with the recommendation, the list of best settings and the choice of settings next to it.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let (mut controls, edge) = right_panel(ui, ("tune controls", CONTROLS), 160.0);
    crate::app::ui::tune::controls::show(&mut controls, input, commands);
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
fn results(ui: &mut Ui, input: &OpenSession<'_>, sweep: &Sweep, commands: &mut Commands) {
    let (mut best, edge) = right_panel(ui, ("tune best", BEST), MIN_BEST);
    let mut hovered = None;
    ScrollArea::vertical().id_salt("tune best").auto_shrink(false).show(&mut best, |ui| {
        crate::app::ui::tune::recommended::show(ui, input, sweep, commands);
        hovered = crate::app::ui::tune::best::show(ui, sweep, commands);
        crate::app::ui::tune::recommended::more(ui, sweep);
    });
    let in_plot =
        edge.beside(ui, |ui| crate::app::ui::tune::plot::show(ui, input, sweep, commands));
    let hovered = in_plot.or(hovered);
    if hovered != input.view.tune().hovered {
        let view = input.view.tune().clone();
        commands.push(ViewCommand::new(TuneView { hovered, ..view }));
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
