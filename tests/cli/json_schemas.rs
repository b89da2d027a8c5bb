//! The JSON output of every command, validated against its schema.

use crate::evaluate_model::{answer_a, session};
use crate::program::plimsoll;
use crate::server::Server;
use crate::support::{sample, samples};
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The schema of each command. Forbids fields that it does not list.
static SCHEMAS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let here = tempfile::tempdir().expect("a temporary folder");
    let output = |args: &[&str]| plimsoll(here.path(), &[&["schema"], args].concat()).stdout;
    let list = String::from_utf8(output(&[])).expect("the list is UTF-8");
    let schema = |command: &str| {
        let words: Vec<&str> = command.split(' ').collect();
        let mut schema = serde_json::from_slice(&output(&words)).expect("the schema is JSON");
        forbid_other_fields(&mut schema);
        (command.to_owned(), schema)
    };
    list.lines().map(schema).collect()
});

/// Validates the output of commands.
struct Validator {
    schemas: Schemas,
    commands: BTreeMap<String, SchemaIndex>,
    folder: TempDir,
}

impl Validator {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut validator = Self { schemas: Schemas::new(), commands: BTreeMap::new(), folder };
        let mut compiler = Compiler::new();
        for (command, schema) in SCHEMAS.iter() {
            let url = format!("http://localhost/{}.json", command.replace(' ', "-"));
            compiler.add_resource(&url, schema.clone()).expect("a new address");
            let index = compiler.compile(&url, &mut validator.schemas);
            let index = index.unwrap_or_else(|error| panic!("{command}: {error:#}"));
            validator.commands.insert(command.clone(), index);
        }
        validator
    }

    /// Runs a command with `--json` and validates its output.
    fn run(&self, args: &[&str]) -> Value {
        self.validate(args, &self.output(args))
    }

    /// Runs a command whose options select another schema.
    fn run_as(&self, schema: &str, args: &[&str]) -> Value {
        self.validate_as(self.commands[schema], args, &self.output(args))
    }

    fn output(&self, args: &[&str]) -> Output {
        plimsoll(self.folder.path(), &[args, &["--json"]].concat())
    }

    fn validate(&self, args: &[&str], output: &Output) -> Value {
        let two_words = args.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        let index = self.commands.get(&two_words).or(self.commands.get(args[0]));
        let index = *index.unwrap_or_else(|| panic!("{args:?} has no schema"));
        self.validate_as(index, args, output)
    }

    fn validate_as(&self, index: SchemaIndex, args: &[&str], output: &Output) -> Value {
        let error = String::from_utf8_lossy(&output.stderr);
        // 1: a check failed.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {error}");
        let value = serde_json::from_slice(&output.stdout);
        let value: Value = value.unwrap_or_else(|_| panic!("{args:?}: {error}"));
        if let Err(error) = self.schemas.validate(&value, index) {
            panic!("{args:?}: {error}");
        }
        value
    }
}

/// A command for each schema. They run in this order in a folder with copies of the sample sessions.
const EXAMPLES: &[(&str, &str)] = &[
    ("inspect", "inspect compacted.jsonl"),
    ("find", "find compacted.jsonl ledger --limit 3"),
    ("tools", "tools compacted.jsonl"),
    ("replay", "replay compacted.jsonl --policy prune"),
    ("diagnose", "diagnose compacted.jsonl --policy prune"),
    ("diagnose calls", "diagnose compacted.jsonl --calls 20-34"),
    ("compare", "compare compacted.jsonl handoff.json"),
    ("evaluate", "evaluate compacted.jsonl --policy prune"),
    (
        "evaluate model",
        "evaluate talk.json --policy summarize --set output_reserve=0 --window 4000 --tier 1 --samples 1 --summarizer openai --model m --model-window 100000 --base-url URL",
    ),
    ("sweep", "sweep compacted.jsonl handoff.json --points 4"),
    ("gate", "gate compacted.jsonl --policy prune --max-overflows 9"),
    ("compact", "compact compacted.jsonl --policy summarize --force -o managed.jsonl"),
    ("restore", "restore managed.jsonl -o restored.jsonl"),
    ("convert", "convert images-and-cjk.json --to openai_chat -o lossy.json"),
    ("context", "context compacted.jsonl --at-call 9 -o context.jsonl"),
    ("report", "report compacted.jsonl -o report.html"),
    ("sessions", "sessions ."),
    ("usage", "usage ."),
    ("table", "table compacted.jsonl handoff.json -o tables --format jsonl"),
    ("sessions search", "sessions --search ledger ."),
    ("mcp", "mcp --install"),
    ("hook install", "hook install claude-code"),
    ("hook uninstall", "hook uninstall claude-code"),
    ("hook constraints", "hook constraints compacted.jsonl"),
    ("hook log", "hook log"),
    ("presets list", "presets list"),
    ("presets show", "presets show prune"),
    ("presets export", "presets export digitorn"),
    ("presets import", "presets import digitorn.yaml"),
    ("presets save", "presets save prune --as mine --set prune_protect=9k"),
    ("state enable", "state enable index"),
    ("state list", "state list"),
    ("presets remove", "presets remove mine"),
    ("state disable", "state disable index"),
    ("state clear", "state clear"),
];

#[test]
fn the_output_of_every_command_follows_its_schema() {
    let validator = Validator::new();
    let folder = validator.folder.path();
    let configuration = repository().join("tests/configs/digitorn.yaml");
    for file in samples().into_iter().chain([configuration]) {
        let name = file.file_name().expect("a file");
        fs::copy(&file, folder.join(name)).expect("a copy");
    }
    session(folder);
    let server = Server::with_answer(answer_a());
    for (schema, command) in EXAMPLES {
        let command = command.replace("URL", &server.url());
        validator.run_as(schema, &command.split(' ').collect::<Vec<_>>());
    }
    let with_example: BTreeSet<&str> = EXAMPLES.iter().map(|(schema, _)| *schema).collect();
    let all: BTreeSet<&str> = validator.commands.keys().map(String::as_str).collect();
    let missing: Vec<_> = all.difference(&with_example).collect();
    assert!(missing.is_empty(), "EXAMPLES has no row for the schemas {missing:?}");
}

/// Forbids fields that a schema does not list.
fn forbid_other_fields(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        if object.get("properties").is_some_and(Value::is_object) {
            object.insert("additionalProperties".to_owned(), false.into());
        }
        object.values_mut().for_each(forbid_other_fields);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(forbid_other_fields);
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the session files of a folder and its folders.
fn session_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists").flatten() {
        let path = entry.path();
        let extension = path.extension().unwrap_or_default().to_owned();
        if path.is_dir() {
            found.extend(session_files(&path));
        } else if ["json", "jsonl", "md"].iter().any(|known| extension == *known) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn inspect_replay_and_diagnose_follow_their_schemas_for_every_format() {
    let validator = Validator::new();
    let files = session_files(&repository().join("tests/fixtures"));
    assert!(files.len() > 50, "{} files", files.len());
    for (idx, file) in files.iter().enumerate() {
        let file = file.to_string_lossy();
        let inspect = ["inspect", &*file];
        let output = validator.output(&inspect);
        if output.status.code() == Some(2) {
            // Part of a session of several files.
            continue;
        }
        validator.validate(&inspect, &output);
        if idx % 4 == 0 {
            validator.run(&["replay", &file, "--window", "1k", "--output-reserve", "100"]);
            validator.run(&["diagnose", &file, "--window", "1k", "--output-reserve", "100"]);
        }
    }
}

#[test]
fn inspect_replay_and_diagnose_follow_their_schemas_for_every_sample() {
    let validator = Validator::new();
    let systems = ["claude-code", "holmesgpt", "cowagent", "digitorn", "picoclaw", "baseagent"];
    let policies = systems.map(|system| ["--policy", system]).concat();
    let compacted = sample("compacted.jsonl");
    for file in session_files(&repository().join("sample_sessions")) {
        let file = file.to_string_lossy();
        validator.run(&["inspect", &file]);
        validator.run(&["diagnose", &file]);
        validator.run(&["compare", &file, &compacted]);
        let small = ["replay", &file, "--window", "60k", "--output-reserve", "4k"];
        validator.run(&[&small[..], &policies].concat());
    }
    validator.run(&["find", &compacted, "role:user"]);
    let events = ["--restart", "20", "--error", "30=rate_limit", "--drop", "3"];
    let edited = [&["replay", &compacted], &events[..], &policies].concat();
    validator.run(&edited);
}

#[test]
fn sweep_and_gate_follow_their_schemas() {
    let validator = Validator::new();
    let (compacted, handoff) = (sample("compacted.jsonl"), sample("handoff.json"));
    let several = ["sweep", &compacted, &handoff, &sample("slow-growth.jsonl")];
    let swept = validator.run(&[&several[..], &["--points", "20"]].concat());
    assert!(swept["robust"].is_object() && swept["sessions"][0]["recommended"].is_object());
    let none_works = ["sweep", &compacted, "--window", "9k", "--output-reserve", "8k"];
    let swept = validator.run(&[&none_works[..], &["--points", "4"]].concat());
    assert!(swept["sessions"][0]["no_recommendation"].is_string(), "{swept}");
    let gate = ["gate", &compacted, "--policy", "truncate", "--policy", "recorded"];
    let limits = ["--max-peak", "0.5", "--no-thrash"];
    let limited = validator.run(&[&gate[..], &limits].concat());
    assert_eq!(limited["passed"], false);
    let baseline = ["--baseline", "base.json"];
    validator.run(&[&gate[..], &baseline, &["--write-baseline"]].concat());
    let compared = validator.run(&[&gate[..], &baseline, &["--set", "keep_recent=4"]].concat());
    assert!(compared["sessions"][0]["lanes"][0]["baseline"].is_object());
}

#[test]
fn schemas_hold_if_the_output_reserve_leaves_no_usable_tokens() {
    let validator = Validator::new();
    let handoff = sample("handoff.json");
    let verbs: [&[&str]; 7] = [
        &["inspect", &handoff],
        &["find", &handoff, "error"],
        &[
            "replay",
            &handoff,
            "--policy",
            "truncate",
            "--policy",
            "recorded",
            "--policy",
            "claude-code",
        ],
        &["diagnose", &handoff, "--policy", "summarize"],
        &["evaluate", &handoff, "--policy", "prune"],
        &["sweep", &handoff, "--policy", "truncate", "--points", "4"],
        &["gate", &handoff, "--policy", "truncate", "--max-overflows", "0"],
    ];
    for verb in verbs {
        for window in ["1", "1000", "32000"] {
            validator.run(&[verb, &["--window", window]].concat());
        }
    }
}

#[test]
fn written_files_follow_their_schemas() {
    let validator = Validator::new();
    let (compacted, results) = (sample("compacted.jsonl"), sample("many-tool-results.jsonl"));
    let handoff = sample("handoff.json");
    let kept = ["compact", &handoff, "--policy", "truncate", "-o", "kept.json"];
    assert_eq!(validator.run(&kept)["changed"], false);
    let spilled = ["compact", &results, "--policy", "cowagent", "--schedule", "replay"];
    validator.run(&[&spilled[..], &["-o", "spilled.json"]].concat());
    fs::create_dir(validator.folder.path().join(".claude")).expect("a folder");
    let resumable = ["compact", &compacted, "--policy", "summarize", "--force", "--resumable"];
    let added = validator.run(&resumable);
    assert!(added["resumable"].is_object(), "{added}");
    let target = ["--to", "openai_chat", "-o", "converted.json"];
    validator.run(&[&["convert", &compacted], &target[..]].concat());
    validator.run(&["report", &compacted, "-o", "report.md", "--redact"]);
}

#[test]
fn sessions_presets_and_state_follow_their_schemas() {
    let validator = Validator::new();
    let samples = repository().join("sample_sessions");
    fs::write(validator.folder.path().join("broken.jsonl"), "{\"type\":").expect("written");
    let listed = validator.run(&["sessions", &samples.to_string_lossy(), "."]);
    assert!(listed["unreadable"].is_array());
    validator.run(&["sessions"]);
    let search = ["sessions", "--search", "ledger", &samples.to_string_lossy(), "."];
    let read = validator.run_as("sessions search", &search);
    validator.run(&["state", "enable", "index"]);
    let indexed = validator.run_as("sessions search", &search);
    assert!(read["uses_index"] == false && indexed["uses_index"] == true);
    let presets = validator.run(&["presets", "list"]);
    for preset in presets.as_array().expect("a list") {
        let name = preset["name"].as_str().expect("a name");
        validator.run(&["presets", "show", name]);
    }
    validator.run(&["state", "list"]);
    validator.run(&["state", "clear", "presets"]);
}

#[test]
fn an_undocumented_field_is_found() {
    let validator = Validator::new();
    let mut value = validator.run(&["state", "list"]);
    value["other"] = true.into();
    let index = validator.commands["state list"];
    assert!(validator.schemas.validate(&value, index).is_err());
}
