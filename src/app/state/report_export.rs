//! Settings and commands of the export of the report or the chart.

/// The format of a report or chart file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Report as an HTML page.
    Page,
    /// Report as Markdown.
    Markdown,
    /// Chart as a PNG image.
    Png,
    /// Chart as an SVG image.
    Svg,
    /// Chart data as a CSV table.
    Csv,
}

impl ReportFormat {
    /// Returns whether the file is a report, else the chart.
    pub fn is_report(self) -> bool {
        matches!(self, Self::Page | Self::Markdown)
    }

    /// Returns the file name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Page => "html",
            Self::Markdown => "md",
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Csv => "csv",
        }
    }
}

/// The settings of a report or chart file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportDraft {
    /// Its format.
    pub format: ReportFormat,
    /// Omit the texts of the session from a report.
    pub redacts: bool,
    /// Use dark colors in an image.
    pub is_dark: bool,
    /// Output path.
    pub output: String,
    /// You chose the output path, so it does not follow the format.
    pub is_output_chosen: bool,
}

/// A command of the dialog of a report or chart file.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportCommand {
    /// Prepare a file of the report or the chart, initially in this format.
    Start(ReportFormat),
    /// Change the settings.
    Edit(ReportDraft),
    /// Show the system's dialog for the output path.
    Browse,
    /// Write the file.
    Write,
    /// Close the dialog.
    Close,
}
