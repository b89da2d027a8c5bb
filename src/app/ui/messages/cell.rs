//! Cells of the message table.

use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::messages::columns::Col;
use crate::app::ui::messages::{cumulative_cell, find};
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::text::weak;
use crate::app::ui::{theme, widgets};
use crate::session::Kind;
use egui::{Label, RichText, Sense, Ui, vec2};

/// Shows a message's value in a column.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    message: usize,
    column: Col,
    is_new: bool,
) {
    let (facts, ledger) = (&input.document.facts[message], &input.runs.case.ledger);
    let m = &input.document.session().messages[message];
    let tokens = ledger.message(message);
    let share = tokens.share_of(ledger.total());
    match column {
        Col::Number => {
            ui.label(weak(ui, wording::number(message)));
            if is_new {
                mark_new(ui);
            }
        }
        Col::Mark => crate::app::ui::parts::mark_menu::icon(ui, input, message),
        Col::Call => {
            let call = facts.call.map_or_else(|| "–".to_owned(), wording::number);
            ui.label(if is_new {
                RichText::new(call).color(palette(ui).accent)
            } else {
                weak(ui, call)
            });
        }
        Col::Role if m.is_injected => {
            ui.label(weak(ui, "injected")).on_hover_ui(|ui| {
                let role = m.role.name();
                ui.label(format!("Role {role}, but added by the program"));
            });
        }
        Col::Role => {
            ui.label(weak(ui, m.role.name()));
        }
        Col::Kind => {
            ui.spacing_mut().item_spacing.x = 6.0;
            widgets::swatch(ui, palette(ui).kind(facts.kind));
            ui.label(wording::kind(facts.kind));
        }
        Col::Tool => {
            ui.add(Label::new(facts.tool.as_deref().unwrap_or_default()).truncate());
        }
        Col::Content => {
            crate::app::ui::parts::note::mark(ui, input.config, message);
            let color = if m.in_history { palette(ui).text } else { palette(ui).weak };
            if let Some(snippet) = find::snippet(ui, input, message) {
                widgets::snippet(ui, &snippet, color);
                return;
            }
            let text = RichText::new(&*facts.preview).color(color);
            let text =
                crate::app::ui::parts::mark_menu::styled(input, message, text, palette(ui).weak);
            widgets::one_line(ui, text);
        }
        Col::Tokens => {
            let text = RichText::new(wording::tokens(tokens));
            ui.label(if share.0 >= 0.03 { text.text_style(theme::strong()) } else { text });
        }
        Col::Sent => cumulative_cell::calls(ui, input, message),
        Col::Cumulative => cumulative_cell::cumulative(ui, input, message),
        Col::Bar => {
            let share = input.derived.cumulative().map(|c| c.tokens(message).share_of(c.heaviest));
            bar(ui, share.map_or(0.0, |share| share.0 as f32), facts.kind);
        }
        Col::LastUsed => cumulative_cell::last_used(ui, input, message),
        Col::NeededBy => cumulative_cell::needed_by(ui, input, message),
        Col::Share => {
            // A share that rounds to zero is left blank.
            if share.0 >= 0.001 {
                ui.label(weak(ui, wording::percent(share)));
            }
        }
        Col::Total => {
            let history = &ledger.truth.history_prefix;
            let cumulative = history.get(message + 1).copied().unwrap_or_default();
            ui.label(weak(ui, wording::grouped(cumulative)));
        }
    }
}

/// Draws a bar for a message's cumulative tokens relative to the largest message.
fn bar(ui: &mut Ui, share: f32, kind: Kind) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 6.0), Sense::hover());
    let width = (share.clamp(0.0, 1.0) * rect.width()).max(1.5);
    let bar = rect.with_max_x(rect.left() + width);
    ui.painter().rect_filled(bar, 1.0, palette(ui).kind(kind));
}

/// Draws a stroke at the left edge of a message that is new at the selected call.
fn mark_new(ui: &Ui) {
    let cell = ui.max_rect();
    let mark = cell.with_max_x(cell.left() + 2.0).shrink2(vec2(0.0, 3.0));
    ui.painter().rect_filled(mark, 1.0, palette(ui).accent);
}
