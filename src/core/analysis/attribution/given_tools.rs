//! Tool definitions that the user gives for a session whose file lacks them.

use crate::engine::Case;
use crate::progress::{Cancelled, Progress};
use crate::session::{Body, Message, Part, Role, Session};
use crate::tokens::TokenLedger;
use std::sync::Arc;

/// Returns the session with a first message that contains these tool definitions, each a name and its JSON. Indices of messages
/// grow by one. Counts are calibrated again, so the definitions leave what is not recorded.
///
/// # Errors
/// [`Cancelled`] if `progress` is cancelled.
pub fn with_tools(
    case: &Case,
    tools: &[(String, String)],
    progress: &Progress,
) -> Result<Case, Cancelled> {
    let mut session: Session = (*case.session).clone();
    let part = |(block, (tool, json)): (usize, &(String, String))| Part {
        body: Body::ToolDefinition { tool: tool.as_str().into(), json: json.as_str().into() },
        record: 0,
        block: block as u32,
    };
    session.parts.splice(0..0, tools.iter().enumerate().map(part));
    for message in &mut session.messages {
        message.parts = message.parts.start + tools.len()..message.parts.end + tools.len();
    }
    let message = Message {
        id: None,
        role: Role::System,
        turn: 0,
        time: None,
        is_injected: true,
        is_summary: false,
        in_history: true,
        call: None,
        parts: 0..tools.len(),
        empty: None,
        raw: Vec::new(),
    };
    session.messages.insert(0, message);
    for call in &mut session.calls {
        call.context_end += 1;
    }
    for compaction in &mut session.compactions {
        compaction.before_message += 1;
        compaction.kept.iter_mut().for_each(|message| *message += 1);
        compaction.kept.insert(0, 0);
    }
    let ledger = TokenLedger::count(&session, case.ledger.counter, progress)?;
    Ok(Case::new(Arc::new(session), ledger, Arc::clone(&case.windows)))
}
