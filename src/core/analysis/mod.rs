//! Analyses of sessions and runs: pure functions over sessions, ledgers and outcomes.

pub mod attribution;
mod breakdown;
mod call_range;
pub mod canary;
pub mod comparison;
pub mod cost;
mod difference;
pub mod facts;
mod finding;
pub mod insight;
pub mod judge;
mod last_use;
pub mod loss;
pub mod lower_bound;
mod message_name;
pub mod next_action;
pub mod probes;
pub mod query;
pub mod rereads;
pub mod resent;
pub mod statistics;
pub mod tools;
mod trigger;
pub mod tune;
pub mod usage;
mod verdict;

pub use breakdown::{LargestPart, heaviest_part, largest_parts, message_kind};
pub use call_range::CallRange;
pub use difference::{Change, ChangedMessage, ContextDifference, MessageRef};
use finding::times;
pub use finding::{Finding, FindingKind, findings, flaws, thrashing_calls};
pub use last_use::{LastUses, NamedLines};
pub use message_name::{MessageName, MessageSubject};
pub use trigger::{FirstCompaction, LaneTrigger, PlayedLane, Trigger};
pub use verdict::{Clause, Link, Severity, Verdict, WorkingPreset, verdict};
