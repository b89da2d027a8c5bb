//! I/O: reads session files, writes exports and state, and sends requests to models. Independent of the window.

mod agent_store;
mod check;
mod contents;
mod convert;
mod database;
pub mod evaluate;
mod export;
mod files;
pub mod hooks;
mod index;
mod inputs;
mod libraries;
mod load;
pub mod mcp;
pub mod model;
mod outputs;
mod path_candidates;
mod policies;
pub mod search;
pub mod shell;
mod state;
pub mod stores;
mod summary;
pub mod tables;
mod workspaces;

pub use agent_store::Resumed;
pub use check::Check;
pub use convert::{Aspect, Converted, convert, convert_resumable, would_convert};
pub use database::is_database;
pub use export::{
    CallContext, Claim, ExportJob, Exported, PolicyFolder, Preview, RequestCost, Restored,
    Sidecars, WrittenFile, context_with, default_context_path, default_converted_path,
    default_export_path, default_path_beside, export, export_context, export_resumable, free_path,
    preview, request_cost, restore, resumable_folder, source_of_managed,
};
pub use files::{
    LoadError, MAX_SESSION_BYTES, OwnFileKind, Stamp, check_is_new, check_is_not_source, check_own,
    check_picture, fingerprint, is_damaged, is_folder, is_taken, must_exist, open_folder, read_own,
    read_packed_text, read_text, write_file, write_own, write_picture,
};
pub use index::{Index, IndexError, IndexFolder, IndexUpdate, MAX_FILE_TEXT, MAX_TEXT};
pub use inputs::{InputFailure, InputFile, Inputs, list_from, read_list};
pub use libraries::missing_libraries;
pub use load::{
    FileSessions, LoadOptions, Loaded, is_folder_of_sessions, load, load_bytes, load_stream,
    warm_up,
};
pub use outputs::files_path;
pub use path_candidates::paths_from;
pub use policies::{
    OwnPreset, OwnPresets, install_tables, kept_tables, load_configuration, load_policy,
    load_reread_model, load_tool_definitions, policy_text, read_configuration, save_policy,
};
pub use state::{KeptPrice, KeptUsageView, State};
pub use summary::{
    LogFile, Model, ModelEvent, RequestRecord, RunLog, Summarizer, clear_logs, logs, logs_folder,
    logs_in, new_log, read_prompt, remove_log,
};
pub use workspaces::{
    OpenedWorkspace, SessionKey, Workspaces, WorkspacesSize, open_workspace, write_workspace,
};
