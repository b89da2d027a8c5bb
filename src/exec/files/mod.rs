//! Files on the disk: bounded reading, decompression, and writing that is atomic and never overwrites a source.

mod hash;
mod limits;
mod load_error;
mod new_file;
mod open_folder;
mod own_file;
mod path;
mod picture;
mod private;
mod read;
mod read_parallel;
mod stamp;
pub(super) mod unfinished;
mod unpack;
mod write;
mod zip;

pub(super) use hash::{Hasher, sha256, sha256_bytes};
pub use limits::MAX_SESSION_BYTES;
pub use load_error::LoadError;
pub(super) use new_file::write_private_file;
pub use new_file::{check_is_new, check_is_not_source, write_file};
pub use open_folder::open_folder;
pub use own_file::{OwnFileKind, check_own, fingerprint, read_own, write_own};
pub(super) use path::{file_name, is_same_file, parent_folder, require_parent};
pub use path::{is_folder, is_taken};
pub use picture::{check_picture, write_picture};
pub(super) use private::{create_private_file, create_private_folder};
pub use read::{is_damaged, must_exist, read_packed_text, read_text};
pub(super) use read::{read_all, read_bounded, read_file};
pub use stamp::Stamp;
pub(super) use unpack::unpacked;
pub(super) use write::{
    StagedFile, replace, replace_keeping_permissions, replace_private, short_reason, write_error,
    write_new, write_new_private,
};
pub(super) use zip::{START as ZIP_START, each_file, files_in, names_in};
