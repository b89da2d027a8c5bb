//! `plimsoll evaluate --score`: the facts of a session that a compacted conversation or text still has, whatever wrote
//! it.

use super::{Evaluated, EvaluatedLane, Evaluations};
use crate::analysis::facts::{Facts, LaneSurvival, ScoredText};
use crate::cli::args::GlobalOptions;
use crate::cli::output::note;
use crate::cli::targets::{SessionId, Skipped};
use crate::engine::{Case, MessageStatus, recorded};
use crate::exec::{MAX_SESSION_BYTES, read_text};
use crate::tokens::TokenLedger;
use crate::units::Tokens;
use anyhow::bail;
use std::path::Path;

/// Scores a compacted conversation against its source.
pub(super) fn score(
    compacted: &Path,
    source: &Path,
    shared: &GlobalOptions,
) -> anyhow::Result<Evaluations> {
    let source_case = shared.load(source)?.case;
    let (conversation, text);
    let scored = match shared.load(compacted) {
        Ok(loaded) => {
            conversation = loaded.case;
            Scored::of_conversation(&conversation, &source_case.ledger)
        }
        Err(error) => {
            text = plain_text(compacted, error)?;
            Scored {
                tokens: source_case.ledger.weigh(&text),
                texts: vec![ScoredText::plain(text.as_str())],
            }
        }
    };
    let facts = Facts::new(&source_case.session);
    let file_name = compacted.file_name().unwrap_or(compacted.as_os_str());
    let survival =
        LaneSurvival::of_texts(&facts, &source_case.session, &scored.texts, scored.tokens);
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
                    rereads: None,
                    name: file_name.to_string_lossy().into_owned(),
                    survival,
                    compactions: None,
                    overflows: None,
                    into_reserve: None,
                    cost: None,
                }],
            )
        }],
        skipped: Skipped::default(),
    })
}

/// Returns the text of a file that is no session. If it is no text either, returns the given error.
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

/// The texts to score.
struct Scored<'a> {
    texts: Vec<ScoredText<'a>>,
    /// Tokens of the texts. Those of a conversation include content that is not recorded.
    tokens: Tokens,
}

impl<'a> Scored<'a> {
    /// Returns the context at the end of a conversation, with the tokens that the ledger of its source counts. A
    /// managed conversation stores how many of its tokens are not recorded.
    fn of_conversation(case: &'a Case, source: &TokenLedger) -> Self {
        let context = recorded(case, Tokens::ZERO, None).context;
        let session = &case.session;
        let ledger = source.recount(session);
        let statuses = context.statuses(session.messages.len());
        let kept = statuses.into_iter().enumerate();
        let kept = kept.filter(|(_, (status, _))| *status == MessageStatus::Kept);
        let not_recorded = match session.calibration {
            Some(_) => case.ledger.overhead_next(),
            None => source.overhead_next(),
        };
        let (mut texts, mut tokens) = (Vec::new(), not_recorded);
        for (message, _) in kept {
            let parts = session.parts_of(&session.messages[message]);
            texts.extend(parts.iter().map(|part| ScoredText::of_part(&part.body)));
            tokens += ledger.message(message);
        }
        for (written, _) in context.written() {
            texts.push(ScoredText::plain(written.text.to_string()));
            tokens += source.weigh(&written.text);
        }
        Self { texts, tokens }
    }
}
