//! One row of the lanes: a message under each policy, or content that a policy wrote.

use crate::app::state::model::lane_context::{LaneMessage, Row};
use crate::app::state::open_session::OpenSession;
use crate::app::state::wording;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets;
use crate::engine::MessageStatus;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use egui::{Align2, Color32, Rect, TextStyle, Ui, UiBuilder, pos2, vec2};

/// Draws a row in every column that has it.
pub(crate) fn paint_row(ui: &mut Ui, input: &OpenSession<'_>, row: Row, rect: Rect, width: f32) {
    for (column, (_, context)) in input.rows.columns().enumerate() {
        let left = rect.left() + column as f32 * width;
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(width, ROW));
        match row {
            Row::Message(message) => {
                let seen = context.messages.get(message as usize).copied();
                if let Some(seen) = seen.filter(|s| s.status != MessageStatus::Absent) {
                    message_cell(ui, input, message as usize, seen, cell);
                }
            }
            Row::Written(place) => {
                if let Some(written) = context.written.get(&place) {
                    let kind = match written.kind {
                        WrittenKind::Summary => Kind::Summary,
                        WrittenKind::Notice | WrittenKind::Addition => Kind::Notice,
                    };
                    let content = Cell {
                        number: "+".to_owned(),
                        word: wording::written(written.kind),
                        share: bar_share(written.tokens, input.rows.heaviest),
                        color: palette(ui).kind(kind),
                        status: MessageStatus::Kept,
                        tokens: Some(written.tokens),
                    };
                    content.show(ui, cell);
                }
            }
        }
    }
}

fn message_cell(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    message: usize,
    seen: LaneMessage,
    cell: Rect,
) {
    let is_there =
        matches!(seen.status, MessageStatus::Kept | MessageStatus::Cleared | MessageStatus::Cut);
    let content = Cell {
        number: wording::number(message),
        word: wording::status(seen.status),
        share: bar_share(input.runs.case.ledger.message(message), input.rows.heaviest),
        color: palette(ui).kind(input.document.facts[message].kind),
        status: seen.status,
        tokens: is_there.then_some(seen.tokens),
    };
    content.show(ui, cell);
}

/// A row of one lane.
struct Cell {
    number: String,
    word: &'static str,
    share: f32,
    color: Color32,
    status: MessageStatus,
    tokens: Option<Tokens>,
}

impl Cell {
    fn show(&self, ui: &mut Ui, cell: Rect) {
        let (y, font) = (cell.center().y, TextStyle::Small.resolve(ui.style()));
        let (weak, text) = (palette(ui).weak, palette(ui).text);
        let ink = if matches!(self.status, MessageStatus::Kept) { text } else { weak };
        let painter = ui.painter().with_clip_rect(cell.intersect(ui.clip_rect()));
        let write = |x: f32, align: Align2, text: &str, ink: Color32| {
            painter.text(pos2(x, y), align, text, font.clone(), ink);
        };
        write(cell.left() + 40.0, Align2::RIGHT_CENTER, &self.number, weak);
        write(cell.left() + 46.0, Align2::LEFT_CENTER, self.word, ink);
        let tokens = self.tokens.map_or_else(|| "–".to_owned(), wording::tokens);
        write(cell.right() - 12.0, Align2::RIGHT_CENTER, &tokens, ink);
        let bar = Rect::from_min_max(
            pos2(cell.left() + 98.0, y - 4.0),
            pos2(cell.right() - 60.0, y + 4.0),
        );
        if bar.width() > 8.0 {
            // A child `Ui`, so that the bar does not move the row below.
            let mut place = ui.new_child(UiBuilder::new().max_rect(bar));
            widgets::status_bar(&mut place, self.share, self.color, self.status, bar.size());
        }
    }
}

/// Returns the length of a bar (0 to 1). Uses the square root so that small messages stay visible next to large ones.
fn bar_share(tokens: Tokens, heaviest: Tokens) -> f32 {
    tokens.share_of(heaviest).0.sqrt() as f32
}

/// Height of a row, in points.
pub(crate) const ROW: f32 = 17.0;
