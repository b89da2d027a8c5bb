//! JSON values that keep the order of keys and the notation of numbers, so that edited records differ from their source
//! only where they were edited.
//!
//! [`Value`] has the interface of `serde_json::Value`. `serde_json` can keep both as well, but only by features that change
//! it for every other crate of a program.

mod any_format;
mod borrowed;
mod char_search;
mod convert;
mod index;
mod macros;
mod number;
mod parse;
mod parser;
mod serial;
#[cfg(test)]
mod tests;
mod text;
mod to_value;
mod value;
mod write;

pub use crate::json_value as json;
pub(crate) use any_format::AnyFormat;
pub(crate) use borrowed::BorrowedValue;
pub use index::Index;
pub use number::Number;
pub use parse::{from_slice, from_str, leading_value};
pub use serial::to_value;
pub use to_value::ToValue;
pub use value::{Map, Value};
pub(crate) use write::push_text;
