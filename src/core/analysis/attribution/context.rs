//! Pieces of one context.

use super::pieces::Sources;
use super::source::{Source, SourceKind};
use crate::engine::{Case, Context, EntryBody, PartStatus};
use crate::session::{Body, Kind, Role, kind_of};
use crate::units::Tokens;

/// A piece of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextItem {
    /// Group of the piece: `system`, `tools`, `mcp:SERVER`, `memory` or a kind of content.
    pub group: String,
    /// Name within the group: a tool, section, file, or the message.
    pub name: String,
    /// Kind of content.
    pub kind: Kind,
    /// Its source, if it is not the conversation itself.
    pub source: Option<Source>,
    /// Index of its message; `None` for what is not recorded or written by a policy.
    pub message: Option<usize>,
    /// Actual tokens.
    pub tokens: Tokens,
}

/// Returns the pieces of a context in the order in which the model sees them. Their tokens add up to the context's.
pub fn context_items(case: &Case, sources: &Sources, context: &Context) -> Vec<ContextItem> {
    let mut items = Vec::new();
    if context.overhead > Tokens::ZERO {
        items.push(ContextItem {
            group: SourceKind::NotRecorded.name().to_owned(),
            name: "system prompt, tools and other content".to_owned(),
            kind: Kind::System,
            source: Some(Source::new(SourceKind::NotRecorded, "")),
            message: None,
            tokens: context.overhead,
        });
    }
    for entry in &context.entries {
        match &entry.body {
            EntryBody::Original(message) => {
                let message = *message as usize;
                let parts = case.session.messages[message].parts.clone();
                parts.for_each(|part| add_part(case, sources, message, part, &mut items));
            }
            EntryBody::Edited(edited) => {
                let message = edited.message as usize;
                let parts = case.session.messages[message].parts.clone();
                for (part, status) in parts.zip(edited.parts.as_slice()) {
                    match status {
                        PartStatus::Kept => add_part(case, sources, message, part, &mut items),
                        PartStatus::Cleared { marker } => {
                            let tokens = Tokens::from(context.markers[*marker as usize].tokens);
                            items.push(conversation(case, message, part, tokens));
                        }
                        PartStatus::Removed { .. } => {}
                    }
                }
            }
            EntryBody::Written(written) => {
                let kind = written.kind.kind();
                items.push(ContextItem {
                    group: kind.name().to_owned(),
                    name: format!("{} of the policy", kind.name()),
                    kind,
                    source: None,
                    message: None,
                    tokens: Tokens::from(entry.tokens),
                });
            }
        }
    }
    // An edited entry may weigh more than its parts, by what pairs of call and result add.
    items
}

/// Adds the pieces of an unchanged part: those of a source, and the rest as a part of the conversation.
pub(super) fn add_part(
    case: &Case,
    sources: &Sources,
    message: usize,
    part: usize,
    items: &mut Vec<ContextItem>,
) {
    let mut rest = case.ledger.part(part);
    for piece in sources.of_part(part) {
        rest = rest - piece.tokens;
        let source = &sources.all[piece.source];
        let group = match (source.kind, source.server()) {
            (_, Some(server)) => format!("mcp:{server}"),
            (SourceKind::Tool, None) => "tools".to_owned(),
            (SourceKind::Section, _) => "system".to_owned(),
            (kind, _) => kind.name().to_owned(),
        };
        let kind = kind_of(&case.session.messages[message], &case.session.parts[part]);
        items.push(ContextItem {
            group,
            name: shown_name(source).to_owned(),
            kind,
            source: Some(source.clone()),
            message: Some(message),
            tokens: piece.tokens,
        });
    }
    if rest > Tokens::ZERO {
        items.push(conversation(case, message, part, rest));
    }
}

/// Returns the name of a source within its group: a tool of a server without the server.
fn shown_name(source: &Source) -> &str {
    let tool = source.server().and_then(|server| {
        source.name.strip_prefix("mcp__")?.strip_prefix(server)?.strip_prefix("__")
    });
    tool.unwrap_or(&source.name)
}

/// Returns the item of a part of the conversation.
fn conversation(case: &Case, message: usize, part: usize, tokens: Tokens) -> ContextItem {
    let (owner, body) = (&case.session.messages[message], &case.session.parts[part].body);
    let kind = kind_of(owner, &case.session.parts[part]);
    let tool = case.index.calls.tool_of(&case.session, part);
    let name = match (body, tool) {
        (Body::ToolCall { .. } | Body::ToolResult { .. } | Body::Media { .. }, Some(tool)) => {
            format!("{tool} #{}", message + 1)
        }
        _ if owner.role == Role::System => "system prompt".to_owned(),
        _ => format!("#{}", message + 1),
    };
    ContextItem {
        group: kind.name().to_owned(),
        name,
        kind,
        source: None,
        message: Some(message),
        tokens,
    }
}
