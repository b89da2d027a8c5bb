//! Real session files, if they are available: each is detected and read completely.

use crate::real_sessions;
use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{Body, Managed, ManagedEntry, Session, issues};
use plimsoll::units::Tokens;
use std::path::PathBuf;

/// Expected result of reading a file.
struct Expected {
    path: &'static str,
    /// The format's name.
    format: &'static str,
    /// Numbers of sessions, messages, calls, compactions, and issues (calls without a result and results without a call).
    counts: [usize; 5],
    /// Largest context that a call of any session reports.
    peak: Option<u64>,
}

const fn row(
    path: &'static str,
    format: &'static str,
    counts: [usize; 5],
    peak: Option<u64>,
) -> Expected {
    Expected { path, format, counts, peak }
}

/// Results that were checked against the files.
static EXPECTED: &[Expected] = &[
    row("aider_md/aider-zen.md", "aider", [1, 5, 0, 0, 0], None),
    row("cline_sdk/cline-sdk-agentic.compaction.json", "cline", [1, 4, 1, 0, 0], Some(12_238)),
    row("cline_sdk/cline-sdk-session.messages.json", "cline", [1, 33, 16, 0, 0], Some(51_852)),
    row(
        "gemini_cli/gemini-jsonl-v040-sanitised.jsonl",
        "gemini_cli",
        [1, 4, 2, 0, 0],
        Some(12_069),
    ),
    row("gemini_cli/gemini-session-1.json", "gemini_cli", [1, 21, 11, 0, 0], Some(14_200)),
    row("gemini_cli/gemini-session-3.json", "gemini_cli", [1, 8, 4, 0, 0], Some(12_874)),
    row("gemini_cli/gemini-session-5.json", "gemini_cli", [1, 4, 2, 0, 0], Some(12_350)),
    row("litellm_log/oh-litellm-log-sonnet4.json", "openai_chat", [1, 14, 6, 0, 1], Some(6729)),
    row(
        "messages_jsonl/messages-reason-tooluse.jsonl",
        "llama_factory",
        [50, 322, 112, 0, 26],
        None,
    ),
    row(
        "mini_swe_agent_traj/mswe-fixture-github-issue.traj.json",
        "openai_chat",
        [1, 22, 10, 0, 0],
        None,
    ),
    row(
        "mini_swe_agent_traj/mswe-reasoner-sqlfluff-1517.traj.json",
        "openai_chat",
        [1, 216, 107, 0, 0],
        Some(62_326),
    ),
    row(
        "mini_swe_agent_traj/mswe-sqlfluff-1733-1.2MB.traj.json",
        "openai_chat",
        [1, 315, 157, 0, 1],
        Some(100_403),
    ),
    row("openai_chat/holmes-001-compaction-334k.json", "openai_chat", [1, 88, 38, 0, 0], None),
    row("openai_chat/holmes-93-datadog.json", "openai_chat", [1, 30, 14, 0, 0], None),
    row("openhands_sdk/oh-sdk-events.jsonl", "openhands_sdk", [1, 5, 2, 0, 1], Some(35_984)),
    row(
        "openhands_v0/oh-eval-output-multiswe.jsonl",
        "openhands",
        [3, 220, 105, 0, 2],
        Some(33_459),
    ),
    row("openhands_v0/oh-gui-trajectory.json", "openhands", [1, 10, 5, 0, 0], Some(5488)),
    row("other_agents/copilot-cli-small.jsonl", "copilot_cli", [2, 13, 5, 0, 2], Some(120)),
    row("other_agents/kimi-assistant-tools.jsonl", "kimi_wire", [1, 56, 22, 1, 0], Some(41_095)),
    row("pi_session/pi-large-session.jsonl", "pi", [1, 892, 439, 0, 0], Some(177_604)),
    row("sharegpt/sharegpt-glaive-toolcall-en.json", "sharegpt", [300, 2105, 957, 0, 0], None),
    row("specstory_md/specstory-1.3MB.md", "specstory", [2, 595, 340, 0, 0], None),
    row("swe_agent_traj/swea-fncall-390k.traj", "swe_agent", [1, 35, 13, 7, 0], None),
    row("swe_agent_traj/swea-fncall-simple.traj", "swe_agent", [1, 12, 5, 0, 0], None),
    row("swe_agent_traj/swea-gpt4-pydicom.traj", "swe_agent", [1, 26, 12, 0, 0], None),
    row("tau_bench/tau-gpt4o-airline.json", "tau_bench", [200, 5308, 2454, 0, 0], None),
    row("trae_trajectory/trae-gpt5-3.7MB.json", "trae_agent", [1, 733, 351, 0, 0], Some(271_315)),
    row(
        "trae_trajectory/trae-sonnet45-172k-242calls.json",
        "trae_agent",
        [1, 514, 243, 0, 0],
        Some(172_431),
    ),
];

/// Files without a conversation.
const REFUSED: [&str; 5] = [
    "cline_sdk/cline-sdk-session-manifest.json",
    "negative/neg-entire-metadata.json",
    "negative/neg-gotest-bom.jsonl",
    "negative/neg-tempo-trace.json",
    "otlp_json/otlp-resourceSpans.json",
];

fn read(path: &str) -> Option<Result<Parsed, String>> {
    let file = real_sessions::folder()?.join(path);
    let bytes = std::fs::read(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let parsed = formats::parse(&Input { name: path.to_owned(), bytes: bytes.into() });
    Some(parsed.map_err(|refused| refused.to_string()))
}

/// Returns the numbers of sessions, messages, calls, compactions and issues.
fn counts(parsed: &Parsed) -> [usize; 5] {
    let sum = |of: &dyn Fn(&Session) -> usize| parsed.sessions.iter().map(of).sum();
    [
        parsed.sessions.len(),
        sum(&|s| s.messages.len()),
        sum(&|s| s.calls.len()),
        sum(&|s| s.compactions.len()),
        sum(&|s| issues(s).len()),
    ]
}

fn peak(parsed: &Parsed) -> Option<u64> {
    let peaks = parsed.sessions.iter().filter_map(Session::largest_reported);
    peaks.max().map(|Tokens(n)| n)
}

#[test]
fn real_files_are_read_as_expected() {
    let mut wrong = Vec::new();
    for row in EXPECTED {
        match read(row.path) {
            None => {}
            Some(Err(refused)) => wrong.push(format!("{}: refused: {refused}", row.path)),
            Some(Ok(parsed)) => {
                let format = parsed.sessions[0].source.format;
                let found = (format, counts(&parsed), peak(&parsed));
                let expected = (row.format, row.counts, row.peak);
                if found != expected {
                    wrong.push(format!("{}: {found:?} instead of {expected:?}", row.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_files_without_a_conversation_are_rejected() {
    for path in REFUSED {
        if let Some(read) = read(path) {
            assert!(read.is_err(), "{path} was read");
        }
    }
}

/// Returns the paths of all files.
fn all() -> Vec<String> {
    let Some(folder) = real_sessions::folder() else {
        return Vec::new();
    };
    let folders =
        std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("readable"));
    let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok());
    let paths = files.flatten().flatten().map(|file| file.path());
    let name = |path: PathBuf| Some(path.strip_prefix(&folder).ok()?.to_str()?.to_owned());
    let mut found: Vec<String> = paths.filter_map(name).collect();
    found.sort();
    found
}

fn bodies_of(session: &Session) -> Vec<&Body> {
    session.parts.iter().map(|part| &part.body).collect()
}

#[test]
fn untouched_real_files_are_written_byte_for_byte() {
    let files = all();
    let mut written = 0;
    for path in &files {
        let Some(Ok(parsed)) = read(path) else {
            continue;
        };
        let format = parsed.sessions[0].source.format;
        let Some(format) = formats::by_name(format).filter(|f| f.is_writable()) else {
            continue;
        };
        let is_alone = parsed.sessions.len() == 1;
        // Each conversation of a data set is written alone. A few are enough.
        for session in parsed.sessions.iter().take(12) {
            let kept = |message| ManagedEntry::Kept { message };
            let managed = Managed {
                entries: (0..session.messages.len()).map(kept).collect(),
                ..Managed::default()
            };
            let out = format.write(session, &managed).unwrap();
            if is_alone {
                assert!(out[..] == session.source.bytes.whole()[..], "{path} changed");
            } else {
                let input = Input { name: path.clone(), bytes: out.into() };
                let again = formats::parse(&input).unwrap();
                let (again, before) = (bodies_of(&again.sessions[0]), bodies_of(session));
                let differs = again.iter().zip(&before).position(|(a, b)| a != b);
                let at = differs.unwrap_or(again.len().min(before.len()));
                assert_eq!(again.get(at), before.get(at), "{path} changed at {at}");
                assert_eq!(again.len(), before.len(), "{path} changed");
            }
        }
        written += 1;
    }
    assert!(files.is_empty() || written > 20, "only {written} were written");
}
