//! Checks that signed or encrypted reasoning is unchanged or removed as a whole, since providers reject a changed
//! block.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::figure::counted;
use crate::session::{Body, ManagedEntry, ManagedPart, Session};

const NAME: &str = "signatures";

/// Checks that kept reasoning is unchanged and that no reasoning has another text.
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
                            let fault = format!("the reasoning of message {message} was changed");
                            return Check::failed(NAME, fault);
                        }
                        ManagedPart::Replaced { .. } => {}
                    }
                }
            }
            ManagedEntry::Written { .. } => {}
        }
    }
    let messages = context_messages(read).into_iter();
    let found: Vec<_> =
        messages.flat_map(|idx| sealed(read, read.messages[idx].parts.clone())).collect();
    if found == kept {
        return Check::passed(
            NAME,
            format!("{}, unchanged", counted(kept.len(), "encrypted reasoning block")),
        );
    }
    if !promise.is_same_format() && found.is_empty() {
        let blocks = counted(kept.len(), "encrypted reasoning block");
        let text = format!("{blocks} left out");
        return Check::passed(NAME, text);
    }
    let (kept, found) = (kept.len(), found.len());
    Check::failed(
        NAME,
        format!("{} instead of {kept}, or changed", counted(found, "encrypted reasoning block")),
    )
}

/// Returns signed or encrypted reasoning: its text, and the size of the signature or ciphertext.
fn sealed(session: &Session, parts: std::ops::Range<usize>) -> impl Iterator<Item = (&str, u32)> {
    session.parts[parts].iter().filter_map(|part| match &part.body {
        Body::Thinking { text, sealed_bytes, .. } if *sealed_bytes > 0 => {
            Some((&**text, *sealed_bytes))
        }
        _ => None,
    })
}
