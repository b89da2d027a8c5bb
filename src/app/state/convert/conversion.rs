//! Conversion of a session to another format: the draft, what the format cannot represent, and the result.

use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::document::{Document, Origin};
use crate::exec::{Aspect, Converted};
use crate::formats::Format;
use crate::progress::Progress;
use crate::{exec, formats};
use std::path::PathBuf;
use std::sync::Arc;

/// A command of the conversion dialog.
#[derive(Clone, Debug, PartialEq)]
pub enum ConvertCommand {
    /// Show the dialog.
    Start,
    /// Change the draft.
    Edit(ConversionDraft),
    /// Show the system's dialog for the output path.
    Browse,
    /// Write the file.
    Write,
    /// Close the dialog and stop the work in progress.
    Close,
}

/// The settings of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionDraft {
    /// Name of the format.
    pub format: &'static str,
    /// Output path.
    pub output: String,
    /// You chose the output path, so it does not follow the format.
    pub is_output_chosen: bool,
}

/// The parts of the session that the format can represent.
#[derive(Debug)]
pub enum Preview {
    /// The comparison is running: the session is written to memory, read again and compared.
    Comparing(Background<Result<Vec<Aspect>, String>>),
    /// The parts of the session, and how much of each is preserved.
    Known(Vec<Aspect>),
    /// The format cannot represent the session, for this reason.
    Refused(String),
}

/// A conversion in the window.
#[derive(Debug)]
pub struct Conversion {
    /// The settings.
    pub draft: ConversionDraft,
    /// The comparison.
    pub preview: Preview,
    /// The written file.
    pub done: Option<Converted>,
    /// The error of the last attempt.
    pub failed: Option<String>,
    comparing: Arc<Progress>,
    writing: Option<Background<Result<Converted, String>>>,
}

/// Returns the formats this session can be written in. Its own format is last, since that is a copy.
pub fn possible(document: &Document) -> Vec<&'static Format> {
    let own = document.session().source.format;
    let others = formats::accepting_any_source().filter(|format| format.name != own);
    others.chain(formats::by_name(own)).collect()
}

impl Conversion {
    /// Starts with the first format other than the session's own and an output path next to the source. Starts the
    /// comparison.
    pub fn start(repaint: &Repaint, mode: WorkMode, document: &Arc<Document>) -> Option<Self> {
        let format = possible(document).into_iter().next()?;
        let (comparing, preview) = compare(repaint, mode, document, format);
        Some(Self {
            draft: ConversionDraft {
                format: format.name,
                output: default_output(document, format),
                is_output_chosen: false,
            },
            preview,
            done: None,
            failed: None,
            comparing,
            writing: None,
        })
    }

    /// Applies an edited draft. The output path follows the format until you choose one.
    pub fn edit(
        &mut self,
        repaint: &Repaint,
        mode: WorkMode,
        document: &Arc<Document>,
        mut draft: ConversionDraft,
    ) {
        let format = formats::by_name(draft.format).filter(|f| f.name != self.draft.format);
        if draft.output != self.draft.output {
            draft.is_output_chosen = true;
        }
        if let Some(format) = format {
            if !draft.is_output_chosen {
                draft.output = default_output(document, format);
            }
            self.comparing.cancel();
            (self.comparing, self.preview) = compare(repaint, mode, document, format);
        }
        if draft != self.draft {
            // The earlier error belongs to another draft.
            self.failed = None;
        }
        self.draft = draft;
    }

    /// Returns whether the file is being written.
    pub fn is_busy(&self) -> bool {
        self.writing.is_some()
    }

    /// Starts to write the file.
    pub fn write(&mut self, repaint: &Repaint, mode: WorkMode, document: &Arc<Document>) {
        let Some(format) = formats::by_name(self.draft.format).filter(|_| !self.is_busy()) else {
            return;
        };
        let document = Arc::clone(document);
        let typed = PathBuf::from(self.draft.output.trim());
        // The window does not show the working directory, so the path is made absolute.
        let output = std::path::absolute(&typed).unwrap_or(typed);
        let work = move || {
            if let Origin::Path(source) = &document.origin {
                exec::check_is_not_source(&output, source)?;
            }
            exec::convert(&document.loaded, format, &output)
        };
        self.failed = None;
        self.writing = Some(mode.start(repaint, "conversion", work));
    }

    /// Receives the comparison and the written file since the last frame.
    pub fn poll(&mut self) {
        let nothing = Preview::Known(Vec::new());
        self.preview = match std::mem::replace(&mut self.preview, nothing) {
            Preview::Comparing(work) => match work.take() {
                Ok(Some(Ok(aspects))) => Preview::Known(aspects),
                Ok(Some(Err(why))) => Preview::Refused(why),
                Ok(None) => Preview::Refused("Comparing stopped unexpectedly.".to_owned()),
                Err(work) => Preview::Comparing(work),
            },
            known => known,
        };
        match self.writing.take().map(Background::take) {
            Some(Ok(Some(Ok(converted)))) => self.done = Some(converted),
            Some(Ok(Some(Err(why)))) => self.failed = Some(why),
            Some(Ok(None)) => {
                self.failed = Some("Writing stopped unexpectedly; nothing was written.".to_owned());
            }
            Some(Err(work)) => self.writing = Some(work),
            None => {}
        }
    }
}

impl Drop for Conversion {
    fn drop(&mut self) {
        self.comparing.cancel();
    }
}

fn compare(
    repaint: &Repaint,
    mode: WorkMode,
    document: &Arc<Document>,
    format: &'static Format,
) -> (Arc<Progress>, Preview) {
    let progress = Arc::new(Progress::default());
    let (document, shared) = (Arc::clone(document), Arc::clone(&progress));
    let work = move || exec::would_convert(&document.loaded, format, &shared);
    (progress, Preview::Comparing(mode.start(repaint, "comparison", work)))
}

fn default_output(document: &Document, format: &Format) -> String {
    let is_copy = format.name == document.session().source.format;
    let source = document.origin.beside();
    let path = source.and_then(|source| exec::default_converted_path(source, format, is_copy));
    path.map_or_else(String::new, |path| path.display().to_string())
}
