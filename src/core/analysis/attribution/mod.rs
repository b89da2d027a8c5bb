//! Attribution: which instructions, memory files, tools and MCP servers fill the context, and what each costs.
//!
//! | module | contains |
//! |---|---|
//! | `source` | a source of content ([`Source`]) and its name on the command line ([`Selector`]) |
//! | `marks` | texts by which agents mark memory files, skills, hooks and reminders |
//! | `pieces` | the parts of a session, split by source ([`Sources`]) |
//! | `rows` | tokens, calls and price of each source ([`Attribution`]) |
//! | `context` | what one context consists of ([`context_items`]) |
//! | `over_time` | what the recorded contexts consist of, call by call ([`groups_over_time`]) |
//! | `unused` | MCP servers that no call used ([`unused_servers`]) |
//! | `given_tools` | tool definitions that the user gives ([`with_tools`]) |
//! | `without` | the session without some sources ([`without`]) |
//!
//! Only content that the file records can be attributed. What it does not record is one row, [`SourceKind::NotRecorded`].

mod context;
mod given_tools;
mod marks;
mod over_time;
mod pieces;
mod rows;
mod source;
mod unused;
mod without;

pub use context::{ContextItem, context_items};
pub use given_tools::with_tools;
pub use over_time::{GroupOverTime, groups_over_time};
pub use pieces::{Piece, Sources};
pub use rows::{Attribution, SourceRow};
pub use source::{Selector, Source, SourceKind};
pub use unused::{UnusedServer, unused_servers};
pub use without::{Without, without};
