//! Invalid files, options and policies: exit code 2, one line, nothing written.

use crate::support::{folder, rejected, write_conversation};
use std::fs;
use std::io::Write as _;

#[test]
fn every_command_rejects_invalid_files_in_one_line() {
    let here = folder();
    write_conversation(here.path(), "whole.json");
    let whole = fs::read(here.path().join("whole.json")).expect("it is there");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(here.path().join(name), bytes).expect("it can be written");
    };
    write("empty.json", b"");
    write("blank.json", b" \n\n");
    write("torn.json", &whole[..whole.len() / 2]);
    write("binary.json", &(0..=255_u8).cycle().take(5_000).collect::<Vec<_>>());
    write("text.json", b"dear diary, today I met a robot\n");
    write("other.json", b"{\"name\": \"plimsoll\", \"version\": 3}");
    fs::create_dir(here.path().join("folder")).expect("a folder");
    let bad = [
        "missing.json",
        "folder",
        "folder/none.json",
        "whole.json/x",
        "empty.json",
        "blank.json",
        "torn.json",
        "binary.json",
        "text.json",
        "other.json",
    ];
    for file in bad {
        for command in [
            &["inspect"][..],
            &["inspect", "--json"],
            &["replay"],
            &["replay", "--json"],
            &["compact", "--policy", "truncate"],
        ] {
            rejected(here.path(), &[command, &[file]].concat());
        }
    }
}

#[test]
fn a_line_of_50_megabytes_is_rejected() {
    let here = folder();
    let mut file = fs::File::create(here.path().join("long.jsonl")).expect("it can be made");
    let piece = "x".repeat(1 << 20);
    file.write_all(b"{\"log\":\"").expect("it can be written");
    (0..50).for_each(|_| file.write_all(piece.as_bytes()).expect("it can be written"));
    file.write_all(b"\"}\n").expect("it can be written");
    for command in [&["inspect"][..], &["replay"], &["compact", "--policy", "prune"]] {
        rejected(here.path(), &[command, &["long.jsonl"]].concat());
    }
}

#[test]
fn invalid_usage_is_rejected_in_one_line_with_valid_choices() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let c = "c.json";
    let cases: [(&[&str], &str); 43] = [
        (&["inspct", c], "did you mean inspect?"),
        (&["inspect"], "not provided: <FILE>"),
        (&["inspect", c, c], "unexpected argument"),
        (&["inspect", c, "--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["inspect", c, "--policy", "truncate"], "unexpected argument '--policy'"),
        (&["inspect", c, "--window", "wide"], "200k"),
        (&["inspect", c, "--window", "0"], "200k"),
        (&["inspect", c, "--window"], "--window"),
        (&["inspect", c, "--counter", "abacus"], "o200k_base"),
        (&["inspect", c, "--conversation", "2"], "one conversation"),
        (&["inspect", c, "--conversation", "0"], "from 1"),
        (&["replay", c, "--policy", "unheard"], "truncate"),
        (&["replay", c, "--policy", "unheard.toml"], "no such file"),
        (&["replay", c, "--set", "keep_recent=0"], "out of range"),
        (&["replay", c, "--set", "keep_recent=many"], "SETTING=NUMBER such as keep_recent="),
        (&["replay", c, "--set", "patience=3"], "keep_recent"),
        (
            &["replay", c, "--set", "keep_recnt=3"],
            "no policy here has a setting named \"keep_recnt\"; did you mean keep_recent?",
        ),
        (&["sweep", c, "--vary", "keep_recnt=3..9"], "did you mean keep_recent?"),
        (&["schema", "replya"], "did you mean replay?"),
        (&["replay", c, "--set", "nobody.keep_recent=3"], "truncate"),
        (&["replay", c, "--json", "--csv"], "cannot be used with"),
        (&["replay", c, "--window", "8k", "--output-reserve", "9k"], "--window"),
        (&["compact", c], "--policy"),
        (&["compact", c, "--policy", "none"], "another policy"),
        (&["compact", c, "--policy", "truncate", "--at-call", "14"], "13 calls"),
        (
            &["compact", c, "--policy", "truncate", "--schedule", "replay", "--force"],
            "--schedule now",
        ),
        (&["presets", "show", "unheard"], "truncate"),
        (&["inspect", c, "--window", "8k", "--output-reserve", "8k"], "--window"),
        (&["replay", c, "--policy", "truncate@none"], "always exists"),
        (&["replay", c, "--policy", "truncate@recorded"], "always exists"),
        (&["replay", c, "--set"], "SETTING=VALUE"),
        (&["replay", c, "--policy"], "FILE.toml"),
        (&["compact", c, "--policy", "truncate", "-o", "-"], "file"),
        (&["compact", c, "--policy", "truncate", "-o", ""], "give a path"),
        (&["compact", c, "--policy", "truncate", "-o"], "--output <OUT>"),
        (&["--no-state", "inspct", c], "did you mean inspect?"),
        (&["--no-state", "inspect"], "not provided: <FILE>"),
        (&["--json", c], "requires a command"),
        (&["inspect", "."], "is a folder"),
        (&[c, "--policy", "unheard"], "truncate"),
        (&[c, "--set", "patience=3"], "keep_recent"),
        (&["state", "burn"], "unrecognized subcommand 'burn'"),
        (&["state", "clear", "--no-state"], "--no-state"),
    ];
    for (args, message) in cases {
        let error = rejected(here.path(), args);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn an_invalid_policy_file_is_rejected_in_one_line() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    for (name, text) in [
        ("broken.toml", "name = \n[["),
        ("other.toml", "[package]\nname = \"x\""),
        ("empty.toml", ""),
    ] {
        fs::write(here.path().join(name), text).expect("it can be written");
        let error = rejected(here.path(), &["replay", "c.json", "--policy", name]);
        assert!(error.contains(name), "{error}");
    }
}
