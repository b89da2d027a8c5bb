//! The stage that spills a result before it enters the conversation.

use super::super::count::Llm;
use super::super::legacy::refuse_oversized_result;
use super::super::spill::{Spilling, Storage, spill_oversized_result};
use super::super::spilled_file::{SpilledContent, SpilledFile};
use super::super::tool_result::{ToolResult, has_prefix};
use super::settings::{Settings, Version};
use crate::chat::{ChatMessage, Fields, PendingRequest, Replies};
use crate::engine::{
    ActionKind, FileContent, NamedAction, NewFile, Rewrite, RewriteInput, Rewritten,
    Storage as Place,
};
use crate::systems::stage_settings::text_setting;
use std::sync::Arc;

/// Same length as a real folder path, which contains a random id.
const FOLDER: &str = "/tmp/.holmes/00000000-0000-4000-8000-000000000000/tool_results";

pub(super) const SPILL: NamedAction = NamedAction::new(
    "holmesgpt.spill",
    ActionKind::Spill,
    "Moves a tool result over its cap to a file and leaves a pointer with a preview; without storage, replaces it with an error.",
    |table| {
        let settings = Settings::read(table, &["folder"])?;
        let folder = text_setting(table, "folder")?.unwrap_or(FOLDER).into();
        Ok(Arc::new(Spill { settings, folder }))
    },
)
.with_numbers(&["window_override", "output_override", "tool_pct", "tool_tokens", "storage", "bash"]);

#[derive(Debug)]
struct Spill {
    settings: Settings,
    folder: Arc<str>,
}

impl Rewrite for Spill {
    fn rewrite(
        &self,
        input: RewriteInput<'_>,
        _: &mut Replies<'_>,
    ) -> Result<Rewritten, PendingRequest> {
        let llm = self.settings.llm(&input);
        // Without a tool that reads files there is no folder.
        let has_bash = input.flag("bash");
        let folder = match input.storage {
            Place::Folder(folder) => folder,
            Place::AsSet | Place::Missing => &self.folder,
        };
        let storage = Storage {
            folder: has_bash.then_some(&**folder),
            is_enabled: input.flag("storage") && *input.storage != Place::Missing,
            spares_failures: self.settings.version == Version::V038,
        };
        let mut done = Rewritten::default();
        let mut messages = input.messages.into_vec();
        for message in messages.iter_mut().filter(|m| m.is("tool")) {
            if let Some(spilled) = self.spilled(&llm, message, storage, &mut done) {
                *message = spilled;
                done.fired = true;
            }
        }
        done.messages = done.fired.then_some(messages);
        Ok(done)
    }
}

impl Spill {
    /// Returns the message that replaces one over the cap.
    fn spilled(
        &self,
        llm: &Llm,
        message: &ChatMessage,
        storage: Storage<'_>,
        done: &mut Rewritten,
    ) -> Option<ChatMessage> {
        if is_surely_small(message, llm) {
            return None;
        }
        let mut result = ToolResult::of_message(message);
        let spilling = if self.settings.version == Version::Legacy {
            let tokens = llm.count_message(&mut result.to_legacy_message());
            Spilling {
                tokens,
                cap: llm.limits.tool_cap,
                is_changed: refuse_oversized_result(llm, &mut result),
                files: Vec::new(),
            }
        } else {
            spill_oversized_result(llm, &mut result, storage)
        };
        if !spilling.is_changed {
            return None;
        }
        let mut now = if self.settings.version == Version::Legacy {
            result.to_legacy_message()
        } else {
            result.to_message()
        };
        let after = llm.count_message(&mut now);
        let id = &result.call_id;
        for (name, value) in
            [("tokens", spilling.tokens), ("cap", spilling.cap), ("tokens_after", after)]
        {
            done.terms.push((format!("{name} ({id})"), value as f64));
        }
        for file in &spilling.files {
            // A session does not contain the payload of its images.
            let size = match file.n_bytes() {
                0 => "size not recorded".to_owned(),
                n_bytes => format!("{n_bytes} bytes"),
            };
            done.log.push(format!("writes {} ({size})", file.path));
        }
        done.files.extend(spilling.files.into_iter().map(new_file));
        done.log.extend(result.error);
        Some(ChatMessage::from(Fields {
            content: now.into_fields().content,
            ..message.clone().into_fields()
        }))
    }
}

/// Converts a spilled file for the engine.
fn new_file(file: SpilledFile) -> NewFile {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    NewFile {
        name: name.to_owned(),
        content: match file.content {
            SpilledContent::Text(text) => FileContent::Text(text.into()),
            SpilledContent::Image { bytes, part } => match part {
                Some(part) if bytes.is_empty() => FileContent::Part(part),
                _ => FileContent::Bytes(bytes.into()),
            },
        },
        appends: false,
    }
}

/// Returns whether a result has fewer bytes than its cap has tokens, so it need not be counted: each token has at least
/// one byte. The message also contains its name and id, twice and possibly escaped, and a few words.
fn is_surely_small(message: &ChatMessage, llm: &Llm) -> bool {
    // Chosen generously, since a result above the estimate is only counted in vain: the words of a message have fewer
    // than 200 bytes, and JSON escapes a byte with at most six.
    const WORDS: usize = 200;
    const ESCAPED: usize = 6;
    let Some(text) = message.text().filter(|text| !has_prefix(text)) else {
        return false;
    };
    let length = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
    let around = (length(&message.name) + length(&message.call_id)) * (ESCAPED + 1);
    let most = text.len() + around + WORDS;
    i64::try_from(most).is_ok_and(|most| most <= llm.limits.tool_cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Content, Text};
    use crate::engine::{Hook, Storage};
    use crate::json::Value;

    fn spilled(text: &str, storage: f64) -> Rewritten {
        let table: toml::Table = toml::from_str("tokenizer = 'chars/4'").unwrap();
        let action = (SPILL.make)(&table).unwrap();
        let input = RewriteInput {
            messages: vec![ChatMessage::from(Fields {
                content: Content::Text(Text { text: text.into(), part: Some(3) }),
                call_id: Some("c1".into()),
                name: Some("logs".into()),
                ..ChatMessage::new("tool", "").into_fields()
            })]
            .into(),
            tools: &[],
            numbers: &[
                ("window_override", 4_000.0),
                ("tool_pct", 15.0),
                ("tool_tokens", 25_000.0),
                ("storage", storage),
                ("bash", 1.0),
            ],
            at: Hook::BeforeCall,
            call: 0,
            turn: 1,
            call_in_turn: 0,
            now: 0.0,
            since: None,
            model: "",
            window: 4_000,
            memory: Value::Null.into(),
            error: "",
            storage: &Storage::AsSet,
        };
        action.rewrite(input, &mut Replies::new(&[])).unwrap()
    }

    #[test]
    fn a_spilled_result_keeps_its_part_and_names_the_file() {
        let done = spilled(&"x".repeat(9_000), 1.0);
        let messages = done.messages.unwrap();
        assert_eq!(messages[0].content.first_part(), Some(3));
        assert_eq!(done.log, [format!("writes {FOLDER}/logs_c1.txt (9000 bytes)")]);
        assert!(spilled("short", 1.0).messages.is_none());
    }

    #[test]
    fn without_storage_the_data_is_dropped_with_an_error() {
        let done = spilled(&"x".repeat(9_000), 0.0);
        let messages = done.messages.unwrap();
        assert!(!messages[0].text().unwrap().contains("xxx"));
        assert!(done.log[0].contains("narrow down the result"));
    }
}
