//! Decisions of the user: answers to questions of the model.

use super::{FactDraft, LocatedPart, Material};
use crate::analysis::facts::FactKind;
use crate::analysis::facts::text::FactSearch;
use crate::session::{Body, Role};

/// Pieces of names of tools that ask the user.
const ASKING_TOOLS: [&str; 6] =
    ["ask_followup", "ask_user", "askfollowup", "askuser", "request_user_input", "question"];
/// Maximum length of an answer in characters. A longer one is a new request rather than a decision. It equals the
/// longest sentence that counts as a constraint.
const MAX_ANSWER: usize = 400;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    let mut model_asked = false;
    for located in material.located_parts() {
        match &located.part.body {
            Body::ToolResult { tool, text, .. } => {
                let tool = tool.to_lowercase();
                if ASKING_TOOLS.iter().any(|piece| tool.contains(piece)) {
                    found.extend(decision(located, text));
                }
                model_asked = false;
            }
            Body::Text(text) if located.message.role == Role::Assistant => {
                model_asked = text.trim_end().ends_with('?');
            }
            Body::Text(text)
                if located.message.role == Role::User && !located.message.is_injected =>
            {
                if model_asked {
                    found.extend(decision(located, text));
                }
                model_asked = false;
            }
            _ => {}
        }
    }
}

/// Returns the decision in an answer, unless it is long, a question itself or markup.
fn decision(located: LocatedPart<'_>, answer: &str) -> Option<FactDraft> {
    let answer = answer.trim();
    let is_decision = answer.chars().count() <= MAX_ANSWER
        && !answer.is_empty()
        && !answer.ends_with('?')
        && !answer.starts_with('<');
    is_decision
        .then(|| located.draft(FactKind::Decision, FactSearch::new(answer).or_words(), answer))
}
