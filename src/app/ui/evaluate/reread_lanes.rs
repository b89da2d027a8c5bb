//! Expected re-reads of every lane, with the recorded compactions in the first row.

use crate::analysis::rereads::WINDOW_CALLS;
use crate::app::state::command::Commands;
use crate::app::state::evaluate::losses::{LaneLoss, Losses};
use crate::app::state::evaluate::state::reread_tone;
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tone::Tone;
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::table::{Column, Table, lane_cell, notes_below};
use crate::app::ui::widgets::text::weak;
use crate::units::{Tokens, Usd};
use egui::{RichText, Ui};
use egui_extras::Column as Width;

/// A column of the table.
#[derive(Clone, Copy)]
enum Col {
    Lane,
    Rereads,
    Interval,
    Tokens,
    Price,
}

fn columns(note: &str) -> Vec<Column<'_, Col>> {
    let figure = |key, title, width, help| {
        let column = Column::new(key, title, Width::exact(width));
        column.right().help(help)
    };
    vec![
        Column::new(Col::Lane, "lane", Width::remainder().at_least(72.0).clip(true)).help(note),
        figure(
            Col::Rereads,
            "re-reads",
            56.0,
            "Expected number of files that the agent reads again because their content left the context",
        ),
        figure(
            Col::Interval,
            "95 % interval",
            86.0,
            "From the errors of the coefficients. What happens in one session varies more",
        )
        .hidden_below(330.0),
        figure(Col::Tokens, "tokens", 56.0, "Tokens that these re-reads fetch").hidden_below(380.0),
        figure(
            Col::Price,
            "price",
            60.0,
            "Price of these tokens: fetched once, then sent by every later call up to the next compaction",
        ),
    ]
}

/// Shows the table and its note.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, losses: &Losses, commands: &mut Commands) {
    let note = format!(
        "Within {WINDOW_CALLS} calls after each removal, beyond the re-reads that happen anyway. Predicted from the age, uses and edits of each file (docs/validity.md)."
    );
    notes_below(ui, "reread notes", std::slice::from_ref(&note));
    ui.spacing_mut().item_spacing.y = 0.0;
    let rows: Vec<(Option<usize>, &LaneLoss)> = losses.all().collect();
    Table::new("reread lanes", columns(&note), rows.len()).show(ui, |mut row| {
        let (lane, loss) = rows[row.index()];
        row.select(lane == input.selection.lane);
        row.cells(|ui, column| match column {
            Col::Lane => lane_cell(ui, lane, input.runs.label(lane)),
            figure => content(ui, losses, lane, loss, figure),
        });
        if row.response().clicked() {
            commands.push(SelectCommand::Lane(lane));
        }
    });
}

fn content(ui: &mut Ui, losses: &Losses, lane: Option<usize>, loss: &LaneLoss, figure: Col) {
    let total = &loss.rereads.total;
    let text = match figure {
        Col::Lane => return,
        Col::Rereads => {
            let tone = lane.map_or(Tone::Weak, |_| reread_tone(loss, &losses.recorded));
            let text = RichText::new(total.number()).text_style(theme::strong());
            let removals = wording::count(total.removals, "removal");
            ui.label(text.color(palette(ui).tone(tone)))
                .on_hover_text(format!("{removals} of a file's content"));
            return;
        }
        Col::Interval => total.files.range_text(),
        Col::Tokens => wording::short(Tokens(total.tokens.value as u64)),
        Col::Price => {
            let price = total.usd.map(|price| wording::usd(Usd(price.value)));
            price.unwrap_or_else(|| "–".to_owned())
        }
    };
    ui.label(weak(ui, text));
}
