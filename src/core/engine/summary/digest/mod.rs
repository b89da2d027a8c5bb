//! The offline summary. It needs no model, sends no data, and is deterministic.
//!
//! Within the cap it keeps, in this order of importance: the first request, the user's standing instructions verbatim,
//! the latest plan, failed commands with their last error lines, files touched with the last operation on each, and an
//! index of the identifiers that later messages are most likely to need.

mod gather;
mod index;

use super::request::Request;
use crate::engine::case::Case;
use crate::session::Session;

/// A section: its heading, its lines in order of importance, and its share of the cap while later sections are still
/// empty.
struct Section {
    heading: &'static str,
    lines: Vec<String>,
    share: f64,
}

/// Minimum tokens of a section. If less is left, the most important sections take what they need. Chosen: about three
/// lines, without which a share of a small cap would be a heading with half a sentence.
const AT_LEAST: f64 = 96.0;

/// Returns a digest of the messages of a request. It fits the request's cap; empty if not even one line fits.
pub fn digest(case: &Case, request: &Request) -> String {
    let messages: Vec<usize> = request.covers.iter().cloned().flatten().collect();
    let session = &case.session;
    let section = |heading, share, lines: fn(&Session, &[usize]) -> Vec<String>| Section {
        heading,
        lines: lines(session, &messages),
        share,
    };
    let failures = gather::failures(case, &messages);
    let sections = [
        section("First request", 0.25, gather::first_request),
        section("Earlier summary", 0.3, gather::earlier_summary),
        section("Standing instructions of the user", 0.25, gather::constraints),
        section("Latest plan", 0.25, gather::plan),
        Section { heading: "Failed commands", lines: failures, share: 0.3 },
        section("Files touched (last operation)", 0.5, gather::files),
        section("Identifiers", 1.0, index::lines),
    ];
    assemble(case, request, &sections)
}

/// Fills the cap: each section takes its share of the remaining tokens, most important lines first.
fn assemble(case: &Case, request: &Request, sections: &[Section]) -> String {
    let weigh = |text: &str| case.ledger.weigh(text).as_f64();
    let mut left = request.max_tokens.as_f64() - weigh(&request.prefix);
    let mut chosen: Vec<String> = Vec::new();
    for section in sections.iter().filter(|s| !s.lines.is_empty()) {
        let heading = format!("{}:", section.heading);
        let mut room = (left * section.share).max(left.min(AT_LEAST)) - weigh(&heading);
        let lines: Vec<_> =
            section.lines.iter().map_while(|line| fit(line, &mut room, weigh)).collect();
        if !lines.is_empty() {
            left -= weigh(&heading) + lines.iter().map(|line| weigh(line)).sum::<f64>();
            chosen.push(heading);
            chosen.extend(lines);
        }
    }
    // Joined lines may weigh a little more than separate ones: remove the last, least important lines.
    while !chosen.is_empty() && !request.fits(case, &chosen.join("\n")) {
        chosen.pop();
    }
    chosen.join("\n")
}

/// Returns the line, shortened if only a part of it fits; none if the part would be too short to be useful.
fn fit(line: &str, room: &mut f64, weigh: impl Fn(&str) -> f64) -> Option<String> {
    // About six words.
    const WORTH_READING: f64 = 8.0;
    let weight = weigh(line);
    if weight <= *room {
        *room -= weight;
        return Some(line.to_owned());
    }
    if *room < WORTH_READING {
        return None;
    }
    let keep = (line.chars().count() as f64 * (*room - 2.0) / weight).max(0.0) as usize;
    *room = 0.0;
    let head: String = line.chars().take(keep).collect();
    Some(format!("{}…", head.trim_end()))
}
