//! The selected call, message, lane and event, and the commands that select.

use crate::app::lanes::rows::WrittenPosition;

/// Lane and position of an event.
pub type EventId = (Option<usize>, usize);

/// The selected items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Index of the call.
    pub call: usize,
    /// Index of a message.
    pub message: Option<usize>,
    /// Index of the message at the other end of a selected range.
    pub anchor: Option<usize>,
    /// Position of a written message, if one is selected instead of a message.
    pub written: Option<WrittenPosition>,
    /// Index of the focused lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// An event; `None` if only a call is selected.
    pub event: Option<EventId>,
}

/// A spot in all panels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Index of a lane.
    pub lane: Option<usize>,
    /// Index of a call.
    pub call: Option<usize>,
    /// Index of a message.
    pub message: Option<usize>,
}

/// A command that selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectCommand {
    /// Select this call in all panels.
    Call(usize),
    /// Select this message in all panels.
    Message(usize),
    /// Select the message that this lane wrote at this position.
    Written(usize, WrittenPosition),
    /// Select no message and close the detail.
    NoMessage,
    /// Select the table rows from the selected message to this one.
    ExtendTo(usize),
    /// Select the lane, call and message that are given, without changing tabs.
    Spot(Spot),
    /// Select an event of a lane's policy or of the recorded program.
    Event(EventId),
    /// Select the message with this number (from 1), or the nearest one.
    MessageNumber(usize),
    /// Select a lane and show its settings; `None` for the recorded lane.
    Lane(Option<usize>),
}
