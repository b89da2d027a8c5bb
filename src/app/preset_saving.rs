//! A lane's policy on its way to be a preset of the person's own: where it is from and what it is to be called.

/// What is to be kept.
#[derive(Clone, Debug)]
pub struct PresetSaving {
    /// Whose settings.
    pub lane: usize,
    /// What it is called so far.
    pub label: String,
    /// Why it could not be kept under that name.
    pub problem: Option<String>,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum PresetWish {
    /// Give a lane's policy a name.
    Start(usize),
    /// The name as it is typed.
    Name(String),
    /// Keep it.
    Save,
    /// Put the dialog away.
    Close,
}
