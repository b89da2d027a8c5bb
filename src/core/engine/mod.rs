//! Plays a session through a policy. The same code simulates and executes.
//!
//! | module | contains |
//! |---|---|
//! | `vocabulary` | words that policies, runs and results share |
//! | `case` | the input of a run: session, token weights, windows, manual edits |
//! | `named` | interfaces of the rules of real systems |
//! | `expr` | expressions in policies |
//! | `context` | the context of a call |
//! | `agent_messages` | the context as messages of an agent's program |
//! | `meter` | the token count of a policy |
//! | `growing` | a case whose session grows |
//! | `policy` | a policy and its stages; its parser |
//! | `working` | the context during a run, with its sums |
//! | `conversion` | the messages that a named action left, as context entries |
//! | `received` | the content that each call received |
//! | `outcome` | the result of a run |
//! | `summary` | summary requests, their text and their answers |
//! | `select` | the entries that a stage takes |
//! | `run` | plays a policy, call by call |
//!
//! A module imports only modules above it in this table.
//!
//! A run returns a [`Request`] if it needs a summary and continues when a [`Reply`] is provided. The engine itself does
//! not wait, read, print, or use a clock. It is deterministic: the same inputs give the same events.

mod agent_messages;
mod case;
mod context;
mod conversion;
mod expr;
mod growing;
mod meter;
mod named;
mod outcome;
mod policy;
mod received;
mod run;
mod select;
mod summary;
mod vocabulary;
mod working;

pub use case::Case;
pub use case::budget::{Budget, WindowPlan, WindowSource};
pub use case::index::SessionIndex;
pub use case::manual_edits::ManualEdits;
pub use case::memo::Memo;
pub use case::meter_column::MeterColumn;
pub use case::predicted::is_stand_in;
pub use case::provider_error::ProviderError;
pub use case::reported_usage::ReportedUsage;
pub use case::storage::{FileContent, NewFile, Storage, short_name};
pub use context::executed::{ExecutedContext, PredictedText};
pub use context::{Context, Dropped, Edited, Entry, EntryBody, MessageStatus, Written};
pub use context::{Left, Marker, PartStatus, PartStatuses};
pub use conversion::message_edits::edits_of;
pub use expr::{Definition, Expr, ExprError, Moment, Quantity, Type, Vocabulary};
pub use growing::GrowingCase;
pub use meter::{Count, Meter};
pub use named::edits::{Edits, MessageEdit};
pub use named::memory::Memory;
pub use named::window::NamedWindow;
pub use named::{MakeRewrite, NamedAction, NamedMeter, Registry, Rewrite, RewriteInput, Rewritten};
pub use outcome::event::{Cause, Effect, Event, RequestSize};
pub use outcome::warning::{EditWarning, Warning};
pub use outcome::{Halt, Idle, Outcome, Peak, Sample, SummaryTraffic};
pub use policy::stages::{
    Action, Boundary, Clear, Cut, Dedupe, Drop, Guard, Keep, Log, LogPiece, Mutates, Named, Repair,
    Results, Stage, Summarize, Take, TakeKind, Unit,
};
pub use policy::trigger::OwnTrigger;
pub use policy::{
    Evidence, Knob, KnobRole, KnobValues, Policy, PolicyError, PolicyKind, Proof, SensibleRange,
};
pub use received::{
    PartVisibility, PolicyText, Received, ReceivedChange, TextChange, TextKind, Visibility,
};
pub use run::recorded::recorded;
pub use run::{Poll, Run, Schedule, drive, simulate};
pub use summary::digest::digest;
pub use summary::estimator::Estimator;
pub use summary::request::{Answer, Reply, Request};
pub use summary::transcript::{transcript, transcript_parts};
pub use vocabulary::{ActionKind, Hook, OwnMeasure, SummaryPosition};
