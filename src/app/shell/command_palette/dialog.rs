//! The dialog of the command palette.

use crate::app::shell::command_palette::entries::Entry;
use crate::app::state::command::Commands;
use crate::app::state::command_palette::state::{PaletteCommand, PaletteState};
use crate::app::ui::theme::space;
use crate::app::ui::widgets::dialog::dialog;
use crate::app::ui::widgets::text::{small, weak};
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Button, Id, Key, Margin, Modifiers, ScrollArea, TextEdit, Ui, vec2};

/// Width of the dialog's content, and maximum height of the list, in points.
const WIDTH: f32 = 560.0;
const HEIGHT: f32 = 340.0;
/// Height of the window that the list leaves free, in points.
const BESIDE: f32 = 160.0;

/// Shows the palette.
pub(crate) fn show(ui: &Ui, palette: &PaletteState, entries: &[Entry], commands: &mut Commands) {
    let window = ui.ctx().content_rect().size();
    let modal = dialog(ui, "command palette").show(ui.ctx(), |ui| {
        ui.set_width((window.x - 80.0).min(WIDTH));
        let is_moved = field(ui, palette, entries, commands);
        ui.add_space(space::S);
        if entries.is_empty() {
            ui.label(weak(ui, "No command matches."));
        }
        let height = (window.y - BESIDE).min(HEIGHT);
        ScrollArea::vertical().max_height(height).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (nth, entry) in entries.iter().enumerate() {
                let is_highlighted = nth == palette.highlighted;
                let mut row = Button::selectable(is_highlighted, entry.name.as_str());
                if !entry.hint.is_empty() {
                    row = row.right_text(small(ui, entry.hint.as_str()));
                }
                let row = row.truncate().min_size(vec2(ui.available_width(), 24.0));
                let row = ui.add(row);
                if is_highlighted && is_moved {
                    row.scroll_to_me(None);
                }
                if row.clicked() {
                    commands.extend(entry.run());
                }
            }
        });
    });
    if modal.should_close() {
        commands.push(PaletteCommand::Close);
    }
}

/// Shows the field and handles its keys. Returns whether the highlight has just moved.
fn field(ui: &mut Ui, palette: &PaletteState, entries: &[Entry], commands: &mut Commands) -> bool {
    let id = Id::unique("command palette field");
    let pressed = |key: Key| ui.input_mut(|i| i.count_and_consume_key(Modifiers::NONE, key));
    let [down, up] = [Key::ArrowDown, Key::ArrowUp].map(pressed);
    let last = entries.len().saturating_sub(1);
    let highlighted = (palette.highlighted + down).saturating_sub(up).min(last);
    let mut text = palette.text.clone();
    let typed = Id::unique("typed text of the command palette");
    let known = ui.data_mut(|data| data.get_temp::<String>(typed));
    if known.as_ref() != Some(&text) {
        move_cursor_to_end(ui, id, &text);
    }
    let edit = TextEdit::singleline(&mut text)
        .id(id)
        .hint_text("Command, preset, setting, call 34, message 12…")
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(10, 6));
    let response = ui.add(edit).accessible_name("Command palette");
    ui.data_mut(|data| data.insert_temp(typed, text.clone()));
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    if is_entered {
        // A new text has other entries, counted from the first.
        let first = if response.changed() { 0 } else { palette.highlighted };
        commands.push(PaletteCommand::Enter(PaletteState {
            text,
            highlighted: (first + down).saturating_sub(up),
        }));
    } else if response.changed() {
        commands.push(PaletteCommand::Type(text));
    } else if highlighted != palette.highlighted {
        commands.push(PaletteCommand::Highlight(highlighted));
    }
    // Keys belong to the field as long as the palette is open.
    response.request_focus();
    let shown = Id::unique("shown entry of the command palette");
    let before = ui.data_mut(|data| data.get_temp::<usize>(shown));
    ui.data_mut(|data| data.insert_temp(shown, palette.highlighted));
    before != Some(palette.highlighted)
}

/// Moves the cursor to the end of a text that an entry filled in.
fn move_cursor_to_end(ui: &Ui, id: Id, text: &str) {
    if let Some(mut state) = TextEditState::load(ui.ctx(), id) {
        let end = CCursor::new(text.chars().count());
        state.cursor.set_char_range(Some(CCursorRange::one(end)));
        state.store(ui.ctx(), id);
    }
}
