//! The session that is being opened, and the error of the last attempt.

use super::loading::Loading;

/// The session that is being opened, and the error of the last attempt.
#[derive(Clone, Copy)]
pub(in crate::app) struct Opening<'a> {
    /// The session that is being opened.
    pub(in crate::app) loading: Option<&'a Loading>,
    /// The error of the last attempt to open a session.
    pub(in crate::app) problem: Option<&'a str>,
}
