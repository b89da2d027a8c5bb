//! What the formats that list messages share: where the list stands in a file, and writing the file again with
//! another list in it, every other byte kept. What a message says is each format's own.
//!
//! Calls that were recorded before a document was changed report contexts that it does not hold any more. So a
//! document whose list was changed says so in a member of its outermost object, `"plimsoll": {"managed": true,
//! "messages": N, "calibration": {…}}`. When it is read again, what its first N messages report is not believed, and it
//! is weighed as its source was. The member is written only where the source reports something: a document without
//! reports may be a request, and providers refuse members that they do not know. A bare list, or lines of messages, have no place for it: open their exports knowing that the
//! reported usage is the source's.

mod calls;
mod convert;
mod dialect;
mod edit;
mod layout;
mod look;
pub(super) mod media;
mod order;
mod pieces;
mod places;
mod read;
mod records;
mod settings;
mod shape;
mod usage;
mod write;

pub(super) use calls::Calls;
pub(super) use convert::{Block, Lines, Turn, definition, document, turns};
pub(super) use dialect::{Dialect, MARK, Writes};
pub(super) use edit::{Editing, Fate, text_block};
pub(super) use look::{Look, look};
pub(super) use media::{Held, Media, of_block, of_urls};
pub(super) use pieces::{opaque, part, title, tool_definitions};
pub(super) use places::{
    Patch, array_at, at_path, patched, quoted, with_member, without, without_members,
};
pub(super) use read::read;
pub(super) use records::{Left, is_whole, left};
pub(super) use shape::{CHAT, Shape, refuse_empty};
pub(super) use usage::{of_usage, step_of, time_of};
pub(super) use write::{write_own, write_own_only};
