//! Export settings as entered, and the default output path.

use crate::app::state::model::document::Document;
use crate::app::state::model_form::draft::ModelDraft;
use crate::formats::{Format, Resume};
use crate::{exec, formats};
use std::path::PathBuf;

/// The settings of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportDraft {
    /// Index of the lane; `None` for the recorded one.
    pub lane: Option<usize>,
    /// Index of the call.
    pub call: usize,
    /// The part of the lane to export.
    pub content: ExportContent,
    /// Name of the format.
    pub format: &'static str,
    /// Source of the summaries.
    pub summaries: SummarySource,
    /// The pasted summary.
    pub text: String,
    /// The model.
    pub model: ModelDraft,
    /// The log to replay instead of calling a model.
    pub replay: String,
    /// Destination of the export.
    pub target: Target,
    /// Output path.
    pub output: String,
    /// You chose the output path, so it does not follow the format.
    pub is_output_chosen: bool,
    /// Folder for files that the policy writes; next to the output if empty.
    pub files: String,
    /// The focused lane when the lane was chosen.
    pub focused: Option<usize>,
}

/// The part of a lane to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportContent {
    /// The context of the lane at the call.
    AsShown,
    /// The last recorded context after one run of the policy.
    CompactNow,
    /// The last recorded context, compacted even if the trigger is not met.
    CompactNowForced,
    /// The context of the call, changed or not, as a file only.
    Context,
}

/// Source of the summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummarySource {
    /// The offline digest.
    Digest,
    /// A pasted text.
    Pasted,
    /// A model.
    Model,
    /// Answers from the log of an earlier run.
    Log,
}

/// Destination of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new file.
    File,
    /// A new session in the store of the program that recorded the source.
    Store,
}

impl ExportDraft {
    /// Creates the default settings: the lane as shown, in the format of the file, next to the file.
    pub fn new(document: &Document, lane: usize, call: usize) -> Self {
        let mut draft = Self {
            lane: Some(lane),
            call,
            content: ExportContent::AsShown,
            format: writable(document).next().map_or("", |f| f.name),
            summaries: SummarySource::Digest,
            text: String::new(),
            model: ModelDraft::default(),
            replay: String::new(),
            target: Target::File,
            output: String::new(),
            is_output_chosen: false,
            files: String::new(),
            focused: Some(lane),
        };
        draft.output = draft.default_output(document);
        draft
    }

    /// Returns the program that can resume the export, if it uses the document's format.
    pub fn resume(&self, document: &Document) -> Option<&'static Resume> {
        let is_own = self.format == document.session().source.format;
        let format = formats::by_name(self.format)
            .filter(|_| is_own && self.content != ExportContent::Context)?;
        // A session of a program that imports files is written as a file.
        format.resume.as_ref().filter(|resume| resume.import.is_none())
    }

    /// Returns whether the export is added to a program's store.
    pub fn is_for_store(&self, document: &Document) -> bool {
        self.target == Target::Store && self.resume(document).is_some()
    }

    /// Returns whether a model is called.
    pub fn uses_model(&self) -> bool {
        self.summaries == SummarySource::Model && self.lane.is_some()
    }

    /// Resets options that the chosen lane does not support.
    pub(crate) fn keep_possible(&mut self) {
        if self.lane.is_none() {
            self.content = ExportContent::Context;
        }
    }

    /// Returns the default output path; empty if the source's folder is unsuitable.
    pub(crate) fn default_output(&self, document: &Document) -> String {
        let place = document.origin.beside().zip(formats::by_name(self.format));
        let path = place.and_then(|(source, format)| match self.content {
            ExportContent::Context => exec::default_context_path(source, format, self.call),
            _ => exec::default_export_path(source, format),
        });
        path.map_or_else(String::new, |path| path.display().to_string())
    }

    /// Chooses the next free name if the path exists, for example after an export.
    pub(crate) fn take_free_name(&mut self) {
        let path = PathBuf::from(self.output.trim());
        let is_taken = path.file_name().is_some() && exec::is_taken(&path);
        let format = formats::by_name(self.format).filter(|_| is_taken);
        let free = format.and_then(|format| match self.content {
            ExportContent::Context => Some(exec::free_path(&path)),
            _ => exec::default_export_path(&path, format),
        });
        if let Some(free) = free {
            self.output = free.display().to_string();
        }
    }
}

/// Returns the formats this session can be written in, its own first.
pub(crate) fn writable(document: &Document) -> impl Iterator<Item = &'static Format> {
    let own = document.session().source.format;
    let others = formats::accepting_any_source().filter(move |f| f.name != own);
    formats::writable().filter(move |f| f.name == own).chain(others)
}
