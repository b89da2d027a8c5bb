//! Reads the conversations of a file: the main one, sub-agents, and branches that the user rewound.

use super::agents::{self, Agent, AgentCalls};
use super::conversation;
use super::entry::{ClaudeEntry, EntryKind};
use super::file_records::FileRecords;
use super::requests::Requests;
use super::sent_order;
use super::tree::{self, Course, RecordPlace};
use crate::formats::json;
use crate::formats::read_log::ReadLog;
use crate::formats::{ImportReport, Input, ParseError, Parsed, Warning};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{Part, Pieces as _, Session, Track};
use crate::units::Tokens;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Tokens by which a call's context may shrink without a compaction before a warning is given.
// Chosen: the program leaves out old thoughts and reminders between turns. At half, many sessions would get a warning
// for that; at double, a restart that lost a few files would get none.
const ODD_SHRINKING: Tokens = Tokens(4000);
/// Minimum limit in bytes for the records that branches share with the main conversation. The limit is the size of the
/// file, if larger.
// Chosen: small files may repeat everything in each of their branches, and files of any size at most double in memory.
const MAX_REPEATED: usize = 64 << 20;

/// Maximum number of sub-agents with separate conversations.
// Chosen: each is a conversation in a list, and nobody selects among more. Double only takes more memory.
const MAX_AGENTS: usize = 2000;

/// Description of a file without a conversation.
const EMPTY: &str = "a Claude Code session without a message";

/// Reads the conversations of these records.
pub(super) fn read(
    input: &Input,
    mut entries: Vec<ClaudeEntry>,
    progress: &Progress,
    mut log: ReadLog,
) -> Result<Parsed, ParseError> {
    progress.check_cancelled()?;
    let since = sent_order::first_version(&entries);
    if let Some(since) = since {
        let unsent = entries.iter_mut().filter(|entry| sent_order::is_unsent(entry, since));
        unsent.for_each(|entry| entry.kind = EntryKind::Other);
    }
    let (mut entries, agents) = agents::take_out(entries);
    let mut courses = tree::courses(&entries).into_iter();
    let (main, n_skipped) = courses.next().map(|c| (c.places, c.n_skipped)).unwrap_or_default();
    let parts: Vec<Vec<Part>> = entries.iter_mut().map(ClaudeEntry::take_parts).collect();
    let is_request = |entry: &ClaudeEntry| matches!(entry.kind, EntryKind::Request(_));
    let bytes = entries.iter().any(is_request).then(|| input.bytes.whole());
    let requests = match &bytes {
        Some(bytes) => Requests::new(bytes, &entries, progress)?,
        None => None,
    };
    let requests = requests.as_ref();
    let file = FileRecords { input, entries: &entries, since, requests };
    let (branches, n_left_out) = branches(file, &parts, courses.collect(), progress)?;
    let conversation = conversation::read_conversation(file, None, parts, &main, progress)?;
    log.warnings.extend(conversation.warnings);
    log.warnings.extend(requests.into_iter().flat_map(|requests| requests.warnings.clone()));
    log.report = report(file, &main, &conversation.is_context, &agents);
    if conversation.session.messages.is_empty() {
        return log.finish(input, Vec::new(), EMPTY);
    }
    let texts = [
        abandoned(&entries, &main, branches.len()),
        left_out(n_left_out, "branch", "branches"),
        left_out(agents.len().saturating_sub(MAX_AGENTS), "sub-agent", "sub-agents"),
        microcompactions(&entries).filter(|_| requests.is_none()),
        skipped(n_skipped),
    ];
    let shrinking = odd_shrinking(&conversation.session);
    let others =
        sub_agents(input, agents, &conversation.session, &log.report, &mut log.warnings, progress)?;
    let mut sessions = vec![conversation.session];
    sessions.extend(others);
    for branch in branches {
        let name = format!("{} #{}", input.name, sessions.len() + 1);
        sessions.push(renamed(branch, name));
    }
    let texts = texts.into_iter().flatten().chain(shrinking);
    log.warnings.extend(texts.map(|text| Warning { line: None, text }));
    log.finish(input, sessions, EMPTY)
}

/// Counts the records by kind.
fn report(
    file: FileRecords<'_>,
    main: &[RecordPlace],
    is_context: &[bool],
    agents: &[Agent],
) -> ImportReport {
    let mut report = ImportReport::default();
    let FileRecords { entries, requests, .. } = file;
    let is_verified = |at: usize| requests.is_some_and(|requests| requests.is_verified(at));
    for (at, ((entry, place), is_context)) in entries.iter().zip(main).zip(is_context).enumerate() {
        let label = &entry.label;
        match place {
            _ if is_verified(at) => {
                report.count_record(&format!("{label} (verified)"), *is_context);
            }
            RecordPlace::Abandoned => {
                report.count_record(&format!("{label} (abandoned branch)"), *is_context);
            }
            RecordPlace::Copy => report.count_record(&format!("{label} (copy)"), *is_context),
            RecordPlace::Main | RecordPlace::Other => report.count_record(label, *is_context),
        }
    }
    for entry in agents.iter().flat_map(|agent| &agent.inline) {
        report.count_record(&entry.label, false);
    }
    report.sub_agents = agents::reported_agents(entries);
    report
}

/// Reads the branches. Returns their conversations and the number of those left out because of their size.
fn branches(
    file: FileRecords<'_>,
    parts: &[Vec<Part>],
    courses: Vec<Course>,
    progress: &Progress,
) -> Result<(Vec<Session>, usize), Cancelled> {
    let mut left = file.input.bytes.len().max(MAX_REPEATED);
    let entries = file.entries;
    let (mut found, mut n_left_out) = (Vec::new(), 0);
    for course in courses {
        let is_on = |at: usize| course.places[at] == RecordPlace::Main;
        let size: usize =
            (0..entries.len()).filter(|at| is_on(*at)).map(|at| entries[at].span.len()).sum();
        if size > left {
            n_left_out += 1;
            continue;
        }
        left -= size;
        let branch_parts = parts.iter().enumerate();
        let branch_parts =
            branch_parts.map(|(at, parts)| if is_on(at) { parts.clone() } else { Vec::new() });
        let (branch_parts, places) = (branch_parts.collect(), &course.places);
        let branch =
            conversation::read_conversation(file, Some(2), branch_parts, places, progress)?;
        let mut session = branch.session;
        session.track = Track::Branch;
        session.title = course.user_text.unwrap_or(session.title);
        found.push(session);
    }
    Ok((found, n_left_out))
}

/// Reads the conversations of sub-agents.
fn sub_agents(
    input: &Input,
    agents: Vec<Agent>,
    main: &Session,
    report: &ImportReport,
    warnings: &mut Vec<Warning>,
    progress: &Progress,
) -> Result<Vec<Session>, Cancelled> {
    let mut found = Vec::new();
    if agents.is_empty() {
        return Ok(found);
    }
    let agent_calls = AgentCalls::new(main, report);
    for agent in agents.into_iter().take(MAX_AGENTS) {
        let number = found.len() + 2;
        found.extend(sub_agent(input, number, agent, &agent_calls, warnings, progress)?);
    }
    Ok(found)
}

/// Reads the conversation of a sub-agent from its own records only.
fn sub_agent(
    input: &Input,
    number: usize,
    agent: Agent,
    agent_calls: &AgentCalls<'_>,
    warnings: &mut Vec<Warning>,
    progress: &Progress,
) -> Result<Option<Session>, Cancelled> {
    let Agent { id, call, inline, embedded } = agent;
    // Inline records are complete, and `progress` records repeat them.
    let mut entries = if inline.is_empty() { embedded } else { inline };
    let places = tree::courses(&entries).swap_remove(0).places;
    let parts = entries.iter_mut().map(ClaudeEntry::take_parts).collect();
    let since = sent_order::first_version(&entries);
    let file = FileRecords { input, entries: &entries, since, requests: None };
    let conversation =
        conversation::read_conversation(file, Some(number), parts, &places, progress)?;
    warnings.extend(conversation.warnings);
    let mut session = conversation.session;
    agent_calls.set_track((id, call), &mut session);
    Ok(Some(session).filter(|session| !session.messages.is_empty()))
}

fn renamed(mut session: Session, name: String) -> Session {
    session.source.name = name;
    session
}

/// Returns a warning that conversations were left out.
fn left_out(n: usize, one: &str, many: &str) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!("1 {one} is left out: the file has too many")),
        n => Some(format!("{n} {many} are left out: the file has too many")),
    }
}

/// Returns a warning about messages on branches that were rewound.
fn abandoned(entries: &[ClaudeEntry], places: &[RecordPlace], n_branches: usize) -> Option<String> {
    let left = entries.iter().zip(places).filter(|(entry, place)| {
        **place == RecordPlace::Abandoned
            && matches!(entry.kind, EntryKind::Message(_) | EntryKind::Answer(_))
    });
    let n = left.count();
    (n > 0).then(|| {
        let (subject, are) = if n == 1 {
            ("1 message is on a rewound branch".to_owned(), "is")
        } else {
            (format!("{n} messages are on rewound branches"), "are")
        };
        let chosen = match n_branches {
            0 => "",
            1 => "; the branch can be selected as a separate conversation",
            _ => "; each branch can be selected as a separate conversation",
        };
        format!("{subject} and {are} not part of this conversation{chosen}")
    })
}

/// Returns a warning about messages that the program loses when it resumes the conversation.
fn skipped(n: usize) -> Option<String> {
    let messages = match n {
        0 => return None,
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    };
    Some(format!(
        "the program would skip {messages} if it resumed this session, because the record of a hook names an earlier \
        parent; the conversation contains what was sent"
    ))
}

/// Returns a warning about tool results that the program cleared without recording which.
fn microcompactions(entries: &[ClaudeEntry]) -> Option<String> {
    let n = entries.iter().filter(|entry| matches!(entry.kind, EntryKind::Microcompaction)).count();
    (n > 0).then(|| format!("the program cleared old tool results {n} times without recording which; they count in full"))
}

/// Maximum number of calls listed in a warning.
// Chosen: a warning stays within one or two lines.
const MAX_LISTED: usize = 12;

/// Number of bytes that are decompressed at once.
// A block in memory has at most as many (`MAX_BLOCK` in `session/packed.rs`). Half would decompress large blocks twice.
const STRETCH: usize = 4 << 20;

/// Returns warnings about calls whose reported context shrinks without a recorded compaction.
fn odd_shrinking(session: &Session) -> Vec<String> {
    let input = |call: usize| session.calls[call].usage.map(|usage| usage.input);
    let odd = (1..session.calls.len()).filter(|call| {
        let (Some(before), Some(after)) = (input(call - 1), input(*call)) else {
            return false;
        };
        after + ODD_SHRINKING < before && session.compactions.iter().all(|c| c.call != *call)
    });
    let odd: Vec<usize> = odd.collect();
    let Some(last) = odd.last() else {
        return Vec::new();
    };
    // The version and the session id of the answers before and at each of these calls.
    let relevant: HashSet<usize> = odd.iter().flat_map(|call| [call - 1, *call]).collect();
    let mut written_by: HashMap<usize, [Option<Value>; 2]> = HashMap::new();
    let answers = session.messages.iter().filter_map(|message| {
        let call = message.call.filter(|call| relevant.contains(call))?;
        Some((call, message.raw.first()?))
    });
    let bytes = &session.source.bytes;
    // Decompressing a stretch once for many records avoids decompressing it again for each of them.
    let (mut at, mut stretch) = (0..0, Cow::default());
    for (call, span) in answers.take_while(|(call, _)| call <= last) {
        if span.start < at.start || span.end > at.end {
            at = span.start..span.end.max((span.start + STRETCH).min(bytes.len()));
            stretch = bytes.piece(&at);
        }
        let text = &stretch[span.start - at.start..span.end - at.start];
        let of = |key| {
            let place = json::member(text, &(0..text.len()), key)?;
            crate::json::from_slice(&text[place]).ok()
        };
        written_by.insert(call, [of("version"), of("sessionId")]);
    }
    let (restarted, unexplained): (Vec<usize>, Vec<usize>) =
        odd.iter().partition(|call| written_by.get(*call) != written_by.get(&(*call - 1)));
    let listed = |calls: &[usize]| {
        let first = calls.iter().take(MAX_LISTED);
        let numbers: Vec<_> = first.map(|call| (call + 1).to_string()).collect();
        let more = match calls.len().saturating_sub(MAX_LISTED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("at call {}{more}", numbers.join(", "))
    };
    let mut found = Vec::new();
    if !restarted.is_empty() {
        found.push(format!(
            "{} the reported context shrinks because another version or session resumed it: from there on the context is smaller than it appears",
            listed(&restarted)
        ));
    }
    if !unexplained.is_empty() {
        found.push(format!(
            "{} the reported context shrinks, but the file records no compaction: the program may have cleared tool results \
            or been restarted, so from there on the context is smaller than it appears",
            listed(&unexplained)
        ));
    }
    found
}
