//! `plimsoll table` over sample sessions, fixtures of all formats, and files that fail.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, rejected, samples, stderr, stdout};
use plimsoll::json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// Creates a folder with the sample sessions in `logs`.
fn logs() -> TempDir {
    let here = folder();
    fs::create_dir(here.path().join("logs")).expect("a folder");
    for file in samples() {
        let name = file.file_name().expect("a file");
        fs::copy(&file, here.path().join("logs").join(name)).expect("a copy");
    }
    here
}

fn run(here: &Path, args: &[&str]) -> Output {
    let output = plimsoll(here, &[&["table"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    output
}

/// Returns the files below a folder with their bytes, by relative path.
fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("a path below the folder");
                let name = name.to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read(&path).expect("readable"));
            }
        }
    }
    found
}

/// Returns the rows of a table that was written as JSON Lines.
fn rows(tables: &Path, table: &str) -> Vec<Value> {
    let files = files_in(tables).into_iter();
    let files = files.filter(|(name, _)| name.starts_with(&format!("{table}/")));
    let texts = files.map(|(_, bytes)| String::from_utf8(bytes).expect("UTF-8"));
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| serde_json::from_str(&line).expect("JSON"))
        .collect()
}

fn str_of<'a>(row: &'a Value, column: &str) -> &'a str {
    row[column].as_str().unwrap_or_else(|| panic!("no {column} in {row:?}"))
}

fn sum(rows: &[Value], column: &str) -> f64 {
    rows.iter().filter_map(|row| row[column].as_f64()).sum()
}

#[test]
fn figures_are_those_of_the_other_commands() {
    let here = logs();
    let at = here.path();
    run(at, &["logs", "-o", "tables", "--format", "jsonl"]);
    let tables = at.join("tables");
    let (sessions, calls, lanes) =
        (rows(&tables, "sessions"), rows(&tables, "calls"), rows(&tables, "lanes"));
    let listed = json(&plimsoll(at, &["sessions", "logs", "--limit", "0", "--json", "--no-state"]));
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), listed.len());
    for entry in listed {
        let name = entry["path"].as_str().unwrap().rsplit('/').next().unwrap();
        let row = sessions.iter().find(|row| str_of(row, "path") == name).unwrap();
        let same = [
            "messages",
            "calls",
            "compactions",
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "unpriced_calls",
            "output_estimated_calls",
            "overflows",
            "session_id",
            "agent_version",
            "format",
        ];
        for column in same {
            assert_eq!(row[column], entry[column], "{name}: {column}");
        }
        assert_eq!(row["file_bytes"], entry["bytes"], "{name}");
        let own: Vec<Value> = calls
            .iter()
            .filter(|call| call["content_sha256"] == row["content_sha256"])
            .cloned()
            .collect();
        assert_eq!(own.len() as u64, row["calls"].as_u64().unwrap(), "{name}");
        for column in ["input_tokens", "output_tokens", "cache_read_input_tokens"] {
            assert_eq!(sum(&own, column), row[column].as_f64().unwrap_or(0.0), "{name}: {column}");
        }
        if let Some(usd) = row["cost_usd"].as_f64() {
            assert!((sum(&own, "cost_usd") - usd).abs() < 1e-9, "{name}");
            assert!((entry["cost_usd"].as_f64().unwrap() - usd).abs() < 1e-9, "{name}");
        }
    }
    let gate = [
        "gate",
        "logs",
        "--policy",
        "recorded",
        "--policy",
        "none",
        "--policy",
        "prune",
        "--max-peak",
        "9",
        "--json",
        "--no-state",
    ];
    let gated = json(&plimsoll(at, &gate));
    let mut compared = 0;
    for session in gated["sessions"].as_array().unwrap() {
        let name = session["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let row = sessions.iter().find(|row| str_of(row, "path") == name).unwrap();
        for lane in session["lanes"].as_array().unwrap() {
            let is_it = |own: &&Value| {
                own["content_sha256"] == row["content_sha256"] && own["lane"] == lane["lane"]
            };
            let (own, figures) = (lanes.iter().find(is_it).unwrap(), &lane["figures"]);
            let close = |column: &str, name: &str| {
                let (a, b) = (own[column].as_f64(), figures[name].as_f64());
                let is_close = match (a, b) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-9,
                    (a, b) => a == b,
                };
                assert!(is_close, "{lane:?}: {column} {a:?}, not {b:?}");
            };
            close("peak_input_tokens", "peak_tokens");
            close("cost_usd", "usd");
            close("overflows", "overflows");
            compared += 1;
        }
    }
    assert!(compared >= 3 * listed.len());
}

#[test]
fn rows_of_one_conversation_belong_together() {
    let here = logs();
    run(here.path(), &["logs", "-o", "tables", "--format", "jsonl"]);
    let tables = here.path().join("tables");
    let key = |row: &Value| {
        (str_of(row, "content_sha256").to_owned(), row["conversation"].as_u64().unwrap())
    };
    let sessions: BTreeSet<_> = rows(&tables, "sessions").iter().map(key).collect();
    for table in ["calls", "messages", "compactions", "lanes", "facts", "tools"] {
        let rows = rows(&tables, table);
        assert!(!rows.is_empty(), "{table}");
        assert!(rows.iter().all(|row| sessions.contains(&key(row))), "{table}");
    }
    let lanes = rows(&tables, "lanes");
    let names: BTreeSet<&str> = lanes.iter().map(|lane| str_of(lane, "lane")).collect();
    assert_eq!(names, BTreeSet::from(["none", "prune", "recorded", "summarize", "truncate"]));
    assert_eq!(lanes.len(), sessions.len() * names.len());
    let recorded = lanes.iter().find(|lane| str_of(lane, "lane") == "recorded").unwrap();
    assert!(recorded["policy_sha256"].is_null() && recorded["findings"].is_null());
    // The files are those of the manifest, in the folder of the day on which the session began.
    let files = files_in(&tables);
    let manifests: Vec<_> = files.keys().filter(|name| name.starts_with("_manifest/")).collect();
    let [manifest] = &manifests[..] else { panic!("{manifests:?}") };
    let manifest: Value = serde_json::from_slice(&files[*manifest]).unwrap();
    let listed: BTreeSet<&str> =
        manifest["files"].as_array().unwrap().iter().map(|file| str_of(file, "path")).collect();
    let written: BTreeSet<&str> =
        files.keys().map(String::as_str).filter(|name| !name.starts_with('_')).collect();
    assert_eq!(listed, written);
    for (name, bytes) in files.iter().filter(|(name, _)| name.starts_with("sessions/")) {
        let day = name.split('/').nth(1).unwrap().strip_prefix("day=").unwrap();
        for line in String::from_utf8(bytes.clone()).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let start = row["start_time"].as_str().map_or("unknown", |time| &time[..10]);
            assert_eq!(start, day);
        }
    }
}

#[test]
fn every_format_has_the_same_columns_and_rows() {
    let here = logs();
    for format in ["jsonl", "csv"] {
        run(here.path(), &["logs", "-o", format, "--format", format]);
    }
    let csv = files_in(&here.path().join("csv"));
    for (name, bytes) in files_in(&here.path().join("jsonl")) {
        if name.starts_with('_') {
            continue;
        }
        let (table, day) = name.rsplit_once('/').unwrap();
        let is_other = |other: &str| other.starts_with(&format!("{table}/")) && !is_empty(other);
        let (_, other) = csv.iter().find(|(other, _)| is_other(other)).expect(day);
        let (text, other) =
            (String::from_utf8(bytes).unwrap(), String::from_utf8(other.clone()).unwrap());
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let columns: Vec<&str> = first.as_object().unwrap().keys().map(|key| &**key).collect();
        assert_eq!(columns.join(","), other.lines().next().unwrap());
        assert_eq!(text.lines().count() + 1, other.lines().count());
        // A table has a file without rows, too.
        let (table, _) = name.split_once('/').unwrap();
        let empty = &csv[&format!("{table}/day=unknown/empty.csv")];
        assert_eq!(String::from_utf8_lossy(empty).trim_end(), columns.join(","));
    }
}

/// Returns whether a file is that of a table without rows.
fn is_empty(name: &str) -> bool {
    name.contains("/empty.")
}

#[cfg(feature = "tables")]
#[test]
fn parquet_has_types_and_the_values_of_json_lines() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    let here = logs();
    let at = here.path();
    run(at, &["logs", "-o", "jsonl", "--format", "jsonl", "--text"]);
    run(at, &["logs", "-o", "parquet", "--text"]);
    let shown = |field: &Field| match field {
        Field::Null => "null".to_owned(),
        Field::Bytes(bytes) => {
            let bytes = bytes.data().iter().map(|byte| format!("{byte:02x}"));
            bytes.collect::<Vec<_>>().concat()
        }
        Field::Str(text) => text.clone(),
        Field::TimestampMicros(micros) => {
            jiff::Timestamp::from_microsecond(*micros).map(|time| format!("{time:.3}")).unwrap()
        }
        Field::Double(n) => n.to_string(),
        Field::ListInternal(list) => {
            let names: Vec<String> = list
                .elements()
                .iter()
                .map(|name| match name {
                    Field::Str(name) => name.clone(),
                    other => panic!("{other}"),
                })
                .collect();
            names.join("\u{1}")
        }
        other => other.to_string(),
    };
    let of_json = |value: &Value| match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            all.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>().join("\u{1}")
        }
        Value::Number(n) if n.to_string().contains(['.', 'e']) => n.as_f64().unwrap().to_string(),
        other => other.to_string(),
    };
    let jsonl = files_in(&at.join("jsonl"));
    let mut compared = 0;
    for (name, _) in files_in(&at.join("parquet")) {
        let Some((folder, _)) = name.rsplit_once('/').filter(|_| !name.starts_with('_')) else {
            continue;
        };
        let lines = jsonl.iter().find(|(other, _)| other.starts_with(&format!("{folder}/")));
        let lines = if is_empty(&name) { Vec::new() } else { lines.unwrap().1.clone() };
        let lines = String::from_utf8(lines).unwrap();
        let file = fs::File::open(at.join("parquet").join(&name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let found: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), lines.lines().count(), "{name}");
        for (row, line) in found.iter().zip(lines.lines()) {
            let line: Value = serde_json::from_str(line).unwrap();
            for (column, field) in row.get_column_iter() {
                // A whole float is printed without a fraction.
                let (a, b) = (shown(field), of_json(&line[column.as_str()]));
                let is_same = a == b || a.parse::<f64>().ok().is_some_and(|a| b.parse() == Ok(a));
                assert!(is_same, "{name}: {column} is {a}, not {b}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn the_same_work_writes_the_same_names_and_bytes() {
    let here = logs();
    let mut all = Vec::new();
    for (threads, output) in [("1", "a"), ("8", "b"), ("8", "b")] {
        let args = ["table", "logs", "-o", output, "--format", "jsonl"];
        let run = command(here.path(), &args).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(run.status.success(), "{}", stderr(&run));
        all.push(files_in(&here.path().join(output)));
    }
    assert!(all[0].len() > 8, "{:?}", all[0].keys());
    assert!(all[0] == all[1] && all[1] == all[2]);
    // Other conditions have other names.
    run(here.path(), &["logs", "-o", "c", "--format", "jsonl", "--set", "prune.prune_protect=9k"]);
    let other = files_in(&here.path().join("c"));
    assert!(other.keys().all(|name| !all[0].contains_key(name)), "{:?}", other.keys());
}

#[test]
fn shards_divide_the_files_and_resuming_skips_known_contents() {
    let here = logs();
    let at = here.path();
    run(at, &["logs", "-o", "whole", "--format", "jsonl", "--tables", "sessions"]);
    let mut n = 0;
    for shard in ["1/3", "2/3", "3/3"] {
        let args = ["logs", "-o", "shards", "--format", "jsonl", "--tables", "sessions"];
        let output = run(at, &[&args[..], &["--shard", shard, "--json"]].concat());
        n += json(&output)["files"].as_u64().unwrap();
    }
    assert_eq!(n as usize, samples().len());
    let paths = |tables: &str| {
        let mut paths: Vec<String> = rows(&at.join(tables), "sessions")
            .iter()
            .map(|row| str_of(row, "path").to_owned())
            .collect();
        paths.sort();
        paths
    };
    assert_eq!(paths("shards"), paths("whole"));
    let resume =
        ["logs", "-o", "shards", "--format", "jsonl", "--tables", "sessions", "--resume", "--json"];
    let again = json(&run(at, &resume));
    assert_eq!((again["skipped"].as_u64(), again["read"].as_u64()), (Some(n), Some(0)));
    // A new content is read, and a copy of a known one is not.
    let text = fs::read_to_string(at.join("logs/handoff.json")).unwrap();
    fs::write(at.join("logs/copy.json"), &text).unwrap();
    fs::write(at.join("logs/new.json"), text + "\n").unwrap();
    let again = json(&run(at, &resume));
    let counts =
        ["read", "skipped", "duplicates", "conversations"].map(|name| again[name].as_u64());
    assert_eq!(counts, [Some(1), Some(n), Some(1), Some(1)], "{again:?}");
    // Other conditions skip nothing.
    let other = json(&run(at, &[&resume[..], &["--policy", "prune"]].concat()));
    assert_eq!(other["skipped"].as_u64(), Some(0));
}

#[test]
fn a_file_that_fails_is_a_row_without_text_and_absolute_path() {
    let here = logs();
    let at = here.path();
    fs::create_dir(at.join("logs/deep")).unwrap();
    fs::write(at.join("logs/deep/broken.json"), "{\"messages\": [{\"role\": \"user\", \"cont")
        .unwrap();
    fs::write(at.join("logs/notes.json"), "{\"my_private_key\": 1}").unwrap();
    let role = "[{\"role\": \"private_role\", \"content\": \"x\"}]";
    fs::write(at.join("logs/role.json"), role).unwrap();
    fs::write(at.join("logs/silent.json"), "[{\"role\": \"user\", \"content\": \"x\"}]").unwrap();
    let folder = at.join("logs").to_string_lossy().into_owned();
    let output = run(at, &[&folder, "-o", "tables", "--format", "jsonl", "--json"]);
    let summary = json(&output);
    assert_eq!((summary["failed"].as_u64(), summary["failures"].as_u64()), (Some(4), Some(4)));
    let failures = rows(&at.join("tables"), "failures");
    let paths: BTreeSet<&str> = failures.iter().map(|row| str_of(row, "path")).collect();
    assert_eq!(
        paths,
        BTreeSet::from(["deep/broken.json", "notes.json", "role.json", "silent.json"])
    );
    for row in &failures {
        let reason = str_of(row, "reason");
        assert!(!reason.contains("private") && !reason.contains('/'), "{reason}");
        assert_eq!(str_of(row, "stage"), "read");
        assert_eq!(str_of(row, "content_sha256").len(), 64);
    }
    let strict = ["table", "logs", "-o", "tables", "--format", "jsonl", "--strict"];
    assert_eq!(plimsoll(at, &strict).status.code(), Some(1));
    // Nothing could be read.
    let only = ["table", "logs/deep", "-o", "tables", "--format", "jsonl"];
    let none = plimsoll(at, &only);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("none of 1 file could be read"), "{}", stderr(&none));
}

#[test]
fn invalid_input_is_rejected_in_one_line() {
    let here = logs();
    let at = here.path();
    fs::create_dir(at.join("empty")).unwrap();
    fs::create_dir(at.join("out")).unwrap();
    let format = ["--format", "jsonl", "-o", "out"];
    for (args, why) in [
        (&["empty"][..], "empty holds no session file; give another folder"),
        (&["missing"], "no such file"),
        (&[], "table needs a session file or a folder"),
        (&["logs", "--shard", "3/2"], "2/8"),
        (&["logs", "--tables", "session"], "sessions"),
        (&["logs", "--timeout-per-file", "0"], "seconds"),
        (&["logs", "--conversation", "2"], "reads all"),
        (&["logs", "--policy", "prun"], "prune"),
    ] {
        let error = rejected(at, &[&["table"], args, &format].concat());
        assert!(error.contains(why), "{args:?}: {error}");
    }
    assert!(files_in(&at.join("out")).is_empty());
}

#[test]
fn text_is_written_only_if_wanted() {
    let here = logs();
    let at = here.path();
    run(at, &["logs", "-o", "plain", "--format", "jsonl"]);
    run(at, &["logs", "-o", "text", "--format", "jsonl", "--text"]);
    let messages = rows(&at.join("text"), "messages");
    let texts: Vec<&str> = messages.iter().map(|row| str_of(row, "text")).collect();
    assert!(texts.iter().any(|text| text.len() > 40));
    let quoted: Vec<&str> = texts
        .iter()
        .filter(|text| text.len() > 40)
        .map(|text| text.char_indices().nth(30).map_or(*text, |(at, _)| &text[..at]))
        .collect();
    for (name, bytes) in files_in(&at.join("plain")) {
        let table = String::from_utf8(bytes).unwrap();
        assert!(quoted.iter().all(|text| !table.contains(text)), "{name} has text");
        assert!(!table.contains(&*at.to_string_lossy()), "{name} has an absolute path");
    }
    assert!(rows(&at.join("plain"), "sessions")[0].get("title").is_none());
    assert!(rows(&at.join("text"), "sessions").iter().any(|row| row["title"].is_string()));
    let facts = rows(&at.join("text"), "facts");
    for fact in &facts {
        let gone = fact["gone_texts"].as_array().unwrap();
        assert_eq!(gone.len() as u64, fact["gone"].as_u64().unwrap(), "{fact:?}");
    }
    assert!(facts.iter().any(|fact| fact["gone"].as_u64() > Some(0)));
}

#[cfg(unix)]
#[test]
fn files_with_text_are_private_and_others_follow_the_mask() {
    use std::os::unix::fs::PermissionsExt as _;
    let here = logs();
    let at = here.path();
    fs::write(at.join("usual"), "x").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for (output, more, expected) in
        [("plain", &[][..], mode(&at.join("usual"))), ("text", &["--text"], 0o600)]
    {
        let args = ["logs/handoff.json", "-o", output, "--format", "jsonl", "--tables", "messages"];
        run(at, &[&args[..], more].concat());
        let files = files_in(&at.join(output));
        let name = files.keys().find(|name| name.starts_with("messages/")).unwrap();
        assert_eq!(mode(&at.join(output).join(name)), expected);
    }
}

#[test]
fn a_list_of_files_is_read_from_standard_input() {
    let here = logs();
    let args =
        ["table", "-o", "tables", "--format", "jsonl", "--tables", "sessions", "--files-from", "-"];
    let mut child = command(here.path(), &args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let absolute = here.path().join("logs/compacted.jsonl");
    let list = format!("./logs/handoff.json\0{}\0", absolute.display());
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let sessions = rows(&here.path().join("tables"), "sessions");
    let paths: BTreeSet<&str> = sessions.iter().map(|row| str_of(row, "path")).collect();
    assert_eq!(paths, BTreeSet::from(["logs/handoff.json", "compacted.jsonl"]));
}

#[test]
fn a_file_that_takes_too_long_is_a_failure_and_is_read_again() {
    let here = logs();
    let at = here.path();
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        let text = format!("{n} is followed by {} and more words of every kind. ", n + 1);
        plimsoll::json::json!({"role": role, "content": text.repeat(40)})
    };
    let messages: Vec<Value> = (0..1_500).map(message).collect();
    fs::write(at.join("logs/long.json"), serde_json::to_string(&messages).unwrap()).unwrap();
    let base = ["logs", "-o", "tables", "--format", "jsonl", "--tables", "sessions,facts,failures"];
    let args = [&["table"], &base[..], &["--timeout-per-file", "0.05"]].concat();
    let output = plimsoll(at, &args);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{}", stderr(&output));
    let failures = rows(&at.join("tables"), "failures");
    let long = failures.iter().find(|row| str_of(row, "path") == "long.json").unwrap();
    assert_eq!(str_of(long, "reason"), "no result after 0.05 s");
    run(at, &[&base[..], &["--resume"]].concat());
    let sessions = rows(&at.join("tables"), "sessions");
    assert!(sessions.iter().any(|row| str_of(row, "path") == "long.json"));
    // The whole part again: its failures are gone.
    run(at, &base);
    assert!(
        rows(&at.join("tables"), "failures").iter().all(|row| str_of(row, "path") != "long.json")
    );
}

#[test]
fn failures_of_an_earlier_run_are_failures_of_the_run_that_resumes_it() {
    let here = folder();
    let at = here.path();
    fs::create_dir(at.join("bad")).unwrap();
    let chat = r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello."}]"#;
    fs::write(at.join("bad/a.json"), chat).unwrap();
    fs::write(at.join("bad/half.json"), "{\"a\":").unwrap();
    let args = ["table", "bad", "-o", "tables", "--format", "csv", "--strict"];
    assert_eq!(plimsoll(at, &args).status.code(), Some(1));
    let again = plimsoll(at, &[&args[..], &["--resume"]].concat());
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    assert!(stdout(&again).contains("1 failed in earlier runs"), "{}", stdout(&again));
}

#[test]
fn sessions_of_every_format_have_rows_with_a_key() {
    let here = folder();
    let fixtures: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let args = ["-o", "tables", "--format", "jsonl", "--policy", "prune"];
    run(here.path(), &[&[fixtures.to_str().unwrap()], &args[..]].concat());
    let tables = here.path().join("tables");
    let sessions = rows(&tables, "sessions");
    let formats: BTreeSet<&str> = sessions.iter().map(|row| str_of(row, "format")).collect();
    assert!(formats.len() > 40, "{formats:?}");
    let key = |row: &Value, more: &str| {
        let hash = str_of(row, "content_sha256");
        format!("{hash} {} {:?}", row["conversation"], row.get(more))
    };
    for (table, more) in [
        ("sessions", "-"),
        ("calls", "call"),
        ("messages", "message"),
        ("lanes", "lane"),
        ("tools", "tool_name"),
        ("tool_definitions", "tool_name"),
    ] {
        let rows = rows(&tables, table);
        let keys: BTreeSet<String> = rows.iter().map(|row| key(row, more)).collect();
        assert_eq!(keys.len(), rows.len(), "{table}");
    }
    let relations: BTreeSet<&str> = sessions.iter().map(|row| str_of(row, "relation")).collect();
    assert_eq!(relations, BTreeSet::from(["branch", "main", "sub_agent"]));
    for failure in rows(&tables, "failures") {
        let reason = str_of(&failure, "reason");
        assert!(!reason.starts_with("internal error"), "{failure:?}");
    }
}

#[test]
fn the_page_of_columns_is_generated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/table-columns.md");
    let printed = stdout(&run(Path::new("."), &["--columns"]));
    let page = format!("{INTRODUCTION}\n{printed}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let current = fs::read_to_string(path).unwrap_or_default();
    assert!(
        current == page,
        "docs/table-columns.md is out of date: run UPDATE_DOCS=1 cargo test --test cli table"
    );
}

const INTRODUCTION: &str = "# Table columns

<!-- Generated from the rows. `UPDATE_DOCS=1 cargo test --test cli table` writes this page again. -->

The tables that [`plimsoll table`](command-line.md#table) writes. Types are those of DuckDB. In Parquet, a `BLOB` is a
`FIXED_LEN_BYTE_ARRAY` of 32 bytes, a time has microseconds in UTC, and texts have a dictionary. A column without `NOT NULL` is null
where the value is unknown.
";
