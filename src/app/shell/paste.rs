//! A conversation from the clipboard, opened as a session without a file.

use crate::app::state::model::pasted::PastedText;
use crate::app::ui::open::welcome::path_id;
use egui::{Context, Event, Key, ViewportCommand};

/// Notice for an empty clipboard.
pub(crate) const NOTHING: &str = "The clipboard contains no text.";

/// A pending request for the clipboard, which takes a few frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClipboardRequest {
    frames_left: u8,
}

/// Frames to wait for an answer.
const FRAMES: u8 = 4;

impl ClipboardRequest {
    /// Requests the clipboard from the system.
    pub(crate) fn new(ctx: &Context) -> Self {
        ctx.send_viewport_cmd(ViewportCommand::RequestPaste);
        ctx.request_repaint();
        Self { frames_left: FRAMES }
    }

    /// Returns the request one frame later; `None` after the last frame of waiting.
    pub(crate) fn after_frame(self, ctx: &Context) -> Option<Self> {
        ctx.request_repaint();
        let frames_left = self.frames_left.checked_sub(1)?;
        Some(Self { frames_left })
    }
}

/// Detects paste keys without a paste event. The system reports neither these keys nor a clipboard without text. It
/// only reports the release of a key that was never pressed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PasteKeys {
    is_down: bool,
    has_text: bool,
}

impl PasteKeys {
    /// Returns whether the paste keys were pressed without text in this frame. Must be called before other code consumes
    /// the events.
    pub(crate) fn were_without_text(&mut self, ctx: &Context) -> bool {
        ctx.input(|input| {
            let without_text = input.events.iter().filter(|event| self.note(event));
            without_text.count() > 0
        })
    }

    /// Records an event. Returns whether it ends paste keys without text.
    fn note(&mut self, event: &Event) -> bool {
        match event {
            Event::Paste(_) => self.has_text = true,
            Event::Key { key: Key::V, pressed: true, .. } => self.is_down = true,
            Event::Key { key: Key::V, .. } => {
                let before = std::mem::take(self);
                return !before.is_down && !before.has_text;
            }
            _ => {}
        }
        false
    }
}

/// Returns the text pasted in this frame, unless a text field has the focus. The path field takes only paths.
pub(crate) fn pasted(ctx: &Context) -> Option<PastedText> {
    let is_typing = ctx.text_edit_focused();
    let takes_path = ctx.memory(|memory| memory.has_focus(path_id()));
    let is_conversation = |text: &str| {
        let text = text.trim();
        text.contains('\n') || text.starts_with(['{', '['])
    };
    let is_pasted = |event: &Event| match event {
        Event::Paste(text) => !is_typing || takes_path && is_conversation(text),
        _ => false,
    };
    ctx.input_mut(|input| {
        let events = &mut input.events;
        let at = events.iter().position(is_pasted)?;
        match events.remove(at) {
            Event::Paste(text) => Some(PastedText::new(text)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::Modifiers;

    fn v(pressed: bool) -> Event {
        Event::Key {
            key: Key::V,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::COMMAND,
        }
    }

    #[test]
    fn paste_keys_without_text_are_detected() {
        let mut keys = PasteKeys::default();
        let mut is_without_text = |event: Event| keys.note(&event);
        assert!(is_without_text(v(false)), "an empty clipboard");
        assert!(!is_without_text(Event::Paste("text".to_owned())));
        assert!(!is_without_text(v(false)), "a paste event arrived");
        assert!(!is_without_text(v(true)));
        assert!(!is_without_text(v(false)), "a letter was typed");
        assert!(is_without_text(v(false)), "earlier keys do not matter");
    }
}
