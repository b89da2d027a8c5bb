//! What the focused lane has in the place of a message: the difference line by line, or a summary beside what it stands
//! for.

use super::{PanelInput, small, weak};
use crate::app::changes::diff::{DiffLine, Fold, Row, Side};
use crate::app::changes::{Beside, Changes, Original, Piece};
use crate::app::command::Command;
use crate::app::state::Tab;
use crate::app::theme::{self, palette, space};
use crate::app::widgets;
use crate::app::wording;
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use egui::text::LayoutJob;
use egui::{
    Align, Align2, Button, Color32, CursorIcon, Id, Label, RichText, Sense, Shape, TextFormat,
    TextStyle, Ui, vec2,
};

/// Rows of a difference on one page: what a frame can lay out without a pause.
const PAGE: usize = 240;
/// From this width on a summary stands beside what it stands for, not above it.
const TWO_COLUMNS: f32 = 520.0;
/// Before a text that is not written yet.
const FORESEEN: &str = "As the offline digest writes it. At an export you choose who writes it, and can write it over; its \
                        size here is the most that the policy allows.";
const NOT_KNOWN: &str = "The text is written when this lane is exported. Its size here is the most that the policy allows.";

/// Width of the sign before a line.
const SIGN: f32 = 10.0;

/// Pages of the longest difference; at least one.
pub(super) fn pages(changes: &Changes) -> usize {
    let rows = changes.pieces.iter().map(|piece| piece.diff.rows.len());
    rows.max().unwrap_or(0).div_ceil(PAGE).max(1)
}

/// Shows a page of what changed.
pub(super) fn show(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (changes, page): (&Changes, usize),
    commands: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = space::XS;
    said(ui, input, changes, commands);
    for (nth, piece) in changes.pieces.iter().enumerate() {
        if page == 0 || piece.diff.rows.len() > page * PAGE {
            show_piece(ui, input, (nth, piece, changes.pieces.len() == 1), page);
        }
    }
    if let Some(beside) = &changes.beside {
        show_beside(ui, input, beside, commands);
    }
}

/// What became of it, with a way to the event that did it.
fn said(ui: &mut Ui, input: &PanelInput<'_>, changes: &Changes, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().interact_size.y = 20.0;
        if let Some(lane) = input.selection.lane {
            widgets::swatch(ui, palette(ui).lane(lane)).on_hover_text(&input.runs.labels[lane]);
        }
        ui.label(&changes.said);
        if let Some((before, after)) = changes.weights {
            ui.label(weak(ui, weights(before, after)));
        }
        if let (Some(lane), Some(event)) = (input.selection.lane, changes.event) {
            let link = ui.link("Why").on_hover_text("Show the event that did it");
            if link.clicked() {
                commands.push(Command::SelectEvent(lane, event));
                commands.push(Command::ShowTab(Tab::Events));
            }
        }
    });
}

/// `4 210 → 380 tok`.
fn weights(before: Tokens, after: Tokens) -> String {
    format!(
        "{} → {} tok",
        wording::tokens(before),
        wording::tokens(after)
    )
}

/// A part that changed. What it weighs is said already where it is the only one.
fn show_piece(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    (nth, piece, is_only): (usize, &Piece, bool),
    page: usize,
) {
    ui.add_space(space::S);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(kind) = piece.kind {
            widgets::swatch(ui, palette(ui).kind(kind));
        }
        let (before, after) = piece.weights;
        let weights = if is_only {
            String::new()
        } else {
            format!(" · {}", weights(before, after))
        };
        ui.label(small(ui, format!("{}{weights}", piece.title)));
    });
    for text in piece.remark.into_iter().chain(piece.diff.notice.as_deref()) {
        ui.label(weak(ui, text));
    }
    ui.add_space(space::XS);
    ui.spacing_mut().item_spacing.y = 0.0;
    let id = Id::unique((
        "fold",
        input.document.id,
        input.selection.lane,
        input.selection.message,
        nth,
    ));
    let rows = piece.diff.rows.iter().enumerate();
    for (at, row) in rows.skip(page * PAGE).take(PAGE) {
        match row {
            Row::Line(line) => show_line(ui, line),
            Row::Fold(fold) => show_fold(ui, id.with(at), fold),
        }
    }
    ui.spacing_mut().item_spacing.y = space::XS;
}

/// A line with its sign, tinted from edge to edge.
fn show_line(ui: &mut Ui, line: &DiffLine) {
    let palette = palette(ui);
    let (sign, name, ink, grounds) = match line.side {
        Side::Same => ("", "unchanged", palette.weak, None),
        Side::Removed => ("−", "removed", palette.bad, Some(palette.removed())),
        Side::Added => ("+", "added", palette.ok, Some(palette.added())),
    };
    let ground = ui.painter().add(Shape::Noop);
    let row = ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        ui.spacing_mut().interact_size.y = 16.0;
        let (place, said) = ui.allocate_exact_size(vec2(SIGN, 16.0), Sense::hover());
        said.accessible_name(name);
        let font = TextStyle::Monospace.resolve(ui.style());
        ui.painter()
            .text(place.center(), Align2::CENTER_CENTER, sign, font, ink);
        let job = job(ui, line, grounds.map(|[_, words]| words));
        ui.add(Label::new(job).wrap().selectable(true));
    });
    if let Some([whole, _]) = grounds {
        let rect = row.response.rect.with_max_x(ui.max_rect().right());
        ui.painter().set(
            ground,
            Shape::rect_filled(rect.expand2(vec2(2.0, 0.0)), 0.0, whole),
        );
    }
}

/// The text of a line; what differs stands on a ground of its own.
fn job(ui: &Ui, line: &DiffLine, words: Option<Color32>) -> LayoutJob {
    let color = if line.side == Side::Same {
        palette(ui).weak
    } else {
        palette(ui).text
    };
    let mut job = LayoutJob::default();
    for (is_other, text) in &line.pieces {
        let format = TextFormat {
            font_id: TextStyle::Monospace.resolve(ui.style()),
            color,
            background: words.filter(|_| *is_other).unwrap_or(Color32::TRANSPARENT),
            valign: Align::Center,
            ..TextFormat::default()
        };
        job.append(text, 0.0, format);
    }
    job
}

/// Lines that stand folded until they are clicked.
fn show_fold(ui: &mut Ui, id: Id, fold: &Fold) {
    let is_open = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or(false);
    let n_lines = wording::count(fold.lines.len() + fold.more, "line");
    let what = match fold.side {
        Side::Same => "unchanged",
        Side::Removed => "more removed",
        Side::Added => "more added",
    };
    let number = n_lines.replacen(' ', &format!(" {what} "), 1);
    let name = format!("{} {number}", if is_open { "⏷" } else { "⏵" });
    let button = Button::new(small(ui, name))
        .frame(false)
        .min_size(vec2(ui.available_width(), 20.0));
    let button = ui
        .add(button.wrap())
        .on_hover_cursor(CursorIcon::PointingHand)
        .accessible_name(format!(
            "{} {number}",
            if is_open { "Fold" } else { "Unfold" }
        ));
    if button.clicked() {
        ui.data_mut(|data| data.insert_temp(id, !is_open));
    }
    if !is_open {
        return;
    }
    for line in &fold.lines {
        show_line(ui, line);
    }
    if fold.more > 0 {
        let more = wording::count(fold.more, "line");
        ui.label(small(
            ui,
            format!("{more} more of these: Parts has the whole text."),
        ));
    }
}

/// What a lane wrote, and what it stands for: side by side where there is room.
fn show_beside(ui: &mut Ui, input: &PanelInput<'_>, beside: &Beside, commands: &mut Vec<Command>) {
    ui.add_space(space::S);
    let width = ui.available_width();
    if width < TWO_COLUMNS {
        show_written(ui, input, beside, commands);
        ui.add_space(space::S);
        widgets::hairline(ui);
        ui.add_space(space::S);
        show_originals(ui, input, beside, commands);
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::L;
        let width = ((width - space::L) / 2.0).floor();
        ui.vertical(|ui| {
            ui.set_width(width);
            show_originals(ui, input, beside, commands);
        });
        ui.vertical(|ui| {
            ui.set_width(width);
            show_written(ui, input, beside, commands);
        });
    });
}

fn show_written(ui: &mut Ui, input: &PanelInput<'_>, beside: &Beside, commands: &mut Vec<Command>) {
    let kind = match beside.kind {
        WrittenKind::Summary => Kind::Summary,
        WrittenKind::Notice => Kind::Notice,
    };
    head(
        ui,
        kind,
        &format!("in its place: a {}", wording::written(beside.kind)),
        beside.tokens,
    );
    let (n_covered, tokens) = beside.covered;
    if let (Some(lane), true) = (
        input.selection.lane,
        input.selection.written.is_none() && n_covered > 1,
    ) {
        let covered = format!(
            "stands for {}, {} tok",
            wording::count(n_covered, "message"),
            wording::tokens(tokens)
        );
        if ui
            .link(covered)
            .on_hover_text("Show it beside all of them")
            .clicked()
        {
            commands.push(Command::SelectWritten(lane, beside.place));
        }
    }
    if beside.is_foreseen {
        let text = match &beside.text {
            Some(_) => FORESEEN,
            None => NOT_KNOWN,
        };
        ui.add(Label::new(weak(ui, text)).wrap());
    }
    if let Some(text) = &beside.text {
        ui.add_space(space::XS);
        body(ui, text);
    }
}

fn show_originals(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    beside: &Beside,
    commands: &mut Vec<Command>,
) {
    let (n_covered, tokens) = beside.covered;
    if input.selection.written.is_some() {
        let title = format!(
            "what it stands for: {}",
            wording::count(n_covered, "message")
        );
        ui.label(small(
            ui,
            format!("{title} · {} tok", wording::tokens(tokens)),
        ));
    }
    for original in &beside.originals {
        show_original(ui, input, original, commands);
    }
    if beside.more > 0 {
        let more = wording::count(beside.more, "message");
        ui.label(weak(ui, format!("and {more} more")));
    }
}

fn show_original(
    ui: &mut Ui,
    input: &PanelInput<'_>,
    original: &Original,
    commands: &mut Vec<Command>,
) {
    let Some(facts) = input.document.facts.get(original.message) else {
        return;
    };
    let tokens = input.runs.case.ledger.message(original.message);
    if input.selection.written.is_some() {
        ui.add_space(space::XS);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.spacing_mut().interact_size.y = 18.0;
            widgets::swatch(ui, palette(ui).kind(facts.kind));
            let name = format!("message {}", wording::number(original.message));
            if ui.link(name).clicked() {
                commands.push(Command::SelectMessage(original.message));
            }
            ui.label(small(
                ui,
                format!(
                    "{} · {} tok",
                    wording::kind(facts.kind),
                    wording::tokens(tokens)
                ),
            ));
        });
    } else {
        head(ui, facts.kind, "original", tokens);
    }
    body(ui, &original.text);
    if original.more > 0 {
        let more = wording::count(original.more, "line");
        ui.label(small(ui, format!("… {more} more")));
    }
}

fn head(ui: &mut Ui, kind: Kind, title: &str, tokens: Tokens) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::swatch(ui, palette(ui).kind(kind));
        ui.label(small(
            ui,
            format!("{title} · {} tok", wording::tokens(tokens)),
        ));
    });
}

fn body(ui: &mut Ui, text: &str) {
    let text = RichText::new(text).text_style(TextStyle::Monospace);
    ui.add(Label::new(text).wrap().selectable(true));
}

/// The head of the detail of something that a lane wrote.
pub(super) fn written_head(ui: &mut Ui, input: &PanelInput<'_>) {
    let lane = input.selection.lane;
    let label = lane
        .and_then(|lane| input.runs.labels.get(lane))
        .map_or("", String::as_str);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("Written by {label}")).text_style(theme::strong()));
        let Some((beside, changes)) = input.changes.and_then(|c| Some((c.beside.as_ref()?, c)))
        else {
            return;
        };
        let (_, of) = beside.covered;
        if changes.weights.is_none() {
            ui.label(weak(ui, weights(of, beside.tokens)));
        }
    });
}
