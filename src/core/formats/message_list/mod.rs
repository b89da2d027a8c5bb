//! Code shared by the formats that list messages: locates the list in a file, and writes the file again with another
//! list while keeping every other byte. Each format reads its own messages.
//!
//! Usage recorded before a document was changed belongs to contexts that the document no longer contains. A changed
//! document therefore has a member in its outermost object,
//! `"plimsoll": {"managed": true, "messages": N, "calibration": {…}}`. When such a document is read, the usage reported
//! by its first N messages is ignored, and tokens are calibrated as in its source.
//!
//! The member is written only if the source reports usage. A document without usage may be a request, and providers
//! reject unknown members. A bare list and lines of messages have no place for the member: in their exports, the
//! reported usage is that of the source.

mod convert;
mod detect;
mod dialect;
mod layout;
mod order;
mod plain_message;
mod read;
mod settings;
mod shape;
mod usage;
mod write;

pub(super) use convert::plain_messages;
pub(super) use detect::{DetectedList, detect_list};
pub(super) use dialect::{Dialect, Writes, title};
pub(super) use plain_message::{Lines, PlainBlock, PlainMessage, definition, document};
pub(super) use read::read;
pub(super) use shape::{CHAT, Shape, refuse_empty};
pub(super) use usage::{call_of, of_usage, time_of};
pub(super) use write::{write_each, write_own};
