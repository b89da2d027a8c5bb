//! A conversation from the clipboard: a text that is opened as a session of no file.

use egui::{Context, Event, ViewportCommand};
use std::fmt;
use std::sync::Arc;

/// How it is called.
pub const NAME: &str = "Pasted";

/// A text that was pasted. Copies share it, and only they are equal: it may be large.
#[derive(Clone)]
pub struct Pasted(Arc<String>);

impl Pasted {
    /// A text of somebody's clipboard.
    pub fn new(text: String) -> Self {
        Self(Arc::new(text))
    }

    /// What it says.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl PartialEq for Pasted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Pasted {}

impl fmt::Debug for Pasted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pasted({} bytes)", self.0.len())
    }
}

/// A wish for what the clipboard holds, which takes a few frames to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    frames_left: u8,
}

/// Frames until it is clear that nothing comes.
const FRAMES: u8 = 4;

impl Wish {
    /// Asks the system for it.
    pub(super) fn new(ctx: &Context) -> Self {
        ctx.send_viewport_cmd(ViewportCommand::RequestPaste);
        ctx.request_repaint();
        Self {
            frames_left: FRAMES,
        }
    }

    /// The same a frame later; none once it is in vain.
    pub(super) fn later(self, ctx: &Context) -> Option<Self> {
        ctx.request_repaint();
        let frames_left = self.frames_left.checked_sub(1)?;
        Some(Self { frames_left })
    }
}

/// What was pasted in this frame, unless it goes into a text that is being typed.
pub(super) fn pasted(ctx: &Context) -> Option<Pasted> {
    if ctx.text_edit_focused() {
        return None;
    }
    ctx.input_mut(|input| {
        let events = &mut input.events;
        let at = events.iter().position(|e| matches!(e, Event::Paste(_)))?;
        match events.remove(at) {
            Event::Paste(text) => Some(Pasted::new(text)),
            _ => None,
        }
    })
}
