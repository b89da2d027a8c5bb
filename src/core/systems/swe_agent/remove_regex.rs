//! `RemoveRegex`: removes matches of patterns from all but the newest messages.

use crate::chat::{Block, BlockBody, ChatMessage, Content, PendingRequest, Replies};
use crate::engine::{ActionKind, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::systems::stage_settings::{check_keys, names_setting};
use std::borrow::Cow;
use std::sync::Arc;

/// `remove` is a list of patterns (default: `<diff>.*</diff>`). Each is two plain texts with `.*` or `.*?` between them.
pub(super) const ACTION: NamedAction = NamedAction::new(
    "swe_agent.remove_regex",
    ActionKind::Cut,
    "Removes matching text from all messages but the newest, for the request only.",
    |settings| {
        check_keys(settings, &["remove"])?;
        let given = names_setting(settings, "remove")?;
        let given = given.map(|given| given.iter().map(|text| Pattern::parse(text)).collect());
        let patterns = given.unwrap_or_else(|| Pattern::parse(DEFAULT).map(|one| vec![one]));
        Ok(Arc::new(RemoveRegex(patterns?)))
    },
)
.with_numbers(&["keep_last", "is_on"]);

const DEFAULT: &str = "<diff>.*</diff>";

#[derive(Debug)]
struct RemoveRegex(Vec<Pattern>);

/// Everything from one text to another.
#[derive(Debug)]
struct Pattern {
    start: String,
    end: String,
    /// Whether a match ends at the last end instead of the next.
    is_greedy: bool,
}

impl Pattern {
    fn parse(pattern: &str) -> Result<Self, String> {
        let (start, end) = pattern.split_once(".*").unwrap_or_default();
        let lazy = end.strip_prefix('?');
        let end = lazy.unwrap_or(end);
        let is_plain =
            |text: &str| !text.is_empty() && !text.contains(|c| r"\.^$*+?{}[]|()".contains(c));
        if !is_plain(start) || !is_plain(end) {
            return Err(format!(
                "`{pattern}` is not supported: only two texts with `.*` or `.*?` between them are"
            ));
        }
        Ok(Self { start: start.to_owned(), end: end.to_owned(), is_greedy: lazy.is_none() })
    }

    /// Returns a text without matches.
    fn remove<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut left = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(&self.start) {
            let inner = start + self.start.len();
            let end = if self.is_greedy {
                rest[inner..].rfind(&self.end)
            } else {
                rest[inner..].find(&self.end)
            };
            let Some(end) = end else { break };
            left.push_str(&rest[..start]);
            rest = &rest[inner + end + self.end.len()..];
        }
        if rest.len() == text.len() {
            return text.into();
        }
        (left + rest).into()
    }
}

impl Rewrite for RemoveRegex {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        if !input.flag("is_on") {
            return Ok(Rewritten::default());
        }
        let all = &input.messages;
        let n_old = all.len().saturating_sub(input.count("keep_last"));
        let changed = all[..n_old].iter().enumerate();
        let changed = changed.filter_map(|(at, message)| {
            let now = Some(self.changed(message)?);
            Some(MessageEdit { at, now })
        });
        Ok(Rewritten::edited_for_request(&input, "swe_agent_removed", changed.collect()))
    }
}

impl RemoveRegex {
    fn without_matches(&self, text: &str) -> Option<String> {
        let mut left = Cow::Borrowed(text);
        for pattern in &self.0 {
            left = pattern.remove(&left).into_owned().into();
        }
        (left.len() != text.len()).then(|| left.into_owned())
    }

    /// Returns a message without matches; `None` if it has none.
    fn changed(&self, message: &ChatMessage) -> Option<ChatMessage> {
        match &message.content {
            Content::Text(text) => {
                let mut changed = message.clone();
                let left = self.without_matches(&text.text)?;
                if let Content::Text(text) = &mut changed.content {
                    text.text = left.into();
                }
                Some(changed)
            }
            Content::Blocks(blocks) => {
                let left = |block: &Block| self.without_matches(block.as_text()?);
                let left: Vec<_> = blocks.iter().map(left).collect();
                let mut changed = left.iter().any(Option::is_some).then(|| message.clone())?;
                if let Content::Blocks(blocks) = &mut changed.content {
                    for (block, left) in blocks.iter_mut().zip(left) {
                        if let Some(left) = left {
                            block.body = BlockBody::Text(left.into());
                        }
                    }
                }
                Some(changed)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greedy_match_ends_at_the_last_end() {
        let text = "a<diff>1</diff>b<diff>2</diff>c";
        let remove = |pattern| Pattern::parse(pattern).unwrap().remove(text).into_owned();
        assert_eq!(remove("<diff>.*</diff>"), "ac");
        assert_eq!(remove("<diff>.*?</diff>"), "abc");
        assert!(Pattern::parse("<diff>[a-z]*</diff>").is_err());
    }
}
