//! `plimsoll convert`: writes a session in another format and reports what that format cannot hold.

use super::args::{FileArg, GlobalOptions, is_stdin};
use super::compact;
use super::output::{clean, counted, grouped, json, note, print};
use super::status::Status;
use crate::exec::{
    Aspect, Claim, Converted, Resumed, check_is_not_source, convert, convert_resumable,
    default_converted_path,
};
use crate::formats::{self, Format};
use crate::names::nearest;
use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Convert a session to another format and report what that format cannot hold
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes the whole history, without compaction, and compares the written file with the source. Exit code 1 if a text, call, result, image or tool definition is missing. Missing reasoning, error flags, times and ids are only listed. The source is never modified, nothing is overwritten. `compact --policy none` and `context` write the context of a call instead.\n\nExamples:\n  plimsoll convert sample_sessions/handoff.json --to anthropic_messages -o converted.json"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = target,
        help = "openai_chat, anthropic_messages, or the source's own format (an exact copy); with --resumable: claude, codex, opencode, gemini, pi"
    )]
    to: &'static Format,
    /// New file [default: NAME-FORMAT in the source's folder, or in the current folder if the source is in an agent's session store]
    #[arg(short, long, value_name = "OUT", value_parser = compact::output)]
    output: Option<PathBuf>,
    /// Add a new session to the store of the agent of --to (claude, codex, opencode, gemini, pi), and print the command that resumes it; -o only with opencode, which imports the file
    #[arg(long)]
    resumable: bool,
}

/// A converted session, compared with its source.
#[derive(Serialize, JsonSchema)]
pub(super) struct Conversion<'a> {
    /// Path of the new file.
    output: Cow<'a, str>,
    /// Format of the new file.
    format: &'a str,
    /// Format of the source.
    source_format: &'a str,
    /// Whether the source was copied byte for byte, because the format is the same.
    copied: bool,
    /// Size of the new file in bytes.
    bytes: usize,
    /// Number of messages of the history.
    messages: usize,
    /// Whether the new file contains everything.
    complete: bool,
    /// Kinds of content, each compared with the source. Empty for a copy.
    content: Vec<ContentEntry<'a>>,
    /// The new session in an agent's store; null without `--resumable`.
    resumable: Option<compact::ResumableSession<'a>>,
    /// Remarks, such as a project folder that is not on this machine.
    notes: &'a [String],
}

/// A kind of content, compared with the source.
#[derive(Serialize, JsonSchema)]
struct ContentEntry<'a> {
    /// Kind of content, such as `texts` or `tool calls`.
    kind: &'a str,
    /// Number in the source.
    count: usize,
    /// Number of these in the new file.
    written: usize,
    /// Whether it is content of messages (texts, calls, results, images). Exit code 1 if some of it is missing.
    in_messages: bool,
    /// The first messages whose content is missing.
    incomplete_messages: Vec<usize>,
    /// Details; empty if there are none.
    detail: &'a str,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        shared.refuse_what_if("convert")?;
        let (file, format) = (&self.file.file, self.to);
        if is_stdin(file) && self.output.is_none() && !self.resumable {
            bail!("convert of standard input requires -o OUT");
        }
        let loaded = shared.load(file)?;
        let session = &loaded.case.session;
        if self.resumable {
            compact::check_output(format, self.output.as_deref())?;
        }
        let claim = self.claim(session.source.format)?;
        let output = claim.path();
        check_is_not_source(output, file).map_err(anyhow::Error::msg)?;
        let convert = if self.resumable { convert_resumable } else { convert };
        let converted = convert(&loaded, format, output).map_err(anyhow::Error::msg)?;
        let messages = session.n_history();
        if shared.json {
            let source_format = session.source.format;
            json(&json_output(&converted, source_format, format, messages))?;
        } else {
            print(&conversion_text(&converted, format, messages))?;
        }
        let is_measured = |a: &Aspect| !a.is_whole() && MEASURED.contains(&a.plural);
        if converted.resumed.is_none() && converted.aspects.iter().any(is_measured) {
            note(
                "costs, expected re-reads and the recorded lane of the new file differ from those of the source",
            );
        }
        let is_lost = |aspect: &Aspect| aspect.is_content && !aspect.is_whole();
        Ok(if converted.aspects.iter().any(is_lost) { Status::CheckFailed } else { Status::Done })
    }
}

impl Args {
    /// Claims the path of the output. A session in a store gets its path there.
    fn claim(&self, own: &str) -> anyhow::Result<Claim> {
        let (file, format) = (&self.file.file, self.to);
        if self.resumable && !compact::is_imported(format) {
            return Ok(Claim::given(PathBuf::new()));
        }
        let is_copy = own == format.name;
        let output = self.output.clone().map(Claim::given);
        output.or_else(|| Claim::new(|| default_converted_path(file, format, is_copy))).ok_or_else(
            || {
                anyhow::anyhow!(
                    "the current folder is an agent's session store; choose the output with -o OUT"
                )
            },
        )
    }
}

/// Parses the name of a format.
fn target(name: &str) -> anyhow::Result<&'static Format> {
    formats::by_name_or_program(name).ok_or_else(|| {
        let others: Vec<&str> = formats::accepting_any_source().map(|format| format.name).collect();
        let agents = compact::agents();
        let names = formats::FORMATS.iter().map(|format| format.name.to_owned());
        if let Some(near) = nearest(name, &names.collect::<Vec<_>>()) {
            return anyhow::anyhow!("no format is named {name:?}; did you mean {near}?");
        }
        anyhow::anyhow!(
            "no format is named {name:?}; a conversation can be written as {}, or copied in its own format; with --resumable, as a session of {agents}",
            others.join(" or ")
        )
    })
}

fn json_output<'a>(
    converted: &'a Converted,
    source_format: &'a str,
    format: &'a Format,
    messages: usize,
) -> Conversion<'a> {
    Conversion {
        output: converted.output.to_string_lossy(),
        format: format.name,
        source_format,
        copied: converted.is_copy,
        bytes: converted.bytes,
        messages,
        complete: converted.aspects.iter().all(Aspect::is_whole),
        content: converted.aspects.iter().map(content).collect(),
        resumable: converted.resumed.as_ref().map(compact::resumable_session),
        notes: &converted.notes,
    }
}

fn content(aspect: &Aspect) -> ContentEntry<'_> {
    ContentEntry {
        kind: aspect.plural,
        count: aspect.held,
        written: aspect.kept,
        in_messages: aspect.is_content,
        incomplete_messages: aspect.messages.iter().map(|idx| idx + 1).collect(),
        detail: &aspect.detail,
    }
}

/// Data that costs and losses are computed from.
const MEASURED: [&str; 3] = ["times of messages", "reported tokens of calls", "compactions"];

fn conversion_text(converted: &Converted, format: &Format, messages: usize) -> String {
    if let Some(resumed) = &converted.resumed {
        return resumable_text(converted, resumed, messages);
    }
    let path = converted.output.to_string_lossy();
    if converted.is_copy {
        return format!(
            "copied byte for byte ({} bytes) to {}\n",
            grouped(converted.bytes as u64),
            clean(&path)
        );
    }
    let mut text = format!(
        "content of {} written as {} to {}\n",
        counted(messages, "message"),
        format.label,
        clean(&path)
    );
    let content = converted.aspects.iter().filter(|aspect| aspect.is_content);
    content.for_each(|aspect| row(&mut text, aspect));
    let missing = converted.aspects.iter();
    let missing = missing.filter(|a| !a.is_content && !a.is_whole());
    missing_rows(&mut text, missing.collect(), "file");
    text
}

/// Formats a session for a program, the losses first.
fn resumable_text(converted: &Converted, resumed: &Resumed, messages: usize) -> String {
    let mut text = String::new();
    let path = converted.output.to_string_lossy();
    if converted.is_copy {
        text.push_str("nothing is missing: a copy with a new id\n");
    } else {
        let lost = converted.aspects.iter().filter(|aspect| !aspect.is_whole());
        missing_rows(&mut text, lost.collect(), "session");
        let _ = writeln!(text, "content of {}:", counted(messages, "message"));
        let is_kept = |aspect: &&Aspect| aspect.is_content && aspect.is_whole();
        converted.aspects.iter().filter(is_kept).for_each(|aspect| row(&mut text, aspect));
    }
    for note in &converted.notes {
        let _ = writeln!(text, "note: {}", clean(note));
    }
    let _ = writeln!(text, "new session of {} written to {}", resumed.program, clean(&path));
    let _ = writeln!(text, "resume with: {}", clean(&resumed.command));
    text
}

fn missing_rows(text: &mut String, missing: Vec<&Aspect>, target: &str) {
    if missing.is_empty() {
        text.push_str("nothing else is missing\n");
    } else {
        let _ = writeln!(text, "not in the new {target}:");
    }
    for aspect in missing {
        row(text, aspect);
    }
}

/// Appends the line of one aspect: the verdict, the share that was kept, and the messages that lack it.
fn row(text: &mut String, aspect: &Aspect) {
    let verdict = match aspect {
        aspect if aspect.is_whole() => "ok",
        aspect if aspect.is_content => "FAILED",
        _ => "",
    };
    let (n, description) = (aspect.figure(grouped), aspect.description(grouped));
    let _ = writeln!(text, "  {verdict:<6} {n:>9}  {}", clean(&description));
}
