//! `ToolOutputTrimmer`: tool outputs of older turns become previews, for the request only.

use crate::chat::{
    Block, BlockBody, ChatMessage, Content, PendingRequest, Replies, Rule, tools_by_call,
};
use crate::engine::{ActionKind, MessageEdit, NamedAction, Rewrite, RewriteInput, Rewritten};
use crate::languages::python::first_chars;
use crate::systems::stage_settings::{check_keys, names_setting};
use std::sync::Arc;

/// Outputs of `trimmable_tools` are trimmed (default: of all tools).
pub(super) const ACTION: NamedAction = NamedAction::new(
    "openai_agents.trim",
    ActionKind::Cut,
    "Replaces long tool outputs of older turns with previews, for the request only.",
    |settings| Ok(Arc::new(Trim(tools(settings)?))),
)
.with_numbers(&["recent_turns", "max_output_chars", "preview_chars"]);

/// Names of tools; `None` for all.
pub(super) type Tools = Option<Vec<String>>;

/// Returns the tools that a stage names: one or a list.
pub(super) fn tools(settings: &toml::Table) -> Result<Tools, String> {
    check_keys(settings, &["trimmable_tools"])?;
    match settings.get("trimmable_tools") {
        Some(toml::Value::String(name)) => Ok(Some(vec![name.clone()])),
        _ => names_setting(settings, "trimmable_tools"),
    }
}

/// Characters that the payload of an image is assumed to have; recordings do not keep it.
// Chosen: a screenshot of 75 KB as base64. Half or double changes nothing, since any image is far above the limit of
// 500 characters at which the trimmer acts.
const IMAGE_CHARS: usize = 100_000;

const CHARS: Rule = Rule::new("openai_agents: characters");

/// The trimmer's settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trimmer<'a> {
    recent_turns: usize,
    max_chars: usize,
    preview_chars: usize,
    tools: &'a Tools,
}

#[derive(Debug)]
struct Trim(Tools);

impl Rewrite for Trim {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        Ok(Rewritten {
            edits: Trimmer::new(&input, &self.0).trim(&input.messages).into(),
            ..Rewritten::default()
        })
    }
}

impl<'a> Trimmer<'a> {
    pub(super) fn new(input: &RewriteInput<'_>, tools: &'a Tools) -> Self {
        Self {
            recent_turns: input.count("recent_turns").max(1),
            max_chars: input.count("max_output_chars"),
            preview_chars: input.count("preview_chars"),
            tools,
        }
    }

    /// Returns the previews that replace outputs.
    pub(super) fn trim(&self, messages: &[ChatMessage]) -> Vec<MessageEdit> {
        let users = messages.iter().enumerate().rev();
        let mut users = users.filter(|(_, message)| message.is("user"));
        let Some((boundary, _)) = users.nth(self.recent_turns - 1) else {
            return Vec::new();
        };
        let tools = tools_by_call(messages);
        let old = messages[..boundary].iter().enumerate();
        let edits = old.filter_map(|(at, message)| {
            let tool = tools.get(message.call_id.as_deref()?).map(|tool| &**tool);
            let now = Some(self.trimmed(message, tool)?);
            Some(MessageEdit { at, now })
        });
        edits.collect()
    }

    /// Returns the preview of a long output.
    fn trimmed(&self, output: &ChatMessage, tool: Option<&str>) -> Option<ChatMessage> {
        let is_named = |tools: &Vec<String>| tools.iter().any(|name| Some(&**name) == tool);
        if !self.tools.as_ref().is_none_or(is_named) {
            return None;
        }
        let tool = tool.filter(|name| !name.is_empty());
        let tool = tool.unwrap_or("unknown_tool");
        match &output.content {
            Content::Text(text) => {
                let text = &*text.text;
                let n = output.weigh(CHARS, |_| text.chars().count() as u64) as usize;
                if n <= self.max_chars {
                    return None;
                }
                let preview = first_chars(text, self.preview_chars);
                let limit = self.preview_chars;
                let summary = format!(
                    "[Trimmed: {tool} output \u{2014} {n} chars \u{2192} {limit} char preview]\n{preview}..."
                );
                (summary.chars().count() < n).then(|| output.with_text(summary))
            }
            Content::Blocks(blocks) => {
                let summary = self.structured(blocks, tool)?;
                Some(output.with_text(summary))
            }
            Content::Missing | Content::Null | Content::Other(_) => None,
        }
    }

    /// Returns the preview of a long output of several parts, within the limit. Other parts than texts and images keep
    /// the output as it is.
    fn structured(&self, blocks: &[Block], tool: &str) -> Option<String> {
        const LEAST: &str = "[Trimmed]";
        let (mut texts, mut n_images) = (Vec::new(), 0);
        for block in blocks {
            match &block.body {
                BlockBody::Text(text) => texts.push(&**text),
                BlockBody::Image(_) => n_images += 1,
                _ => return None,
            }
        }
        let n = |text: &str| text.chars().count();
        let payload = texts.iter().map(|text| n(text)).sum::<usize>() + n_images * IMAGE_CHARS;
        if payload <= self.max_chars {
            return None;
        }
        if self.max_chars < LEAST.len() {
            return Some(first_chars(LEAST, self.max_chars).to_owned());
        }
        let text = texts.join("\n");
        let n_text = n(&text);
        let budget = (self.max_chars - LEAST.len()).saturating_sub(1);
        let n_preview = n_text.min(self.preview_chars).min(budget);
        let mut body = String::new();
        if n_preview > 0 {
            body = format!("\n{}", first_chars(&text, n_preview));
        }
        if n_preview < n_text && LEAST.len() + n(&body) + "...".len() <= self.max_chars {
            body += "...";
        }
        let mut preview = String::new();
        if n_text > 0 {
            preview = format!("; preview {n_preview}");
        }
        let mut headers = Vec::new();
        if n_images == 0 {
            headers.push(format!("[Trimmed: {tool}; payload {payload}{preview}]"));
        } else {
            let dropped = format!("; dropped {n_images} input_image");
            headers.extend([
                format!("[Trimmed: {tool}; payload {payload}{preview}{dropped}]"),
                format!("[Trimmed: {tool}{dropped}]"),
                format!("[Trimmed{dropped}]"),
                "[Trimmed: input_image]".to_owned(),
                format!("[Trimmed: dropped {n_images} opaque]"),
            ]);
        }
        headers.extend([
            format!("[Trimmed: payload {payload}]"),
            format!("[Trimmed: {tool}]"),
            LEAST.to_owned(),
        ]);
        let fits = |header: &String| n(header) + n(&body) <= self.max_chars;
        headers.into_iter().find(fits).map(|header| header + &body)
    }
}
