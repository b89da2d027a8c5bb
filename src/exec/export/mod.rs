//! Exports: managed conversations with sidecars, their default paths, and the way back.

mod claim;
mod default_path;
mod job;
mod manifest;
mod no_change;
mod notes;
mod paths;
mod pieces;
mod policy_files;
mod removed;
mod request_cost;
mod restore;
mod resumable;
mod run;
mod sidecars;

pub use claim::Claim;
pub use default_path::{
    default_context_path, default_converted_path, default_export_path, default_path_beside,
    free_path,
};
pub use job::ExportJob;
pub use paths::files_path;
pub use policy_files::WrittenFile;
pub use request_cost::{RequestCost, request_cost};
pub use restore::{Restored, is_managed, restore};
pub use resumable::{Resumed, export_resumable, resumable_folder};
pub use run::{CallContext, Exported, Preview, context_with, export, export_context, preview};
pub use sidecars::Sidecars;
