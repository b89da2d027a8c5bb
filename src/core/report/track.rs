//! Relation of a conversation to the others of its file, as text.

use crate::session::{Conversation, Start, SubAgent, Track};

/// Returns whether any conversation of a file is a sub-agent or a branch of another.
pub fn has_tracks(conversations: &[Conversation]) -> bool {
    conversations.iter().any(|c| c.track != Track::Main)
}

/// Describes the relation of a conversation to the main one of its file.
pub fn track(conversation: &Conversation) -> String {
    let what = match &conversation.track {
        Track::Main => "main conversation".to_owned(),
        Track::SubAgent(SubAgent { kind: Some(kind), .. }) => format!("sub-agent {kind}"),
        Track::SubAgent(_) => "sub-agent".to_owned(),
        Track::Branch => "branch".to_owned(),
    };
    match conversation.start {
        None => what,
        Some(Start::StartedAt(call)) => format!("{what}, started by call {}", call + 1),
        Some(Start::Of(number)) => format!("{what} of conversation {}", number + 1),
        Some(Start::After(0)) => format!("{what} from the beginning"),
        Some(Start::After(messages)) => format!("{what} after message {messages}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(track: Track, start: Option<Start>) -> String {
        super::track(&Conversation { title: String::new(), track, start, size: None })
    }

    #[test]
    fn relations_are_described_as_far_as_known() {
        let agent = |kind: Option<&str>| {
            Track::SubAgent(SubAgent { kind: kind.map(Into::into), ..SubAgent::default() })
        };
        assert_eq!(label(Track::Main, None), "main conversation");
        assert_eq!(label(agent(None), None), "sub-agent");
        let asked = Some(Start::StartedAt(13));
        let expected = "sub-agent Explore, started by call 14";
        assert_eq!(label(agent(Some("Explore")), asked), expected);
        let of = label(agent(None), Some(Start::Of(2)));
        assert_eq!(of, "sub-agent of conversation 3");
        let after = |n| label(Track::Branch, Some(Start::After(n)));
        assert_eq!(after(12), "branch after message 12");
        assert_eq!(after(0), "branch from the beginning");
    }
}
