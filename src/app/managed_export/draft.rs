//! What is to be exported, as a person fills it in, and where it goes unless told.

use super::{ModelDraft, Private};
use crate::app::document::Document;
use crate::exec;
use crate::formats::{self, FORMATS, Format, Resume};
use std::path::PathBuf;

/// What is to be exported.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Index of the lane; none for what was recorded.
    pub lane: Option<usize>,
    /// Index of the step that the lane shows.
    pub step: usize,
    /// What of it.
    pub what: What,
    /// Name of the format.
    pub format: &'static str,
    /// Who writes summaries.
    pub who: Who,
    /// The pasted summary.
    pub text: String,
    /// The model.
    pub model: ModelDraft,
    /// The log that answers in a model's place.
    pub replay: String,
    /// What becomes of it.
    pub target: Target,
    /// Where to.
    pub output: String,
    /// The person chose the place: it no longer follows the format.
    pub is_output_chosen: bool,
    /// The folder for files that the policy writes; beside the output if empty.
    pub files: String,
    /// The lane that was looked at when the lane was chosen.
    pub focused: Option<usize>,
}

/// What of a lane is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The context as the lane shows it at the step.
    AsShown,
    /// The last real context, managed once.
    CompactNow,
    /// The same, whether the trigger is met or not.
    CompactNowForced,
    /// What the model saw at the step, whether anything was done by then or not: the file alone.
    Saw,
}

/// Who writes summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The offline digest.
    Digest,
    /// The person: a text that is pasted.
    Person,
    /// A model.
    Model,
    /// What a model answered in an earlier run, from its log.
    Log,
}

/// What becomes of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new file.
    File,
    /// A new session in the store of the program that recorded the source.
    Store,
}

impl Draft {
    /// What is most often wanted: the lane as it is shown, in the file's own format, beside the file.
    pub fn new(document: &Document, lane: usize, step: usize) -> Self {
        let mut draft = Self {
            lane: Some(lane),
            step,
            what: What::AsShown,
            format: writable(document).next().map_or("", |f| f.name),
            who: Who::Digest,
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

    /// The program that can carry on with the export, if it is one that has the document's sessions.
    pub fn resume(&self, document: &Document) -> Option<&'static Resume> {
        let is_own = self.format == document.session().source.format;
        let format = formats::by_name(self.format).filter(|_| is_own && self.what != What::Saw)?;
        format.resume.as_ref()
    }

    /// It goes into a program's store.
    pub fn is_for_store(&self, document: &Document) -> bool {
        self.target == Target::Store && self.resume(document).is_some()
    }

    /// A model is asked.
    pub fn asks_model(&self) -> bool {
        self.who == Who::Model && self.lane.is_some()
    }

    /// What can be asked for of the lane that was chosen.
    pub(super) fn keep_possible(&mut self) {
        if self.lane.is_none() {
            self.what = What::Saw;
        }
    }

    /// The place unless told; nothing where the source's folder is no place for it.
    pub(super) fn default_output(&self, document: &Document) -> String {
        let place = document.origin.beside().zip(formats::by_name(self.format));
        let path = place.and_then(|(source, format)| match self.what {
            What::Saw => exec::default_seen_path(source, format, self.step),
            _ => exec::default_export_path(source, format),
        });
        path.map_or_else(String::new, |path| path.display().to_string())
    }

    /// Moves on to the next free name where the place is taken, as it is after an export.
    pub(super) fn take_free_name(&mut self) {
        let path = PathBuf::from(self.output.trim());
        let is_taken = path.file_name().is_some() && exec::is_taken(&path);
        let format = formats::by_name(self.format).filter(|_| is_taken);
        let free = format.and_then(|format| match self.what {
            What::Saw => Some(exec::free_path(&path)),
            _ => exec::default_export_path(&path, format),
        });
        if let Some(free) = free {
            self.output = free.display().to_string();
        }
    }
}

/// Formats that any session can be written in; the others only hold their own.
const OPEN_FORMATS: [&str; 2] = ["openai_chat", "anthropic_messages"];

/// The formats that this session can be written in, its own first.
pub fn writable(document: &Document) -> impl Iterator<Item = &'static Format> {
    let own = document.session().source.format;
    let is_own = move |f: &&Format| f.name == own;
    let others = FORMATS
        .iter()
        .filter(move |f| !is_own(f) && OPEN_FORMATS.contains(&f.name));
    FORMATS
        .iter()
        .filter(is_own)
        .chain(others)
        .filter(|f| f.export.is_some())
}

/// A path as it was typed; none if nothing was.
pub(super) fn typed_path(text: &str) -> Option<PathBuf> {
    Some(text.trim())
        .filter(|text| !text.is_empty())
        .map(PathBuf::from)
}

/// A text as it was typed; none if nothing was.
pub(super) fn typed(text: &Private) -> Option<&str> {
    Some(text.0.trim()).filter(|text| !text.is_empty())
}
