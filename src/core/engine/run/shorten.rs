//! Shortens tool results for the action `cut`, and writes the full results to files.

use crate::engine::case::Case;
use crate::engine::case::storage::{FileContent, NewFile, Storage, short_name};
use crate::engine::context::Left;
use crate::engine::expr::Moment;
use crate::engine::policy::stages::{Cut, Stage};
use crate::engine::working::Working;
use crate::session::Body;
use crate::units::Tokens;
use std::sync::Arc;

/// Shorter texts for tool results.
#[derive(Debug)]
pub(super) struct Shortened {
    /// Parts of the results that these texts keep.
    pub(super) remainder: Left,
    /// Positions among the live results, each with its text.
    pub(super) results: Vec<(usize, Arc<str>)>,
    /// Files with the full results.
    pub(super) files: Vec<NewFile>,
    /// Previous weight on the policy's own meter.
    pub(super) gone: Tokens,
    /// Weight of the shorter texts on that meter.
    pub(super) left: Tokens,
}

impl Shortened {
    /// Creates a list without texts.
    pub(super) fn new(remainder: Left) -> Self {
        Self {
            remainder,
            results: Vec::new(),
            files: Vec::new(),
            gone: Tokens::ZERO,
            left: Tokens::ZERO,
        }
    }
}

/// Returns the results of a cut for the live results at these positions, without unchanged ones.
pub(super) fn shorten(
    case: &Case,
    working: &Working<'_>,
    (stage, cut): (&Stage, &Cut),
    places: impl Iterator<Item = usize>,
    moment: &Moment,
) -> Shortened {
    let mut shortened = Shortened::new(Left::Some);
    for nth in places {
        let result = working.live[nth];
        if case.pins().is_pinned(result.message) {
            continue;
        }
        let part = result.part as usize;
        let Body::ToolResult { tool, call, .. } = &case.session.parts[part].body else {
            continue;
        };
        let name = format!("{}/{}.txt", stage.id, plain(call));
        let path = match &case.storage {
            Storage::AsSet => name.clone(),
            Storage::Folder(folder) => format!("{folder}/{name}"),
            // A result that cannot be written to a file is not cut.
            Storage::Missing if cut.spills => continue,
            Storage::Missing => String::new(),
        };
        let Some(text) = working.live_text(nth).filter(|_| stage.take.results.are_of(tool)) else {
            continue;
        };
        if let Some([weighed, short]) = cut.shorten(text, moment, [&name, &path]) {
            let file = || NewFile { name, content: FileContent::Text(text.into()), appends: false };
            shortened.files.extend(cut.spills.then(file));
            shortened.gone += Tokens::from(working.meter.weigh_part(case, text));
            shortened.left += Tokens::from(working.meter.weigh_part(case, &weighed));
            shortened.results.push((nth, short.into()));
        }
    }
    shortened
}

/// Returns a call's id as a safe file name: ids are untrusted input.
fn plain(call: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain = call.chars().map(|c| if is_plain(c) { c } else { '_' });
    short_name(plain.collect())
}
