//! Exports: managed conversations with sidecars, their default paths, and restore.

/// Claims on default output paths, for concurrent processes.
mod claim;
mod default_path;
/// The input of an export.
mod job;
mod manifest;
mod marked;
/// The reason why a run changed nothing.
mod no_change;
/// Notes for the user about a run.
mod notes;
/// Pieces of the source that the managed file contains byte for byte, and pieces that it lacks.
mod pieces;
/// Files that a policy writes next to the conversation.
mod policy_files;
/// The sidecar with records that the managed file lacks.
mod removed;
mod request_cost;
mod restore;
/// Exports to the store of the program that recorded the session.
mod resumable;
/// Runs an export.
mod run;
mod sidecars;

pub use claim::Claim;
pub use default_path::{
    default_context_path, default_converted_path, default_export_path, default_path_beside,
    free_path,
};
pub use job::ExportJob;
pub(super) use marked::commit_marked;
pub use policy_files::WrittenFile;
pub use request_cost::{RequestCost, request_cost};
pub(super) use request_cost::{planned_requests, quote_at};
pub use restore::{Restored, restore, source_of_managed};
pub use resumable::{export_resumable, resumable_folder};
pub use run::{CallContext, Exported, Preview, context_with, export, export_context, preview};
pub use sidecars::{PolicyFolder, Sidecars};
