//! Files that Plimsoll wrote: their paths, and their recognition.

mod own_outputs;
mod paths;

pub(super) use own_outputs::{FileId, MANIFEST, MAX_MANIFEST_BYTES, OwnOutputs};
pub use paths::files_path;
pub(super) use paths::{is_free, manifest_path, numbered, removed_path};
