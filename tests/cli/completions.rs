//! `plimsoll completions`: candidates, and the scripts in the shells that are installed.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use crate::program::{command, plimsoll};
use crate::support::{folder, stdout, write_conversation};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the candidates for the last of these words, as zsh and fish ask for them.
fn candidates(here: &Path, words: &[&str]) -> Vec<String> {
    let args = [&["completions", "zsh", "--", "plimsoll"][..], words].concat();
    let output = plimsoll(here, &args);
    assert!(output.status.success(), "{words:?}");
    let text = stdout(&output);
    let words = text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned());
    words.collect()
}

/// Creates a folder with a session, a policy, another file and a folder.
fn prepared() -> tempfile::TempDir {
    let here = folder();
    write_conversation(here.path(), "talk.json");
    fs::write(here.path().join("picture.png"), "").expect("written");
    fs::write(here.path().join("own.toml"), "").expect("written");
    fs::create_dir(here.path().join("kept")).expect("created");
    write_conversation(&here.path().join("kept"), "a b.json");
    here
}

#[test]
fn candidates_are_commands_options_presets_settings_formats_and_files() {
    let here = prepared();
    let has = |words: &[&str], expected: &[&str], others: &[&str]| {
        let found = candidates(here.path(), words);
        let is_there = |word: &&&str| found.iter().any(|one| one == **word);
        assert!(expected.iter().all(|word| is_there(&word)), "{words:?}: {found:?}");
        assert!(!others.iter().any(|word| is_there(&word)), "{words:?}: {found:?}");
    };
    has(&[""], &["replay", "presets", "talk.json", "kept/"], &["picture.png"]);
    has(&["rep"], &["replay", "report"], &["presets"]);
    has(&["replay", "--"], &["--policy", "--set", "--json", "--window"], &["--tolerance"]);
    has(&["replay", ""], &["talk.json", "kept/"], &["picture.png", "replay"]);
    has(&["replay", "kept/"], &["kept/a b.json"], &[]);
    has(
        &["replay", "talk.json", "--policy", ""],
        &["truncate", "claude-code", "own.toml", "recorded"],
        &["talk.json"],
    );
    has(&["gate", "--policy=pru"], &["--policy=prune"], &["--policy=truncate"]);
    has(&["replay", "--set", ""], &["keep_recent=", "prune_protect="], &["max_fraction="]);
    has(
        &["replay", "--policy", "pydantic-ai", "--set", ""],
        &["max_fraction=", "capability="],
        &["prune_protect="],
    );
    has(
        &["replay", "--policy", "pydantic-ai", "--set", "capability="],
        &["capability=ClearToolResults"],
        &[],
    );
    has(&["sweep", "talk.json", "--vary", "keep"], &["keep_recent="], &[]);
    has(&["convert", "talk.json", "--to", ""], &["openai_chat", "anthropic_messages"], &[]);
    has(&["presets", ""], &["list", "show", "export"], &["talk.json"]);
    has(&["presets", "export", "lang"], &["langchain", "langchain-summarization"], &["prune"]);
    has(&["presets", "export", "adk", "--set", "tok"], &["token_threshold="], &["keep_recent="]);
    has(&["presets", "export", "truncate", "--for", ""], &["pydantic-ai", "strands"], &["aider"]);
    has(&["--window", "8k", "inspect", ""], &["talk.json"], &["inspect"]);
    has(&["replay", "talk.json", "--counter", ""], &["o200k_base"], &["talk.json"]);
}

/// Runs a shell script with the program on its path; `None` if the shell is not installed.
fn shell(here: &Path, shell: &str, script: &str) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let folder = program.parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let file = here.join("completions");
    let output = command(here, &["completions", shell]).output().expect("it starts");
    fs::write(&file, output.stdout).expect("written");
    let output = Command::new(shell)
        .args(["-c", script])
        .current_dir(here)
        .env("PATH", std::env::join_paths(folders).expect("folders"))
        .env("HOME", here)
        .env("TERM", "dumb")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: {shell} is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(stdout(&output))
}

/// Completes a line in bash as readline does, which splits words at `=`.
fn in_bash(here: &Path, line: &str, words: &str) -> Vec<String> {
    let script = format!(
        "source ./completions; COMP_LINE={line:?}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); \
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _plimsoll; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let text = shell(here, "bash", &script).expect("bash is installed");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_with_its_script() {
    let here = prepared();
    let here = here.path();
    assert_eq!(in_bash(here, "plimsoll repl", "plimsoll repl"), ["replay "]);
    assert_eq!(in_bash(here, "plimsoll replay t", "plimsoll replay t"), ["talk.json "]);
    assert_eq!(in_bash(here, "plimsoll replay ke", "plimsoll replay ke"), ["kept/"]);
    assert_eq!(
        in_bash(here, "plimsoll replay kept/a", "plimsoll replay kept/a"),
        ["kept/a\\ b.json "]
    );
    assert_eq!(
        in_bash(here, "plimsoll gate --policy=anthropic-c", "plimsoll gate --policy = anthropic-c"),
        ["anthropic-compaction "]
    );
    assert_eq!(
        in_bash(
            here,
            "plimsoll presets export adk --set token_t",
            "plimsoll presets export adk --set token_t"
        ),
        ["token_threshold="]
    );
    assert_eq!(
        in_bash(
            here,
            "plimsoll presets export pydantic-ai --set capability=Cl",
            "plimsoll presets export pydantic-ai --set capability = Cl"
        ),
        ["ClearToolResults "]
    );
}

#[test]
fn zsh_and_fish_read_their_scripts() {
    let here = prepared();
    let here = here.path();
    if let Some(text) = shell(
        here,
        "fish",
        "source ./completions; complete -C 'plimsoll presets export langchain-'",
    ) {
        assert!(text.starts_with("langchain-summarization\tLangChain"), "{text}");
    }
    let script =
        "autoload -Uz compinit; compinit -u; source ./completions; print ${_comps[plimsoll]}";
    if let Some(text) = shell(here, "zsh", script) {
        assert_eq!(text.trim(), "_plimsoll");
    }
}
