//! Signed or encrypted reasoning is untouched or gone as a whole: a provider refuses any that was changed.

use super::{Check, Promise, context_messages};
use crate::exec::counted;
use crate::session::{Body, ManagedEntry, ManagedPart, Session};

const NAME: &str = "signatures";

/// What of the reasoning was to be kept must be there as it was; none of it may have another text.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let mut kept = Vec::new();
    for entry in &promise.managed.entries {
        match entry {
            ManagedEntry::Kept { message } => {
                kept.extend(sealed(source, source.messages[*message].parts.clone()));
            }
            ManagedEntry::Edited { parts, message } => {
                for part in parts {
                    match part {
                        ManagedPart::Kept { part } => kept.extend(sealed(source, *part..*part + 1)),
                        ManagedPart::Replaced { part, .. }
                            if sealed(source, *part..*part + 1).next().is_some() =>
                        {
                            let message = message + 1;
                            let why =
                                format!("the reasoning of message {message} has another text");
                            return Check::failed(NAME, why);
                        }
                        ManagedPart::Replaced { .. } => {}
                    }
                }
            }
            ManagedEntry::Written { .. } => {}
        }
    }
    let messages = context_messages(read).into_iter();
    let found: Vec<_> = messages
        .flat_map(|idx| sealed(read, read.messages[idx].parts.clone()))
        .collect();
    if found == kept {
        return Check::passed(
            NAME,
            format!(
                "{} of encrypted reasoning, unchanged",
                counted(kept.len(), "piece")
            ),
        );
    }
    if !promise.is_same_format() && found.is_empty() {
        let pieces = counted(kept.len(), "piece");
        let text = format!("{pieces} of encrypted reasoning left out");
        return Check::passed(NAME, text);
    }
    let (kept, found) = (kept.len(), found.len());
    Check::failed(
        NAME,
        format!(
            "{} of encrypted reasoning instead of {kept}, or changed",
            counted(found, "piece")
        ),
    )
}

/// Reasoning with a signature or in encrypted form: its text, and the bytes of what seals it.
fn sealed(session: &Session, parts: std::ops::Range<usize>) -> impl Iterator<Item = (&str, u32)> {
    session.parts[parts]
        .iter()
        .filter_map(|part| match &part.body {
            Body::Thinking {
                text, sealed_bytes, ..
            } if *sealed_bytes > 0 => Some((&**text, *sealed_bytes)),
            _ => None,
        })
}
