//! `plimsoll convert`: writes a session in another format, and says what that cannot hold.

use super::args::{Shared, Word, Words, one_file, unknown_option};
use super::compact;
use super::nearest::nearest;
use super::output::{clean, counted, grouped, json, print};
use super::{Status, Verb};
use crate::exec::{
    Aspect, Claim, Converted, convert, default_converted_path, refuse_source, targets,
};
use crate::formats::{self, Format};
use anyhow::bail;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) const VERB: Verb = Verb {
    name: "convert",
    summary: "Write a session in another format, whole, and say what that format cannot hold.",
    help: "\
plimsoll convert FILE --to FORMAT [-o OUT]

  --to FORMAT          openai_chat or anthropic_messages, or the source's own format for a copy byte for byte
  --conversation N     which conversation of a file that holds several
  -o, --output OUT     where to, a new file; <name>-FORMAT beside the source unless told

The whole history is written, nothing managed. What was written is read again and compared: every text, call, result and
picture, and what stands beside them; what is missing is told by its kind and number. Exit 1 if something that was said is
missing. The source is never written and nothing is overwritten. (`compact --policy none` and `saw` write what the model
saw instead.)

JSON: output, format, source_format, copied, bytes, messages, whole, aspects[{what, held, kept, said, messages[] (the first
whose own is missing, from 1), detail}].
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let (mut to, mut output) = (None, None);
    let mut files: Vec<OsString> = Vec::new();
    while let Some(word) = words.next()? {
        match word {
            Word::Operand(file) => files.push(file),
            Word::Option(option) if option == "--to" => {
                to = Some(target(&words.value(&option)?)?);
            }
            Word::Option(option) if matches!(option.as_str(), "-o" | "--output") => {
                output = Some(compact::output(&option, words.raw_value(&option)?)?);
            }
            Word::Option(option) if shared.take(&option, words)? => {}
            Word::Option(option) => return Err(unknown_option(VERB.name, &option)),
        }
    }
    let file = one_file(VERB.name, files)?;
    let Some(format) = to else {
        bail!(
            "convert needs a format: --to openai_chat, --to anthropic_messages or the file's own"
        );
    };
    if file == "-" && output.is_none() {
        bail!("convert of standard input needs -o OUT");
    }
    let loaded = shared.load(&file)?;
    let session = &loaded.case.session;
    let claim = place(output, &file, session.source.format, format)?;
    let output = claim.path();
    refuse_source(output, Path::new(&file)).map_err(anyhow::Error::msg)?;
    let converted = convert(&loaded, format, output).map_err(anyhow::Error::msg)?;
    let messages = session.messages.iter().filter(|m| m.in_history).count();
    if shared.json {
        let own = session.source.format;
        json(&shape(&converted, own, format, messages))?;
    } else {
        print(&text(&converted, format, messages))?;
    }
    let is_lost = |aspect: &Aspect| aspect.is_said && !aspect.is_whole();
    Ok(if converted.aspects.iter().any(is_lost) {
        Status::CheckFailed
    } else {
        Status::Done
    })
}

/// The format of this name.
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

fn place(told: Option<PathBuf>, file: &OsStr, own: &str, format: &Format) -> anyhow::Result<Claim> {
    let is_copy = own == format.name;
    told.map(Claim::given)
        .or_else(|| Claim::new(|| default_converted_path(Path::new(file), format, is_copy)))
        .ok_or_else(|| {
            anyhow::anyhow!(
                "the current folder is an agent's own session store; say where to write with -o OUT"
            )
        })
}

fn shape(converted: &Converted, own: &str, format: &Format, messages: usize) -> Value {
    let aspect = |aspect: &Aspect| {
        let messages: Vec<usize> = aspect.messages.iter().map(|idx| idx + 1).collect();
        json!({
            "what": aspect.what,
            "held": aspect.held,
            "kept": aspect.kept,
            "said": aspect.is_said,
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
    for aspect in converted.aspects.iter().filter(|aspect| aspect.is_said) {
        row(&mut text, aspect);
    }
    let missing = converted.aspects.iter();
    let missing: Vec<&Aspect> = missing.filter(|a| !a.is_said && !a.is_whole()).collect();
    if missing.is_empty() {
        text.push_str("nothing else is missing\n");
    } else {
        text.push_str("what is not in it:\n");
    }
    for aspect in missing {
        row(&mut text, aspect);
    }
    text
}

/// One aspect: what became of it, and of which messages it is missing.
fn row(text: &mut String, aspect: &Aspect) {
    let verdict = match aspect {
        aspect if aspect.is_whole() => "ok",
        aspect if aspect.is_said => "FAILED",
        _ => "",
    };
    let (n, said) = (aspect.figure(grouped), aspect.said(grouped));
    let _ = writeln!(text, "  {verdict:<6} {n:>9}  {}", clean(&said));
}
