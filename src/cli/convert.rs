//! `plimsoll convert`: writes a session in another format and reports what that format cannot hold.

use super::Status;
use super::args::{FileArg, Shared, is_stdin};
use super::compact;
use super::nearest::nearest;
use super::output::{clean, counted, grouped, json, print};
use crate::exec::{
    Aspect, Claim, Converted, check_is_not_source, convert, default_converted_path, targets,
};
use crate::formats::{self, Format};
use anyhow::bail;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Convert a session to another format and report what that format cannot hold
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes the whole history, without compaction, and compares the written file with the source: every text, call,\nresult and image. Exit code 1 if a message lost content. The source is never modified, nothing is overwritten.\n`compact --policy none` and `context` write the context of a call instead."
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// `openai_chat`, `anthropic_messages`, or the source's own format for an exact copy
    #[arg(long, value_name = "FORMAT", value_parser = target)]
    to: &'static Format,
    /// New file [default: NAME-FORMAT beside the source]
    #[arg(short, long, value_name = "OUT", value_parser = compact::output)]
    output: Option<PathBuf>,
}

impl Args {
    pub(super) fn run(&self, shared: &Shared) -> anyhow::Result<Status> {
        let (file, format) = (&self.file.file, self.to);
        if is_stdin(file) && self.output.is_none() {
            bail!("convert of standard input requires -o OUT");
        }
        let loaded = shared.load(file)?;
        let session = &loaded.case.session;
        let claim = claim(self.output.clone(), file, session.source.format, format)?;
        let output = claim.path();
        check_is_not_source(output, file).map_err(anyhow::Error::msg)?;
        let converted = convert(&loaded, format, output).map_err(anyhow::Error::msg)?;
        let messages = session.messages.iter().filter(|m| m.in_history).count();
        if shared.json {
            let own = session.source.format;
            json(&shape(&converted, own, format, messages))?;
        } else {
            print(&text(&converted, format, messages))?;
        }
        let is_lost = |aspect: &Aspect| aspect.is_content && !aspect.is_whole();
        Ok(if converted.aspects.iter().any(is_lost) {
            Status::CheckFailed
        } else {
            Status::Done
        })
    }
}

/// Parses the name of a format.
fn target(name: &str) -> anyhow::Result<&'static Format> {
    formats::by_name(name).ok_or_else(|| {
        let others: Vec<&str> = targets().map(|format| format.name).collect();
        let names = formats::FORMATS.iter().map(|format| format.name.to_owned());
        if let Some(near) = nearest(name, &names.collect::<Vec<_>>()) {
            return anyhow::anyhow!("no format is named {name:?}; did you mean {near}?");
        }
        anyhow::anyhow!(
            "no format is named {name:?}; a conversation can be written as {}, or copied in its own format",
            others.join(" or ")
        )
    })
}

fn claim(
    output: Option<PathBuf>,
    file: &Path,
    own: &str,
    format: &Format,
) -> anyhow::Result<Claim> {
    let is_copy = own == format.name;
    output
        .map(Claim::given)
        .or_else(|| Claim::new(|| default_converted_path(file, format, is_copy)))
        .ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's session store; choose the output with -o OUT"
            )
        })
}

fn shape(converted: &Converted, own: &str, format: &Format, messages: usize) -> Value {
    let aspect = |aspect: &Aspect| {
        let messages: Vec<usize> = aspect.messages.iter().map(|idx| idx + 1).collect();
        json!({
            "what": aspect.plural,
            "held": aspect.held,
            "kept": aspect.kept,
            "said": aspect.is_content,
            "messages": messages,
            "detail": aspect.detail,
        })
    };
    json!({
        "output": converted.output.to_string_lossy(),
        "format": format.name,
        "source_format": own,
        "copied": converted.is_copy,
        "bytes": converted.bytes,
        "messages": messages,
        "whole": converted.aspects.iter().all(Aspect::is_whole),
        "aspects": converted.aspects.iter().map(aspect).collect::<Vec<_>>(),
    })
}

fn text(converted: &Converted, format: &Format, messages: usize) -> String {
    let place = converted.output.to_string_lossy();
    if converted.is_copy {
        return format!(
            "copied byte for byte ({} bytes) to {}\n",
            grouped(converted.bytes as u64),
            clean(&place)
        );
    }
    let mut text = format!(
        "{} written as {} to {}\n",
        counted(messages, "message"),
        format.label,
        clean(&place)
    );
    for aspect in converted.aspects.iter().filter(|aspect| aspect.is_content) {
        row(&mut text, aspect);
    }
    let missing = converted.aspects.iter();
    let missing: Vec<&Aspect> = missing.filter(|a| !a.is_content && !a.is_whole()).collect();
    if missing.is_empty() {
        text.push_str("nothing else is missing\n");
    } else {
        text.push_str("not in the new file:\n");
    }
    for aspect in missing {
        row(&mut text, aspect);
    }
    text
}

/// Appends the line of one aspect: the verdict, the share that was kept, and the messages that lack it.
fn row(text: &mut String, aspect: &Aspect) {
    let verdict = match aspect {
        aspect if aspect.is_whole() => "ok",
        aspect if aspect.is_content => "FAILED",
        _ => "",
    };
    let (n, said) = (aspect.figure(grouped), aspect.description(grouped));
    let _ = writeln!(text, "  {verdict:<6} {n:>9}  {}", clean(&said));
}
