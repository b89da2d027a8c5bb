//! The conversations of a file: the main one, those of sub-agents, and the branches that a person went back from.

use super::agents::{self, Agent, Starts};
use super::entry::{Entry, What};
use super::line;
use super::tree::{self, Course, Place};
use crate::formats::json;
use crate::formats::{ImportReport, Input, Parsed, Refused, Unread, Warning};
use crate::progress::{Cancelled, Progress};
use crate::session::{Part, Pieces as _, Session, Track};
use crate::units::Tokens;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A call whose context is smaller by more than this than the one before, without a compaction, is odd.
const ODD_SHRINKING: Tokens = Tokens(4000);
/// Branches repeat what they have in common with the main conversation. They may do so up to the size of the file, which
/// is at least taken to be this large, in bytes.
const MOST_REPEATED: usize = 64 << 20;

/// No more sub-agents than this are told apart.
const MOST_AGENTS: usize = 2000;

/// The conversations of these records.
pub(super) fn read(
    input: &Input,
    entries: Vec<Entry>,
    progress: &Progress,
    mut warnings: Vec<Warning>,
) -> Result<Parsed, Unread> {
    progress.go_on()?;
    let (mut entries, agents) = agents::take_out(entries);
    let mut courses = tree::courses(&entries).into_iter();
    let main = courses.next().map(|c| c.places).unwrap_or_default();
    let parts: Vec<Vec<Part>> = entries.iter_mut().map(line::take_parts).collect();
    let (branches, n_left_out) = branches(input, &entries, &parts, courses.collect(), progress)?;
    let told = line::tell(input, None, &entries, parts, &main, progress)?;
    warnings.extend(told.warnings);
    let report = report(&entries, &main, &told.is_context, &agents);
    if told.session.messages.is_empty() {
        let looks_like = "this looks like a Claude Code session without a message".to_owned();
        return Err(Refused { looks_like }.into());
    }
    let texts = [
        abandoned(&entries, &main, branches.len()),
        left_out(n_left_out, "branch", "branches"),
        left_out(
            agents.len().saturating_sub(MOST_AGENTS),
            "sub-agent",
            "sub-agents",
        ),
        microcompactions(&entries),
    ];
    let shrinking = odd_shrinking(&told.session);
    let others = sub_agents(
        input,
        agents,
        &told.session,
        &report,
        &mut warnings,
        progress,
    )?;
    let mut sessions = vec![told.session];
    sessions.extend(others);
    for branch in branches {
        let name = format!("{} #{}", input.name, sessions.len() + 1);
        sessions.push(renamed(branch, name));
    }
    warnings.sort_by_key(|w| w.line.unwrap_or(usize::MAX));
    let texts = texts.into_iter().flatten().chain(shrinking);
    warnings.extend(texts.map(|text| Warning { line: None, text }));
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

/// What became of every record.
fn report(
    entries: &[Entry],
    main: &[Place],
    is_context: &[bool],
    agents: &[Agent],
) -> ImportReport {
    let mut report = ImportReport::default();
    for ((entry, place), is_context) in entries.iter().zip(main).zip(is_context) {
        let label = &entry.label;
        match place {
            Place::Abandoned => report.note(&format!("{label} (abandoned branch)"), *is_context),
            Place::Copy => report.note(&format!("{label} (copy)"), *is_context),
            Place::Main | Place::Aside => report.note(label, *is_context),
        }
    }
    for entry in agents.iter().flat_map(|agent| &agent.inline) {
        report.note(&entry.label, false);
    }
    report.sub_agents = agents::reported(entries);
    report
}

/// The conversations of the branches, and how many there are beside them for which the file is too large.
fn branches(
    input: &Input,
    entries: &[Entry],
    parts: &[Vec<Part>],
    courses: Vec<Course>,
    progress: &Progress,
) -> Result<(Vec<Session>, usize), Cancelled> {
    let mut left = input.bytes.len().max(MOST_REPEATED);
    let (mut found, mut n_left_out) = (Vec::new(), 0);
    for course in courses {
        let is_on = |at: usize| course.places[at] == Place::Main;
        let size: usize = (0..entries.len())
            .filter(|at| is_on(*at))
            .map(|at| entries[at].span.len())
            .sum();
        if size > left {
            n_left_out += 1;
            continue;
        }
        left -= size;
        let said = parts.iter().enumerate();
        let said = said.map(|(at, parts)| if is_on(at) { parts.clone() } else { Vec::new() });
        let (said, places) = (said.collect(), &course.places);
        let mut session = line::tell(input, Some(2), entries, said, places, progress)?.session;
        session.track = Track::Branch;
        session.title = course.words.unwrap_or(session.title);
        found.push(session);
    }
    Ok((found, n_left_out))
}

/// The conversations of sub-agents.
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
    let starts = Starts::new(main, report);
    for agent in agents.into_iter().take(MOST_AGENTS) {
        let number = found.len() + 2;
        found.extend(sub_agent(
            input, number, agent, &starts, warnings, progress,
        )?);
    }
    Ok(found)
}

/// The conversation of a sub-agent, told from its own records alone.
fn sub_agent(
    input: &Input,
    number: usize,
    agent: Agent,
    starts: &Starts<'_>,
    warnings: &mut Vec<Warning>,
    progress: &Progress,
) -> Result<Option<Session>, Cancelled> {
    let Agent {
        id,
        call,
        inline,
        embedded,
    } = agent;
    // What the program told of while it waited is there whole, too.
    let mut entries = if inline.is_empty() { embedded } else { inline };
    let places = tree::courses(&entries).swap_remove(0).places;
    let parts = entries.iter_mut().map(line::take_parts).collect();
    let told = line::tell(input, Some(number), &entries, parts, &places, progress)?;
    warnings.extend(told.warnings);
    let mut session = told.session;
    starts.tell((id, call), &mut session);
    Ok(Some(session).filter(|session| !session.messages.is_empty()))
}

fn renamed(mut session: Session, name: String) -> Session {
    session.source.name = name;
    session
}

/// A sentence on what there is too much of.
fn left_out(n: usize, one: &str, many: &str) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!(
            "1 {one} is left out: there is too much to tell all apart"
        )),
        n => Some(format!(
            "{n} {many} are left out: there is too much to tell all apart"
        )),
    }
}

/// A sentence on what was said on branches that somebody left.
fn abandoned(entries: &[Entry], places: &[Place], n_branches: usize) -> Option<String> {
    let left = entries.iter().zip(places).filter(|(entry, place)| {
        **place == Place::Abandoned && matches!(entry.what, What::Said(_) | What::Answered(_))
    });
    let n = left.count();
    (n > 0).then(|| {
        let (subject, are) = if n == 1 {
            ("1 message stands on a branch".to_owned(), "it is")
        } else {
            (format!("{n} messages stand on branches"), "they are")
        };
        let chosen = match n_branches {
            0 => "",
            1 => "; the branch can be chosen as a conversation of its own",
            _ => "; each branch can be chosen as a conversation of its own",
        };
        format!(
            "{subject} that somebody went back from: {are} no part of this conversation{chosen}"
        )
    })
}

/// A sentence on what the program cleared without a trace.
fn microcompactions(entries: &[Entry]) -> Option<String> {
    let n = entries
        .iter()
        .filter(|entry| matches!(entry.what, What::Microcompaction))
        .count();
    (n > 0).then(|| format!("{n} times the program cleared old tool results; which is not recorded, so they count in full"))
}

/// Calls that a sentence names.
const MOST_NAMED: usize = 12;

/// Bytes that are unpacked at once.
const STRETCH: usize = 4 << 20;

/// Sentences on calls whose reported context shrinks although the file records no compaction there.
fn odd_shrinking(session: &Session) -> Vec<String> {
    let input = |step: usize| session.steps[step].usage.map(|usage| usage.input);
    let odd = (1..session.steps.len()).filter(|step| {
        let (Some(before), Some(after)) = (input(step - 1), input(*step)) else {
            return false;
        };
        after + ODD_SHRINKING < before && session.compactions.iter().all(|c| c.step != *step)
    });
    let odd: Vec<usize> = odd.collect();
    let Some(last) = odd.last() else {
        return Vec::new();
    };
    // The version and the session of the answers before and behind each of them.
    let asked: HashSet<usize> = odd.iter().flat_map(|step| [step - 1, *step]).collect();
    let mut written_by: HashMap<usize, [Option<Value>; 2]> = HashMap::new();
    let answers = session.messages.iter().filter_map(|message| {
        let step = message.step.filter(|step| asked.contains(step))?;
        Some((step, message.raw.first()?))
    });
    let bytes = &session.source.bytes;
    // A stretch of the file serves many records: that of each alone would be unpacked again and again.
    let (mut at, mut stretch) = (0..0, Cow::default());
    for (step, span) in answers.take_while(|(step, _)| step <= last) {
        if span.start < at.start || span.end > at.end {
            at = span.start..span.end.max((span.start + STRETCH).min(bytes.len()));
            stretch = bytes.piece(&at);
        }
        let text = &stretch[span.start - at.start..span.end - at.start];
        let of = |key| {
            let place = json::member(text, &(0..text.len()), key)?;
            serde_json::from_slice(&text[place]).ok()
        };
        written_by.insert(step, [of("version"), of("sessionId")]);
    }
    let (restarted, unexplained): (Vec<usize>, Vec<usize>) = odd
        .iter()
        .partition(|step| written_by.get(*step) != written_by.get(&(*step - 1)));
    let calls = |steps: &[usize]| {
        let first = steps.iter().take(MOST_NAMED);
        let numbers: Vec<_> = first.map(|step| (step + 1).to_string()).collect();
        let more = match steps.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("at call {}{more}", numbers.join(", "))
    };
    let mut found = Vec::new();
    if !restarted.is_empty() {
        found.push(format!(
            "{} the reported context shrinks where another version or another session resumed it: the context is smaller than it seems from there on",
            calls(&restarted)
        ));
    }
    if !unexplained.is_empty() {
        found.push(format!(
            "{} the reported context shrinks, but the file records no compaction there: the program may have cleared \
             tool results or been restarted, so the context is smaller than it seems from there on",
            calls(&unexplained)
        ));
    }
    found
}
