//! Measures what compactions lost by asking a model.
//!
//! [`EvaluationPlan::new`] writes the questions of each session: probes about facts that a lane removed, for the call
//! after each compaction. [`EvaluationPlan::cost`] states what a run sends, before anything is sent. [`run`] plays
//! every lane with real summaries, asks the questions with each context, and computes the [`Report`]. Every answer is
//! in an [`EvaluationLog`], from which a broken run continues and a finished one is repeated without a model.

mod actions;
mod contexts;
mod job;
mod judge;
mod log;
mod parallel;
mod plan;
mod planted_facts;
mod points;
mod question_counts;
mod questions;
mod report;
mod run;
mod sender;

pub use job::{
    EvaluatedLane, EvaluatedSession, EvaluationJob, Planting, RECORDED, SAMPLES, Tier,
    has_measurable_compaction,
};
pub use log::EvaluationLog;
pub use plan::{EvaluationPlan, PlanCost};
pub use question_counts::QuestionCounts;
pub use report::{LaneReport, Report, RequestCounts, SessionReport};
pub use run::{CONCURRENCY, Evaluation, ProbeObserver, RunOptions, run};
pub use sender::{Budget, Stopped};
