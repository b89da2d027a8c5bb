//! Checks of a written export: the file is read again and compared with the intended content.

mod again;
mod bytes;
mod contents;
mod ids;
mod outcome;
mod pairs;
mod promise;
mod roles;
mod signatures;
mod tokens;

pub use outcome::Check;
pub(super) use promise::Promise;

use crate::formats::{ImportReport, Input};
use crate::progress::Progress;
use crate::session::{FileBytes, Session};

/// Reads the written bytes and runs every check.
pub(super) fn all(promise: &Promise<'_>, bytes: &FileBytes) -> Vec<Check> {
    let (read, report) = match read_back(promise, bytes) {
        Ok(read) => read,
        Err(reason) => return vec![Check::failed("reads back", reason)],
    };
    let mut checks = vec![pairs::check(promise, &read), roles::check(promise, &read, &report)];
    if promise.is_same_format() {
        checks.push(bytes::check(promise, &read));
    }
    checks.push(tokens::check(promise, &read));
    checks.push(ids::check(promise, &read));
    checks.push(signatures::check(promise, &read));
    // Without a policy there is nothing that could act again.
    if !promise.policy.stages.is_empty() {
        checks.push(again::check(promise, read));
    }
    checks
}

/// Reads the bytes as the format that was written: what remains of a conversation may have no mark of its format any
/// more.
fn read_back(promise: &Promise<'_>, bytes: &FileBytes) -> Result<(Session, ImportReport), String> {
    let name = promise.case.session.source.name.clone();
    let _held = bytes.whole();
    let input = Input { name, bytes: bytes.clone() };
    let parsed = promise.format.read(&input, &Progress::default());
    let parsed = parsed.map_err(|error| error.to_string())?;
    let session = parsed.sessions.into_iter().next();
    let session = session.ok_or("it contains no conversation")?;
    Ok((session, parsed.report))
}

#[cfg(test)]
mod tests;
