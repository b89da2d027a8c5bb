//! One sentence above the plot: what happened. Its clauses lead to where it happened.

use super::{Frame, PanelInput};
use crate::analysis::{Clause, Link};
use crate::app::command::Command;
use crate::app::theme::{palette, space};
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, CursorIcon, Label, RichText, Sense, Stroke, TextStyle, Ui, vec2};

/// Shows the verdict, or what went wrong with opening another file.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    frame: &Frame<'_>,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, 2.0);
        ui.spacing_mut().interact_size.y = 20.0;
        if let Some(problem) = frame.problem {
            dot(ui, palette(ui).bad);
            ui.label(RichText::new(problem).color(palette(ui).bad));
            if ui.small_button("Dismiss").clicked() {
                commands.push(Command::DismissProblem);
            }
            return;
        }
        let outcome = &input.runs.recorded.outcome;
        let color = if outcome.overflows > 0 {
            palette(ui).bad
        } else if outcome.compactions > 0 {
            palette(ui).warn
        } else {
            palette(ui).ok
        };
        dot(ui, color);
        for clause in &input.runs.verdict.clauses {
            show_clause(ui, clause, commands);
        }
    });
    if let Some(loading) = frame.loading {
        super::welcome::progress(ui, loading, commands);
    }
}

fn show_clause(ui: &mut Ui, clause: &Clause, commands: &mut Vec<Command>) {
    let Some(link) = clause.link else {
        ui.label(&clause.text);
        return;
    };
    let id = ui.next_auto_id();
    let is_hot = ui
        .ctx()
        .read_response(id)
        .is_some_and(|r| r.hovered() || r.has_focus());
    let underline = Stroke::new(
        1.0,
        if is_hot {
            palette(ui).accent
        } else {
            palette(ui).faint
        },
    );
    let format = TextFormat {
        font_id: TextStyle::Body.resolve(ui.style()),
        color: palette(ui).text,
        underline,
        valign: Align::Center,
        ..TextFormat::default()
    };
    let text = LayoutJob::single_section(clause.text.clone(), format);
    let response = ui
        .add(Label::new(text).sense(Sense::click()).selectable(false))
        .on_hover_cursor(CursorIcon::PointingHand);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &clause.text));
    if response.clicked() {
        commands.push(match link {
            Link::Step(step) => Command::SelectStep(step),
            Link::Message(message) => Command::SelectMessage(message),
        });
    }
}

fn dot(ui: &mut Ui, color: egui::Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
    ui.painter()
        .circle_filled(rect.center() - vec2(3.0, 0.0), 4.0, color);
}
