//! The listed messages of a report.

use super::ReportMessage;
use super::redaction::Redactor;
use crate::analysis::MessageName;
use crate::engine::Case;
use crate::units::Tokens;

/// Creates a listed message.
pub(super) fn item(
    case: &Case,
    message: usize,
    tokens: Tokens,
    redactor: &mut Redactor,
) -> ReportMessage {
    ReportMessage { message, name: redactor.message(&MessageName::of(case, message)), tokens }
}
