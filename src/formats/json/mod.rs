//! JSON as text with places: where a value stands in the file, and small ways to ask a value for what it holds.

mod ask;
mod parse;
mod place;

pub(super) use ask::{at, first_str, is_true, millis_at, quoted, str_at, text_of, u64_at, u64_of};
pub(super) use parse::{
    DOCUMENT_PASSES, LARGE, crowded, is_crowded, is_one_value, parse_document, parse_lenient,
    parse_span,
};
pub(super) use place::{document_span, elements, member, members};
