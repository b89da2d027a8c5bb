//! JSON values with their byte ranges in the file, and accessors for their members.

mod accessors;
mod lenient;
mod parse;
mod span;
mod time;

pub(super) use accessors::{
    at, borrowed_text_of, is_true, joined, millis_at, shortened, str_at, text_of, u64_at, u64_of,
};
pub(super) use lenient::{parse_lenient, parse_span};
pub(super) use parse::{
    DOCUMENT_PASSES, LARGE, has_too_many_values, is_one_value, parse_document, too_many_values,
};
pub(super) use span::{document_span, elements, member, members};
pub(super) use time::{millis, millis_read, rfc3339_of};
