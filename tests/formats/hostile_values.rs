//! Every member of every fixture, of every format, with something in its place that nobody should have written: no
//! reader panics or goes round in circles, and what is read keeps the rules of a session.
#![expect(clippy::print_stderr, reason = "a failed test says what it was about")]

use crate::fixtures::{Fixture, all_kept, fixtures, read};
use crate::hostile_input::{keys, objects, replaced, text, values};
use crate::rules::keeps_the_rules;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Stands where text goes that no value can hold.
const HOLE: &str = "here comes another";

/// Says which file it was that broke a rule.
struct Told<'a>(&'a str, &'a str);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} {} breaks a rule", self.0, self.1);
        }
    }
}

/// Reads it; what is read keeps the rules, and is written back as it is where that can be.
fn try_out(fixture: &Fixture, changed: &str, what: &str) {
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
    let told = Told(&fixture.name, what);
    parsed.sessions.iter().for_each(keeps_the_rules);
    drop(told);
    if let [only] = &parsed.sessions[..]
        && let Some(export) = plimsoll::formats::by_name(only.source.format).and_then(|f| f.export)
    {
        let written = export(only, &all_kept(only));
        let is_same = written
            .as_ref()
            .is_ok_and(|written| written == changed.as_bytes());
        assert!(
            is_same,
            "{} {what} is written otherwise: {:?}",
            fixture.name,
            written.err()
        );
    }
}

/// The fixtures that are JSON, with what they hold.
fn all() -> Vec<(Fixture, Vec<Value>)> {
    let found = fixtures().into_iter();
    let found = found.filter_map(|fixture| values(&fixture).map(|values| (fixture, values)));
    let found: Vec<_> = found.collect();
    assert!(found.len() > 40, "only {} are JSON", found.len());
    found
}

/// Changes one key of one fixture after the other; the number goes on from one to the next.
fn each_key(change: impl Fn(&Fixture, &[Value], &str, usize) + Sync) {
    let all = all();
    let pairs: Vec<_> = all
        .iter()
        .flat_map(|(fixture, values)| {
            keys(values)
                .into_iter()
                .map(move |key| (fixture, values, key))
        })
        .collect();
    let each = pairs.par_iter().enumerate();
    each.for_each(|(number, (fixture, values, key))| change(fixture, values, key, number));
}

#[test]
fn a_member_of_another_kind_than_it_should_be_does_no_harm() {
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
    // Every third for each: all of them for every key there is would take a minute.
    each_key(|fixture, values, key, number| {
        for other in others.iter().skip(number % 3).step_by(3) {
            let changed = text(&replaced(values, key, other));
            try_out(fixture, &changed, &format!("with {key} {other}"));
        }
    });
}

#[test]
fn a_member_that_no_value_can_hold_does_no_harm() {
    let deep = "[".repeat(2_000) + &"]".repeat(2_000);
    let texts = [
        "1e400",
        "-123456789012345678901234567890",
        r#""\ud83d""#,
        &deep,
    ];
    each_key(|fixture, values, key, number| {
        let holed = text(&replaced(values, key, &json!(HOLE)));
        for other in texts.into_iter().skip(number % 2).step_by(2) {
            let changed = holed.replace(&format!("\"{HOLE}\""), other);
            let shown = &other[..other.len().min(40)];
            try_out(fixture, &changed, &format!("with {key} {shown}"));
        }
    });
}

#[test]
fn names_and_ids_of_a_megabyte_do_no_harm() {
    let long = json!("i".repeat(1 << 20));
    all().par_iter().for_each(|(fixture, values)| {
        let named = |key: &String| {
            let key = key.to_lowercase();
            ["id", "name", "tool", "model", "title"]
                .iter()
                .any(|end| key.ends_with(end))
        };
        for key in keys(values).iter().filter(|key| named(key)) {
            // One of them is enough: each holds a megabyte.
            let (mut values, mut is_done) = (values.clone(), false);
            objects(&mut values, &mut |object| {
                if let Some(member) = object.get_mut(key).filter(|_| !is_done) {
                    (*member, is_done) = (long.clone(), true);
                }
            });
            try_out(fixture, &text(&values), &format!("with a long {key}"));
        }
    });
}

#[test]
fn parents_in_a_ring_lead_nowhere_in_any_format() {
    let mut rings = 0;
    for (fixture, values) in all() {
        let parents: Vec<String> = keys(&values)
            .into_iter()
            .filter(|key| key.to_lowercase().contains("parent"))
            .collect();
        for (parent, id) in parents
            .iter()
            .flat_map(|p| ["id", "uuid", "spanId"].map(|id| (p, id)))
        {
            let mut ids = Vec::new();
            objects(&mut values.clone(), &mut |object| {
                ids.extend(object.get(id).cloned());
            });
            // Its own parent, its child's child, and the last one's.
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
                try_out(
                    &fixture,
                    &text(&ring),
                    &format!("with {parent} {ahead} {id} ahead"),
                );
            }
        }
    }
    assert!(rings > 60, "only {rings} were closed");
}

#[test]
fn the_same_record_over_and_over_does_no_harm() {
    all().par_iter().for_each(|(fixture, values)| {
        let mut repeated = values.clone();
        if fixture.is_lines() {
            repeated = values
                .iter()
                .cycle()
                .take(values.len() * 20)
                .cloned()
                .collect();
        } else {
            lists(&mut repeated);
        }
        try_out(fixture, &text(&repeated), "over and over");
    });
}

/// Every list of objects twenty times over; not those within, which would be twenty times twenty.
fn lists(values: &mut [Value]) {
    for value in values {
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let n = items.len() * 20;
                *items = items.iter().cycle().take(n).cloned().collect();
            }
            Value::Object(object) => object
                .values_mut()
                .for_each(|m| lists(std::slice::from_mut(m))),
            _ => {}
        }
    }
}
