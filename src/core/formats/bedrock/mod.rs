//! Messages of Amazon Bedrock's Converse API, and the sessions of Strands Agents, which store them.
//!
//! A content block has no type: its only member names it (`text`, `toolUse`, `toolResult`, …).
//!
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>

mod converse;
mod message;
mod strands;

pub(super) use converse::FORMAT;
pub(super) use strands::STRANDS;
