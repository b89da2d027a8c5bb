//! A session that is to be written in another format: what is asked for, what that cannot hold, and what came of it.

use crate::app::background::{self, Background};
use crate::app::document::{Document, Origin};
use crate::app::latest::Where;
use crate::exec::{self, Aspect, Converted};
use crate::formats::{self, Format};
use crate::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;

/// A wish about it.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversionWish {
    /// Show the dialog.
    Start,
    /// Change what is to be written.
    Edit(ConversionDraft),
    /// Show the system's dialog for its place.
    Browse,
    /// Write it.
    Write,
    /// Put the dialog away; what is under way ends.
    Close,
}

/// A conversion as a person asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionDraft {
    /// Name of the format.
    pub format: &'static str,
    /// Where to.
    pub output: String,
    /// The person chose the place: it no longer follows the format.
    pub is_output_chosen: bool,
}

/// What the format will hold of the session.
#[derive(Debug)]
pub enum Foreseen {
    /// It is written in memory, read again and compared.
    Comparing(Background<Result<Vec<Aspect>, String>>),
    /// What the session holds and what of it would be there.
    Known(Vec<Aspect>),
    /// It cannot be written so, and why.
    Refused(String),
}

/// A conversion in the window.
#[derive(Debug)]
pub struct Conversion {
    /// What is asked for.
    pub draft: ConversionDraft,
    /// What the format will hold.
    pub foreseen: Foreseen,
    /// What was written.
    pub done: Option<Converted>,
    /// Why it could not be written the last time.
    pub failed: Option<String>,
    comparing: Arc<Progress>,
    writing: Option<Background<Result<Converted, String>>>,
}

/// The formats that this session can be written in, its own last: that is a copy.
pub fn possible(document: &Document) -> Vec<&'static Format> {
    let own = document.session().source.format;
    let others = exec::targets().filter(|format| format.name != own);
    others.chain(formats::by_name(own)).collect()
}

impl Conversion {
    /// Begins with the first format that is not the session's own, beside the source; looks at once what it would hold.
    pub fn start(ctx: &egui::Context, at: Where, document: &Arc<Document>) -> Option<Self> {
        let format = possible(document).into_iter().next()?;
        let (comparing, foreseen) = compare(ctx, at, document, format);
        Some(Self {
            draft: ConversionDraft {
                format: format.name,
                output: default_output(document, format),
                is_output_chosen: false,
            },
            foreseen,
            done: None,
            failed: None,
            comparing,
            writing: None,
        })
    }

    /// Takes over an edited draft; the place follows the format until it was chosen.
    pub fn edit(
        &mut self,
        ctx: &egui::Context,
        at: Where,
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
            (self.comparing, self.foreseen) = compare(ctx, at, document, format);
        }
        if draft != self.draft {
            // Why something else could not be written says nothing of this.
            self.failed = None;
        }
        self.draft = draft;
    }

    /// It is being written.
    pub fn is_busy(&self) -> bool {
        self.writing.is_some()
    }

    /// Writes it.
    pub fn write(&mut self, ctx: &egui::Context, at: Where, document: &Arc<Document>) {
        let Some(format) = formats::by_name(self.draft.format).filter(|_| !self.is_busy()) else {
            return;
        };
        let document = Arc::clone(document);
        let typed = PathBuf::from(self.draft.output.trim());
        // Where the window was started from is nothing that a person sees.
        let output = std::path::absolute(&typed).unwrap_or(typed);
        let work = move || {
            if let Origin::Path(source) = &document.origin {
                exec::refuse_source(&output, source)?;
            }
            exec::convert(&document.loaded, format, &output)
        };
        self.failed = None;
        self.writing = Some(match at {
            Where::AsNeeded => background::start("conversion", ctx, work),
            Where::InFrame => background::done(work),
        });
    }

    /// Takes what was found and written since the last frame.
    pub fn poll(&mut self) {
        let nothing = Foreseen::Known(Vec::new());
        self.foreseen = match std::mem::replace(&mut self.foreseen, nothing) {
            Foreseen::Comparing(work) => match work.take() {
                Ok(Some(Ok(aspects))) => Foreseen::Known(aspects),
                Ok(Some(Err(why))) => Foreseen::Refused(why),
                Ok(None) => Foreseen::Refused("Comparing stopped unexpectedly.".to_owned()),
                Err(work) => Foreseen::Comparing(work),
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
    ctx: &egui::Context,
    at: Where,
    document: &Arc<Document>,
    format: &'static Format,
) -> (Arc<Progress>, Foreseen) {
    let progress = Arc::new(Progress::default());
    let (document, shared) = (Arc::clone(document), Arc::clone(&progress));
    let work = move || exec::would_convert(&document.loaded, format, &shared);
    let work = match at {
        Where::AsNeeded => background::start("comparison", ctx, work),
        Where::InFrame => background::done(work),
    };
    (progress, Foreseen::Comparing(work))
}

fn default_output(document: &Document, format: &Format) -> String {
    let is_copy = format.name == document.session().source.format;
    let source = document.origin.beside();
    let path = source.and_then(|source| exec::default_converted_path(source, format, is_copy));
    path.map_or_else(String::new, |path| path.display().to_string())
}
