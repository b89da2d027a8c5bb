//! The hover card: details of the call under the pointer.

use super::scene::Scene;
use crate::app::{theme, wording};
use crate::session::Kind;
use crate::units::Tokens;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Color32, FontId, Galley, Id, LayerId, Order, Painter, Pos2, Rect, Stroke, StrokeKind,
    TextStyle, Ui, Vec2, pos2, vec2,
};
use std::sync::Arc;

/// Maximum width of a text line.
const WORDS: f32 = 240.0;
/// Padding of the card, and spacing of its parts.
const PADDING: Vec2 = vec2(10.0, 7.0);
const GAP: f32 = 4.0;
/// Space for a name's mark, between name and value, and between columns.
const INDENT: f32 = 13.0;
const TO_VALUE: f32 = 14.0;
const COLUMN: f32 = 18.0;

/// Shows the card: title, lines of the caller, kinds of the stack, and lanes.
pub(super) fn card(ui: &Ui, id: Id, scene: &Scene<'_>, step: usize) {
    let layer = LayerId::new(Order::Tooltip, id.with("card"));
    let painter = ui.ctx().layer_painter(layer);
    let palette = scene.palette;
    let pen = Pen {
        painter: &painter,
        small: TextStyle::Small.resolve(ui.style()),
    };
    let strong = theme::small_strong().resolve(ui.style());
    let mut words = vec![pen.text(title(scene, step), &strong, palette.text)];
    let said = (scene.input.hover_text)(step).into_iter();
    words.extend(said.map(|line| pen.text(line, &pen.small, palette.weak)));
    let tables = [kinds(&pen, scene, step), lanes(&pen, scene, step)];
    let tables: Vec<Table> = tables.into_iter().filter(|t| !t.rows.is_empty()).collect();
    let line = words[0].size().y + 2.0;
    let widest = words.iter().map(|words| words.size().x);
    let width = widest
        .chain(tables.iter().map(Table::width))
        .fold(0.0, f32::max);
    let n_lines = words.len() + tables.iter().map(Table::lines).sum::<usize>();
    let height = line * n_lines as f32 - 2.0 + GAP * tables.len() as f32;
    let rect = place(ui, scene, step, vec2(width, height) + 2.0 * PADDING);
    painter.add(ui.visuals().popup_shadow.as_shape(rect, 6));
    let outline = Stroke::new(1.0, palette.outline.gamma_multiply(0.6));
    painter.rect(rect, 6, palette.raised, outline, StrokeKind::Inside);
    let mut at = rect.min + PADDING;
    for word in words {
        painter.galley(at, word, palette.text);
        at.y += line;
    }
    for table in tables {
        at.y += GAP;
        table.paint(&painter, at, line);
        at.y += line * table.lines() as f32;
    }
}

/// Lays out texts.
struct Pen<'a> {
    painter: &'a Painter,
    small: FontId,
}

impl Pen<'_> {
    /// Lays out a text on one line, with an ellipsis if it is too long.
    fn text(&self, text: String, font: &FontId, color: Color32) -> Arc<Galley> {
        let mut job = LayoutJob::simple_singleline(text, font.clone(), color);
        job.wrap = TextWrapping::truncate_at_width(WORDS);
        self.painter.layout_job(job)
    }

    fn row(
        &self,
        mark: Color32,
        name: &str,
        weak: Color32,
        (value, ink): (Tokens, Color32),
    ) -> Row {
        Row {
            mark,
            name: self.text(name.to_owned(), &self.small, weak),
            value: self.text(value.short(), &self.small, ink),
        }
    }
}

/// A name with its mark and value.
struct Row {
    mark: Color32,
    name: Arc<Galley>,
    value: Arc<Galley>,
}

/// Rows in this many columns, filled one after another.
struct Table {
    rows: Vec<Row>,
    columns: usize,
    is_square: bool,
}

impl Table {
    /// Returns the number of rows per column.
    fn lines(&self) -> usize {
        self.rows.len().div_ceil(self.columns)
    }

    fn cell(&self) -> f32 {
        let widest = |of: fn(&Row) -> f32| self.rows.iter().map(of).fold(0.0, f32::max);
        INDENT + widest(|row| row.name.size().x) + TO_VALUE + widest(|row| row.value.size().x)
    }

    fn width(&self) -> f32 {
        let columns = self.columns.min(self.rows.len()) as f32;
        columns * self.cell() + (columns - 1.0) * COLUMN
    }

    fn paint(&self, painter: &Painter, from: Pos2, line: f32) {
        let (lines, cell) = (self.lines(), self.cell());
        for (nth, row) in self.rows.iter().enumerate() {
            let (column, line_nth) = (nth / lines, nth % lines);
            let at = from + vec2(column as f32 * (cell + COLUMN), line_nth as f32 * line);
            let middle = at + vec2(4.0, (line - 2.0) / 2.0);
            if self.is_square {
                let square = Rect::from_center_size(middle, Vec2::splat(8.0));
                painter.rect_filled(square, 2.0, row.mark);
            } else {
                painter.circle_filled(middle, 3.5, row.mark);
            }
            let ink = Color32::PLACEHOLDER;
            painter.galley(at + vec2(INDENT, 0.0), Arc::clone(&row.name), ink);
            let right = at.x + cell - row.value.size().x;
            painter.galley(pos2(right, at.y), Arc::clone(&row.value), ink);
        }
    }
}

/// Returns the kinds of the stack at a call, from the bottom up, with content that is not recorded as a separate row.
fn kinds(pen: &Pen<'_>, scene: &Scene<'_>, step: usize) -> Table {
    let palette = scene.palette;
    let mut rows = Vec::new();
    if let Some(sample) = scene.input.area.get(step) {
        let mut row = |kind: Kind, name: &str, tokens: Tokens| {
            if tokens > Tokens::ZERO {
                let figure = (tokens, palette.text);
                rows.push(pen.row(palette.kind(kind), name, palette.weak, figure));
            }
        };
        for kind in Kind::ALL {
            let tokens = Tokens::from(sample.by_kind[kind.index()]);
            if kind == Kind::System {
                let unseen = (scene.input.unseen)(step).min(tokens);
                row(kind, wording::UNSEEN, unseen);
                row(kind, wording::kind(kind), tokens - unseen);
            } else {
                row(kind, wording::kind(kind), tokens);
            }
        }
    }
    Table {
        rows,
        columns: 2,
        is_square: true,
    }
}

/// Returns the context size of each lane.
fn lanes(pen: &Pen<'_>, scene: &Scene<'_>, step: usize) -> Table {
    let palette = scene.palette;
    let lanes = scene.input.lanes.iter();
    let rows = lanes.filter_map(|lane| {
        let sample = lane.samples.get(step)?;
        // An overflow is shown by this color, and by the cross on the line.
        let ink = if sample.overflows {
            palette.bad
        } else {
            palette.text
        };
        Some(pen.row(lane.color, lane.name, palette.weak, (sample.tokens, ink)))
    });
    Table {
        rows: rows.collect(),
        columns: 1,
        is_square: false,
    }
}

/// Returns the position of the card: right of the call, or left if there is no room. Never beyond the sides of the plot
/// or the bottom of the window.
fn place(ui: &Ui, scene: &Scene<'_>, step: usize, size: Vec2) -> Rect {
    let (x, plot) = (scene.x(step), scene.areas.plot);
    let fits = x + 10.0 + size.x <= plot.right() - 4.0;
    let left = if fits { x + 10.0 } else { x - 10.0 - size.x };
    let left = left.max(plot.left() + 4.0).round();
    let lowest = ui.ctx().content_rect().bottom() - size.y - 4.0;
    let top = (plot.top() + 8.0).min(lowest).round();
    Rect::from_min_size(pos2(left, top), size)
}

/// Returns the title: `Call 212 · 143.1k · 85 % of usable`.
pub(super) fn title(scene: &Scene<'_>, step: usize) -> String {
    let call = format!("Call {}", step + 1);
    let Some(tokens) = scene.input.tokens_at(step) else {
        return call;
    };
    let share = scene.input.budget(step).pressure(tokens).0 * 100.0;
    format!(
        "{call} · {} · {share:.0}\u{2009}% of usable",
        precise(tokens)
    )
}

/// Formats tokens with one more decimal than elsewhere, since the card shows a single call.
fn precise(tokens: Tokens) -> String {
    if (100_000..1_000_000).contains(&tokens.0) {
        format!("{:.1}k", tokens.as_f64() / 1e3)
    } else {
        tokens.short()
    }
}
