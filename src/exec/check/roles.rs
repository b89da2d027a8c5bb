//! Checks roles, the first speaker, and empty texts.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::figure::counted;
use crate::formats::ImportReport;
use crate::session::{Body, Managed, ManagedEntry, ManagedPart, Part, Role, Session};
use std::ops::Range;

/// Checks that the user speaks first and no text is empty, unless the source or the policy's system has the same fault,
/// and that the format knows all roles.
pub(super) fn check(promise: &Promise<'_>, read: &Session, report: &ImportReport) -> Check {
    let source = &promise.case.session;
    if let Some(role) = unknown_role(promise, report) {
        return Check::failed(
            "roles",
            format!("a message has the role `{role}`, which no provider accepts"),
        );
    }
    let context = context_messages(read);
    let first = first_speaker(read, Some(&context));
    let is_fault = first != Some(Role::User) && first_speaker(source, None) == Some(Role::User);
    let who = first.map_or("nobody", Role::name);
    let is_as_sent = || first_speaker(&promise.as_session(), None) == first;
    if is_fault && !(promise.is_of_system() && is_as_sent()) {
        return Check::failed(
            "roles",
            format!("the conversation starts with {who}, not with the user"),
        );
    }
    let n_empty_of = |idx: &usize| n_empty(read, read.messages[*idx].parts.clone());
    let empty = context.iter().find(|idx| n_empty_of(idx) > 0);
    let n: usize = context.iter().map(n_empty_of).sum();
    let allowed = if promise.is_same_format() { n_empty_kept(source, promise.managed) } else { 0 };
    if n > allowed {
        let message = empty.map_or(0, |idx| idx + 1);
        return Check::failed("roles", format!("message {message} has an empty text"));
    }
    let messages = counted(context.len(), "message");
    let figures = format!("{messages}, the first by {who}");
    if is_fault {
        let label = &promise.policy.label;
        return Check::warned(
            "roles",
            format!("{figures}, as {label} sends them; some providers reject this"),
        );
    }
    if n == 0 {
        return Check::passed("roles", figures);
    }
    let empty = counted(n, "empty text");
    Check::warned("roles", format!("{figures}; {empty} as in the source; providers reject this"))
}

/// Returns an unknown role in a provider's request. The own formats of programs may contain unknown records.
fn unknown_role<'a>(promise: &Promise<'_>, report: &'a ImportReport) -> Option<&'a str> {
    let is_request = promise.format.accepts_any_source();
    let records = report.records.iter().filter(|_| is_request);
    records
        .filter(|(role, count)| *role != "other" && count.in_context < count.count)
        .map(|(role, _)| role.as_str())
        .next()
}

/// Returns the role of the first message that is not the system's, among these messages or all.
fn first_speaker(session: &Session, messages: Option<&[usize]>) -> Option<Role> {
    let all = 0..session.messages.len();
    let indices: Vec<usize> = messages.map_or_else(|| all.collect(), <[usize]>::to_vec);
    let mut roles = indices.into_iter().map(|idx| session.messages[idx].role);
    roles.find(|role| *role != Role::System)
}

/// Counts blank texts. A message without parts counts as one.
fn n_empty(session: &Session, parts: Range<usize>) -> usize {
    let blank = session.parts[parts.clone()].iter().filter(|p| is_blank(p));
    blank.count() + usize::from(parts.is_empty())
}

fn is_blank(part: &Part) -> bool {
    matches!(&part.body, Body::Text(text) if text.trim().is_empty())
}

/// Counts the blank texts that were kept from the source.
fn n_empty_kept(source: &Session, managed: &Managed) -> usize {
    let of_entry = |entry: &ManagedEntry| match entry {
        ManagedEntry::Kept { message } => n_empty(source, source.messages[*message].parts.clone()),
        ManagedEntry::Edited { parts, .. } => {
            let is_blank_kept = |part: &&ManagedPart| matches!(part, ManagedPart::Kept { part } if is_blank(&source.parts[*part]));
            parts.iter().filter(is_blank_kept).count()
        }
        ManagedEntry::Written { .. } => 0,
    };
    managed.entries.iter().map(of_entry).sum()
}
