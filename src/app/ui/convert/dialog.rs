//! The dialog that converts the session to another format and lists what that format cannot store.

use crate::app::state::command::Commands;
use crate::app::state::convert::conversion::{
    Conversion, ConversionDraft, ConvertCommand, Preview, possible,
};
use crate::app::state::model::document::Document;
use crate::app::state::wording;
use crate::app::ui::parts::output_path::output_path;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::{dialog, dialog_title, error_box};
use crate::app::ui::widgets::path_field::PathField;
use crate::app::ui::widgets::text::{small, weak};
use crate::app::ui::{theme, widgets};
use crate::exec::{Aspect, Converted};
use crate::{formats, safe_text};
use egui::{
    Align, ComboBox, Direction, Id, Label, Layout, RichText, ScrollArea, TextStyle, Ui, vec2,
};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 560.0;
/// Width of the labels, in points.
const LABEL: f32 = 64.0;
/// Fixed height of the list and the messages below it, in points, so that the dialog does not resize.
const LIST: f32 = 216.0;

/// Shows the dialog.
pub fn show(ui: &mut Ui, document: &Document, conversion: &Conversion, commands: &mut Commands) {
    let modal = dialog(ui, "convert").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        dialog_title(ui, "Convert to another format");
        if let Some(converted) = &conversion.done {
            result(ui, document, converted, commands);
        } else {
            form(ui, document, conversion, commands);
        }
        ui.add_space(space::S);
        buttons(ui, conversion, commands);
    });
    // Writing a file takes only a moment and cannot be interrupted.
    if modal.should_close() && !conversion.is_busy() {
        commands.push(ConvertCommand::Close);
    }
}

fn form(ui: &mut Ui, document: &Document, conversion: &Conversion, commands: &mut Commands) {
    let text = "Writes the whole recorded history without compaction. The source is not changed.";
    ui.label(weak(ui, text));
    ui.add_space(space::S);
    let mut draft = conversion.draft.clone();
    ui.add_enabled_ui(!conversion.is_busy(), |ui| {
        fields(ui, document, &mut draft, commands);
    });
    if draft != conversion.draft {
        commands.push(ConvertCommand::Edit(draft));
    }
    ui.add_space(space::S);
    let height_id = Id::unique("height below the list of a conversion");
    let below: f32 = ui.data(|d| d.get_temp(height_id)).unwrap_or_default();
    let id = ("preview", conversion.draft.format);
    list(ui, id, LIST - below, |ui| match &conversion.preview {
        Preview::Comparing(_) => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(weak(ui, "Comparing the formats…"));
            });
        }
        Preview::Known(_) if is_copy(document, conversion.draft.format) => {
            ui.label("A copy of the session in its own format, byte for byte.");
        }
        Preview::Known(aspects) => aspects_list(ui, aspects),
        Preview::Refused(why) => error_box(ui, "Cannot write this format", why),
    });
    let top = ui.cursor().top();
    problem(ui, conversion);
    let height = (ui.cursor().top() - top).clamp(0.0, LIST / 2.0);
    if (height - below).abs() > 0.5 {
        ui.data_mut(|d| d.insert_temp(height_id, height));
        ui.request_discard("the height of the list depends on the messages below it");
    }
}

/// Shows why nothing was written or what the form still needs.
fn problem(ui: &mut Ui, conversion: &Conversion) {
    if let Some(why) = &conversion.failed {
        error_box(ui, "Nothing was written", why);
    } else if conversion.draft.output.trim().is_empty() {
        let text = "Choose an output path.";
        ui.label(RichText::new(text).color(palette(ui).warn));
    }
}

fn is_copy(document: &Document, format: &str) -> bool {
    document.session().source.format == format
}

fn fields(ui: &mut Ui, document: &Document, draft: &mut ConversionDraft, commands: &mut Commands) {
    let line = |ui: &mut Ui, label: &str, content: &mut dyn FnMut(&mut Ui, Id)| {
        widgets::labelled(ui, label, LABEL, space::M, content);
    };
    line(ui, "format", &mut |ui, label| {
        let chosen = formats::by_name(draft.format).map_or("none", |f| f.label);
        let combo =
            ComboBox::from_id_salt("conversion format").selected_text(chosen).show_ui(ui, |ui| {
                for format in possible(document) {
                    let text = if is_copy(document, format.name) {
                        format!("{} (a copy)", format.label)
                    } else {
                        format.label.to_owned()
                    };
                    ui.selectable_value(&mut draft.format, format.name, text);
                }
            });
        combo.response.labelled_by(label);
    });
    line(ui, "write to", &mut |ui, label| {
        let field =
            PathField { id: "conversion path", label, hint: "/home/me/session-openai_chat.json" };
        if field.show(ui, &mut draft.output) {
            commands.push(ConvertCommand::Browse);
        }
    });
}

/// Shows a list of fixed height. A list with another `id` starts at the top.
fn list(ui: &mut Ui, id: (&str, &str), height: f32, content: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical()
        .id_salt(id)
        .auto_shrink(false)
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, content);
}

/// Lists the content of the session first, then the other data that the format cannot represent.
fn aspects_list(ui: &mut Ui, aspects: &[Aspect]) {
    let (content, others): (Vec<_>, Vec<_>) = aspects.iter().partition(|aspect| aspect.is_content);
    let missing: Vec<_> = others.into_iter().filter(|a| !a.is_whole()).collect();
    ui.spacing_mut().item_spacing.y = 2.0;
    let font = TextStyle::Body.resolve(ui.style());
    let width = |aspect: &&Aspect| {
        let figure = aspect.figure(wording::grouped);
        let galley = ui.painter().layout_no_wrap(figure, font.clone(), palette(ui).text);
        galley.size().x
    };
    let widest = content.iter().chain(&missing).map(width).fold(0.0, f32::max);
    for aspect in content {
        row(ui, aspect, widest);
    }
    ui.add_space(space::S);
    if missing.is_empty() {
        ui.label(weak(ui, "Nothing else is missing."));
    } else {
        ui.label(RichText::new("Not included").text_style(theme::strong()));
    }
    for aspect in missing {
        row(ui, aspect, widest);
    }
}

/// Shows an aspect of the session: its outcome, count and description.
fn row(ui: &mut Ui, aspect: &Aspect, widest: f32) {
    const LINE: f32 = 18.0;
    let (sign, color) = match aspect {
        aspect if aspect.is_whole() => ("✔", palette(ui).ok),
        aspect if aspect.is_content => ("✖", palette(ui).bad),
        _ => ("–", palette(ui).weak),
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        ui.spacing_mut().interact_size.y = LINE;
        let sign_size = vec2(14.0, LINE);
        let centered = Layout::centered_and_justified(Direction::LeftToRight);
        ui.allocate_ui_with_layout(sign_size, centered, |ui| {
            ui.label(RichText::new(sign).color(color));
        });
        let figure_size = vec2(widest.ceil(), LINE);
        let right = Layout::right_to_left(Align::Center);
        ui.allocate_ui_with_layout(figure_size, right, |ui| {
            ui.set_min_size(figure_size);
            ui.label(aspect.figure(wording::grouped));
        });
        let description = aspect.description(wording::grouped);
        ui.add(Label::new(safe_text::visible(&description).as_ref()).wrap());
    });
}

/// Shows what was written and its path.
fn result(ui: &mut Ui, document: &Document, converted: &Converted, commands: &mut Commands) {
    let session = document.session();
    let messages = session.n_history();
    let is_lost = |aspect: &Aspect| aspect.is_content && !aspect.is_whole();
    let text = if converted.is_copy {
        let bytes = wording::grouped(converted.bytes as u64);
        format!("Copied byte for byte: {bytes} bytes")
    } else if converted.aspects.iter().any(is_lost) {
        "Written, but some expected data is missing".to_owned()
    } else {
        format!("{} written", wording::count(messages, "message"))
    };
    ui.label(RichText::new(text).text_style(theme::strong()));
    output_path(ui, &converted.output, commands);
    ui.add_space(space::S);
    if !converted.is_copy {
        ui.label(small(ui, "Read back and compared with the session:"));
        list(ui, ("written", ""), LIST, |ui| {
            aspects_list(ui, &converted.aspects);
        });
    }
}

fn buttons(ui: &mut Ui, conversion: &Conversion, commands: &mut Commands) {
    ui.horizontal(|ui| {
        if conversion.done.is_some() {
            if widgets::primary_button(ui, "Close").clicked() {
                commands.push(ConvertCommand::Close);
            }
            return;
        }
        let has_output = !conversion.draft.output.trim().is_empty();
        let is_possible = matches!(conversion.preview, Preview::Known(_));
        let is_ready = has_output && is_possible && !conversion.is_busy();
        ui.add_enabled_ui(is_ready, |ui| {
            if widgets::primary_button(ui, "Convert").clicked() {
                commands.push(ConvertCommand::Write);
            }
        });
        ui.add_enabled_ui(!conversion.is_busy(), |ui| {
            if widgets::secondary_button(ui, "Close", "Esc").clicked() {
                commands.push(ConvertCommand::Close);
            }
        });
        if conversion.is_busy() {
            ui.spinner();
        }
    });
}
