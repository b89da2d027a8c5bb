//! Plays a session through a policy. The same code simulates and executes.
//!
//! | module | contains |
//! |---|---|
//! | `case` | the input of a run: session, token weights, windows, manual edits |
//! | `policy` | a policy, its stages and its token count; its parser |
//! | `expr` | expressions in policies |
//! | `context` | the context of a call, and the working context of a run with its sums |
//! | `select` | the entries that a stage takes |
//! | `named` | interfaces of the rules of real systems |
//! | `conversion` | the context as messages of an agent's program, and back |
//! | `summary` | summary requests, their text and their answers |
//! | `run` | plays a policy, call by call |
//! | `received` | the content that each call received |
//! | `outcome` | the result of a run |
//!
//! A run returns a [`Request`] if it needs a summary and continues when a [`Reply`] is provided. The engine itself does
//! not wait, read, print, or use a clock. It is deterministic: the same inputs give the same events.

mod case;
mod context;
mod conversion;
mod expr;
mod named;
mod outcome;
mod policy;
mod received;
mod run;
mod select;
mod summary;

pub use case::Case;
pub use case::budget::{Budget, WindowPlan, WindowSource};
pub use case::index::SessionIndex;
pub use case::manual_edits::ManualEdits;
pub use case::memo::Memo;
pub use case::meter_column::MeterColumn;
pub use case::provider_error::ProviderError;
pub use case::reported_usage::ReportedUsage;
pub use case::storage::{FileContent, NewFile, Storage, short_name};
pub use context::executed::{ExecutedContext, PredictedText};
pub use context::{Context, Dropped, Edited, Entry, EntryBody, MessageStatus, Written};
pub use context::{Left, Marker, PartStatus, PartStatuses};
pub use conversion::message_edits::edits_of;
pub use expr::{Definition, Expr, ExprError, Moment, Quantity, Type, Vocabulary};
pub use named::edits::{Edits, MessageEdit};
pub use named::memory::Memory;
pub use named::window::NamedWindow;
pub use named::{NamedAction, NamedMeter, Registry, Rewrite, RewriteInput, Rewritten};
pub use outcome::event::{Cause, Effect, Event, RequestSize};
pub use outcome::measure::OwnMeasure;
pub use outcome::warning::{EditWarning, Warning};
pub use outcome::{Halt, Idle, Outcome, Peak, Sample, SummaryTraffic};
pub use policy::meter::{Count, Meter};
pub use policy::stages::{
    Action, ActionKind, Boundary, Clear, Cut, Drop, Guard, Hook, Keep, Log, LogPiece, Mutates,
    Named, Repair, Results, Stage, Summarize, SummaryPosition, Take, TakeKind, Unit,
};
pub use policy::trigger::OwnTrigger;
pub use policy::{
    Knob, KnobRole, KnobValues, Policy, PolicyError, PolicyKind, Proof, SensibleRange,
};
pub use received::{
    PartVisibility, PolicyText, Received, ReceivedChange, TextChange, TextKind, Visibility,
};
pub use run::recorded::recorded;
pub use run::{Poll, Run, Schedule, drive, simulate};
pub use summary::digest::digest;
pub use summary::estimator::Estimator;
pub use summary::predicted::is_stand_in;
pub use summary::request::{Answer, Reply, Request};
pub use summary::transcript::{transcript, transcript_parts};
