//! Details of the chips of the bar.

/// The least important detail that the chips still show. Earlier variants show more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// The source of the context window.
    WindowSource,
    /// The format of the file.
    FileFormat,
    /// The name of the model.
    ModelName,
    /// The number of calls, and most of the file name.
    Calls,
    /// The beginning of the file name, and the context window.
    Minimum,
}

impl Detail {
    pub(crate) const ALL: [Self; 5] =
        [Self::WindowSource, Self::FileFormat, Self::ModelName, Self::Calls, Self::Minimum];
}
