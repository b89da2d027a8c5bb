//! `plimsoll presets export` as the frameworks read it: every program is run with the real packages, and read back.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, stderr, stdout};
use plimsoll::engine::KnobValues;
use plimsoll::json::{Map, Value};
use plimsoll::presets::native::{Exported, import};
use plimsoll::presets::{self, PRESETS};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Presets of `OpenHands` V0. Its package cannot be installed together with that of its successor.
const NOT_INSTALLED: [&str; 4] =
    ["openhands-v0", "openhands-masking", "openhands-recent", "openhands-amortized"];

/// A preset with settings.
#[derive(Clone, Debug)]
struct Case {
    preset: &'static str,
    sets: Vec<(String, f64)>,
}

/// Returns the presets whose configuration Python reads: with each pair of choices, and with another value of each number.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for preset in PRESETS {
        let default = Case { preset: preset.name, sets: Vec::new() };
        let is_python =
            |text: &str| text.contains("import ") || text.contains("context_management");
        if !default.exported().is_ok_and(|exported| is_python(&exported.text)) {
            continue;
        }
        let policy = preset.policy().expect("bundled");
        let with_key = || policy.knobs.iter().filter(|knob| knob.key.is_some());
        let mut bases = vec![default];
        for knob in with_key().filter(|knob| !knob.choices.is_empty()).take(2) {
            let all = bases.iter().flat_map(|base| {
                (0..knob.choices.len()).map(|choice| base.with(&knob.name, choice as f64))
            });
            bases = all.collect();
        }
        for knob in with_key() {
            let [low, high] = knob.range;
            let other = [knob.value + knob.step, knob.value - knob.step, low];
            let value = other.into_iter().find(|value| (low..=high).contains(value));
            let with = |base: &Case| base.with(&knob.name, value.unwrap_or(knob.value));
            cases.extend(bases.iter().map(with));
        }
        cases.extend(bases);
    }
    cases
}

impl Case {
    fn with(&self, name: &str, value: f64) -> Self {
        let mut case = self.clone();
        case.sets.push((name.to_owned(), value));
        case
    }

    fn name(&self) -> String {
        let sets = self.sets.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.preset, sets.collect::<String>())
    }

    fn knobs(&self) -> KnobValues {
        let policy = presets::by_name(self.preset).expect("bundled");
        let mut knobs = policy.defaults();
        for (name, value) in &self.sets {
            policy.set(&mut knobs, name, *value).expect("in range");
        }
        knobs
    }

    fn exported(&self) -> Result<Exported, String> {
        let policy = presets::by_name(self.preset).expect("bundled");
        presets::native::export(&policy, &self.knobs())
    }
}

/// Returns the interpreter with the packages. Without it, prints why the test is skipped.
fn python() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("PLIMSOLL_PYTHON") {
        return Some(PathBuf::from(given));
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/python");
    if !here.exists() {
        eprintln!("skipped: {} is missing; tests/python/install creates it", here.display());
    }
    here.exists().then_some(here)
}

/// Runs programs and returns the errors by name.
fn run(python: &Path, programs: &BTreeMap<String, String>) -> Map<String, Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/construct.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let input = serde_json::to_vec(programs).expect("text");
    child.stdin.take().expect("piped").write_all(&input).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn the_frameworks_accept_every_exported_program() {
    let Some(python) = python() else {
        return;
    };
    let here = folder();
    let mut programs = BTreeMap::new();
    for case in cases() {
        if let Ok(exported) = case.exported() {
            programs.insert(case.name(), exported.text);
        }
    }
    // The defaults as the program prints them.
    for preset in PRESETS {
        if programs.keys().any(|name| name.split(' ').next() == Some(preset.name)) {
            let printed = plimsoll(here.path(), &["presets", "export", preset.name]);
            programs.insert(preset.name.to_owned(), stdout(&printed));
        }
    }
    for (strategy, framework) in nearest() {
        let args =
            ["presets", "export", strategy, "--for", framework, "--window", "200k", "--json"];
        let exported = json(&plimsoll(here.path(), &args));
        let text = exported["text"].as_str().expect("text").to_owned();
        let preset = exported["preset"].as_str().expect("a name");
        programs.insert(format!("{preset} for {strategy}"), text);
    }
    assert!(programs.len() > 100, "{}", programs.len());
    let mut missing = Vec::new();
    for (name, error) in run(&python, &programs) {
        let preset = name.split(' ').next().expect("a name");
        match error.as_str() {
            None => {}
            Some(error) if error.starts_with("ModuleNotFoundError") => {
                missing.push(preset.to_owned());
            }
            // Each framework rejects values that contradict each other.
            Some(error) if error.starts_with("ValueError") || error.contains("ValidationError") => {
                assert!(name.contains('='), "{name}: {error}\n{}", programs[&name]);
                rejections_are_of_values(&name, error);
            }
            Some(error) => panic!("{name}: {error}\n{}", programs[&name]),
        }
    }
    missing.dedup();
    missing.retain(|name| !NOT_INSTALLED.contains(&&**name));
    // openhands-sdk needs Python 3.12.
    missing.retain(|name| name != "openhands");
    assert_eq!(missing, [""; 0]);
}

/// Fails if an error is about anything else than the values.
fn rejections_are_of_values(name: &str, error: &str) {
    for word in ["unexpected keyword", "Extra inputs", "missing", "required"] {
        assert!(!error.contains(word), "{name}: {error}");
    }
}

/// Returns strategies with the frameworks that they are exported for.
fn nearest() -> Vec<(&'static str, &'static str)> {
    let frameworks = [
        "adk",
        "agent-framework",
        "anthropic",
        "deepagents",
        "haystack",
        "langchain",
        "openai-agents",
        "openhands",
        "pydantic-ai",
        "strands",
    ];
    let here = folder();
    let mut pairs = Vec::new();
    for strategy in ["truncate", "prune", "summarize"] {
        for framework in frameworks {
            let args = ["presets", "export", strategy, "--for", framework];
            let output = plimsoll(here.path(), &args);
            if output.status.success() {
                pairs.push((strategy, framework));
                continue;
            }
            let error = rejected(here.path(), &args);
            let own = format!(
                "has nothing like {strategy}; its own configuration: plimsoll presets export {framework}"
            );
            assert!(error.contains(&own), "{error}");
        }
    }
    assert!(pairs.len() >= 20, "{pairs:?}");
    pairs
}

#[test]
fn strategies_are_exported_as_the_nearest_construct() {
    let here = folder();
    let error = rejected(here.path(), &["presets", "export", "truncate"]);
    assert!(error.contains("--for agent-framework") && error.contains("pydantic-ai"), "{error}");
    let error = rejected(here.path(), &["presets", "export", "langchain", "--for", "strands"]);
    assert!(error.contains("export it without --for"), "{error}");
    let args = ["presets", "export", "summarize", "--for", "langchain", "--set", "keep_recent=7"];
    let output = plimsoll(here.path(), &args);
    let text = stdout(&output);
    assert!(
        text.contains("trigger=(\"fraction\", 0.75)") && text.contains("keep=(\"messages\", 7)"),
        "{text}"
    );
    assert!(
        stderr(&output).contains("Without a counterpart: summary_max_tokens"),
        "{}",
        stderr(&output)
    );
    // (200,000 - 32,000) * 0.75 tokens
    let args = ["presets", "export", "prune", "--for", "langchain", "--window", "200k"];
    let text = stdout(&plimsoll(here.path(), &args));
    assert!(text.contains("trigger=126000"), "{text}");
    for (strategy, framework) in nearest() {
        let export = ["presets", "export", strategy, "--for", framework, "--json"];
        let exported = json(&plimsoll(here.path(), &export));
        let text = exported["text"].as_str().expect("text");
        let imported = read_back(here.path(), text);
        assert_eq!(imported["preset"], exported["preset"], "{text}");
    }
}

/// Imports a configuration through standard input.
fn read_back(here: &Path, text: &str) -> Value {
    let path = here.join("program.py");
    std::fs::write(&path, text).expect("written");
    let output = command(here, &["presets", "import", "-", "--json"])
        .stdin(std::fs::File::open(&path).expect("readable"))
        .output()
        .expect("the program starts");
    json(&output)
}

#[test]
fn every_exported_program_is_read_back_with_its_settings() {
    let here = folder();
    let mut n = 0;
    for case in cases() {
        let Ok(exported) = case.exported() else {
            continue;
        };
        n += 1;
        let (name, text) = (case.name(), &exported.text);
        let read = import(text).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
        assert_eq!(read.policy.name, case.preset, "{name}\n{text}");
        assert_eq!(read.unread, [""; 0], "{name}\n{text}");
        for (setting, value) in case.knobs().iter() {
            let found = read.knobs.get(setting);
            let is_told = exported.notes.iter().any(|note| note.contains(setting));
            assert!(
                found == Some(value) || is_told,
                "{name}: {setting} = {value}, read {found:?}\n{text}{:?}",
                exported.notes
            );
        }
    }
    assert!(n > 100, "{n}");
    // As a user does it.
    let export = ["presets", "export", "pydantic-ai", "--set", "max_tokens=90k"];
    let text = stdout(&plimsoll(here.path(), &export));
    assert!(
        text.starts_with("from pydantic_ai_harness.compaction import SlidingWindowCompaction\n"),
        "{text}"
    );
    assert!(!text.contains("max_fraction"), "{text}");
    let imported = read_back(here.path(), &text);
    assert_eq!(imported["options"], "--policy pydantic-ai --set max_tokens=90000");
    let export = ["presets", "export", "pydantic-ai", "--set", "max_fraction=0"];
    let error = rejected(here.path(), &export);
    assert!(error.contains("never acts with these settings"), "{error}");
}
