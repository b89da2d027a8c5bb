//! Candidates for the word that is being typed.

use super::typed::Typed;
use crate::cli::lanes::known_presets;
use crate::engine::Policy;
use crate::exec::stores::may_hold_session;
use crate::exec::{OwnPresets, load_policy, paths_from};
use crate::formats::FORMATS;
use crate::presets::{self, native};
use clap::{Arg, ArgAction};
use std::path::Path;

/// Strategies whose settings are offered if no policy is given.
const STRATEGIES: [&str; 3] = ["truncate", "prune", "summarize"];

/// A word with its description.
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) help: Option<String>,
}

impl Candidate {
    fn plain(word: impl Into<String>) -> Self {
        Self { word: word.into(), help: None }
    }
}

/// Returns the candidates that begin with the typed word.
pub(super) fn candidates_for(typed: &Typed<'_>) -> Vec<Candidate> {
    let mut candidates = match &typed.option {
        Some((arg, before)) => {
            let value = &typed.word[before.len()..];
            let with_option = |candidate: Candidate| Candidate {
                word: format!("{before}{}", candidate.word),
                ..candidate
            };
            values(arg, value, typed).into_iter().map(with_option).collect()
        }
        None if typed.word.starts_with('-') => options(typed),
        None => operands(typed),
    };
    candidates.retain(|candidate| candidate.word.starts_with(&typed.word));
    candidates
}

/// Returns the options of the command.
fn options(typed: &Typed<'_>) -> Vec<Candidate> {
    let all = typed.command.get_arguments();
    let is_repeatable = |arg: &Arg| matches!(arg.get_action(), ArgAction::Append);
    let named = all.filter_map(|arg| {
        let word = format!("--{}", arg.get_long()?);
        (is_repeatable(arg) || !typed.before.contains(&word))
            .then_some(Candidate { word, help: arg.get_help().map(first_line) })
    });
    named.collect()
}

/// Returns the commands and the values of the next positional argument.
fn operands(typed: &Typed<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    if typed.n_positional == 0 {
        let commands = typed.command.get_subcommands().filter(|c| !c.is_hide_set());
        candidates.extend(commands.map(|command| Candidate {
            word: command.get_name().to_owned(),
            help: command.get_about().map(first_line),
        }));
    }
    let positionals: Vec<&Arg> = typed.command.get_positionals().collect();
    let next = positionals.get(typed.n_positional).or(positionals.last());
    if let Some(arg) = next.filter(|arg| !arg.is_hide_set()) {
        candidates.extend(values(arg, &typed.word, typed));
    }
    candidates
}

/// Returns the values of an argument that begin with `value`.
fn values(arg: &Arg, value: &str, typed: &Typed<'_>) -> Vec<Candidate> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let words = possible.iter().map(|possible| Candidate {
            word: possible.get_name().to_owned(),
            help: possible.get_help().map(first_line),
        });
        return words.collect();
    }
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map_or("", |name| name.as_str());
    let is_preset = matches!(arg.get_id().as_str(), "policy" | "policies") || is_of_presets(typed);
    match name {
        _ if name.contains("SETTING=") => settings(value, typed),
        "FRAMEWORK" => plain(native::all_frameworks().into_iter()),
        "FORMAT" => FORMATS
            .iter()
            .map(|format| Candidate {
                word: format.name.to_owned(),
                help: Some(format.label.to_owned()),
            })
            .collect(),
        _ if name.starts_with("NAME") && is_preset => {
            let mut candidates = preset_candidates();
            if name.contains("FILE.toml") {
                candidates.extend(files(value, &is_preset_file));
            }
            candidates
        }
        _ if name.starts_with("COMMAND") => {
            let cli = crate::cli::command_line();
            plain(crate::cli::verbs(&cli).iter().map(String::as_str))
        }
        "FILE" if arg.get_id() == "baseline" || arg.get_id() == "junit" => files(value, &|_| true),
        _ if name.contains("FILE") || name.contains("FOLDER") || is_session(name) => {
            let is_offered = |name: &str| may_hold_session(name) || is_preset_file(name);
            files(value, &is_offered)
        }
        _ if name.starts_with("OUT") || matches!(name, "LIST" | "LOG") => files(value, &|_| true),
        _ => Vec::new(),
    }
}

/// Returns whether a file name is that of a preset.
fn is_preset_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// Returns whether the value name of an argument is that of a session file.
fn is_session(name: &str) -> bool {
    matches!(name, "A" | "B" | "MANAGED" | "ORIGINAL" | "COMPACTED" | "SESSION")
}

/// Returns whether an operation of `presets` is typed.
fn is_of_presets(typed: &Typed<'_>) -> bool {
    typed.operands().first() == Some(&"presets")
}

fn preset_candidates() -> Vec<Candidate> {
    let describe = |name: String| {
        let policy = policy(&name);
        let help = policy.map(|policy| policy.label);
        Candidate { word: name, help }
    };
    let names = known_presets().into_iter();
    let recorded =
        Candidate { word: "recorded".to_owned(), help: Some("The run as it was".to_owned()) };
    names.map(describe).chain([recorded]).collect()
}

/// Returns `SETTING=` for the settings of the policies on the command line, or the values of one.
fn settings(value: &str, typed: &Typed<'_>) -> Vec<Candidate> {
    let mut given = typed.values("--policy");
    if is_of_presets(typed) {
        given.extend(typed.operands().get(2));
    }
    let given = if given.is_empty() { STRATEGIES.to_vec() } else { given };
    let policies: Vec<Policy> = given.into_iter().filter_map(policy).collect();
    // `LANE.SETTING` keeps its lane.
    let (name, has_value) = value.split_once('=').map_or((value, false), |(name, _)| (name, true));
    let (lane, name) = name.rsplit_once('.').map_or(("", name), |(lane, name)| (lane, name));
    let lane = if lane.is_empty() { String::new() } else { format!("{lane}.") };
    let mut candidates: Vec<Candidate> = Vec::new();
    for knob in policies.iter().flat_map(|policy| &policy.knobs) {
        let word = format!("{lane}{}=", knob.name);
        let is_new = candidates.iter().all(|known| known.word != word);
        if !has_value && is_new {
            let help = Some(knob.help.clone());
            candidates.push(Candidate { word, help });
        } else if has_value && knob.name == name && candidates.is_empty() {
            let default = knob.value.to_string();
            let choices = match &knob.choices[..] {
                [] => std::slice::from_ref(&default),
                choices => choices,
            };
            candidates =
                choices.iter().map(|choice| Candidate::plain(format!("{word}{choice}"))).collect();
        }
    }
    candidates
}

/// Returns a bundled preset, or one of the user's own.
fn policy(word: &str) -> Option<Policy> {
    let word = word.split('@').next()?;
    presets::by_name(word).or_else(|| load_policy(&OwnPresets::here().file(word)?).ok())
}

fn files(prefix: &str, is_offered: &dyn Fn(&str) -> bool) -> Vec<Candidate> {
    let paths = paths_from(prefix, is_offered).into_iter();
    paths.map(Candidate::plain).collect()
}

fn plain<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Candidate> {
    words.map(Candidate::plain).collect()
}

/// Returns the first line of a help text.
fn first_line(help: &clap::builder::StyledStr) -> String {
    help.to_string().lines().next().unwrap_or_default().to_owned()
}
