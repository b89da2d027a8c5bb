//! The files whose content the focused lane removed, those with the most expected re-reads first.

use crate::analysis::rereads::{RemovedFile, WINDOW_CALLS};
use crate::app::state::command::Commands;
use crate::app::state::evaluate::losses::Losses;
use crate::app::state::model::selection::{SelectCommand, Spot};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::table::{Column, Table};
use crate::app::ui::widgets::text::{padded, weak};
use crate::safe_text;
use crate::units::Share;
use egui::{Label, RichText, TextStyle, Ui};
use egui_extras::Column as Width;

/// Maximum length of a path, in characters.
const MAX_PATH_CHARS: usize = 300;

/// A column of the list.
#[derive(Clone, Copy)]
enum Col {
    File,
    Probability,
    Adds,
    Tokens,
    Call,
    Age,
    Uses,
    Edited,
}

/// Table width from which the list has its full columns, in points.
const FULL: f32 = 480.0;

fn columns() -> Vec<Column<'static, Col>> {
    let figure = |key, title, width, help: String| {
        let column = Column::new(key, title, Width::exact(width));
        column.right().help(help)
    };
    vec![
        Column::new(Col::File, "file", Width::remainder().at_least(80.0).clip(true))
            .help("The file whose last read left the context"),
        figure(
            Col::Probability,
            "probability",
            70.0,
            format!(
                "Probability that the agent reads the file again within {WINDOW_CALLS} calls, with the re-reads that happen anyway"
            ),
        ),
        figure(
            Col::Adds,
            "adds",
            44.0,
            "Expected re-reads that the removal adds: the probability, less that of content that stays, for the removed share".to_owned(),
        ),
        figure(Col::Tokens, "tokens", 56.0, "Removed tokens of the last read".to_owned()),
        figure(Col::Call, "call", 48.0, "First call without the content".to_owned()),
        figure(
            Col::Age,
            "age",
            40.0,
            "Calls between the last one that read or edited the file and this one".to_owned(),
        )
        .hidden_below(FULL),
        figure(
            Col::Uses,
            "uses",
            40.0,
            "Calls that read or edited the file since the last recorded compaction".to_owned(),
        )
        .hidden_below(FULL),
        figure(
            Col::Edited,
            "edited",
            50.0,
            "Whether one of these calls edited the file".to_owned(),
        )
        .hidden_below(FULL),
    ]
}

/// Shows the list.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, losses: &Losses, commands: &mut Commands) {
    let lane = input.selection.lane;
    let Some(loss) = losses.of(lane) else {
        return;
    };
    if loss.rereads.removals.is_empty() {
        empty_state(ui, input, lane);
        return;
    }
    let is_listed = |removed: &&RemovedFile| input.selection.lists(removed.call);
    let rows: Vec<&RemovedFile> = loss.likely().filter(is_listed).collect();
    Table::new("reread files", columns(), rows.len())
        .margins(0.0, space::S)
        .row_height(space::ROW - 2.0)
        .striped()
        .show(ui, |mut row| {
            let removed = rows[row.index()];
            let is_here = removed.call == input.selection.call;
            row.select(is_here && Some(removed.message) == input.selection.message);
            row.cells(|ui, column| content(ui, losses, removed, column));
            if row.response().clicked() {
                commands.push(SelectCommand::Spot(Spot {
                    lane,
                    call: Some(removed.call),
                    message: Some(removed.message),
                }));
            }
        });
}

fn content(ui: &mut Ui, losses: &Losses, removed: &RemovedFile, column: Col) {
    let known = removed.known;
    let text = match column {
        Col::File => {
            file(ui, losses.session.index.files.name(removed.file));
            return;
        }
        Col::Probability => {
            ui.label(wording::percent(Share(removed.probability)));
            return;
        }
        Col::Adds => format!("{:.2}", removed.extra),
        Col::Tokens => wording::short(removed.tokens),
        Col::Call => wording::number(removed.call),
        Col::Age => wording::grouped(u64::from(known.age)),
        Col::Uses => wording::grouped(u64::from(known.uses)),
        Col::Edited => if known.is_edited { "yes" } else { "no" }.to_owned(),
    };
    ui.label(weak(ui, text));
}

/// Shows as much of the end of a path as fits, with the whole path as hover text.
fn file(ui: &mut Ui, path: &str) {
    let path = safe_text::one_line(path, MAX_PATH_CHARS);
    let font = TextStyle::Monospace.resolve(ui.style());
    let letter = ui.painter().layout_no_wrap("0".to_owned(), font, palette(ui).text);
    let end = wording::path_end(&path, (ui.available_width() / letter.size().x) as usize);
    let label = Label::new(RichText::new(&end).text_style(TextStyle::Monospace)).truncate();
    let shown = ui.add(label.show_tooltip_when_elided(false));
    if end != path {
        shown.on_hover_text(path);
    }
}

/// Explains why the list is empty.
fn empty_state(ui: &mut Ui, input: &OpenSession<'_>, lane: Option<usize>) {
    let text = if input.document.session().calls.is_empty() {
        "This file has no model calls, so no re-reads are expected.".to_owned()
    } else if lane.is_none() {
        "No recorded compaction removed a file that the agent had read: no re-reads expected."
            .to_owned()
    } else {
        format!(
            "{} removed no file that the agent had read: no re-reads expected.",
            input.runs.label(lane)
        )
    };
    padded(ui, |ui| {
        ui.add(Label::new(RichText::new(text).color(palette(ui).ok)).wrap());
    });
}
