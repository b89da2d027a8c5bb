//! A program crashed while it wrote a record, and the next one continued on the same line: in every format of JSON Lines,
//! each whole record is read.

use crate::fixtures::{Fixture, fixtures, read, said};
use plimsoll::session::Session;

fn first(name: &str, bytes: &[u8]) -> Option<Session> {
    read(name, bytes).ok()?.sessions.into_iter().next()
}

#[test]
fn a_truncated_record_costs_no_whole_record_of_its_line() {
    let mut formats = Vec::new();
    for fixture in fixtures().into_iter().filter(Fixture::is_lines) {
        let text = std::str::from_utf8(&fixture.bytes).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let Some(session) = first(&fixture.name, &fixture.bytes).filter(|_| lines.len() > 3) else {
            continue;
        };
        for at in 1..lines.len() {
            let torn = lines[at - 1];
            for share in [1, 3, 5, 7, 9] {
                let cut = torn.floor_char_boundary(torn.len() * share / 10);
                // The next record would be a value of the truncated one.
                if torn[..cut].trim_end().ends_with([':', ',', '[']) {
                    continue;
                }
                // The truncated copy of a record in front of the next one.
                let glued = format!("{}{}", &torn[..cut], lines[at]);
                let mut all = lines.clone();
                all[at] = &glued;
                let bytes = format!("{}\n", all.join("\n"));
                let place = format!("{}, line {}, cut after {cut}", fixture.name, at + 1);
                let parsed = read(&fixture.name, bytes.as_bytes()).expect("it reads");
                let found = parsed.sessions.first().expect("a session");
                assert_eq!(said(found), said(&session), "{place}");
                let is_named = parsed.warnings.iter().any(|warning| warning.line == Some(at + 1));
                assert!(is_named || cut == 0, "{place}: {:?}", parsed.warnings);
            }
        }
        formats.push(fixture.format);
    }
    formats.dedup();
    assert!(formats.len() > 5, "the premise: {formats:?}");
}
