//! JSON values with their byte ranges in the file, and accessors for their members.

mod accessors;
mod borrowed;
mod parse;
mod rows;
mod span;

pub(super) use accessors::{at, is_true, millis_at, shortened, str_at, text_of, u64_at, u64_of};
pub(super) use borrowed::{BorrowedValue, joined};
pub(super) use parse::{
    DOCUMENT_PASSES, LARGE, has_too_many_values, is_one_value, parse_document, parse_lenient,
    parse_span, too_many_values,
};
pub(super) use rows::{Row, members_except, rows_at};
pub(super) use span::{document_span, elements, member, members};
