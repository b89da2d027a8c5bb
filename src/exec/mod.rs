//! I/O: reads session files, writes exports and state, and sends requests to models. Independent of the window.

mod check;
mod claim;
mod convert;
mod database;
mod export;
mod export_path;
mod folder;
mod idle;
mod load;
pub mod model;
mod new_file;
mod own_file;
mod own_presets;
mod picture;
mod place;
mod policy_file;
mod restore;
mod resumable;
mod sending;
mod session_folder;
mod several;
mod stamp;
mod state;
pub mod stores;
mod sub_agents;
mod summary;
mod unfinished;
mod unpack;

pub use check::Check;
pub use claim::Claim;
pub use convert::{Aspect, Converted, convert, targets, would_convert};
pub use database::is_database;
pub use export::{
    ExportJob, Exported, Preview, Sidecars, WrittenFile, export, export_seen, files_path, preview,
};
pub use export_path::{
    default_converted_path, default_export_path, default_path_beside, default_seen_path, free_path,
};
pub use folder::open_folder;
pub use load::{
    LoadError, LoadOptions, Loaded, MOST_BYTES, load, load_bytes, load_stream, must_exist,
};
pub use new_file::{refuse_output, refuse_source, write_file};
pub use own_file::{check_own, fingerprint, read_own, write_own};
pub use own_presets::{OwnPreset, OwnPresets};
pub use picture::{picture_place, write_picture};
pub use policy_file::{load_configuration, load_policy, load_prices, policy_text, save_policy};
pub use restore::{Restored, restore};
pub use resumable::{Resumed, export_resumable, resumable_folder};
pub use sending::{Sending, sending};
pub use several::Several;
pub use stamp::Stamp;
pub use state::{KeptPrice, State};
pub use summary::{
    LogFile, Model, ModelNews, RequestRecord, RunLog, Summarizer, clear_logs, logs, logs_folder,
    logs_in, new_log, read_prompt, remove_log,
};

use std::path::Path;

use crate::figure::counted;
/// There is a folder of this name.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// There is a folder of this name that may hold sessions, and is none itself.
pub fn is_folder_of_sessions(path: &Path) -> bool {
    is_folder(path) && !session_folder::is_session(path)
}

/// Something of this name is there, whatever it is.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
