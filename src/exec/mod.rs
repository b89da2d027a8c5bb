//! Touches the world: reads session files, writes exports, keeps the program's own state. Knows no window.

mod check;
mod export;
mod load;
mod policy_file;
mod state;

pub use check::Check;
pub use export::{ExportJob, Exported, Summarizer, default_export_path, export};
pub use load::{
    LoadError, LoadOptions, Loaded, MOST_BYTES, load, load_bytes, load_stream, must_exist,
};
pub use policy_file::load_policy;
pub use state::State;
