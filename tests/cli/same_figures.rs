//! A figure is the same in every place that shows it: `sessions`, `inspect`, `replay`, `diagnose`, `gate` and `compare`.

use crate::program::plimsoll;
use crate::real_sessions;
use crate::support::{folder, samples, stderr};
use plimsoll::json::{Value, json as value};
use std::fs;
use std::path::{Path, PathBuf};

/// Counts of a sampled tokenizer, which only the list of sessions uses, differ from whole counts by up to this share.
const SAMPLED: f64 = 0.05;
/// Tokens from which that holds. The list does not calibrate the last answer, which may be most of a smaller context.
const MIN_SAMPLED: u64 = 2_000;
/// Files whose debug run takes longer than the other files together, in bytes.
const MAX_BYTES: u64 = 3_000_000;

/// Figures of one command: its name, and values by name.
struct Place {
    command: &'static str,
    figures: Vec<(&'static str, Value)>,
    /// Whether its peaks are estimated on samples of the text.
    is_sampled: bool,
}

impl Place {
    fn new(command: &'static str, from: &Value, names: &[(&'static str, &str)]) -> Self {
        let figure = |(name, pointer): &(&'static str, &str)| {
            let found = from.pointer(pointer);
            let found = found.unwrap_or_else(|| panic!("{command} shows no {pointer}"));
            (*name, found.clone())
        };
        Self { command, figures: names.iter().map(figure).collect(), is_sampled: false }
    }
}

impl Place {
    /// Returns whether its peak is below this number of tokens.
    fn is_below(&self, tokens: u64) -> bool {
        let peak = self.figures.iter().find(|(name, _)| *name == "peak");
        peak.is_some_and(|(_, peak)| peak.as_u64().is_some_and(|peak| peak < tokens))
    }
}

/// Returns the JSON output of a command about a file; `None` if the program does not open it.
fn shown(here: &Path, args: &[&str]) -> Option<Value> {
    let output = plimsoll(here, &[args, &["--json", "--no-state"]].concat());
    let is_opened = output.status.code().is_some_and(|code| code < 2);
    if !is_opened {
        assert!(!stderr(&output).contains("panicked"), "{args:?}");
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).unwrap_or_else(|why| {
        panic!("{args:?} prints no JSON: {why}");
    }))
}

/// Returns what each command shows of the first conversation of a file; `None` if the file is no session.
fn places(here: &Path, file: &Path) -> Option<Vec<Place>> {
    let file = file.to_str().expect("a path in UTF-8");
    let inspect = shown(here, &["inspect", file])?;
    let replay = shown(here, &["replay", file]).expect("replay opens what inspect opens");
    let compare = shown(here, &["compare", file, file]).expect("compare opens it");
    let mut found = vec![
        Place::new(
            "inspect",
            &inspect,
            &[
                ("messages", "/messages"),
                ("calls", "/calls"),
                ("window", "/window"),
                ("reserve", "/output_reserve"),
                ("peak", "/peak_tokens"),
                ("peak call", "/peak_call"),
                ("peak share", "/peak_share"),
                ("end", "/end_tokens"),
                ("accuracy", "/tokens/accuracy"),
            ],
        ),
        Place::new(
            "replay",
            &replay,
            &[
                ("calls", "/calls"),
                ("window", "/window"),
                ("reserve", "/output_reserve"),
                ("accuracy", "/accuracy"),
                ("peak", "/lanes/0/peak_tokens"),
                ("peak call", "/lanes/0/peak_call"),
                ("peak share", "/lanes/0/peak_share"),
                ("end", "/lanes/0/end_tokens"),
                ("sent", "/lanes/0/tokens_sent"),
                ("compactions", "/lanes/0/compactions"),
                ("overflows", "/lanes/0/overflows"),
                ("into the reserve", "/lanes/0/into_reserve"),
            ],
        ),
        Place::new(
            "compare",
            &compare,
            &[
                ("messages", "/a/messages"),
                ("calls", "/a/calls"),
                ("window", "/a/window"),
                ("peak", "/a/peak_tokens"),
                ("peak call", "/a/peak_call"),
                ("peak share", "/a/peak_share"),
                ("end", "/a/end_tokens"),
                ("sent", "/a/tokens_sent"),
                ("compactions", "/a/compactions"),
                ("overflows", "/a/overflows"),
                ("into the reserve", "/a/into_reserve"),
            ],
        ),
    ];
    if inspect["calls"] == 0 {
        return Some(found);
    }
    let diagnose = shown(here, &["diagnose", file]).expect("diagnose opens it");
    found.push(Place::new(
        "diagnose",
        &diagnose,
        &[
            ("window", "/window"),
            ("reserve", "/output_reserve"),
            ("accuracy", "/accuracy"),
            ("sent", "/tokens_sent"),
        ],
    ));
    let limits = ["--policy", "recorded", "--max-overflows", "9999"];
    let first = ["--conversation", "1"];
    let gate = shown(here, &[&["gate", file], &limits[..], &first].concat())
        .or_else(|| shown(here, &[&["gate", file], &limits[..]].concat()))
        .expect("gate opens it");
    let mut gated = Place::new(
        "gate",
        &gate,
        &[
            ("peak", "/sessions/0/lanes/0/figures/peak_tokens"),
            ("peak share", "/sessions/0/lanes/0/figures/peak_share"),
            ("sent", "/sessions/0/lanes/0/figures/tokens_sent"),
            ("overflows", "/sessions/0/lanes/0/figures/overflows"),
            ("into the reserve", "/sessions/0/lanes/0/figures/into_reserve"),
        ],
    );
    // Figures of a run; compactions that the format does not record are 0 there.
    let compactions = &gate["sessions"][0]["lanes"][0]["figures"]["compactions"];
    if replay["lanes"][0]["compactions"] != Value::Null {
        gated.figures.push(("compactions", compactions.clone()));
    }
    found.push(gated);
    found.extend(listed_place(here, file));
    Some(found)
}

/// Returns what the list of sessions shows of the first conversation of a file, if it lists it.
fn listed_place(here: &Path, file: &str) -> Option<Place> {
    let listed = shown(here, &["sessions", file]).expect("sessions lists it");
    let session = listed["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|session| [&Value::Null, &value!(1)].contains(&&session["conversation"]))?;
    let mut list = Place::new(
        "sessions",
        session,
        &[
            ("messages", "/messages"),
            ("calls", "/calls"),
            ("compactions", "/compactions"),
            ("peak", "/peak_tokens"),
            ("peak share", "/peak_share"),
        ],
    );
    list.is_sampled = session["peak_accuracy"] == "estimated";
    Some(list)
}

/// Returns the figures that differ between places.
fn differences(places: &[Place]) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, place) in places.iter().enumerate() {
        for (name, shown) in &place.figures {
            let earlier = places[..nth].iter().find_map(|other| {
                let figure = other.figures.iter().find(|(other, _)| other == name);
                figure.map(|(_, figure)| (other, figure))
            });
            let Some((other, first)) = earlier else {
                continue;
            };
            let is_sampled = place.is_sampled && name.starts_with("peak");
            let is_tiny = is_sampled && places[0].is_below(MIN_SAMPLED);
            if !is_tiny && !are_equal(first, shown, if is_sampled { SAMPLED } else { 1e-9 }) {
                let (a, b) = (other.command, place.command);
                found.push(format!("{name}: {first} in {a}, {shown} in {b}"));
            }
        }
    }
    found
}

/// Returns whether two figures are equal up to this share.
fn are_equal(a: &Value, b: &Value, share: f64) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= share * a.abs().max(b.abs()),
        _ => a == b,
    }
}

fn assert_same(files: &[PathBuf]) {
    let here = folder();
    let mut found = Vec::new();
    for file in files {
        let Some(places) = places(here.path(), file) else {
            continue;
        };
        let name = file.display();
        found.extend(differences(&places).iter().map(|line| format!("{name}: {line}")));
    }
    assert!(found.is_empty(), "{}\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_command_shows_the_same_figures_of_a_sample() {
    assert_same(&samples());
}

#[test]
fn every_command_shows_the_same_figures_of_a_real_session() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if entry.metadata().is_ok_and(|file| file.len() <= MAX_BYTES) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert_same(&files);
}
