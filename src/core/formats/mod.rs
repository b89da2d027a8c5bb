//! Session file formats: a file or a folder and a row of [`FORMATS`] per format, and the modules that they share.
//!
//! Formats convert bytes to [`Session`]s and read no files. Invalid content never fails a read: an invalid line becomes
//! a [`Warning`] with its number, and everything else is loaded. Only files without any conversation are [`Refused`].
//!
//! # How to write a reader
//!
//! 1. Add a file with `const FORMAT: Format`, which ends with `..Format::READ_ONLY`, and declare it below. [`Format`]
//!    describes each property.
//! 2. Add a row to [`FORMATS`], before the formats that would accept the same files.
//! 3. Add a file to `tests/fixtures/FORMAT`, named like the format. `PLIMSOLL_UPDATE_FIXTURES=1 cargo test --test formats detection` writes the
//!    expected result next to it (`FILE.expected`).
//! 4. Add a row to `docs/formats.md`. In `README.md`, add the program to the section *Formats* and update the number of
//!    formats in the first list. `cargo test --test engine written_lists` compares both with [`FORMATS`].
//! 5. To list its sessions in `plimsoll sessions` and the window, add a row to `STORES` in `src/exec/stores/mod.rs`, and the
//!    program to *sessions* in `docs/command-line.md`. Code outside of this folder may not name a format.
//! 6. If its files have a new extension, add it to `SESSION_EXTENSIONS` in `src/exec/stores/find.rs`, and to `COPIED` in
//!    `src/exec/export/default_path.rs` if it is a text file.
//!
//! `detect` looks at the first records of a [`Probe`]. `parse` depends on the file:
//!
//! | the file holds | use | example |
//! |---|---|---|
//! | a list of messages, as a document or one per line | `message_list::Dialect`: functions for one message. It locates the list, reads it, and writes it again | `gemini_api` |
//! | JSON Lines with records of its own | `jsonl::map_records`, which parses on all cores and reports invalid lines | `pi` |
//! | one JSON document | `rows::rows_at` for the elements of a list, `rows::members_except` for the members around it | `atif` |
//! | text | `text_lines` | `aider` |
//! | the whole context of every call (logs, traces) | `contexts::Contexts`, which finds the new messages of each call; `contexts::Nesting` finds sub-agents | `otel` |
//! | the same among other data, or data that must not be kept | a document of its own, which the sessions refer to instead of the file | `captures` |
//! | a list of records or one per line | `rows::map_rows` | `output_streams` |
//! | records that name their parents | `tree::Tree`: the main branch and the others | `qwen_code` |
//!
//! A program may also store its sessions in other ways. They become documents that `parse` reads:
//!
//! | the program stores | use | example |
//! |---|---|---|
//! | a database | [`Database`] in `store.rs` of the format, named by `database`: its tables, queries and document | `goose` |
//! | an archive of files | `combine_archive`, which joins the files | `inspect` |
//! | a folder of files | `combine_files`, which joins the files; `src/exec/load/session_folder.rs` finds them | `opencode` |
//! | sub-agents in files of their own | `identity` and `sub_agent_files`; `src/exec/load/sub_agents` finds the files | `gemini_cli` |
//!
//! All except `Dialect` add messages, calls and compactions to a `transcript::Transcript` in file order: `add_message`;
//! `add_answer` for a call with its answer; `builder.call` for a call without one; `builder.compaction`. If the file
//! names the model once, set it with `builder.usual_model`. If usage follows the answer, add it with
//! `builder.last_call_mut`. The transcript matches tool results with their calls and finds a title. Two readers use
//! [`crate::session::SessionBuilder`] directly, because they join records in their own way: `claude_code` and
//! `codex_rollout`.
//!
//! - **Values**: `crate::json::Value` with the accessors of `json` (`str_at`, `u64_at`, `millis_at`). Token counts are
//!   read by `counts` (`tokens_at`, `window_at`) and checked by `ReadLog::notes` (`usage`, `tokens`), which reports
//!   impossible ones. If parsing limits the speed of large JSON Lines, use `jsonl::map_texts` with `crate::json::BorrowedValue`,
//!   which neither copies nor decodes unused members (`claude_code`).
//! - **State**: a `Dialect` keeps none between records. Each of its functions receives a single element of the list; only
//!   the `CallMatcher` of `messages`, which finds the call of a result, remembers the elements before. If the meaning of
//!   a record depends on earlier ones (a branch, a rewind, a replaced message), write a reader with a `Transcript`.
//! - **Paths**: `rows::rows_at` follows a path of member names from a value to an array. With an empty path, the value
//!   itself is the array. It returns no rows and no warning if a member is missing or the value is not an array.
//! - **Content**: `content::parts` reads the text, thoughts, calls, results and media of all known notations.
//!   `content::any_message::read` reads a whole message of a known notation, including its role. A reader handles only
//!   fields that `content` does not know; `content::call` and `content::result` create parts from them.
//! - **Results**: `content::result` takes the output of a tool as the file has it. From a list of blocks it creates a
//!   result with the text of all text blocks, joined by line ends, and a part for every other block: media, which name
//!   the call, or the block as JSON if it is unknown. A text becomes the result's text. An object is read like its
//!   `content`, `output`, `text` or `error` if it has no other member (or a list in `content`). All other JSON becomes
//!   the text.
//! - **Media**: a new notation of images, audio or documents belongs to `content/media.rs`: to `of_provider` if it is the
//!   API of a provider, else to `of_program`. All readers then know it. Parts keep no bytes: exports and the window find
//!   them again in the record with the same code (`content::media_bytes`), so the notation belongs there even if a
//!   reader parses its blocks itself (`claude_code`) and creates the parts with `content::from_base64`, `from_url` or
//!   `reference`.
//! - **Spans**: every message keeps the byte range of its record (`Draft::raw`), and every part the index of its
//!   content block (`content::part`). Untouched records are written back byte for byte, and the window shows them.
//! - **Warnings**: `read_log::ReadLog` collects them. `warnings` has those of `jsonl` by line, `notes` those of the reader
//!   by byte position (`once` reports a recurring problem once). End with `ReadLog::finish`.
//! - **Counts**: `report.count_record` counts every record by kind, in the format's own terms. `accounted` compares the
//!   counts with the file: a record without a count causes a warning, as does a kind of message (`accounted::MESSAGES`)
//!   that was read in part without a warning.
//! - **Writing**: a `Dialect` has `Writes` for one message. For other files, `editing::output_records` returns the
//!   records in the new order, `editing::edit` changes the content of one, and `editing::patched` replaces single values.
//!   `mark` marks the result, so that usage reported for the old contexts is ignored.

// The formats.
mod ai_sdk;
mod aider;
mod anthropic_messages;
mod atif;
mod autogen;
mod bedrock;
mod browser_use;
mod captures;
mod chat_exports;
mod claude_code;
mod cline;
mod codex_rollout;
mod continue_dev;
mod copilot_chat;
mod copilot_cli;
mod cowagent;
mod crush;
mod cursor;
mod cursor_transcript;
mod deepseek_harness;
mod droid;
mod gemini_api;
mod gemini_cli;
mod google_adk;
mod goose;
mod haystack;
mod hermes;
mod inspect;
mod kimi;
mod kiro;
mod langchain;
mod langfuse;
mod langgraph;
pub mod live;
mod llama_factory;
mod mistral_vibe;
mod openai_agents;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod otel;
mod output_streams;
mod pi;
mod picoclaw;
mod pydantic_ai;
mod qwen_code;
mod sharegpt;
mod specstory;
mod swe_agent;
mod tau_bench;
mod trae_agent;

// Shared by the formats.
mod accounted;
mod byte_order_mark;
mod cannot_export;
mod content;
mod contexts;
mod counts;
mod database;
mod editing;
mod folder;
mod format;
mod handoff;
mod identity;
mod json;
mod jsonl;
mod mark;
mod message_list;
mod notes;
mod openai_roles;
mod parsed;
mod probe;
mod read_log;
mod record_ids;
mod recorded_data;
mod resume;
mod rows;
mod text_lines;
mod title;
mod tnetstring;
mod transcript;
mod tree;

pub use cannot_export::CannotExport;
pub use claude_code::AgentCalls;
pub use cline::CLINE_HISTORY;
pub use content::{definitions_in, media_bytes};
pub use database::{
    Cell, Database, DatabaseSession, RowFilter, Rows, Table, TableQuery, database_of, databases,
    supported_databases,
};
pub use editing::result_without_call;
pub use folder::{FolderFile, archived_document, combined_document};
pub use format::{Format, Kept, ResultPosition, SubAgentFiles};
pub use handoff::n_replaced;
pub use identity::{SessionIdentity, SubAgentCalls, identity, identity_of};
pub use parsed::{ImportReport, Input, ParseError, Parsed, RecordCount, Refused, Warning};
pub use probe::Probe;
pub use record_ids::RecordIds;
pub use recorded_data::{Availability, RecordedData, availability, records_compactions};
pub use resume::{NewSession, NewSessionWriter, ProjectFolders, Resumable, Resume};

use crate::progress::Progress;
use crate::session::{MAX_KEPT, Session};

/// All supported formats, in order of detection: formats with a mark of their own, then lists of messages with
/// the most general one (`openai_chat`) last. The formats after it are not lists of messages.
pub static FORMATS: &[Format] = &[
    qwen_code::FORMAT,
    claude_code::FORMAT,
    codex_rollout::FORMAT,
    gemini_cli::FORMAT,
    pi::FORMAT,
    output_streams::QWEN_CODE,
    output_streams::CLAUDE_CODE,
    output_streams::CODEX,
    output_streams::GEMINI,
    output_streams::OPENCODE,
    output_streams::PI,
    captures::BATCH_RESULTS,
    captures::FORMAT,
    chat_exports::CHATGPT,
    chat_exports::CLAUDE_AI,
    openhands::SDK,
    openhands::V0,
    copilot_cli::FORMAT,
    copilot_chat::FORMAT,
    opencode::FORMAT,
    goose::FORMAT,
    cowagent::FORMAT,
    cursor::FORMAT,
    crush::FORMAT,
    openai_agents::FORMAT,
    google_adk::FORMAT,
    langgraph::FORMAT,
    hermes::FORMAT,
    picoclaw::FORMAT,
    atif::FORMAT,
    inspect::FORMAT,
    kimi::WIRE,
    kimi::CONTEXT,
    cline::FORMAT,
    continue_dev::FORMAT,
    browser_use::FORMAT,
    mistral_vibe::FORMAT,
    cursor_transcript::FORMAT,
    droid::FORMAT,
    kiro::EVENTS,
    kiro::SAVED,
    deepseek_harness::FORMAT,
    swe_agent::FORMAT,
    trae_agent::FORMAT,
    tau_bench::FORMAT,
    sharegpt::FORMAT,
    llama_factory::FORMAT,
    langchain::RUNS,
    langfuse::FORMAT,
    langchain::MESSAGES,
    autogen::FORMAT,
    pydantic_ai::FORMAT,
    haystack::FORMAT,
    ai_sdk::FORMAT,
    bedrock::STRANDS,
    bedrock::FORMAT,
    gemini_api::FORMAT,
    anthropic_messages::FORMAT,
    openai_responses::FORMAT,
    openai_chat::FORMAT,
    aider::FORMAT,
    specstory::FORMAT,
    otel::FORMAT,
];

/// Returns the format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

/// Returns the display name of the format of this name, or `name` if it is unknown.
pub fn label(name: &str) -> &str {
    by_name(name).map_or(name, |format| format.label)
}

/// Returns the formats whose sessions can be written again.
pub fn writable() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.is_writable())
}

/// Returns the formats whose sessions a program resumes.
pub fn resumable() -> impl Iterator<Item = (&'static Format, &'static Resume)> {
    FORMATS.iter().filter_map(|format| Some((format, format.resume.as_ref()?)))
}

/// Returns the format of this name, or of the sessions of the program with this name.
pub fn by_name_or_program(name: &str) -> Option<&'static Format> {
    let of_program = || resumable().find(|(_, resume)| resume.names.contains(&name));
    by_name(name).or_else(|| Some(of_program()?.0))
}

/// Returns the formats in which sessions of every format can be written.
pub fn accepting_any_source() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.accepts_any_source())
}

/// Returns a format other than `own` in which every session can be written: the most general one, `openai_chat`, unless
/// that is `own`.
pub fn other_format(own: &str) -> &'static Format {
    let is_other = |format: &&Format| format.accepts_any_source() && format.name != own;
    FORMATS.iter().rfind(is_other).unwrap_or(&FORMATS[0])
}

/// Detects the format of a file from its content and reads it.
///
/// # Errors
/// [`Refused`] if the file has no supported conversation.
pub fn parse(input: &Input) -> Result<Parsed, Refused> {
    match parse_with(input, &Progress::default()) {
        Ok(parsed) => Ok(parsed),
        Err(ParseError::Refused(refused)) => Err(refused),
        Err(ParseError::Cancelled(_)) => {
            unreachable!("no other owner of the progress can cancel it")
        }
    }
}

/// Reads a file like [`parse`] and advances `progress` by about the file's size in bytes.
///
/// # Errors
/// [`ParseError`] if the file has no supported conversation or `progress` is cancelled.
pub fn parse_with(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let (format, why) = detect(input, progress)?;
    progress.check_cancelled()?;
    let held = (!format.reads_in_pieces).then(|| input.bytes.whole());
    let mut parsed = format.read(input, progress)?;
    parsed.report.recognized_by = why;
    notes::sum_up(&mut parsed.warnings);
    let unaccounted = accounted::check(input, format, &parsed, progress)?;
    parsed.warnings.extend(unaccounted);
    parsed.warnings.extend(compaction_warning(&parsed.sessions));
    parsed.warnings.extend(notes::left_out_usage(&parsed.sessions));
    drop(held);
    Ok(parsed)
}

/// Returns the format of a file and the evidence for it.
fn detect(input: &Input, progress: &Progress) -> Result<(&'static Format, String), ParseError> {
    let of = |probe: &Probe| {
        let detected = |format: &'static Format| Some((format, (format.detect)(probe)?));
        FORMATS.iter().find_map(detected)
    };
    let mut probe = Probe::new(&input.bytes, probe::FEW_RECORDS, progress)?;
    if let Some(found) = of(&probe) {
        return Ok(found);
    }
    if probe.has_more() {
        probe = Probe::new(&input.bytes, probe::MANY_RECORDS, progress)?;
    }
    of(&probe).ok_or_else(|| {
        let looks_like = probe.looks_like();
        Refused { looks_like }.into()
    })
}

/// Returns a warning if the compactions of a session reach the limit of kept messages.
fn compaction_warning(sessions: &[Session]) -> Option<Warning> {
    let kept = |s: &Session| s.context_changes().map(|change| change.kept().len()).sum::<usize>();
    let is_full = |s: &&Session| kept(s) + s.messages.len() > MAX_KEPT;
    let text = "compactions reach the limit of kept messages; the last ones may be missing";
    sessions.iter().find(is_full).map(|_| Warning { line: None, text: text.to_owned() })
}

/// Checks the first bytes of a file, so that a binary file is rejected before it is read as a whole.
///
/// # Errors
/// [`Refused`] if the file cannot be a session.
pub fn check_start(start: &[u8]) -> Result<(), Refused> {
    match probe::binary(start) {
        Some(what) => Err(Refused { looks_like: format!("this looks like {what}") }),
        None => Ok(()),
    }
}

/// Formats listed in the error for an unsupported file.
const PROMINENT: [&str; 6] =
    ["claude_code", "codex_rollout", "gemini_cli", "opencode", "openai_chat", "anthropic_messages"];

/// Returns the most common formats and the number of the others, as part of a sentence.
pub fn prominent() -> String {
    let named = FORMATS.iter().filter(|f| PROMINENT.contains(&f.name));
    let labels: Vec<_> = named.map(|f| f.label).collect();
    let more = FORMATS.len() - labels.len();
    format!("{} and {more} more formats", labels.join(", "))
}

/// Returns the labels of all formats, as part of a sentence.
pub fn supported() -> String {
    let labels: Vec<_> = FORMATS.iter().map(|f| f.label).collect();
    match labels.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => labels.concat(),
    }
}
