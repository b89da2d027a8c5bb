//! Commands that the model ran, with their outcome.

use super::{FactDraft, Material, compile, first_line};
use crate::analysis::facts::text::{CommandOutcome, FactSearch};
use crate::analysis::facts::{FactKind, call};
use crate::session::Body;
use regex::Regex;
use std::sync::LazyLock;

/// The exit code in a result.
static EXIT_CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r#"(?i)\bexit(?:ed)?[ _]?(?:with )?(?:code|status)?["']?\s*[:=]?\s*(-?\d{1,5})\b"#)
});

/// Bytes at both ends of a result in which the exit code is searched.
///
/// Agents write the code in a head or a last line of their own, which is shorter. In the middle of an output, `exit
/// code 1` is a text that the command printed, so a larger range would find codes of other commands.
const ENDS: usize = 400;

/// Maximum length of a command in bytes. A longer one is a script: a summary that repeats its first 200 bytes names it,
/// and one that must repeat twice as many would almost never count as kept.
const MAX_COMMAND: usize = 200;

pub(super) fn find(material: &Material<'_>, found: &mut Vec<FactDraft>) {
    for (located, _, arguments) in material.calls() {
        let Some(command) = call::command(arguments) else {
            continue;
        };
        let line = first_line(&command);
        let line = line[..line.floor_char_boundary(MAX_COMMAND)].trim();
        if line.is_empty() {
            continue;
        }
        let result = material.result_of(&located);
        let known = result.and_then(|part| outcome(material, part));
        let search = FactSearch::new(line).or(core(line)).with(known.map(|(outcome, _)| outcome));
        let detail = match known {
            None => String::new(),
            Some((CommandOutcome::Passed, _)) => "passed".to_owned(),
            Some((CommandOutcome::Failed, None)) => "failed".to_owned(),
            Some((CommandOutcome::Failed, Some(code))) => format!("failed (exit code {code})"),
        };
        let mut draft = located.draft(FactKind::Command, search, line).detail(&detail);
        draft.evidence = known.and(result);
        found.push(draft);
    }
}

/// Returns the outcome that a result states, with its exit code; none if it cannot be known.
fn outcome(material: &Material<'_>, part: u32) -> Option<(CommandOutcome, Option<i32>)> {
    let Body::ToolResult { is_error, text, .. } = &material.session.parts[part as usize].body
    else {
        return None;
    };
    let head = &text[..text.floor_char_boundary(ENDS)];
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(ENDS))..];
    let code = [head, end].into_iter().find_map(|text| {
        let code = EXIT_CODE.as_ref()?.captures(text)?.get(1)?;
        code.as_str().parse::<i32>().ok()
    });
    match code {
        Some(0) if !is_error => Some((CommandOutcome::Passed, Some(0))),
        Some(code) if code != 0 => Some((CommandOutcome::Failed, Some(code))),
        _ if *is_error => Some((CommandOutcome::Failed, None)),
        _ => material.marks_errors.then_some((CommandOutcome::Passed, None)),
    }
}

/// Returns the longest simple command of a line, without redirections.
fn core(line: &str) -> &str {
    let simple = line.split("&&").flat_map(|piece| piece.split([';', '|']));
    let plain = simple.map(|piece| {
        let end = piece.find(['>', '<']).unwrap_or(piece.len());
        piece[..end].trim_end_matches(['2', '1', '&', ' ']).trim()
    });
    let own = plain.filter(|piece| !piece.starts_with("cd "));
    own.max_by_key(|piece| piece.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::core;

    #[test]
    fn the_core_of_a_command_has_no_directory_pipe_or_redirection() {
        assert_eq!(core("cd /home/dev && cargo test --lib 2>&1 | tail -5"), "cargo test --lib");
        assert_eq!(core("ls"), "ls");
    }
}
