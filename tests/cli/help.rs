//! Help, version and global options.

use crate::program::{command, plimsoll};
use crate::support::{folder, json, stderr, stdout, write_conversation};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn help_and_version_go_to_standard_output() {
    let here = folder();
    let version = stdout(&plimsoll(here.path(), &["--version"]));
    assert_eq!(version.trim(), format!("plimsoll {}", env!("CARGO_PKG_VERSION")));
    let help = stdout(&plimsoll(here.path(), &["--help"]));
    for verb in ["inspect", "replay", "compact", "presets", "state"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
        let of_verb = plimsoll(here.path(), &[verb, "--help"]);
        assert!(of_verb.status.success() && stdout(&of_verb).contains(&format!("plimsoll {verb}")));
    }
}

#[test]
fn the_help_of_every_command_points_to_the_global_options() {
    let here = folder();
    for verb in ["inspect", "replay", "gate", "schema"] {
        let help = stdout(&plimsoll(here.path(), &[verb, "--help"]));
        assert!(help.contains("`plimsoll help options`"), "{help}");
        assert!(!help.contains("--window <TOKENS>"), "{help}");
    }
    for (topic, option) in [
        ("options", "--window <TOKENS>"),
        ("options", "--risk-model <FILE>"),
        ("files", "--files-from <LIST>"),
        ("models", "--base-url <URL>"),
        ("window", "--screenshot <OUT.png>"),
    ] {
        let options = stdout(&plimsoll(here.path(), &["help", topic]));
        assert!(options.contains(option), "{options}");
    }
}

#[test]
fn global_options_may_precede_the_command() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let before =
        plimsoll(here.path(), &["--no-state", "--window", "8k", "--json", "inspect", "c.json"]);
    let after = plimsoll(here.path(), &["inspect", "c.json", "--json", "--window", "8k"]);
    assert_eq!(json(&before), json(&after));
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the page exists")
}

#[test]
fn every_command_is_documented() {
    let help = stdout(&plimsoll(folder().path(), &["--help"]));
    let names = commands(&help);
    assert!(names.len() > 15, "{help}");
    for file in ["docs/command-line.md", "README.md"] {
        let page = page(file);
        let headings: Vec<&str> = page.lines().filter(|l| l.starts_with("## ")).collect();
        for name in &names {
            let is_heading = headings.iter().any(|h| h.split(' ').any(|word| word == name));
            let is_named = page.contains(&format!("`{name}`"));
            let is_shown = page.contains(&format!("plimsoll {name}"));
            assert!(is_heading || is_named || is_shown, "{file}: the command {name} is missing");
        }
    }
}

#[test]
fn every_tokenizer_is_documented() {
    let help = stdout(&plimsoll(folder().path(), &["help", "options"]));
    let page = page("docs/command-line.md");
    for counter in plimsoll::tokens::COUNTERS {
        let name = counter.name;
        assert!(help.contains(name), "help options: the tokenizer {name} is missing");
        assert!(page.contains(name), "docs/command-line.md: the tokenizer {name} is missing");
    }
}

/// Returns the examples at the end of a help text.
fn examples(help: &str) -> Vec<String> {
    let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_default();
    examples.lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns the names of the commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let (_, commands) = help.split_once("\nCommands:\n").unwrap_or_default();
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // Further lines of a description are indented more.
    let lines = lines.filter(|line| !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// Creates a folder with the sample sessions.
#[cfg(unix)]
fn folder_with_samples() -> TempDir {
    let here = folder();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    std::os::unix::fs::symlink(samples, here.path().join("sample_sessions")).expect("a link");
    here
}

/// Runs a line in a shell that only knows this program.
#[cfg(unix)]
fn paste(folder: &Path, line: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let output = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", program.parent().expect("a folder"))
        .env_remove("XDG_DATA_HOME")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{line}: {}", stderr(&output));
}

#[test]
#[cfg(unix)]
fn the_examples_of_every_help_text_work_when_pasted() {
    let here = folder_with_samples();
    let help_of = |words: &[&str]| {
        let mut command = command(here.path(), &[words, &["--help"]].concat());
        stdout(&command.env("COLUMNS", "100").output().expect("help"))
    };
    for verb in commands(&help_of(&[])) {
        let help = help_of(&[&verb]);
        let of_verb = commands(&help);
        let helps = of_verb.iter().map(|action| help_of(&[&verb, action]));
        for help in [help].into_iter().chain(helps) {
            let examples = examples(&help);
            assert!(!examples.is_empty(), "{help}");
            let own = examples.iter().filter(|line| line.starts_with("plimsoll "));
            own.for_each(|line| paste(here.path(), line));
        }
    }
}

#[test]
#[cfg(unix)]
fn the_commands_of_the_readme_work_when_pasted() {
    let here = folder_with_samples();
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let readme = readme.expect("there is one");
    let (_, steps) = readme.split_once("The same steps in a shell").expect("steps");
    let (_, steps) = steps.split_once("```sh\n").expect("a block");
    let (steps, _) = steps.split_once("```").expect("its end");
    assert!(steps.lines().count() >= 5, "{steps}");
    steps.lines().for_each(|line| paste(here.path(), line));
}

#[test]
#[cfg(unix)]
fn the_readme_shows_what_the_program_prints() {
    let here = folder_with_samples();
    let readme = page("README.md");
    let (_, rest) = readme.split_once("\nplimsoll replay ").expect("the first command");
    let (line, rest) = rest.split_once('\n').expect("the end of the line");
    let (_, rest) = rest.split_once("```text\n").expect("its output");
    let (shown, _) = rest.split_once("```").expect("the end of the output");
    assert!(shown.lines().count() >= 5, "{shown}");
    let words: Vec<&str> = ["replay"].into_iter().chain(line.split_whitespace()).collect();
    let output = stdout(&plimsoll(here.path(), &words));
    assert!(output.contains(shown), "README.md shows\n{shown}\nand the program prints\n{output}");
}
