//! The items of a session: its files at each recorded compaction, and at control points before it.

use super::files::FileReads;
use super::items::{ItemKind, RereadItem};
use super::model::FileUse;
use crate::analysis::facts::is_encrypted;
use crate::engine::Case;
use crate::session::Session;
use std::ops::Range;

/// Calls from the last control point to the compaction that follows. It is larger than the longest window of the
/// validity page (40 calls), so that no observation reaches into the compaction.
const FIRST_CONTROL: u32 = 45;
/// Calls between two control points. It is larger than that window, so that no call is observed twice.
const NEXT_CONTROL: u32 = 60;

/// Returns the items of a session, with the number of the session and of its person. A file is read again if a call
/// reads it before any call edits it: an agent that edits first did without the content.
pub fn observed_items(
    files: &FileReads,
    case: &Case,
    (session, person): (u32, u32),
) -> Vec<RereadItem> {
    let recorded = &case.session;
    let n_calls = recorded.calls.len() as u32;
    let program = recorded.source.format.to_owned();
    let mut found = Vec::new();
    let (mut start, mut controls) = (0, 0);
    let compactions = &recorded.compactions;
    for (point, compaction) in (0..).zip(compactions) {
        let call = compaction.call as u32;
        if call >= n_calls {
            break;
        }
        let next = compactions.get(point as usize + 1);
        let end = next.map_or(n_calls, |next| next.call as u32).max(call);
        let template = RereadItem {
            kind: ItemKind::File,
            session,
            person,
            program: program.clone(),
            point,
            is_control: false,
            is_encrypted: is_encrypted(recorded, &compaction.kept),
            known: FileUse { age: 0, uses: 0, is_edited: false },
            tokens: 0.0,
            is_named: None,
            read_again_after: None,
            observed_calls: end - call,
        };
        let context = ContextAfter::after(recorded, point as usize);
        let segment = Segment { start, call, end };
        for (item, file) in items_at(files, case, segment, &template) {
            let is_named = (!item.is_encrypted).then(|| context.names(files.name(file)));
            found.push(RereadItem { is_named, ..item });
        }
        let mut at = call.checked_sub(FIRST_CONTROL);
        while let Some(control) = at.filter(|at| *at > start) {
            let template = RereadItem {
                point: controls,
                is_control: true,
                is_encrypted: false,
                observed_calls: call - control,
                ..template.clone()
            };
            let segment = Segment { start, call: control, end: call };
            found.extend(items_at(files, case, segment, &template).map(|(item, _)| item));
            controls += 1;
            at = control.checked_sub(NEXT_CONTROL);
        }
        start = call;
    }
    found
}

/// The calls before and after a point: the last compaction before it, the point, and the end of the observation.
#[derive(Clone, Copy)]
struct Segment {
    start: u32,
    call: u32,
    end: u32,
}

/// Returns an item with its file for each file that was read in the segment before the point.
fn items_at<'a>(
    files: &'a FileReads,
    case: &'a Case,
    segment: Segment,
    template: &'a RereadItem,
) -> impl Iterator<Item = (RereadItem, u32)> + 'a {
    let Segment { start, call, end } = segment;
    (0..).zip(files.files()).filter_map(move |(file, touched)| {
        let within = |range: Range<u32>| {
            let touches = touched.touches.iter();
            touches.filter(move |touch| range.contains(&touch.call))
        };
        let last = within(start..call).filter_map(|touch| touch.read.as_ref()).next_back()?;
        let part = last.places[0].1 as usize;
        let first = within(call..end).next();
        let first = first.filter(|touch| touch.read.is_some());
        let item = RereadItem {
            known: files.file_use(file, call),
            tokens: case.ledger.part(part).as_f64() / f64::from(last.shared_by),
            read_again_after: first.map(|touch| touch.call - call + 1),
            ..template.clone()
        };
        Some((item, file))
    })
}

/// The texts of the first context after a recorded compaction.
struct ContextAfter<'a> {
    texts: Vec<&'a str>,
}

impl<'a> ContextAfter<'a> {
    fn after(session: &'a Session, compaction: usize) -> Self {
        let compaction = &session.compactions[compaction];
        let end = session.calls[compaction.call].context_end;
        let later = compaction.before_message..end.max(compaction.before_message);
        let later = later.filter(|idx| session.messages[*idx].in_history);
        let messages = compaction.kept.iter().copied().chain(later);
        let parts = messages.flat_map(|idx| session.parts_of(&session.messages[idx]));
        Self { texts: parts.map(|part| part.body.text()).collect() }
    }

    /// Returns whether a text has the name of a file after its last slash, not as a part of another name.
    fn names(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let is_whole = |text: &str, at: usize| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_inside) && !after.is_some_and(is_inside)
        };
        let mut texts = self.texts.iter();
        texts.any(|text| text.match_indices(name).any(|(at, _)| is_whole(text, at)))
    }
}
