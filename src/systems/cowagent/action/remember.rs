//! Actions that hand messages to the daily memory file.

use super::super::error::{Meaning, meaning};
use super::super::flush::{Flush, Flushed, Reason, daily_entry, flush};
use super::super::inject::inject;
use super::super::summary::Summarizer;
use super::super::trim::{Limits, trim_messages};
use super::{apart, idle, instructions_tokens, joined, term};
use crate::chat::{ChatMessage, Dialogue, Wants};
use crate::engine::{FileContent, NewFile, Rewrite, Rewritten, Scene};
use serde_json::json;

/// Summarizes what the trim will drop, and puts the summary before the first text kept. The trim itself follows.
#[derive(Debug)]
pub(super) struct Remember;

impl Rewrite for Remember {
    fn rewrite(&self, scene: Scene<'_>, dialogue: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        let limits = Limits {
            max_turns: scene.count("max_turns"),
            max_tokens: scene.count("max_tokens") as u64,
            few_turns: scene.count("few_turns"),
            has_memory: true,
        };
        let injects = scene.number("inject") > 0.0;
        let mut memory = Memory::of(&scene);
        let (system, said) = apart(scene.messages.into_vec());
        let mut log = Vec::new();
        let tokens = instructions_tokens(&system);
        let trimmed = trim_messages(&said, tokens, &limits, &mut memory.flushed, &mut log);
        let mut after = said.clone();
        for flush in &trimmed.flushes {
            let summary = memory.write(flush, dialogue)?;
            if let (true, Some(summary), Some(target)) = (injects, summary, &flush.target) {
                inject(&mut after, 0, target, &summary);
            }
        }
        let changed = (after != said).then_some(after);
        let messages = changed.map(|said| joined(system, said));
        Ok(memory.told(&trimmed.flushes, messages))
    }
}

/// Summarizes everything; nothing is put into the context.
#[derive(Debug)]
pub(super) struct RememberAll;

impl Rewrite for RememberAll {
    fn rewrite(&self, scene: Scene<'_>, dialogue: &mut Dialogue<'_>) -> Result<Rewritten, Wants> {
        if !scene.error.is_empty() && meaning(scene.error, true) != Meaning::Overflow {
            return Ok(Rewritten::default());
        }
        let mut memory = Memory::of(&scene);
        let (_, said) = apart(scene.messages.into_vec());
        let flushed = &mut memory.flushed;
        let flush = flush(&said, Reason::Overflow, None, flushed, &mut Vec::new());
        memory.write(&flush, dialogue)?;
        Ok(memory.told(&[flush], None))
    }
}

/// The daily memory file. The shipped code names it by the date (`memory/YYYY-MM-DD.md`), which the engine does not
/// know: its clock runs from the session's start.
const DAILY_FILE: &str = "memory/daily.md";

/// The process's memory: texts that were handed over, and the daily file.
struct Memory {
    flushed: Flushed,
    file: String,
    summarizer: Summarizer,
    clock: String,
    log: Vec<String>,
    entries: String,
}

impl Memory {
    fn of(scene: &Scene<'_>) -> Self {
        let minutes = (scene.now.max(0.0) / 60.0) as u64;
        Self {
            flushed: Flushed::from_json(&scene.memory["flushed"]),
            file: scene.memory["daily_memory_file"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            summarizer: Summarizer {
                text_chars: scene.count("summary_chars"),
                max_tokens: scene.count("summary_max_tokens") as u64,
            },
            // Since the session's start: nobody knows the hour.
            clock: format!("{:02}:{:02}", minutes / 60, minutes % 60),
            log: Vec::new(),
            entries: String::new(),
        }
    }

    /// Summarizes what was handed over and writes it down.
    fn write(
        &mut self,
        flush: &Flush,
        dialogue: &mut Dialogue<'_>,
    ) -> Result<Option<String>, Wants> {
        if !flush.is_dispatched() {
            return Ok(None);
        }
        self.log.push(format!(
            "info: [MemoryFlush] Async flush dispatched (reason={}, msgs={})",
            flush.reason.name(),
            flush.fresh.len()
        ));
        let summary = self.summarizer.summarize(&flush.fresh, dialogue)?;
        if let Some(summary) = &summary {
            let entry = daily_entry(flush.reason, &self.clock, summary);
            self.log.push(entry.trim().to_owned());
            self.file += &entry;
            self.entries += &entry;
        }
        Ok(summary)
    }

    fn told(self, flushes: &[Flush], messages: Option<Vec<ChatMessage>>) -> Rewritten {
        let passed = flushes.iter().map(|flush| flush.n_passed).sum();
        let fresh = flushes.iter().map(|flush| flush.fresh.len()).sum();
        let terms = vec![
            term("flushes", flushes.len()),
            term("messages_passed", passed),
            term("messages_summarized", fresh),
        ];
        if fresh == 0 {
            return idle(terms);
        }
        Rewritten {
            messages,
            edits: Vec::new(),
            fired: true,
            terms,
            log: self.log,
            files: new_entries(&self.entries),
            halt: None,
            memory: json!({
                "flushed": self.flushed.to_json(),
                "daily_memory_file": self.file,
            }),
        }
    }
}

/// What is added to the daily file, if anything.
fn new_entries(entries: &str) -> Vec<NewFile> {
    if entries.is_empty() {
        return Vec::new();
    }
    vec![NewFile {
        name: DAILY_FILE.to_owned(),
        content: FileContent::Text(entries.into()),
        appends: true,
    }]
}
