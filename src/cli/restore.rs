//! `plimsoll restore`: gives back the source of a managed conversation, byte for byte.

use super::args::{Shared, Words, one_file};
use super::output::{clean, grouped, json, print};
use super::{Status, Verb};
use crate::exec::restore;
use anyhow::bail;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) const VERB: Verb = Verb {
    name: "restore",
    summary: "Give back the source of a managed conversation, byte for byte.",
    help: "\
plimsoll restore MANAGED [-o ORIGINAL]

  -o, --output ORIGINAL  where to, a new file; beside MANAGED under the source's own name unless told

MANAGED is what `compact` wrote. The manifest and what was taken out must be in its folder. MANAGED may have been renamed: the
manifest is found by its hash. Nothing is overwritten. The hash of every file is checked first: if one was changed, nothing is
written.

JSON: output, bytes, source.
",
    run,
};

fn run(words: &mut Words, mut shared: Shared) -> anyhow::Result<Status> {
    let mut output: Option<PathBuf> = None;
    let files = words.read(VERB.name, &mut shared, |option, words| {
        let is_known = ["-o", "--output"].contains(&option);
        if is_known {
            output = Some(words.raw_value(option)?.into());
        }
        Ok(is_known)
    })?;
    let file = one_file(VERB.name, files)?;
    if file == "-" {
        bail!("restore needs a file, since its sidecars stand beside it");
    }
    let done = restore(Path::new(&file), output.as_deref()).map_err(anyhow::Error::msg)?;
    if shared.json {
        json(&json!({
            "output": done.output.to_string_lossy(),
            "bytes": done.bytes,
            "source": done.source,
        }))?;
    } else {
        let path = clean(&done.output.to_string_lossy()).into_owned();
        print(&format!(
            "{} bytes of {}, written to {path}\n",
            grouped(done.bytes as u64),
            clean(&done.source),
        ))?;
    }
    Ok(Status::Done)
}
