//! Expected re-reads: how many files an agent is expected to read again because a policy removed, cut or cleared their
//! content, and what that costs.
//!
//! A compaction causes re-reads. Age, uses and edits of a file predict them ([`RereadModel`]); names in a summary do
//! not help, and for commands, searches and values no cost of loss can be shown. `docs/validity.md` has the data and
//! their limits.

mod attachments;
mod files;
mod fit;
mod items;
mod lane;
mod left_out;
mod model;
mod observe;
mod price;
mod read_command;
mod retention;
mod text;
mod tool_results;
mod validity;

pub use files::FileReads;
pub use fit::fit;
pub use items::{ItemKind, RereadItem, parse_items, write_items};
pub use lane::{ExpectedRereads, RemovedFile, RereadMeasure, RereadTotal};
pub use left_out::LeftOut;
pub use model::{Expected, FileUse, RereadModel, TokensFetched, WINDOW_CALLS};
pub use observe::observed_items;
pub use price::RereadPrices;
pub use retention::{RetentionCurve, RetentionCurves, retention_curves};
pub use text::rereads_number;
pub use validity::{EffectRow, ItemCounts, ObservedExpected, Validity, ValidityVerdict};
