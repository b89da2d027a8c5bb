//! Keys that are typed right after a key that opens a text field. They belong to the field, also if they arrive before it is
//! shown: a slow frame can contain several keys.

use egui::{Context, Event, Key, Modifiers};

/// Maximum number of frames until an opened field has the focus: one that shows it, one that focuses it, and some for a panel
/// that appears late.
const MAX_FRAMES: u8 = 12;

/// The keys that wait for their field.
#[derive(Debug, Default)]
pub(crate) struct TypedAhead {
    held: Vec<Event>,
    /// Number of frames since the field was opened; `None` if no field is awaited.
    waits: Option<u8>,
}

impl TypedAhead {
    /// Waits for the field that was opened by the event with this index, and takes the later keys of this frame.
    pub(crate) fn await_field(&mut self, ctx: &Context, opener: usize) {
        self.waits = Some(0);
        ctx.input_mut(|input| {
            let mut rest = input.events.split_off(opener + 1).into_iter().peekable();
            // The character of the key itself, such as a slash, is part of the key.
            if is_plain_key(input.events.last()) {
                let _ = rest.next_if(|event| matches!(event, Event::Text(_)));
            }
            for event in rest {
                self.take(event, &mut input.events);
            }
        });
    }

    /// Waits for the field of a control that was clicked, or chosen with Enter or Space, and takes the later keys of this frame.
    pub(crate) fn await_chosen_field(&mut self, ctx: &Context) {
        let chooses = |event: &Event| match event {
            Event::PointerButton { .. } => true,
            Event::Key { key, .. } => matches!(key, Key::Enter | Key::Space),
            _ => false,
        };
        let last = ctx.input(|input| input.events.iter().rposition(chooses));
        if let Some(last) = last {
            self.await_field(ctx, last);
        }
    }

    /// Gives the keys to the field once it has the focus, and takes the keys of this frame until then. Call this before
    /// anything reads keys. `is_asking`: the field may appear once a dialog of the system is closed.
    pub(crate) fn update(&mut self, ctx: &Context, is_asking: bool) {
        let Some(frames) = self.waits else {
            return;
        };
        // In the first frame, another field may still have the focus.
        let has_field = frames > 0 && ctx.text_edit_focused();
        if !has_field && frames < MAX_FRAMES {
            self.waits = Some(if is_asking { 1 } else { frames + 1 });
            ctx.input_mut(|input| {
                for event in std::mem::take(&mut input.events) {
                    self.take(event, &mut input.events);
                }
            });
            if !is_asking {
                ctx.request_repaint();
            }
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.waits = None;
        if has_field {
            ctx.input_mut(|input| drop(input.events.splice(0..0, held)));
        }
    }

    /// Keeps a pressed key or typed text, and leaves other events in the frame.
    fn take(&mut self, event: Event, others: &mut Vec<Event>) {
        match event {
            Event::Key { pressed: true, .. }
            | Event::Text(_)
            | Event::Ime(_)
            | Event::Paste(_)
            | Event::Copy
            | Event::Cut => self.held.push(event),
            other => others.push(other),
        }
    }
}

/// Returns whether a pressed key also types a character.
fn is_plain_key(event: Option<&Event>) -> bool {
    let shift = Modifiers::SHIFT;
    matches!(event, Some(Event::Key { modifiers, .. }) if shift.contains(*modifiers))
}
