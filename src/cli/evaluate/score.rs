//! `plimsoll evaluate --score`: the facts of a session that a compacted conversation or text still has, whatever wrote it.

use super::{Evaluated, EvaluatedLane, Evaluations};
use crate::analysis::facts::{Facts, LaneSurvival};
use crate::analysis::loss::part_text;
use crate::cli::args::GlobalOptions;
use crate::cli::output::note;
use crate::cli::targets::{SessionId, Skipped};
use crate::engine::{Case, MessageStatus, recorded};
use crate::exec::{MAX_SESSION_BYTES, read_text};
use crate::units::Tokens;
use anyhow::bail;
use std::borrow::Cow;
use std::path::Path;

/// Scores a compacted conversation against its source.
pub(super) fn score(
    compacted: &Path,
    source: &Path,
    shared: &GlobalOptions,
) -> anyhow::Result<Evaluations> {
    let source_case = shared.load(source)?.case;
    let loaded = match shared.load(compacted) {
        Ok(loaded) => Ok(loaded),
        Err(error) => Err(plain_text(compacted, error)?),
    };
    let texts = match &loaded {
        Ok(loaded) => texts(&loaded.case),
        Err(text) => vec![Cow::Borrowed(text.as_str())],
    };
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let tokens: Tokens = texts
        .iter()
        .map(|text| source_case.ledger.weigh(text))
        .sum();
    let facts = Facts::new(&source_case.session);
    let survival = LaneSurvival::of_texts(&facts, &source_case.session, &texts, tokens);
    Ok(Evaluations {
        sessions: vec![Evaluated {
            is_score: true,
            ..Evaluated::new(
                SessionId {
                    file: source.to_string_lossy().into_owned(),
                    conversation: shared.conversation,
                },
                &source_case.session,
                facts,
                vec![EvaluatedLane {
                    name: compacted.to_string_lossy().into_owned(),
                    survival,
                    compactions: None,
                    overflows: None,
                    cost: None,
                }],
            )
        }],
        skipped: Skipped::default(),
    })
}

/// Returns a file that is no session as text: any text can be scored. Other errors are returned as they are.
fn plain_text(file: &Path, error: anyhow::Error) -> anyhow::Result<String> {
    match read_text(file, MAX_SESSION_BYTES) {
        Ok(text) if text.trim().is_empty() => {
            bail!("{} is empty: there is nothing to score", file.display())
        }
        Ok(text) => {
            note(&format!("{} is read as text: {error:#}", file.display()));
            Ok(text)
        }
        Err(_) => Err(error),
    }
}

/// Returns the texts of the context at the end of a conversation.
fn texts(case: &Case) -> Vec<Cow<'_, str>> {
    let context = recorded(case, Tokens::ZERO, None).context;
    let session = &case.session;
    let statuses = context.statuses(session.messages.len());
    let kept = session.messages.iter().zip(statuses);
    let kept = kept.filter(|(_, (status, _))| *status == MessageStatus::Kept);
    let kept = kept.flat_map(|(message, _)| session.parts_of(message));
    let mut texts: Vec<Cow<'_, str>> = kept.map(|part| part_text(&part.body)).collect();
    texts.extend(
        context
            .written()
            .map(|(written, _)| Cow::Owned(written.text.to_string())),
    );
    texts
}
