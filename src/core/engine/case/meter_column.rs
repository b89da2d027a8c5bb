//! The weights of a session on a meter.

/// The weights of a session on a meter.
#[derive(Debug)]
pub struct MeterColumn {
    /// By part index.
    pub(crate) per_part: Vec<u32>,
    /// By message index, including the constant per message.
    pub(crate) per_message: Vec<u32>,
}
