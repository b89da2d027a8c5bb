//! `docs/preset-list.md`, generated from the bundled presets.

use crate::conversation::{Talk, case};
use crate::repository::repository;
use plimsoll_core::engine::{Case, Effect, Policy, PolicyKind, simulate};
use plimsoll_core::presets::{self, PRESETS};
use std::fmt::Write as _;

const INTRODUCTION: &str = "# All presets

<!-- Generated from the presets. `UPDATE_DOCS=1 cargo test --test engine preset_page` writes this page again. -->

Every bundled preset with its default settings. [Presets and the policy language](presets.md) describes how to change them.

- **Trigger**: the limit in a context window of 32,000, 128,000, 200,000 and 1,000,000 tokens, in the system's own count. A
  system acts at the limit or one token above it; stages with other conditions may act earlier. – if it has no limit in tokens
  by default (it counts messages, turns or single results). 1 or – in a small window: the reserve leaves no usable window, so
  every call reaches the limit.
- **First compaction**, **requests**: a conversation of 12 turns with 12 tool calls of 1,000 tokens each, replayed with a window
  of 128,000 tokens: the tokens before and after the first compaction, the number of compactions, and the number of requests
  for a summary. A summary counts with its predicted size.
- **Proof**: *proven* presets returned the same as the named version of the system in that many test cases; *facts* come from
  its code or documentation; *observed* behaviour was seen from outside, as its code is not public.
";

/// Context windows of the table.
const WINDOWS: [u64; 4] = [32_000, 128_000, 200_000, 1_000_000];
/// Context window of the example.
const EXAMPLE: u64 = 128_000;

#[test]
fn preset_page_is_generated_from_the_presets() {
    let talk = Talk::turns(12, 12, 1_000);
    let cases = WINDOWS.map(|window| case(&talk, window));
    let example = case(&talk, EXAMPLE);
    let mut page = INTRODUCTION.to_owned();
    for kind in PolicyKind::ALL {
        let of_kind: Vec<Policy> = PRESETS
            .iter()
            .filter_map(|preset| presets::by_name(preset.name))
            .filter(|policy| policy.kind == Some(kind))
            .collect();
        let _ = writeln!(page, "\n## {}\n", kind.title());
        page.push_str("| preset | proof | trigger at 32k | 128k | 200k | 1M | first compaction | compactions | requests |\n");
        page.push_str("|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
        for policy in &of_kind {
            row(&mut page, policy, &cases, &example);
        }
        for policy in &of_kind {
            let _ =
                writeln!(page, "\n### `{}`\n\n{}: {}\n", policy.name, policy.label, policy.help);
            for source in &policy.sources {
                let _ = writeln!(page, "- {source}");
            }
        }
    }
    let path = repository().join("docs/preset-list.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    let added = page.lines().find(|line| !current.contains(line));
    assert!(
        current == page,
        "docs/preset-list.md is out of date: run UPDATE_DOCS=1 cargo test --test engine preset_page\n{}",
        added.unwrap_or("a line is no longer generated")
    );
}

#[test]
fn every_preset_names_its_kind_and_how_it_is_known() {
    for preset in PRESETS {
        let policy = preset.policy().expect("a valid preset");
        let kind = policy.kind.unwrap_or_else(|| panic!("{}: no kind", preset.name));
        let is_ours = kind == PolicyKind::Strategy;
        assert_eq!(policy.proof.is_none(), is_ours, "{}: `proof`", preset.name);
    }
}

/// Adds the row of a preset.
fn row(page: &mut String, policy: &Policy, cases: &[Case], example: &Case) {
    let settings = policy.defaults();
    let proof = policy.proof.as_ref().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "| `{}` | {proof} |", policy.name);
    for case in cases {
        let trigger = policy.trigger(&settings, case, 0);
        let tokens = trigger.map(|trigger| number(trigger.tokens.0));
        let _ = write!(page, " {} |", tokens.as_deref().unwrap_or("–"));
    }
    let outcome = simulate(example, policy, &settings, None);
    let first = outcome.events.iter().find(|event| event.effect == Effect::Removed);
    let first =
        first.map(|event| format!("{} → {}", number(event.before.0), number(event.after.0)));
    let (first, n) = (first.as_deref().unwrap_or("–"), outcome.compactions);
    let _ = writeln!(page, " {first} | {n} | {} |", outcome.summaries.requests);
}

/// Formats `12,345`.
fn number(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}
