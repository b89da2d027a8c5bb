//! The session that is being opened, and the error of the last attempt.

use crate::app::state::open::loading::Loading;

/// The session that is being opened, and the error of the last attempt.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    /// The session that is being opened.
    pub(crate) loading: Option<&'a Loading>,
    /// The error of the last attempt to open a session.
    pub(crate) problem: Option<&'a str>,
}
