//! A policy to be saved as a preset: its lane and its name.

/// A policy to be saved as a preset.
#[derive(Clone, Debug)]
pub struct PresetSaving {
    /// Index of the lane with its settings.
    pub lane: usize,
    /// The name as typed.
    pub label: String,
    /// Error of saving under that name.
    pub problem: Option<String>,
}

/// A command of the preset dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum PresetCommand {
    /// Open the dialog for a lane.
    Start(usize),
    /// Change the name.
    Name(String),
    /// Save the preset.
    Save,
    /// Close the dialog.
    Close,
}
