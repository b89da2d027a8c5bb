//! The export dialog: the form, and then each stage of the export.

use crate::app::state::command::Commands;
use crate::app::state::export::command::ExportCommand;
use crate::app::state::export::job::Export;
use crate::app::state::export::stage::{Stage, Written};
use crate::app::state::model::document::Origin;
use crate::app::state::open_session::OpenSession;
use crate::app::ui::parts::stage_views::compact_anyway;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets;
use crate::app::ui::widgets::dialog::{dialog, dialog_title, error_box};
use crate::app::ui::widgets::text::weak;
use egui::{Frame, Id, Key, Margin, RichText, ScrollArea, Ui, vec2};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 560.0;
/// Width reserved for the scroll bar, in points.
const BAR: f32 = 14.0;
/// Minimum height of later stages in points, so that the dialog does not resize.
const STAGE: f32 = 168.0;
/// Height of the title, buttons and margins, in points.
const FRAME: f32 = 170.0;

/// Shows the dialog.
pub(crate) fn show(ui: &mut Ui, input: &OpenSession<'_>, export: &Export, commands: &mut Commands) {
    let is_new = is_new(ui);
    let modal = frame(ui).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH + BAR);
        dialog_title(ui, "Export a conversation");
        let below = Id::unique("export below");
        let taken: f32 = ui.data(|d| d.get_temp(below)).unwrap_or_default();
        let height = (ui.ctx().content_rect().height() - FRAME - taken).max(120.0);
        let middle = ScrollArea::vertical()
            // The scroll bar is at the right edge, beside the scrolling content.
            .auto_shrink([false, true])
            .max_height(height)
            // Uses the final size from the first frame on.
            .min_scrolled_height(height);
        middle.show(ui, |ui| {
            ui.set_max_width(WIDTH);
            content(ui, input, export, is_new, commands);
        });
        // The footer stays visible while the content scrolls.
        let footer = ui.scope(|ui| footer(ui, input, export)).response.rect;
        if (footer.height() - taken).abs() > 0.5 {
            ui.data_mut(|d| d.insert_temp(below, footer.height()));
            ui.ctx().request_discard("the height of the footer is known only after layout");
        }
        ui.add_space(space::S);
        buttons(ui, input, export, is_new, commands);
    });
    if modal.should_close() {
        let is_outside = modal.backdrop_response.clicked();
        commands.extend(close_command(export, is_outside));
    }
}

/// Returns the dialog's frame. Its right margin contains the scroll bar.
fn frame(ui: &Ui) -> egui::Modal {
    let margin = Margin { left: 20, right: 20 - BAR as i8, top: 20, bottom: 20 };
    dialog(ui, "export").frame(Frame::popup(ui.style()).inner_margin(margin))
}

/// Returns the command for Esc or for a click outside the dialog (`is_outside`).
fn close_command(export: &Export, is_outside: bool) -> Option<ExportCommand> {
    match export.stage {
        Stage::Form | Stage::Done(_) | Stage::Failed(_) => Some(ExportCommand::Close),
        // Writing a file takes only a moment and cannot be interrupted.
        Stage::Writing(_) => None,
        // An accidental click must not discard summaries that were paid for.
        Stage::Consent(_) | Stage::Asking(..) | Stage::Review(_) | Stage::Store(_) => {
            (!is_outside).then_some(ExportCommand::Cancel)
        }
    }
}

/// Returns whether the dialog has just opened. Stays true for a few frames because the first one cannot set the focus.
fn is_new(ui: &Ui) -> bool {
    let id = Id::unique("export seen");
    let now = ui.ctx().cumulative_pass_nr();
    let (first, last): (u64, u64) = ui.data(|d| d.get_temp(id)).unwrap_or((now, now));
    let first = if last + 1 < now { now } else { first };
    ui.data_mut(|d| d.insert_temp(id, (first, now)));
    now < first + 3
}

/// Shows the form or a later stage, which replaces the form.
fn content(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    is_new: bool,
    commands: &mut Commands,
) {
    if matches!(export.stage, Stage::Form | Stage::Failed(_)) {
        let mut draft = export.draft.clone();
        let takes_focus = is_new && !can_run(input, export);
        crate::app::ui::export::form::show(ui, input, export, &mut draft, takes_focus, commands);
        if draft != export.draft {
            commands.push(ExportCommand::Edit(Box::new(draft)));
        }
        return;
    }
    ui.vertical(|ui| {
        ui.set_min_size(vec2(WIDTH, STAGE));
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().item_spacing.y = 2.0;
        match &export.stage {
            Stage::Form | Stage::Failed(_) => {}
            Stage::Consent(consent) => crate::app::ui::parts::stage_views::consent(ui, consent),
            Stage::Asking(run, _) => crate::app::ui::parts::stage_views::asking(ui, run),
            Stage::Review(review) => {
                crate::app::ui::parts::stage_views::review(ui, review, commands);
            }
            Stage::Store(consent) => crate::app::ui::parts::stage_views::store(ui, consent),
            Stage::Writing(_) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label(weak(ui, "Writing and checking…"));
                });
            }
            Stage::Done(written) => {
                crate::app::ui::export::result::show(ui, input, export, written, commands);
            }
        }
    });
}

/// Shows the effect of the form or the last error.
fn footer(ui: &mut Ui, input: &OpenSession<'_>, export: &Export) {
    ui.set_width(WIDTH);
    match &export.stage {
        Stage::Form => {
            ui.add_space(space::S);
            if export.draft.is_for_store(input.document) {
                let text = "Creates a new session; the recorded one is not changed. You can check the path before it is written.";
                ui.label(weak(ui, text));
            } else if export.draft.output.trim().is_empty() {
                let text = match &input.document.origin {
                    Origin::Pasted(_) => "Choose an output path: pasted text has no file.",
                    _ => {
                        "Choose an output path: in the source's folder the agent would list the export as one of its sessions."
                    }
                };
                ui.label(RichText::new(text).color(palette(ui).warn));
            } else {
                let text = "Writes a new file and verifies it. The source is not changed.";
                ui.label(weak(ui, text));
            }
        }
        Stage::Failed(why) => error_box(ui, "Nothing was written", why),
        _ => {}
    }
}

fn buttons(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    is_new: bool,
    commands: &mut Commands,
) {
    ui.horizontal(|ui| match &export.stage {
        Stage::Consent(consent) => {
            crate::app::ui::parts::stage_views::consent_buttons(ui, consent, commands);
        }
        Stage::Asking(..) => crate::app::ui::parts::stage_views::asking_buttons(ui, commands),
        Stage::Review(review) => {
            crate::app::ui::parts::stage_views::review_buttons(ui, input, export, review, commands);
        }
        Stage::Store(consent) => {
            crate::app::ui::parts::stage_views::store_buttons(ui, consent, commands);
        }
        // Same height as with buttons.
        Stage::Writing(_) => ui.set_min_height(space::CONTROL),
        Stage::Done(written) => done_buttons(ui, input, export, written, commands),
        Stage::Form | Stage::Failed(_) => form_buttons(ui, input, export, is_new, commands),
    });
}

fn done_buttons(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    written: &Written,
    commands: &mut Commands,
) {
    let is_offered = !written.exported.changed && compact_anyway(ui, input, export, commands);
    // A dialog has one primary button.
    let is_closed = if is_offered {
        widgets::secondary_button(ui, "Close", "Esc").clicked()
    } else {
        widgets::primary_button(ui, "Close").clicked()
    };
    if is_closed {
        commands.push(ExportCommand::Close);
    }
    if widgets::secondary_button(ui, "Another export", "").clicked() {
        commands.push(ExportCommand::Cancel);
    }
}

/// Returns whether the form is complete.
fn can_run(input: &OpenSession<'_>, export: &Export) -> bool {
    let draft = &export.draft;
    let has_model = !draft.uses_model() || draft.model.problem().is_none();
    let has_place = draft.is_for_store(input.document) || !draft.output.trim().is_empty();
    has_model && has_place
}

/// Shows the buttons of the form. Enter presses the first one, also in a text field. That button has the focus when the
/// dialog opens (`is_new`).
fn form_buttons(
    ui: &mut Ui,
    input: &OpenSession<'_>,
    export: &Export,
    is_new: bool,
    commands: &mut Commands,
) {
    let draft = &export.draft;
    let uses_model = draft.uses_model();
    let can_run = can_run(input, export);
    ui.add_enabled_ui(can_run, |ui| {
        let name =
            if uses_model || draft.is_for_store(input.document) { "Continue…" } else { "Export" };
        let primary = widgets::primary_button(ui, name);
        // Enter removes the focus from a text field.
        let is_entered =
            ui.memory(|m| m.focused().is_none()) && ui.input(|i| i.key_pressed(Key::Enter));
        if is_new && can_run {
            primary.request_focus();
        }
        if primary.clicked() || can_run && !is_new && is_entered {
            commands.push(ExportCommand::Run);
        }
        let help = "Generate the summaries, to review and edit them before the export";
        if !uses_model
            && draft.lane.is_some()
            && widgets::secondary_button(ui, "Review summaries", "").on_hover_text(help).clicked()
        {
            commands.push(ExportCommand::Preview);
        }
    });
    if widgets::secondary_button(ui, "Close", "Esc").clicked() {
        commands.push(ExportCommand::Close);
    }
}
