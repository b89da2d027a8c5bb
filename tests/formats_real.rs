//! The real files that lie beside the project, where they do: each is told for what it is and read without a loss.

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{Body, Session, issues};
use plimsoll::units::Tokens;
use std::path::PathBuf;

/// What a file is to be read as.
struct Expected {
    path: &'static str,
    /// The format's name; none where the file is no session.
    format: Option<&'static str>,
    sessions: usize,
    messages: usize,
    steps: usize,
    /// The largest context that a call of any of its sessions reports.
    peak: Option<u64>,
    compactions: usize,
    /// Calls without a result and results without a call.
    issues: usize,
}

const fn row(
    path: &'static str,
    format: &'static str,
    counts: [usize; 5],
    peak: Option<u64>,
) -> Expected {
    let [sessions, messages, steps, compactions, issues] = counts;
    Expected {
        path,
        format: Some(format),
        sessions,
        messages,
        steps,
        peak,
        compactions,
        issues,
    }
}

fn folder() -> PathBuf {
    std::env::var_os("PLIMSOLL_SESSIONS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/sessions"),
        PathBuf::from,
    )
}

fn read(path: &str) -> Option<Result<Parsed, String>> {
    let Ok(bytes) = std::fs::read(folder().join(path)) else {
        eprintln!("SKIPPED: {path} is not in {}", folder().display());
        return None;
    };
    let parsed = formats::parse(&Input {
        name: path.to_owned(),
        bytes: bytes.into(),
    });
    Some(parsed.map_err(|refused| refused.to_string()))
}

/// Sessions, messages, steps, compactions and issues.
fn counts(parsed: &Parsed) -> [usize; 5] {
    let sum = |of: &dyn Fn(&Session) -> usize| parsed.sessions.iter().map(of).sum();
    [
        parsed.sessions.len(),
        sum(&|s| s.messages.len()),
        sum(&|s| s.steps.len()),
        sum(&|s| s.compactions.len()),
        sum(&|s| issues(s).len()),
    ]
}

fn peak(parsed: &Parsed) -> Option<u64> {
    let peaks = parsed.sessions.iter().filter_map(Session::peak_recorded);
    peaks.max().map(|Tokens(n)| n)
}

fn describe(parsed: &Parsed) -> String {
    let opaque = |s: &Session| {
        s.parts
            .iter()
            .filter(|p| matches!(p.body, Body::Opaque { .. }))
            .count()
    };
    let opaque: usize = parsed.sessions.iter().map(opaque).sum();
    let warnings: Vec<String> = parsed
        .warnings
        .iter()
        .take(4)
        .map(ToString::to_string)
        .collect();
    format!(
        "{:?} peak {:?}, {opaque} opaque, turns {}, title {:?}, model {:?}, {} warnings {warnings:?}, {}",
        counts(parsed),
        peak(parsed),
        parsed.sessions[0].turns,
        parsed.sessions[0].title,
        parsed.sessions[0].models,
        parsed.warnings.len(),
        parsed.report.recognized_by,
    )
}

#[test]
#[ignore = "prints what is read of every file, to look at"]
fn show() {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap().flatten() {
        if let Ok(inner) = std::fs::read_dir(entry.path()) {
            files.extend(inner.flatten().map(|e| e.path()));
        }
    }
    files.sort();
    for file in files {
        let path = file
            .strip_prefix(folder())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        match read(&path) {
            Some(Ok(parsed)) => eprintln!(
                "{path}: {} {}",
                parsed.sessions[0].source.format,
                describe(&parsed)
            ),
            Some(Err(refused)) => eprintln!("{path}: REFUSED {refused}"),
            None => {}
        }
    }
}
