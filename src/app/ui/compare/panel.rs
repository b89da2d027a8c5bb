//! The tab Compare: the open session A and a second session B side by side.

use crate::app::state::command::Commands;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::compare::state::{ComparePage, CompareView, Side};
use crate::app::state::model::tab::Tab;
use crate::app::state::model::view::ViewCommand;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::compare::both::{Both, color};
use crate::app::ui::compare::{contents, detail, figures};
use crate::app::ui::drawer_tab::DrawerTab;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::resizable_panel;
use crate::app::ui::widgets::resizable_panel::ResizablePanel;
use crate::app::ui::widgets::text::{padded, small, weak};
use crate::safe_text;
use egui::{Frame, Margin, Rangef, RichText, Ui};

/// The tab Compare.
pub(crate) struct CompareTab;

impl DrawerTab for CompareTab {
    fn tab(&self) -> Tab {
        Tab::COMPARE
    }

    fn show(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        show(ui, session, commands);
    }

    fn controls(&self, ui: &mut Ui, session: &OpenSession<'_>, commands: &mut Commands) {
        controls(ui, session, commands);
    }
}

/// Minimum widths of the list and of the text next to it, in points.
const MIN_LIST: f32 = 420.0;
const MIN_TEXT: f32 = 260.0;
/// Maximum characters of a session's name.
const NAME: usize = 48;

/// Shows the choice of the page and the commands at the right of the drawer's tabs, from right to left.
fn controls(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    if input.comparison.is_none() {
        return;
    }
    ui.spacing_mut().interact_size.y = 22.0;
    ui.spacing_mut().button_padding = egui::vec2(6.0, 1.0);
    ui.spacing_mut().item_spacing.x = 2.0;
    let mut button = |ui: &mut Ui, text: &str, name: &str, help: &str, command| {
        let button = ui.button(small(ui, text)).accessible_name(name.to_owned());
        if button.on_hover_text(help).clicked() {
            commands.push(command);
        }
    };
    let help = "Ends the comparison; the open session stays";
    button(ui, "✕", "Close the comparison", help, CompareCommand::Close);
    if Both::new(input).is_none() {
        return;
    }
    let help = "Opens B with its lanes, and compares it with A";
    button(ui, "⇄ swap", "Swap A and B", help, CompareCommand::Swap);
    ui.add_space(space::S);
    let view = input.view.compare();
    for page in ComparePage::ALL.into_iter().rev() {
        let label = ui.selectable_label(view.page == page, small(ui, page.name()));
        let label =
            label.on_hover_text(page.help()).accessible_name(format!("Compare: {}", page.name()));
        if label.clicked() {
            commands.push(ViewCommand::new(CompareView { page, ..view }));
        }
    }
}

/// Shows the chosen page.
fn show(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    let Some(both) = Both::new(input) else {
        padded(ui, |ui| not_ready(ui, input, commands));
        return;
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    names(ui, both);
    match input.view.compare().page {
        ComparePage::Figures => figures::show(ui, both),
        ComparePage::Tools => figures::tools(ui, both),
        ComparePage::Messages | ComparePage::Facts => lists(ui, input, both, commands),
    }
}

/// Shows a list and, next to it, the text of the chosen message.
fn lists(ui: &mut Ui, input: &OpenSession<'_>, both: Both<'_>, commands: &mut Commands) {
    let available = ui.available_width();
    let text = input.view.compare().shown.map(|shown| {
        let panel = ResizablePanel {
            name: "compared text",
            side: resizable_panel::Side::Right,
            usual: (available * 0.4).round(),
            range: Rangef::new(MIN_TEXT, (available - MIN_LIST).max(MIN_TEXT)),
            frame: Frame::new().fill(palette(ui).panel),
        };
        (shown, panel.place(ui))
    });
    // The list must not extend over the text.
    let clip = widgets::clip_to_rest(ui);
    match input.view.compare().page {
        ComparePage::Facts => contents::facts(ui, input, both, commands),
        _ => contents::messages(ui, input, both, commands),
    }
    ui.set_clip_rect(clip);
    if let Some((shown, (mut content, edge))) = text {
        detail::show(&mut content, input, shown, commands);
        edge.show(ui);
    }
}

/// Shows the names of both sessions in their colors.
fn names(ui: &mut Ui, both: Both<'_>) {
    let margin = Margin { left: 16, right: 16, top: 4, bottom: 0 };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            for side in Side::ALL {
                let document = both.documents[side.index()];
                let name = safe_text::one_line(&document.session().source.name, NAME);
                let calls = wording::count(document.session().calls.len(), "call");
                let label = RichText::new(format!("{}  {name}", side.name()));
                let label = ui.label(label.color(color(ui, side)));
                label.on_hover_text(safe_text::visible(&document.source_text()));
                let format = document.format_label();
                ui.label(small(ui, format!("{format} · {calls}")));
                ui.add_space(space::L);
            }
        });
    });
}

/// Shows how to start a comparison, its progress, or why it failed.
fn not_ready(ui: &mut Ui, input: &OpenSession<'_>, commands: &mut Commands) {
    ui.spacing_mut().item_spacing.y = space::S;
    let comparison = input.comparison;
    if let Some(loading) = comparison.and_then(|comparison| comparison.loading()) {
        let share = loading.stage().share.map(wording::percent);
        let share = share.map_or_else(String::new, |share| format!(" {share}"));
        ui.label(weak(ui, format!("Reading {}…{share}", loading.name)));
        if widgets::secondary_button(ui, "Cancel", "").clicked() {
            commands.push(CompareCommand::Close);
        }
        return;
    }
    if comparison.is_some_and(|comparison| comparison.document().is_some()) {
        ui.label(weak(ui, "Comparing the sessions…"));
        return;
    }
    match comparison.and_then(|comparison| comparison.problem()) {
        Some(problem) => {
            let bad = palette(ui).bad;
            ui.label(RichText::new(problem).color(bad));
        }
        None => {
            ui.label(weak(
                ui,
                "Compares this session with a second one: before and after a change of the prompt, two agents, or an original and its managed conversation.",
            ));
        }
    }
    if widgets::secondary_button(ui, "Open as comparison…", "").clicked() {
        commands.push(CompareCommand::ShowDialog);
    }
    ui.label(small(
        ui,
        "Or right-click a recent file in the menu, or a session in the list of sessions.",
    ));
}
