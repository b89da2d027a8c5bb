//! Options of `pruneMessages`.

use crate::systems::stage_settings::{check_keys, names_setting, text_setting};

/// Options of `pruneMessages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) reasoning: Reasoning,
    /// Rules of `toolCalls`, applied one after the other.
    pub(super) rules: Vec<ToolCallRule>,
    pub(super) keeps_empty: bool,
}

/// Removal of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reasoning {
    Kept,
    Removed,
    /// Removed from all messages but the newest.
    KeptInLast,
}

/// Removal of calls and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolCallRule {
    /// Number of newest messages that stay as they are.
    pub(super) kept: usize,
    /// Tools whose calls are removed; `None` for all.
    pub(super) tools: Option<Vec<String>>,
}

impl Reasoning {
    /// Returns the choice of this number.
    pub(super) fn by_number(nth: usize) -> Self {
        match nth {
            0 => Self::Kept,
            1 => Self::Removed,
            _ => Self::KeptInLast,
        }
    }
}

impl ToolCallRule {
    /// Returns the rule of this number: none, all, or all before the last messages, from one on.
    pub(super) fn by_number(nth: usize) -> Option<Self> {
        Some(Self { kept: nth.checked_sub(1)?, tools: None })
    }

    fn by_name(name: &str) -> Result<Self, String> {
        let kept = match name {
            "all" => Some(0),
            "before-last-message" => Some(1),
            _ => {
                let n = name.strip_prefix("before-last-");
                n.and_then(|n| n.strip_suffix("-messages")?.parse().ok())
            }
        };
        let kept = kept.ok_or_else(|| format!("unknown rule {name:?}"))?;
        Ok(Self { kept, tools: None })
    }
}

/// Returns the rules of a stage's text: the value of `toolCalls`.
pub(super) fn rules(tool_calls: &toml::Value) -> Result<Vec<ToolCallRule>, String> {
    let rule = |value: &toml::Value| {
        let fields = value.as_table().ok_or("a rule must be a table")?;
        check_keys(fields, &["type", "tools"])?;
        let kind = text_setting(fields, "type")?.ok_or("a rule needs a `type`")?;
        Ok(ToolCallRule { tools: names_setting(fields, "tools")?, ..ToolCallRule::by_name(kind)? })
    };
    match tool_calls {
        toml::Value::String(name) if name == "none" => Ok(Vec::new()),
        toml::Value::String(name) => Ok(vec![ToolCallRule::by_name(name)?]),
        toml::Value::Array(list) => list.iter().map(rule).collect(),
        _ => Err("`rules` must be a text or a list of rules".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_a_name_or_a_list() {
        let rule = |kept, tools| ToolCallRule { kept, tools };
        let parse = |toml: &str| rules(&toml.parse::<toml::Table>().unwrap()["rules"]);
        assert_eq!(parse("rules = 'none'"), Ok(Vec::new()));
        assert_eq!(parse("rules = 'all'"), Ok(vec![rule(0, None)]));
        let named = parse("rules = 'before-last-12-messages'");
        assert_eq!(named, Ok(vec![rule(12, None)]));
        let listed = parse("rules = [{ type = 'before-last-message', tools = ['a'] }]");
        assert_eq!(listed, Ok(vec![rule(1, Some(vec!["a".to_owned()]))]));
        assert!(parse("rules = 'sometimes'").is_err());
        assert!(parse("rules = [{ tools = ['a'] }]").is_err());
        assert_eq!(
            parse("rules = [{ type = 'all', tools = [1] }]"),
            Err("`tools` must be a list of names".to_owned())
        );
        assert_eq!(
            parse("rules = [{ type = 'all', tool = 'a' }]"),
            Err("unknown key `tool`".to_owned())
        );
        assert_eq!(ToolCallRule::by_number(0), None);
        assert_eq!(ToolCallRule::by_number(3), Some(rule(2, None)));
    }
}
