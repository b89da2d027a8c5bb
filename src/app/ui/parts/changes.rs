//! Comparison of a message with the focused lane's version: a line-by-line difference, or a summary next to the
//! messages that it replaces.

use crate::app::state::changes::changed::{
    ChangedPart, Changes, Original, Replacement, TokenChange,
};
use crate::app::state::command::Commands;
use crate::app::state::model::selection::{EventId, SelectCommand};
use crate::app::state::model::tab::Tab;
use crate::app::state::open_session::OpenSession;
use crate::app::state::shell_command::ShellCommand;
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::session::{Kind, WrittenKind};
use crate::units::Tokens;
use egui::{Id, Label, RichText, TextStyle, Ui};

/// Width in points from which a summary is shown next to the original messages instead of above them.
const TWO_COLUMNS: f32 = 520.0;
/// Note on a summary that the offline digest predicts.
const PREDICTED: &str = "Preview from the offline digest. When you export, you choose the summarizer and can edit the \
                         text; the size shown is assumed.";
/// Note on a text that is unknown until the export.
const UNKNOWN: &str = "The text is written when this lane is exported. The size shown is assumed.";

/// Returns the number of pages of the longest difference, at least 1.
pub(crate) fn pages(changes: &Changes) -> usize {
    let rows = changes.parts.iter().map(|part| part.diff.rows.len());
    rows.max().unwrap_or(0).div_ceil(crate::app::ui::parts::diff_rows::PAGE).max(1)
}

/// Shows a page of the changes.
pub(crate) fn show(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    changes: &Changes,
    page: usize,
    commands: &mut Commands,
) {
    ui.spacing_mut().item_spacing.y = space::XS;
    status_line(ui, input, changes, commands);
    for (nth, part) in changes.parts.iter().enumerate() {
        if page == 0 || part.diff.rows.len() > page * crate::app::ui::parts::diff_rows::PAGE {
            part_head(ui, part, changes.parts.len() > 1);
            let id = Id::unique((
                "fold",
                input.document.id,
                input.selection.lane,
                input.selection.message,
                nth,
            ));
            ui.spacing_mut().item_spacing.y = 0.0;
            crate::app::ui::parts::diff_rows::show(ui, id, &part.diff.rows, page);
            ui.spacing_mut().item_spacing.y = space::XS;
        }
    }
    if let Some(replacement) = &changes.replacement {
        show_replacement(ui, input, replacement, commands);
    }
}

/// Shows the message's status with a link to the event that caused it.
fn status_line(ui: &mut Ui, input: &OpenSession<'_>, changes: &Changes, commands: &mut Commands) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.spacing_mut().interact_size.y = 20.0;
        if let Some(lane) = input.selection.lane {
            widgets::swatch(ui, palette(ui).lane(lane)).on_hover_text(&input.runs.labels[lane]);
        }
        ui.label(&changes.text);
        if let Some(tokens) = changes.tokens {
            ui.label(weak(ui, tokens_text(tokens)));
        }
        if let (Some(lane), Some(event)) = (input.selection.lane, changes.event) {
            let link = ui.link("Why").on_hover_text("Show the event that changed this message");
            if link.clicked() {
                let lane = Some(lane);
                commands.push(SelectCommand::Event(EventId { lane, index: event }));
                commands.push(ShellCommand::ShowTab(Tab::EVENTS));
            }
        }
    });
}

/// Returns a size change such as `4,210 → 380 tok`.
fn tokens_text(change: TokenChange) -> String {
    let (before, after) = (wording::tokens(change.before), wording::tokens(change.after));
    format!("{before} → {after} tok")
}

/// Shows the title of a changed part, its size if `has_size`, and its remarks.
fn part_head(ui: &mut Ui, part: &ChangedPart, has_size: bool) {
    ui.add_space(space::S);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if let Some(kind) = part.kind {
            widgets::swatch(ui, palette(ui).kind(kind));
        }
        let mut text = part.title.clone();
        if has_size {
            text = format!("{text} · {}", tokens_text(part.tokens));
        }
        ui.label(small(ui, text));
    });
    for text in part.remark.into_iter().chain(part.diff.notice.as_deref()) {
        ui.label(weak(ui, text));
    }
    ui.add_space(space::XS);
}

/// Shows content written by a lane with the messages that it replaces, side by side if there is enough width.
fn show_replacement(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    replacement: &Replacement,
    commands: &mut Commands,
) {
    ui.add_space(space::S);
    let width = ui.available_width();
    if width < TWO_COLUMNS {
        show_written(ui, input, replacement, commands);
        ui.add_space(space::S);
        widgets::hairline(ui);
        ui.add_space(space::S);
        show_originals(ui, input, replacement, commands);
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::L;
        let width = ((width - space::L) / 2.0).floor();
        ui.vertical(|ui| {
            ui.set_width(width);
            show_originals(ui, input, replacement, commands);
        });
        ui.vertical(|ui| {
            ui.set_width(width);
            show_written(ui, input, replacement, commands);
        });
    });
}

fn show_written(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    replacement: &Replacement,
    commands: &mut Commands,
) {
    let kind = match replacement.kind {
        WrittenKind::Summary => Kind::Summary,
        WrittenKind::Notice | WrittenKind::Addition => Kind::Notice,
    };
    head(
        ui,
        kind,
        &format!("replaced by: a {}", wording::written(replacement.kind)),
        replacement.tokens,
    );
    if let Some(lane) = input.selection.lane
        && input.selection.written.is_none()
        && replacement.n_covered > 1
    {
        let covered = format!(
            "replaces {}, {} tok",
            wording::count(replacement.n_covered, "message"),
            wording::tokens(replacement.covered_tokens)
        );
        if ui
            .link(covered)
            .on_hover_text("Show it with all the messages that it replaces")
            .clicked()
        {
            commands.push(SelectCommand::Written(lane, replacement.position));
        }
    }
    if replacement.is_predicted {
        let text = match &replacement.text {
            Some(_) => PREDICTED,
            None => UNKNOWN,
        };
        ui.add(Label::new(weak(ui, text)).wrap());
    }
    if let Some(text) = &replacement.text {
        ui.add_space(space::XS);
        body(ui, Id::unique(("written", replacement.position)), text);
    }
}

fn show_originals(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    replacement: &Replacement,
    commands: &mut Commands,
) {
    if input.selection.written.is_some() {
        let n_messages = wording::count(replacement.n_covered, "message");
        let tokens = wording::tokens(replacement.covered_tokens);
        ui.label(small(ui, format!("original: {n_messages} · {tokens} tok")));
    }
    for original in &replacement.originals {
        show_original(ui, input, original, commands);
    }
    if replacement.n_unlisted > 0 {
        let more = wording::count(replacement.n_unlisted, "message");
        ui.label(weak(ui, format!("and {more} more")));
    }
}

fn show_original(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    original: &Original,
    commands: &mut Commands,
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
                commands.push(SelectCommand::Message(original.message));
            }
            ui.label(small(
                ui,
                format!("{} · {} tok", wording::kind(facts.kind), wording::tokens(tokens)),
            ));
        });
    } else {
        head(ui, facts.kind, "original", tokens);
    }
    let id = Id::unique(("original", input.document.source_id, original.message));
    body(ui, id, &original.text);
    if original.n_hidden_lines > 0 {
        let more = wording::count(original.n_hidden_lines, "line");
        ui.label(small(ui, format!("… {more} more")));
    }
}

fn head(ui: &mut Ui, kind: Kind, title: &str, tokens: Tokens) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::swatch(ui, palette(ui).kind(kind));
        ui.label(small(ui, format!("{title} · {} tok", wording::tokens(tokens))));
    });
}

fn body(ui: &mut Ui, id: Id, text: &str) {
    widgets::long_text(ui, id, text, &TextStyle::Monospace, widgets::Highlights::NONE);
}

/// Shows the head of the detail for content written by a lane.
pub(crate) fn written_head(ui: &mut Ui, input: &OpenSession<'_>) {
    let lane = input.selection.lane;
    let label = lane.and_then(|lane| input.runs.labels.get(lane)).map_or("", String::as_str);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("Written by {label}")).text_style(theme::strong()));
        let Some((replacement, changes)) =
            input.selected_changes().and_then(|c| Some((c.replacement.as_ref()?, c)))
        else {
            return;
        };
        if changes.tokens.is_none() {
            let tokens =
                TokenChange { before: replacement.covered_tokens, after: replacement.tokens };
            ui.label(weak(ui, tokens_text(tokens)));
        }
    });
}
