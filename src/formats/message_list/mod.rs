//! What the formats that list messages share: where the list stands in a file, and writing the file again with
//! another list in it, every other byte kept. What a message says is each format's own.

mod convert;
mod edit;
mod layout;
mod look;
mod media;
mod order;
mod places;
mod read;
mod usage;
mod write;

pub(super) use convert::{Block, Turn, definition, document, turns};
pub(super) use edit::{Editing, Fate, text_block};
pub(super) use look::{Look, look};
pub(super) use media::{Held, Media, of_block};
pub(super) use places::{
    Patch, array_at, at_path, patched, quoted, with_member, without, without_members,
};
pub(super) use read::{Calls, Dialect, opaque, part, read, tool_definitions};
pub(super) use usage::time_of;
pub(super) use write::write_own;
