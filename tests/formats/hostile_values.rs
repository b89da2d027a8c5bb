//! Fixtures of all formats with invalid values in every member: no reader panics or loops, and every session that is read
//! satisfies the invariants of sessions.
#![expect(clippy::print_stderr, reason = "a failed test prints its fixture")]

use crate::fixtures::{Fixture, all_kept, fixtures, read};
use crate::hostile_input::{keys, objects, replaced, text, values};
use crate::rules::keeps_the_rules;
use plimsoll::formats::by_name;
use plimsoll::json::{Value, json};
use plimsoll::session::Session;
use rayon::prelude::*;

/// Placeholder for text that no value can hold.
const HOLE: &str = "here comes another";

/// Prints the file and the change if a test panics.
struct ReportOnPanic<'a>(&'a str, &'a str);

impl Drop for ReportOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} {} breaks a rule", self.0, self.1);
        }
    }
}

/// Reads a changed fixture, checks the invariants, and writes it back byte for byte if its format can be written.
fn check_changed(fixture: &Fixture, changed: &str, what: &str) {
    let parsed = match read(&fixture.name, changed.as_bytes()) {
        Ok(parsed) => parsed,
        Err(refused) => {
            assert!(refused.len() < 1_000, "{} {what}: {refused}", fixture.name);
            return;
        }
    };
    for warning in &parsed.warnings {
        let words = warning.to_string();
        assert!(words.len() < 600, "{} {what}: {words}", fixture.name);
    }
    let report = ReportOnPanic(&fixture.name, what);
    parsed.sessions.iter().for_each(keeps_the_rules);
    drop(report);
    // After a compaction that left nothing, the whole history is another conversation than that of the file.
    let is_left = |session: &Session| session.compactions.iter().all(|c| !c.kept.is_empty());
    if let [only] = &parsed.sessions[..]
        && is_left(only)
        && let Some(format) = by_name(only.source.format).filter(|format| format.is_writable())
    {
        let written = format.write(only, &all_kept(only));
        let is_same = written.as_ref().is_ok_and(|written| written == changed.as_bytes());
        assert!(is_same, "{} {what} is written otherwise: {:?}", fixture.name, written.err());
    }
}

/// Returns the fixtures in JSON with their values.
fn all() -> Vec<(Fixture, Vec<Value>)> {
    let found = fixtures().into_iter();
    let found = found.filter_map(|fixture| values(&fixture).map(|values| (fixture, values)));
    let found: Vec<_> = found.collect();
    assert!(found.len() > 40, "only {} are JSON", found.len());
    found
}

/// Calls `change` for each key of each fixture, with a running number.
fn each_key(change: impl Fn(&Fixture, &[Value], &str, usize) + Sync) {
    let all = all();
    let pairs: Vec<_> = all
        .iter()
        .flat_map(|(fixture, values)| {
            keys(values).into_iter().map(move |key| (fixture, values, key))
        })
        .collect();
    let each = pairs.par_iter().enumerate();
    each.for_each(|(number, (fixture, values, key))| change(fixture, values, key, number));
}

#[test]
fn reads_members_of_the_wrong_type() {
    let others = [
        json!(null),
        json!(true),
        json!(-7),
        json!(""),
        json!("\u{0}\u{1b}[2J\u{202e}"),
        json!([]),
        json!({}),
        json!([null, [[]], {}, "x", 3]),
        json!([{"type": "text"}, {"role": "user"}, {"content": null}]),
    ];
    // Every third replacement for each key. All of them would take a minute.
    each_key(|fixture, values, key, number| {
        for other in others.iter().skip(number % 3).step_by(3) {
            let changed = text(&replaced(values, key, other));
            check_changed(fixture, &changed, &format!("with {key} {other}"));
        }
    });
}

#[test]
fn reads_members_that_no_value_can_hold() {
    let deep = "[".repeat(2_000) + &"]".repeat(2_000);
    let texts = ["1e400", "-123456789012345678901234567890", r#""\ud83d""#, &deep];
    each_key(|fixture, values, key, number| {
        let holed = text(&replaced(values, key, &json!(HOLE)));
        for other in texts.into_iter().skip(number % 2).step_by(2) {
            let changed = holed.replace(&format!("\"{HOLE}\""), other);
            let shown = &other[..other.len().min(40)];
            check_changed(fixture, &changed, &format!("with {key} {shown}"));
        }
    });
}

#[test]
fn reads_names_and_ids_of_a_megabyte() {
    let long = json!("i".repeat(1 << 20));
    all().par_iter().for_each(|(fixture, values)| {
        let named = |key: &String| {
            let key = key.to_lowercase();
            ["id", "name", "tool", "model", "title"].iter().any(|end| key.ends_with(end))
        };
        for key in keys(values).iter().filter(|key| named(key)) {
            // One is enough, because each holds a megabyte.
            let (mut values, mut is_done) = (values.clone(), false);
            objects(&mut values, &mut |object| {
                if let Some(member) = object.get_mut(key).filter(|_| !is_done) {
                    (*member, is_done) = (long.clone(), true);
                }
            });
            check_changed(fixture, &text(&values), &format!("with a long {key}"));
        }
    });
}

#[test]
fn reads_parents_that_form_a_cycle_in_every_format() {
    let mut rings = 0;
    for (fixture, values) in all() {
        let parents: Vec<String> =
            keys(&values).into_iter().filter(|key| key.to_lowercase().contains("parent")).collect();
        for (parent, id) in parents.iter().flat_map(|p| ["id", "uuid", "spanId"].map(|id| (p, id)))
        {
            let mut ids = Vec::new();
            objects(&mut values.clone(), &mut |object| {
                ids.extend(object.get(id).cloned());
            });
            // The record itself, the record after the next, and the last one.
            for ahead in [0, 1, ids.len().saturating_sub(1)] {
                let (mut ring, mut at) = (values.clone(), 0);
                objects(&mut ring, &mut |object| {
                    if object.contains_key(id) {
                        if object.contains_key(parent) {
                            object.insert(parent.clone(), ids[(at + ahead) % ids.len()].clone());
                            rings += 1;
                        }
                        at += 1;
                    }
                });
                check_changed(&fixture, &text(&ring), &format!("with {parent} {ahead} {id} ahead"));
            }
        }
    }
    assert!(rings > 60, "only {rings} were closed");
}

#[test]
fn reads_repeated_records() {
    all().par_iter().for_each(|(fixture, values)| {
        let mut repeated = values.clone();
        if fixture.is_lines() {
            repeated = values.iter().cycle().take(values.len() * 20).cloned().collect();
        } else {
            lists(&mut repeated);
        }
        check_changed(fixture, &text(&repeated), "over and over");
    });
}

/// Repeats the elements of every outermost list of objects twenty times.
fn lists(values: &mut [Value]) {
    for value in values {
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let n = items.len() * 20;
                *items = items.iter().cycle().take(n).cloned().collect();
            }
            Value::Object(object) => {
                object.values_mut().for_each(|m| lists(std::slice::from_mut(m)));
            }
            _ => {}
        }
    }
}
